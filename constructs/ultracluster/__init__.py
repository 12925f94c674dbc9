"""AWS CDK constructs for foundation-model GPU clusters.

This module imports no package with dependencies, so that `ultracluster.catalogue`, `ultracluster.planning` and
`ultracluster.clusterfile` load in milliseconds and start no Node process. Import the part that you need:
`from ultracluster import compute, network, storage`.

It is above all floors, and every import of a package runs it first. So it registers the checks of a cluster file that
packages above `clusterfile` have, and `clusterfile.load` applies them whatever else is imported.
"""

from collections.abc import Iterable
from typing import Any

from ultracluster.rules import FileCheck, add_file_checks

__version__ = "0.1.0"


def _checks(cluster: Any) -> Iterable[FileCheck]:
    if cluster.traits.has_platform:
        from ultracluster import kubernetes

        yield from (kubernetes.check_teams, kubernetes.check_platform)
    section = cluster.observability
    if section.alerts.model_fields_set or section.rules or section.routes:
        from ultracluster import monitoring

        yield from (monitoring.check_tuning, monitoring.check_rule_files, monitoring.check_routes)


add_file_checks(_checks)
