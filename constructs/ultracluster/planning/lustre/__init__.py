"""FSx for Lustre: file systems sized from a goal, data repository associations, checkpoints."""

from typing import TYPE_CHECKING

from ultracluster.planning.lustre._associations import ASSOCIATION as ASSOCIATION
from ultracluster.planning.lustre._associations import ASSOCIATION_FILE_SYSTEM as ASSOCIATION_FILE_SYSTEM
from ultracluster.planning.lustre._associations import ASSOCIATION_LIMIT as ASSOCIATION_LIMIT
from ultracluster.planning.lustre._associations import ASSOCIATION_OVERLAP as ASSOCIATION_OVERLAP
from ultracluster.planning.lustre._associations import BOTH_WAYS as BOTH_WAYS
from ultracluster.planning.lustre._associations import EXPORTS_DELETIONS as EXPORTS_DELETIONS
from ultracluster.planning.lustre._associations import UNVERSIONED as UNVERSIONED
from ultracluster.planning.lustre._associations import Association as Association
from ultracluster.planning.lustre._associations import association_warnings as association_warnings
from ultracluster.planning.lustre._associations import bucket_problems as bucket_problems
from ultracluster.planning.lustre._associations import check_associations as check_associations
from ultracluster.planning.lustre._schedules import SCHEDULE as SCHEDULE
from ultracluster.planning.lustre._schedules import check_schedule as check_schedule
from ultracluster.planning.lustre._types import DEPLOYMENT_TYPES as DEPLOYMENT_TYPES
from ultracluster.planning.lustre._types import STORAGE_TYPES as STORAGE_TYPES
from ultracluster.startup import lazy

if TYPE_CHECKING:
    from ultracluster.planning.lustre._check import LUSTRE_BACKUPS as LUSTRE_BACKUPS
    from ultracluster.planning.lustre._check import LUSTRE_SOLD as LUSTRE_SOLD
    from ultracluster.planning.lustre._check import check_capacity as check_capacity
    from ultracluster.planning.lustre._check import check_lustre as check_lustre
    from ultracluster.planning.lustre._checkpoints import CHECKPOINTS_KEPT as CHECKPOINTS_KEPT
    from ultracluster.planning.lustre._checkpoints import Checkpoint as Checkpoint
    from ultracluster.planning.lustre._checkpoints import CheckpointTimes as CheckpointTimes
    from ultracluster.planning.lustre._checkpoints import checkpoint_bytes as checkpoint_bytes
    from ultracluster.planning.lustre._checkpoints import checkpoint_times as checkpoint_times
    from ultracluster.planning.lustre._clients import LustreClients as LustreClients
    from ultracluster.planning.lustre._goal import LustreGoal as LustreGoal
    from ultracluster.planning.lustre._kind import kind_of as kind_of
    from ultracluster.planning.lustre._offer import LustreOffer as LustreOffer
    from ultracluster.planning.lustre._offer import lustre_offer as lustre_offer
    from ultracluster.planning.lustre._plan import LustrePlan as LustrePlan
    from ultracluster.planning.lustre._plan import needs_efa as needs_efa
    from ultracluster.planning.lustre._plan import plan_lustre as plan_lustre
    from ultracluster.planning.lustre._release_tasks import LEAST_RELEASE_DAYS as LEAST_RELEASE_DAYS
    from ultracluster.planning.lustre._release_tasks import RELEASE_TASK as RELEASE_TASK
    from ultracluster.planning.lustre._release_tasks import check_release as check_release
    from ultracluster.planning.lustre._release_tasks import task_path as task_path
    from ultracluster.planning.lustre._spec import LustreOverrides as LustreOverrides
    from ultracluster.planning.lustre._spec import LustreSpec as LustreSpec
    from ultracluster.planning.lustre._updates import update_effects as update_effects
    from ultracluster.planning.lustre._updates import update_problems as update_problems

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.
    __getattr__, __dir__ = lazy(
        __name__,
        globals(),
        {
            "_check": ("LUSTRE_BACKUPS", "LUSTRE_SOLD", "check_capacity", "check_lustre"),
            "_checkpoints": (
                "CHECKPOINTS_KEPT",
                "Checkpoint",
                "CheckpointTimes",
                "checkpoint_bytes",
                "checkpoint_times",
            ),
            "_clients": ("LustreClients",),
            "_goal": ("LustreGoal",),
            "_kind": ("kind_of",),
            "_offer": ("LustreOffer", "lustre_offer"),
            "_plan": ("LustrePlan", "needs_efa", "plan_lustre"),
            "_release_tasks": ("LEAST_RELEASE_DAYS", "RELEASE_TASK", "check_release", "task_path"),
            "_spec": ("LustreOverrides", "LustreSpec"),
            "_updates": ("update_effects", "update_problems"),
        },
    )
