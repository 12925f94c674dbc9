"""Plans of training and inference, failures, goodput and metric series by cluster size."""

from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._budget import budget_flops, compute_optimal
from ultracluster.planning.workload._failures import days_between_interruptions
from ultracluster.planning.workload._inference import plan_inference
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._rl import plan_rl
from ultracluster.planning.workload._series import SERIES_PER_NODE, series_at_most, series_limit
from ultracluster.planning.workload._sweep import Candidate, pareto, sweep
from ultracluster.planning.workload._training import plan_training

__all__ = [
    "SERIES_PER_NODE",
    "Assumptions",
    "Candidate",
    "Layout",
    "Model",
    "budget_flops",
    "compute_optimal",
    "days_between_interruptions",
    "pareto",
    "plan_inference",
    "plan_rl",
    "plan_training",
    "series_at_most",
    "series_limit",
    "sweep",
]
