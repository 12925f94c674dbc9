"""Age of the facts that the rules of a cluster file use."""

from datetime import date

from ultracluster.catalogue import AS_OF
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import KUBERNETES


def facts_as_of(cluster: ClusterFile) -> dict[str, date]:
    """Return the day on which the facts of each topic that a cluster uses were read, the oldest first."""
    used = {
        "ec2": True,
        "eks": cluster.orchestrator == KUBERNETES,
        "pcs": cluster.orchestrator != KUBERNETES,
        "lustre": cluster.storage.lustre is not None,
        "openzfs": cluster.storage.home is not None,
        "monitoring": cluster.observability.on,
    }
    return dict(sorted(((topic, AS_OF[topic]) for topic, is_used in used.items() if is_used), key=lambda pair: pair[1]))
