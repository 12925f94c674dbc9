"""Configuration of AWS ParallelCluster from a cluster file, and the list of what it cannot carry over. Pure Python."""

from ultracluster.parallelcluster._export import parallelcluster_configuration as parallelcluster_configuration
