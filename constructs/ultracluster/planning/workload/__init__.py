"""Plans of training and inference, failures, goodput and metric series by cluster size."""

from typing import TYPE_CHECKING

from ultracluster.planning.workload._series import SCRAPE_INTERVAL_S as SCRAPE_INTERVAL_S
from ultracluster.planning.workload._series import SERIES_PER_NODE as SERIES_PER_NODE
from ultracluster.planning.workload._series import Use as Use
from ultracluster.planning.workload._series import alerts_use as alerts_use
from ultracluster.planning.workload._series import quota_request as quota_request
from ultracluster.planning.workload._series import rules_use as rules_use
from ultracluster.planning.workload._series import series_at_most as series_at_most
from ultracluster.planning.workload._series import series_limit as series_limit
from ultracluster.planning.workload._series import uses as uses
from ultracluster.startup import lazy

if TYPE_CHECKING:
    from ultracluster.planning.workload._assumptions import Assumptions as Assumptions
    from ultracluster.planning.workload._budget import budget_flops as budget_flops
    from ultracluster.planning.workload._budget import compute_optimal as compute_optimal
    from ultracluster.planning.workload._failures import checkpoint_seconds as checkpoint_seconds
    from ultracluster.planning.workload._failures import days_between_interruptions as days_between_interruptions
    from ultracluster.planning.workload._inference import plan_inference as plan_inference
    from ultracluster.planning.workload._layout import Layout as Layout
    from ultracluster.planning.workload._model import Model as Model
    from ultracluster.planning.workload._rl import plan_rl as plan_rl
    from ultracluster.planning.workload._serving import replica_fits as replica_fits
    from ultracluster.planning.workload._sweep import Candidate as Candidate
    from ultracluster.planning.workload._sweep import pareto as pareto
    from ultracluster.planning.workload._sweep import sweep as sweep
    from ultracluster.planning.workload._training import plan_training as plan_training

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.
    # A cluster file needs the series alone.
    __getattr__, __dir__ = lazy(
        __name__,
        globals(),
        {
            "_assumptions": ("Assumptions",),
            "_budget": ("budget_flops", "compute_optimal"),
            "_failures": ("checkpoint_seconds", "days_between_interruptions"),
            "_inference": ("plan_inference",),
            "_layout": ("Layout",),
            "_model": ("Model",),
            "_rl": ("plan_rl",),
            "_serving": ("replica_fits",),
            "_sweep": ("Candidate", "pareto", "sweep"),
            "_training": ("plan_training",),
        },
    )
