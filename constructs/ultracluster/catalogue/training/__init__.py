"""Facts about training: measured matrix multiplication, failures of nodes, scaling laws; each with source and date."""

from ultracluster.catalogue.training._failures import FAILURES_PER_1000_NODE_DAYS, RECOVERY_SECONDS
from ultracluster.catalogue.training._matmul import MATMUL
from ultracluster.catalogue.training._scaling_laws import CHINCHILLA, KAPLAN

__all__ = [
    "CHINCHILLA",
    "FAILURES_PER_1000_NODE_DAYS",
    "KAPLAN",
    "MATMUL",
    "RECOVERY_SECONDS",
]
