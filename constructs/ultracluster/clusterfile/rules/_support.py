"""Warnings about versions whose support ends."""

from collections.abc import Iterator
from datetime import date

from ultracluster.catalogue.schedulers import eks, pcs
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.rules._rule import Rule, warning
from ultracluster.clusterfile.sections._slurm import Slurm

_SLURM = warning("slurm-version-support", "A version of Slurm that AWS PCS stops supporting soon, or has stopped.")
_KUBERNETES = warning("kubernetes-version-support", "A version in extended support, which costs more by the hour.")
#: Rules that depend on the day.
SUPPORT_RULES = (_SLURM, _KUBERNETES)


def warn_support(cluster: ClusterFile, today: date | None = None) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings.

    Args:
        cluster: The cluster file.
        today: Day to compare with. Default: the day on which the dates were read.
    """
    section = cluster.control_plane
    if isinstance(section, Slurm):
        message, rule = pcs.support_warning(section.version, today or pcs.READ_ON), _SLURM
    else:
        message, rule = eks.version_advice(section.version, today or eks.READ_ON), _KUBERNETES
    if message is not None:
        yield rule, message
