"""Facts about training, with source and date: matrix multiplication, failures, published runs, scaling laws."""

from ultracluster.catalogue.training._failures import FAILURES_PER_1000_NODE_DAYS, RECOVERY_SECONDS
from ultracluster.catalogue.training._matmul import MATMUL
from ultracluster.catalogue.training._runs import WORKLOAD_FIGURES
from ultracluster.catalogue.training._scaling_laws import CHINCHILLA, KAPLAN

__all__ = [
    "CHINCHILLA",
    "FAILURES_PER_1000_NODE_DAYS",
    "KAPLAN",
    "MATMUL",
    "RECOVERY_SECONDS",
    "WORKLOAD_FIGURES",
]
