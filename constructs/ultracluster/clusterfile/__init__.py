"""The cluster file: ten lines of YAML that describe a GPU cluster, read and checked. Pure Python: no CDK, no Node."""

from ultracluster.clusterfile import _keys as keys
from ultracluster.clusterfile._add_ons import BASE_ADD_ONS, created_add_ons
from ultracluster.clusterfile._as_of import as_of
from ultracluster.clusterfile._associations import prefix, shows_data_bucket
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._json_schema import schema
from ultracluster.clusterfile._loading import build, load, loads, locate, variant
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._node_scripts import node_script, resolve_scripts
from ultracluster.clusterfile._orchestrators import orchestrators
from ultracluster.clusterfile._perimeter import perimeter_members
from ultracluster.clusterfile._problems import ClusterFileError, Located, Path, Problem
from ultracluster.clusterfile._quantities import Size, Throughput
from ultracluster.clusterfile.descriptions._description import Description
from ultracluster.clusterfile.descriptions._orchestrator import orchestrator_texts
from ultracluster.clusterfile.descriptions._parts import describe
from ultracluster.clusterfile.rules._kubernetes import KUBERNETES_CHART, KUBERNETES_NAME, KUBERNETES_PLATFORM
from ultracluster.clusterfile.rules._listing import facts_as_of, rules, warnings
from ultracluster.clusterfile.rules._observability import ALERT_ROUTES, ALERT_TUNING, RULE_FILES
from ultracluster.clusterfile.sections._capacity import write_capacity
from ultracluster.clusterfile.sections._directory import Directory
from ultracluster.clusterfile.sections._image import ImageOption
from ultracluster.clusterfile.sections._kubernetes import PublicAccess
from ultracluster.clusterfile.sections._observability import Grafana
from ultracluster.clusterfile.sections._placement import write_placement
from ultracluster.clusterfile.sections._slurm_words import ANYWHERE, source_range

__all__ = [
    "ALERT_ROUTES",
    "ALERT_TUNING",
    "ANYWHERE",
    "BASE_ADD_ONS",
    "KUBERNETES_CHART",
    "KUBERNETES_NAME",
    "KUBERNETES_PLATFORM",
    "RULE_FILES",
    "ClusterFile",
    "ClusterFileError",
    "Description",
    "Directory",
    "Grafana",
    "ImageOption",
    "Located",
    "NodeGroup",
    "Path",
    "Problem",
    "PublicAccess",
    "Size",
    "Throughput",
    "as_of",
    "build",
    "created_add_ons",
    "describe",
    "facts_as_of",
    "keys",
    "load",
    "loads",
    "locate",
    "node_script",
    "orchestrator_texts",
    "orchestrators",
    "perimeter_members",
    "prefix",
    "resolve_scripts",
    "rules",
    "schema",
    "shows_data_bucket",
    "source_range",
    "variant",
    "warnings",
    "write_capacity",
    "write_placement",
]
