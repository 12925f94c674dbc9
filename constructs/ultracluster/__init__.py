"""AWS CDK constructs for foundation-model GPU clusters.

This module imports no package with dependencies, so that `ultracluster.catalogue`, `ultracluster.planning` and
`ultracluster.clusterfile` load in milliseconds and start no Node process. Import the part that you need:
`from ultracluster import compute, network, storage`.

It is above all floors, and every import of a package runs it first. So it registers the checks of a cluster file that
packages above `clusterfile` have, and `clusterfile.load` applies them whatever else is imported.
"""

from ultracluster.rules import FileCheck, add_file_checks

__version__ = "0.1.0"


def _checks() -> tuple[FileCheck, ...]:
    from ultracluster import kubernetes, monitoring

    return kubernetes.file_problems, monitoring.file_problems


add_file_checks(_checks)
