"""The cluster file: ten lines of YAML that describe a GPU cluster, read and checked. Pure Python: no CDK, no Node."""

from ultracluster.clusterfile.advice.file import Warning, warnings
from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.json_schema import schema
from ultracluster.clusterfile.loading import load, loads
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import ClusterFileError, Located

__all__ = [
    "ClusterFile",
    "ClusterFileError",
    "Located",
    "NodeGroup",
    "Warning",
    "load",
    "loads",
    "schema",
    "warnings",
]
