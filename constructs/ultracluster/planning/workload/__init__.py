"""Plans of training and inference, failures, goodput and metric series by cluster size."""

from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._failures import SOURCE, days_between_interruptions
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._machine import Machine, Precision, machine_of
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._series import SERIES_PER_NODE, series_at_most, series_limit
from ultracluster.planning.workload._step import step_time
from ultracluster.planning.workload._training import plan_training

__all__ = [
    "SERIES_PER_NODE",
    "SOURCE",
    "Assumptions",
    "Layout",
    "Machine",
    "Model",
    "Precision",
    "days_between_interruptions",
    "machine_of",
    "plan_training",
    "series_at_most",
    "series_limit",
    "step_time",
]
