"""FSx for Lustre: file systems sized from a goal, data repository associations, checkpoints."""

from ultracluster.planning.lustre._associations import (
    ASSOCIATION,
    ASSOCIATION_FILE_SYSTEM,
    ASSOCIATION_LIMIT,
    ASSOCIATION_OVERLAP,
    BOTH_WAYS,
    EXPORTS_DELETIONS,
    UNVERSIONED,
    Association,
    association_warnings,
    bucket_problems,
    check_associations,
)
from ultracluster.planning.lustre._check import LUSTRE_BACKUPS, LUSTRE_SOLD, check_capacity, check_lustre
from ultracluster.planning.lustre._checkpoints import Checkpoint, CheckpointTimes, checkpoint_bytes, checkpoint_times
from ultracluster.planning.lustre._clients import LustreClients
from ultracluster.planning.lustre._goal import LustreGoal
from ultracluster.planning.lustre._kind import kind_of
from ultracluster.planning.lustre._offer import LustreOffer, lustre_offer
from ultracluster.planning.lustre._plan import LustrePlan, plan_lustre
from ultracluster.planning.lustre._release_tasks import RELEASE_TASK, check_release, task_path
from ultracluster.planning.lustre._schedules import SCHEDULE, check_schedule
from ultracluster.planning.lustre._spec import (
    DEPLOYMENT_TYPES,
    FILE_SYSTEM_ID,
    MAINTENANCE,
    MOUNT_NAME,
    STORAGE_TYPES,
    LustreOverrides,
    LustreSpec,
)
from ultracluster.planning.lustre._updates import update_problems

__all__ = [
    "ASSOCIATION",
    "ASSOCIATION_FILE_SYSTEM",
    "ASSOCIATION_LIMIT",
    "ASSOCIATION_OVERLAP",
    "BOTH_WAYS",
    "DEPLOYMENT_TYPES",
    "EXPORTS_DELETIONS",
    "FILE_SYSTEM_ID",
    "LUSTRE_BACKUPS",
    "LUSTRE_SOLD",
    "MAINTENANCE",
    "MOUNT_NAME",
    "RELEASE_TASK",
    "SCHEDULE",
    "STORAGE_TYPES",
    "UNVERSIONED",
    "Association",
    "Checkpoint",
    "CheckpointTimes",
    "LustreClients",
    "LustreGoal",
    "LustreOffer",
    "LustreOverrides",
    "LustrePlan",
    "LustreSpec",
    "association_warnings",
    "bucket_problems",
    "check_associations",
    "check_capacity",
    "check_lustre",
    "check_release",
    "check_schedule",
    "checkpoint_bytes",
    "checkpoint_times",
    "kind_of",
    "lustre_offer",
    "plan_lustre",
    "task_path",
    "update_problems",
]
