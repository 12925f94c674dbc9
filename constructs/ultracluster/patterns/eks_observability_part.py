"""Metrics of a Kubernetes cluster: the same as of any other, and the role of its collectors."""

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.metrics.objects import NAMESPACE, SERVICE_ACCOUNT
from ultracluster.orchestration import pod_role
from ultracluster.patterns.eks_part import Kubernetes
from ultracluster.patterns.network_part import Network
from ultracluster.patterns.observability_part import Observability, observability
from ultracluster.patterns.storage_part import Storage


def kubernetes_observability(
    scope: Construct, cluster: ClusterFile, network: Network, storage: Storage, plane: Kubernetes
) -> Observability | None:
    """All that the file asks for; None when it asks for nothing. The collectors are objects, which are rendered.

    Args:
        scope: Where it belongs.
        cluster: The file.
        network: Where a server of Grafana stands.
        storage: What has alarms.
        plane: The control plane, whose pods take the role.
    """
    if not cluster.observability.on:
        return None
    # Not the nodes' role, which every pod of a node that reaches the metadata service would have.
    role = pod_role(scope, "CollectorsRole")
    eks.CfnPodIdentityAssociation(
        scope,
        "Collectors",
        cluster_name=plane.cluster.cluster_name,
        namespace=NAMESPACE,
        service_account=SERVICE_ACCOUNT,
        role_arn=role.role_arn,
    )
    return observability(scope, cluster, network, storage, nodes=[role])
