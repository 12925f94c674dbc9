"""Mounts of a Slurm node: setup at boot, checks, and a drain if a mount is broken."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ultracluster.boot._mounts import Mount
from ultracluster.boot._nfs_boot import NFS_CLIENT_UNIT, nfs_client_boot
from ultracluster.boot._node_files import (
    AFTER_NETWORK,
    PROGRAM,
    NodeBoot,
    NodeFile,
    mount_unit,
    oneshot,
    program,
    slurmd_drop_in,
    timer,
    unit_file,
)
from ultracluster.boot._scratch import SCRATCH_UNIT
from ultracluster.catalogue.ec2 import InstanceType, interfaces
from ultracluster.planning import check_fields
from ultracluster.planning.nodes import BUNDLE_URL, MOUNT, MOUNT_PATH, SHA256, LustreEfa
from ultracluster.rules import ARGUMENT, Refusal, error, shared

#: The unit that sets EFA up for Lustre: what `Mount.after` names for an EFA-enabled file system.
LUSTRE_EFA_UNIT = "ultracluster-lustre-efa.service"
_CHECK = "ultracluster-mount-check"
_DRAIN_UNIT = "ultracluster-drain.service"
# "For client instance types with more than 64 vCPU cores":
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-tips.html (read 2026-11-21)
_MANY_VCPUS = 64
#: More than any type has; two digits, as the script takes them.
MOST_EFA_INTERFACES = 99
_BUNDLE = error("lustre-efa-bundle", "AWS's tool for Lustre over EFA comes from an address with a checksum.")
_INTERFACES = shared("lustre-efa-interfaces")
_MODULE_OPTIONS = "options ptlrpc ptlrpcd_per_cpt_max=32\noptions ksocklnd credits=2560\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class EfaBundle:
    """AWS's `configure-efa-fsx-lustre-client.zip`, at an immutable location.

    Args:
        url: URL: `https://` or `s3://`. The node reads an `s3://` one with its own role and the AWS CLI.
        sha256: Its checksum, 64 hexadecimal digits. A zip with another one is never run.

    Raises:
        ValueError: If the URL or the checksum is not valid.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html (read 2026-11-21)
    """

    url: str
    sha256: str

    def __post_init__(self) -> None:
        """Validate both."""
        check_fields(self)
        problems = []
        if not re.fullmatch(BUNDLE_URL, self.url):
            problems.append(f"url must be an https:// or s3:// address of plain characters, got {self.url!r}")
        if not re.fullmatch(SHA256, self.sha256):
            problems.append(f"sha256 must be 64 hexadecimal digits in lower case, got {self.sha256!r}")
        if problems:
            raise Refusal("", map(_BUNDLE, problems))


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreClient:
    """Client settings of nodes for EFA-enabled Lustre file systems.

    Args:
        efa_interfaces: Maximum EFA interfaces of a node; each is one of the 1,024 connections of a file system.
            Default: as many as AWS's tool takes for the type.
        gpudirect_storage: Set up GPUDirect Storage on nodes whose type supports it. The image must
            include the driver nvidia-fs, and the node then uses all EFA interfaces. By default, off.
        bundle: Source of AWS's tool for nodes whose image lacks it. By default, the image has it, in
            `/opt/ultracluster/configure-efa-fsx-lustre-client`, or where EKS's images have it, or as its own unit.
        efa: `preferred`: a node on which EFA cannot be set up mounts over TCP, and an alert fires. `required`: it is
            drained. Default: `preferred`.

    Raises:
        ValueError: If `efa_interfaces` is not from 1 to 99.
    """

    efa_interfaces: int | None = None
    gpudirect_storage: bool = False
    bundle: EfaBundle | None = None
    efa: LustreEfa = "preferred"

    def __post_init__(self) -> None:
        """Validate the number."""
        check_fields(self)
        most = MOST_EFA_INTERFACES
        if self.efa_interfaces is not None and not 1 <= self.efa_interfaces <= most:
            message = f"efa_interfaces must be 1 to {most}, got {self.efa_interfaces}; AWS's number: leave it out"
            raise Refusal("", _INTERFACES(message))

    def connections(self, instance_type: InstanceType) -> int:
        """Return the share of a file system's 1,024 EFA connections that a node takes, or 0 over TCP.

        See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html#add-efa-interfaces; that
        GPUDirect Storage takes all interfaces according to the tool itself (`filter_efa_gds`; both read 2026-11-21)
        """
        most = self._most(instance_type)
        return most if self.efa_interfaces is None else min(most, self.efa_interfaces)

    def _most(self, instance_type: InstanceType) -> int:
        """Return the EFA interfaces that AWS's tool uses."""
        required = instance_type.lustre_efa_interfaces or 0
        if required and self._gpudirect_storage(instance_type):
            required = instance_type.max_efa
        return (
            min(required, sum(interface.kind in ("efa", "efa-only") for interface in interfaces(instance_type)))
            if required
            else 0
        )

    def _gpudirect_storage(self, instance_type: InstanceType) -> bool:
        return self.gpudirect_storage and instance_type.gpudirect_storage is True

    def boot(self, instance_type: InstanceType, *, before: str | None = None) -> NodeBoot:
        """Return the files and the unit that set up EFA for the Lustre client, for nodes that mount later.

        Args:
            instance_type: Type of the nodes.
            before: Unit that starts what mounts Lustre, at each boot. Default: mounts name the unit that they follow.
        """
        command = [f"{PROGRAM}lustre-efa", "--gds", "yes" if self._gpudirect_storage(instance_type) else "no"]
        if self.connections(instance_type) < self._most(instance_type):
            command += ["--interfaces", str(self.connections(instance_type))]
        if self.bundle is not None:
            command += ["--bundle", self.bundle.url, "--sha256", self.bundle.sha256]
        if self.efa == "required":
            command += ["--required", "yes"]
        # The unit of AWS's own is there in images that brought it.
        wants, after = AFTER_NETWORK
        unit = oneshot(
            "EFA for the Lustre client",
            unit=(wants, f"{after} configure-efa-fsx-lustre-client.service", *([f"Before={before}"] if before else ())),
            service=("RemainAfterExit=yes", f"ExecStart={' '.join(command)}", "TimeoutStartSec=15min"),
        )
        files = (program("lustre-efa", comments=False), unit_file(LUSTRE_EFA_UNIT, unit))
        return NodeBoot(files=files, units=(LUSTRE_EFA_UNIT,))


