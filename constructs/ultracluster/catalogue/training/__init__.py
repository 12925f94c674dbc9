"""Facts about training, with source and date: matrix multiplication, failures, published runs, scaling laws."""

from ultracluster.catalogue.training._failures import FAILURES_PER_1000_NODE_DAYS as FAILURES_PER_1000_NODE_DAYS
from ultracluster.catalogue.training._failures import RECOVERY_SECONDS as RECOVERY_SECONDS
from ultracluster.catalogue.training._matmul import MATMUL as MATMUL
from ultracluster.catalogue.training._runs import WORKLOAD_FIGURES as WORKLOAD_FIGURES
from ultracluster.catalogue.training._scaling_laws import CHINCHILLA as CHINCHILLA
from ultracluster.catalogue.training._scaling_laws import KAPLAN as KAPLAN
