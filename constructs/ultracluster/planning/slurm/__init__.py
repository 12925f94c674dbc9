"""Settings and queues that AWS PCS accepts."""

from ultracluster.planning.slurm._settings import METRICS_SETTINGS as METRICS_SETTINGS
from ultracluster.planning.slurm._settings import METRICS_SINCE as METRICS_SINCE
from ultracluster.planning.slurm._settings import check_gres as check_gres
from ultracluster.planning.slurm._settings import check_settings as check_settings
from ultracluster.planning.slurm._settings import unknown_settings as unknown_settings
from ultracluster.planning.slurm._shared_queues import QueueMember as QueueMember
from ultracluster.planning.slurm._shared_queues import check_shared_queue as check_shared_queue