def slurm_boot(instance_type: InstanceType, mounts: Sequence[Mount], *, lustre: LustreClient | None = None) -> NodeBoot:
    """Return the files and units that mount, tune and check a Slurm node, and drain it if a mount is broken.

    Whether EFA is set up follows from the mounts: those of EFA-enabled file systems come after `LUSTRE_EFA_UNIT`. On a
    type that Lustre cannot use EFA on (a login node) the same mounts run over TCP, and that is no failure. In the same
    way those over NFS come after `NFS_CLIENT_UNIT`.

    Args:
        instance_type: Type of the node.
        mounts: Mounts, as for `boot_script`.
        lustre: Client settings for EFA-enabled file systems. By default, AWS's tool is in the image, no GPUDirect
            Storage.

    Raises:
        ValueError: If a mount's path or type has special characters: the check reads them from a list.
    """
    problems = [
        MOUNT_PATH(f"mount path {mount.path!r} must be directories of letters, digits, dots, hyphens and underscores")
        for mount in mounts
        if not MOUNT.fullmatch(mount.path)
    ]
    problems += [
        ARGUMENT(f"mount type {mount.type!r} must be of letters, digits, dots, hyphens and underscores")
        for mount in mounts
        if not re.fullmatch(r"[\w.-]+", mount.type, re.ASCII)
    ]
    if problems:
        raise Refusal("", problems)
    client = lustre or LustreClient()
    clients = mount_boot(instance_type, mounts, lustre=client)
    files, units = [*clients.files], [*clients.units]
    required = "required" if client.efa == "required" else "yes"
    files += _check_files(mounts, efa=required if client.connections(instance_type) else "no")
    units += [f"{_CHECK}.service", f"{_CHECK}.timer"]
    if on_lustre := [mount_unit(mount.path) for mount in mounts if mount.type == "lustre"]:
        files += [program("lustre-tuning", comments=False), unit_file("ultracluster-lustre-tuning@.service", _TUNING)]
        units += [f"ultracluster-lustre-tuning@{name.removesuffix('.mount')}.service" for name in on_lustre]
        if instance_type.vcpus > _MANY_VCPUS:
            files.append(NodeFile(path="/etc/modprobe.d/ultracluster-lustre.conf", text=_MODULE_OPTIONS))
    return NodeBoot(files=tuple(files), units=tuple(units))


