"""Warnings about a cluster file, and the list of all rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from operator import itemgetter

from ultracluster.catalogue import AS_OF
from ultracluster.catalogue.ec2 import REGIONS
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.rules import _file, _reading
from ultracluster.clusterfile.rules._associations import warn_associations
from ultracluster.clusterfile.rules._capacity import warn_capacity, warn_slurm_capacity
from ultracluster.clusterfile.rules._capacity_times import warn_times
from ultracluster.clusterfile.rules._home import warn_home
from ultracluster.clusterfile.rules._hyperpod import warn_hyperpod
from ultracluster.clusterfile.rules._hyperpod_kubernetes import warn_hyperpod_kubernetes
from ultracluster.clusterfile.rules._images import warn_images
from ultracluster.clusterfile.rules._kubernetes import warn_kubernetes
from ultracluster.clusterfile.rules._kubernetes_nodes import (
    warn_kubectl,
    warn_quotas,
    warn_releases,
    warn_update_time,
    warn_waiting,
)
from ultracluster.clusterfile.rules._lustre import warn_lustre
from ultracluster.clusterfile.rules._lustre_client import warn_efa
from ultracluster.clusterfile.rules._network import warn_network
from ultracluster.clusterfile.rules._nodes import warn_nodes
from ultracluster.clusterfile.rules._observability import warn_observability
from ultracluster.clusterfile.rules._rule import Rule, warning
from ultracluster.clusterfile.rules._rule import rules as registered
from ultracluster.clusterfile.rules._s3 import warn_bucket
from ultracluster.clusterfile.rules._slurm import warn_slurm
from ultracluster.clusterfile.rules._support import SUPPORT_RULES, warn_blocks, warn_support

# Importing a module registers its rules.
_MODULES = (_file, _reading)
_ACCEPT_UNUSED = warning("accept-unused", "The file accepts a rule that it does not break any more.")
_UNKNOWN_REGION = warning("unknown-region", "A Region that is not in this release; its zones are not checked.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Warning:
    """A warning before a deployment.

    Args:
        id: `ultracluster:` and the id of the rule; never changes.
        message: What it is, and what to do.
        accepted: The reason that the file gives in `accept`, or None.
    """

    id: str
    message: str
    accepted: str | None = None

    @property
    def rule(self) -> str:
        """Id of the rule, as `accept` names it."""
        return self.id.removeprefix("ultracluster:")


def warnings(cluster: ClusterFile, today: date | None = None) -> list[Warning]:
    """Return the warnings about a cluster file, and the errors that it accepts.

    Args:
        cluster: The cluster file.
        today: Day that the ends of support are compared with. Default: the day on which they were read, so that a
            synthesis does not depend on the clock.
    """
    messages = [
        *((problem.rule, problem.message) for problem in cluster.accepted),
        *((rule.id, message) for rule, message in _warnings(cluster, today)),
    ]
    # Whether support ends soon depends on the day, so neither rule is ever unused.
    used = {_ACCEPT_UNUSED.id, *(id for id, _ in messages), *(rule.id for rule in SUPPORT_RULES)}
    unused = [id for id in cluster.accept if id not in used]
    if unused:
        messages.append(
            (_ACCEPT_UNUSED.id, f"accept names {', '.join(unused)}, which this file does not break; remove them")
        )
    return [
        Warning(id=f"ultracluster:{id}", message=message, accepted=cluster.accept.get(id)) for id, message in messages
    ]


def rules() -> list[Rule]:
    """Return all rules of a cluster file, in the order of their ids."""
    return list(registered().values())


def facts_as_of(cluster: ClusterFile) -> dict[str, date]:
    """Return the day on which the facts of each topic that a cluster uses were read, the oldest first."""
    topics = {
        "ec2": True,
        cluster.traits.facts: True,
        "lustre": cluster.storage.lustre is not None,
        "openzfs": cluster.home_size is not None,
        "monitoring": cluster.observability.on,
    }
    return dict(sorted(((topic, AS_OF[topic]) for topic, is_used in topics.items() if is_used), key=itemgetter(1)))


def _warnings(cluster: ClusterFile, today: date | None) -> Iterator[tuple[Rule, str]]:
    if cluster.region not in REGIONS.values():
        yield (
            _UNKNOWN_REGION,
            f"{cluster.region} is not a Region in this release, so its zones are not checked; check the spelling",
        )
    for warn in (*_WARNINGS, *_WARNINGS_OF[cluster.traits.name]):
        yield from warn(cluster)
    yield from warn_support(cluster, today)
    yield from warn_blocks(cluster, today)


_WARNINGS = (
    *(warn_capacity, warn_times, warn_network, warn_bucket, warn_lustre, warn_home, warn_associations, warn_efa),
    *(warn_observability, warn_nodes, warn_images),
)
# Of one orchestrator, by its name.
_WARNINGS_OF = {
    "slurm": (warn_slurm_capacity, warn_slurm),
    "kubernetes": (warn_kubernetes, warn_waiting, warn_quotas, warn_update_time, warn_releases, warn_kubectl),
    "hyperpod-slurm": (warn_hyperpod,),
    "hyperpod-kubernetes": (warn_kubernetes, warn_kubectl, warn_hyperpod, warn_hyperpod_kubernetes),
}
