"""The cluster file: ten lines of YAML that describe a GPU cluster, read and checked. Pure Python: no CDK, no Node."""

from typing import TYPE_CHECKING

from ultracluster.startup import lazy, uncollected

with uncollected():
    from ultracluster.clusterfile import _keys
    from ultracluster.clusterfile._add_ons import BASE_ADD_ONS as BASE_ADD_ONS
    from ultracluster.clusterfile._add_ons import created_add_ons as created_add_ons
    from ultracluster.clusterfile._as_of import as_of as as_of
    from ultracluster.clusterfile._associations import exporting as exporting
    from ultracluster.clusterfile._associations import prefix as prefix
    from ultracluster.clusterfile._associations import shows_data_bucket as shows_data_bucket
    from ultracluster.clusterfile._cluster_file import ClusterFile as ClusterFile
    from ultracluster.clusterfile._compute_stacks import stacks_to_write as stacks_to_write
    from ultracluster.clusterfile._endpoints import endpoint_services as endpoint_services
    from ultracluster.clusterfile._loading import build as build
    from ultracluster.clusterfile._loading import load as load
    from ultracluster.clusterfile._loading import loads as loads
    from ultracluster.clusterfile._loading import locate as locate
    from ultracluster.clusterfile._loading import merged as merged
    from ultracluster.clusterfile._loading import rules as rules
    from ultracluster.clusterfile._loading import variant as variant
    from ultracluster.clusterfile._node_group import NodeGroup as NodeGroup
    from ultracluster.clusterfile._orchestrators import orchestrators as orchestrators
    from ultracluster.clusterfile._perimeter import perimeter_members as perimeter_members
    from ultracluster.clusterfile._problems import ClusterFileError as ClusterFileError
    from ultracluster.clusterfile._problems import Located as Located
    from ultracluster.clusterfile._problems import Path as Path
    from ultracluster.clusterfile._problems import Problem as Problem
    from ultracluster.clusterfile._quantities import Size as Size
    from ultracluster.clusterfile._quantities import Throughput as Throughput
    from ultracluster.clusterfile._quota_usage import hyperpod_usage as hyperpod_usage
    from ultracluster.clusterfile._quota_usage import root_volumes_tib as root_volumes_tib
    from ultracluster.clusterfile._required_software import required_software as required_software
    from ultracluster.clusterfile._scripts_of_file import node_script as node_script
    from ultracluster.clusterfile._scripts_of_file import resolve_files as resolve_files
    from ultracluster.clusterfile.sections._capacity import write_capacity as write_capacity
    from ultracluster.clusterfile.sections._directory import Directory as Directory
    from ultracluster.clusterfile.sections._image import ImageOption as ImageOption
    from ultracluster.clusterfile.sections._kubernetes import PublicAccess as PublicAccess
    from ultracluster.clusterfile.sections._observability import Grafana as Grafana
    from ultracluster.clusterfile.sections._placement import write_placement as write_placement
    from ultracluster.clusterfile.sections._slurm_words import ANYWHERE as ANYWHERE
    from ultracluster.clusterfile.sections._slurm_words import source_range as source_range

if TYPE_CHECKING:
    from ultracluster.clusterfile._json_schema import schema as schema
    from ultracluster.clusterfile._lustre import lustre_client as lustre_client
    from ultracluster.clusterfile.descriptions._description import Description as Description
    from ultracluster.clusterfile.descriptions._orchestrator import orchestrator_texts as orchestrator_texts
    from ultracluster.clusterfile.descriptions._parts import describe as describe
    from ultracluster.clusterfile.rules._kubernetes import KUBERNETES_CHART as KUBERNETES_CHART
    from ultracluster.clusterfile.rules._kubernetes import KUBERNETES_NAME as KUBERNETES_NAME
    from ultracluster.clusterfile.rules._kubernetes import KUBERNETES_PLATFORM as KUBERNETES_PLATFORM
    from ultracluster.clusterfile.rules._listing import facts_as_of as facts_as_of
    from ultracluster.clusterfile.rules._listing import warnings as warnings
    from ultracluster.clusterfile.rules._observability import ALERT_ROUTES as ALERT_ROUTES
    from ultracluster.clusterfile.rules._observability import ALERT_TUNING as ALERT_TUNING
    from ultracluster.clusterfile.rules._observability import RULE_FILES as RULE_FILES
    from ultracluster.clusterfile.rules._support import BLOCK_NOT_YET_SOLD as BLOCK_NOT_YET_SOLD

keys = _keys

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.
    __getattr__, __dir__ = lazy(
        __name__,
        globals(),
        {
            "_json_schema": ("schema",),
            "_lustre": ("lustre_client",),
            "descriptions._description": ("Description",),
            "descriptions._orchestrator": ("orchestrator_texts",),
            "descriptions._parts": ("describe",),
            "rules._kubernetes": ("KUBERNETES_CHART", "KUBERNETES_NAME", "KUBERNETES_PLATFORM"),
            "rules._listing": ("facts_as_of", "warnings"),
            "rules._observability": ("ALERT_ROUTES", "ALERT_TUNING", "RULE_FILES"),
            "rules._support": ("BLOCK_NOT_YET_SOLD",),
        },
    )