def mount_boot(instance_type: InstanceType, mounts: Sequence[Mount], *, lustre: LustreClient) -> NodeBoot:
    """Return the files and units of the clients that mounts need: EFA for Lustre, and NFS."""
    boots: list[NodeBoot] = []
    if any(LUSTRE_EFA_UNIT in mount.after for mount in mounts):
        boots.append(lustre.boot(instance_type))
    if any(NFS_CLIENT_UNIT in mount.after for mount in mounts):
        boots.append(nfs_client_boot())
    return NodeBoot(
        files=tuple(file for boot in boots for file in boot.files),
        units=tuple(unit for boot in boots for unit in boot.units),
    )


def exports_boot(directories: Iterable[tuple[str, str]]) -> NodeBoot:
    """Return the list of directories that the check of the mounts opens for all users.

    Nodes fetch it: an association that is added later replaces none.

    Args:
        directories: Mount point of each directory, and its path from there.
    """
    lines = "".join(f"{mount} {directory}\n" for mount, directory in directories)
    file = NodeFile(path="/etc/ultracluster/exports", text=lines, in_place=True)
    return NodeBoot(files=(file,) if lines else (), units=())


def _check_files(mounts: Sequence[Mount], *, efa: str) -> list[NodeFile]:
    lines = [f"{mount.path} {mount.type} {efa if LUSTRE_EFA_UNIT in mount.after else 'no'}\n" for mount in mounts]
    return [
        program("mount-check", comments=False),
        program("drain-on-failure", comments=False),
        NodeFile(path="/etc/ultracluster/mounts", text="".join(lines)),
        unit_file(f"{_CHECK}.service", _CHECK_SERVICE),
        unit_file(f"{_CHECK}.timer", _CHECK_TIMER),
        unit_file(_DRAIN_UNIT, _DRAIN),
        *slurmd_drop_in("ultracluster", _SLURMD),
        unit_file("mount.d/ultracluster.conf", _NO_START_LIMIT),
    ]


# KillMode: a process that waits for a file system that does not answer cannot be killed, and systemd would wait for it.
_CHECK_SERVICE = oneshot(
    "Check of the mounts",
    unit=(
        "Wants=network-online.target",
        f"After=network-online.target remote-fs.target {LUSTRE_EFA_UNIT} {NFS_CLIENT_UNIT}",
    ),
    service=(
        f"ExecStart=-{PROGRAM}mount-check",
        f"ExecStart={PROGRAM}drain-on-failure",
        # A check failed, and the breaker holds the drain back.
        "SuccessExitStatus=3",
        "KillMode=process",
        "TimeoutStartSec=10min",
    ),
)

_CHECK_TIMER = timer(
    "Check of the mounts, every minute", "OnActiveSec=1min", "OnUnitInactiveSec=1min", "AccuracySec=1s"
)

# The settings go with the mount, and are restored with each mount.
_TUNING = oneshot(
    "Tuning of the Lustre client for %i.mount",
    unit=("BindsTo=%i.mount", "After=%i.mount"),
    service=("RemainAfterExit=yes", f"ExecStart={PROGRAM}lustre-tuning"),
    wanted_by="%i.mount",
)

# Of devices as well, where the node has their check: what fails at boot does not pass by itself.
_DRAIN = oneshot(
    "Drain of the node if a check has failed",
    service=(f"ExecStart={PROGRAM}drain-on-failure --now devices", "SuccessExitStatus=3", "TimeoutStartSec=5min"),
)

# slurmd runs the check at each start. A node whose mounts are broken starts all the same, so
# that Slurm shows why it takes no jobs; it is drained as soon as slurmd runs. The start does not wait for the drain:
# with a slow controller it takes minutes, and systemd stops a service whose ExecStartPost takes 90 s, whatever its exit
# code: https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html (read 2026-11-27).
#
# The limits are those that jobs with --propagate=NONE have, as in Slurm's own unit: EFA registers the memory of a job,
# https://github.com/SchedMD/slurm, etc/slurmd.service.in (read 2026-11-27).
_SLURMD = f"""\
[Unit]
Wants={_CHECK}.service {SCRATCH_UNIT}
After={_CHECK}.service {SCRATCH_UNIT}

[Service]
LimitMEMLOCK=infinity
LimitNOFILE=131072
ExecStartPost=-/usr/bin/systemctl start --no-block {_DRAIN_UNIT}
"""

# systemd ends an automount for good if its mount fails five times within ten seconds, which as many lookups below
# /home do while the file server does not answer: https://github.com/systemd/systemd/issues/16811. A drop-in of mount.d
# is for all mounts: https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html (read 2026-11-27).
_NO_START_LIMIT = "[Unit]\nStartLimitIntervalSec=0\n"
