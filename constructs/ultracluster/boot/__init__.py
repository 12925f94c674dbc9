"""Everything a node runs at boot: shell scripts and the Python that packs them."""

from ultracluster.boot import _paths as paths
from ultracluster.boot._boot_guard import boot_guard
from ultracluster.boot._boot_script import BootScript, boot_script
from ultracluster.boot._breaker import (
    HEALTH_MODES,
    alert_topic_parameter,
    breaker_boot,
    breaker_limit,
    health_mode_parameter,
    replaced_path,
)
from ultracluster.boot._deep_check import deep_check
from ultracluster.boot._directory import CERTIFICATES, DN, LDAPS_URI, Directory, directory_boot
from ultracluster.boot._drain_block import drain_block_script
from ultracluster.boot._eks_boot import (
    GPU_TAINT,
    ClusterAccess,
    Effect,
    NodeSettings,
    Taint,
    bottlerocket_settings,
    eks_boot,
)
from ultracluster.boot._health import health_boot, health_settings
from ultracluster.boot._home_mounts import (
    efs_mount,
    efs_volume,
    nfs_mount,
    openzfs_mount,
    openzfs_volume,
    s3_files_mount,
    s3_files_volume,
)
from ultracluster.boot._hyperpod_boot import (
    hyperpod_controller,
    hyperpod_hooks,
    hyperpod_kubernetes_setup,
    hyperpod_parameter,
    hyperpod_setup,
)
from ultracluster.boot._images_boot import images_boot
from ultracluster.boot._imds import imds_boot
from ultracluster.boot._jobs import jobs_boot, jobs_parameter
from ultracluster.boot._limited_script import limited_script, script_slots
from ultracluster.boot._mountpoint import Mountpoint
from ultracluster.boot._mounts import Mount, Mountable, Volume, check_mount_points
from ultracluster.boot._names import KUBERNETES_NAME, LONGEST_LABEL, check_label
from ultracluster.boot._node_files import NodeBoot, NodeFile, tar, without_comments
from ultracluster.boot._node_logs import node_logs
from ultracluster.boot._node_repair import WAIT_MINUTES, repair_overrides
from ultracluster.boot._node_script import (
    CANARY_SCRIPT,
    LIBRARY_SCRIPTS,
    ON_ERROR,
    STAGES,
    NodeScript,
    OnError,
    Stage,
    check_scripts,
    read_script,
    script_name,
)
from ultracluster.boot._node_scripts import (
    UPDATE_MINUTES,
    in_place_files,
    node_scripts_archive,
    node_scripts_boot,
    node_scripts_parameter,
    without_in_place_files,
)
from ultracluster.boot._paths import MOUNT_PATH, check_mount_path
from ultracluster.boot._platform_script import platform_script
from ultracluster.boot._scratch import SCRATCH_UNIT, LocalScratch, NodeSetup
from ultracluster.boot._seed_home import IMAGE_HOMES, seed_home_boot
from ultracluster.boot._slurm_accounts import (
    ACCOUNT,
    LONGEST_SCRIPT_BYTES,
    OPTION,
    SlurmAccount,
    SlurmQos,
    SlurmUser,
    accounting_script,
    check_accounts,
)
from ultracluster.boot._slurm_boot import (
    BUNDLE_URL,
    LUSTRE_EFA_UNIT,
    MOST_EFA_INTERFACES,
    SHA256,
    EfaBundle,
    LustreClient,
    LustreEfa,
    mount_boot,
    slurm_boot,
)
from ultracluster.boot._software import SoftwareItem, install_program, software_script
from ultracluster.boot._system_boot import system_boot
from ultracluster.boot._users import SSH_KEY, UIDS, USER_NAME, User, check_user_name, users_boot, users_path

__all__ = [
    "ACCOUNT",
    "BUNDLE_URL",
    "CANARY_SCRIPT",
    "CERTIFICATES",
    "DN",
    "GPU_TAINT",
    "HEALTH_MODES",
    "IMAGE_HOMES",
    "KUBERNETES_NAME",
    "LDAPS_URI",
    "LIBRARY_SCRIPTS",
    "LONGEST_LABEL",
    "LONGEST_SCRIPT_BYTES",
    "LUSTRE_EFA_UNIT",
    "MOST_EFA_INTERFACES",
    "MOUNT_PATH",
    "ON_ERROR",
    "OPTION",
    "SCRATCH_UNIT",
    "SHA256",
    "SSH_KEY",
    "STAGES",
    "UIDS",
    "UPDATE_MINUTES",
    "USER_NAME",
    "WAIT_MINUTES",
    "BootScript",
    "ClusterAccess",
    "Directory",
    "EfaBundle",
    "Effect",
    "LocalScratch",
    "LustreClient",
    "LustreEfa",
    "Mount",
    "Mountable",
    "Mountpoint",
    "NodeBoot",
    "NodeFile",
    "NodeScript",
    "NodeSettings",
    "NodeSetup",
    "OnError",
    "SlurmAccount",
    "SlurmQos",
    "SlurmUser",
    "SoftwareItem",
    "Stage",
    "Taint",
    "User",
    "Volume",
    "accounting_script",
    "alert_topic_parameter",
    "boot_guard",
    "boot_script",
    "bottlerocket_settings",
    "breaker_boot",
    "breaker_limit",
    "check_accounts",
    "check_label",
    "check_mount_path",
    "check_mount_points",
    "check_scripts",
    "check_user_name",
    "deep_check",
    "directory_boot",
    "drain_block_script",
    "efs_mount",
    "efs_volume",
    "eks_boot",
    "health_boot",
    "health_mode_parameter",
    "health_settings",
    "hyperpod_controller",
    "hyperpod_hooks",
    "hyperpod_kubernetes_setup",
    "hyperpod_parameter",
    "hyperpod_setup",
    "images_boot",
    "imds_boot",
    "in_place_files",
    "install_program",
    "jobs_boot",
    "jobs_parameter",
    "limited_script",
    "mount_boot",
    "nfs_mount",
    "node_logs",
    "node_scripts_archive",
    "node_scripts_boot",
    "node_scripts_parameter",
    "openzfs_mount",
    "openzfs_volume",
    "paths",
    "platform_script",
    "read_script",
    "repair_overrides",
    "replaced_path",
    "s3_files_mount",
    "s3_files_volume",
    "script_name",
    "script_slots",
    "seed_home_boot",
    "slurm_boot",
    "software_script",
    "system_boot",
    "tar",
    "users_boot",
    "users_path",
    "without_comments",
    "without_in_place_files",
]
