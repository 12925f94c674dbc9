"""Base of Kubernetes clusters whose service creates something before the platform is applied, or after it."""

from collections.abc import Sequence

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from ultracluster.clusterfile import ClusterFile
from ultracluster.eks._add_ons import add_on_of_file
from ultracluster.orchestration import Output


class BeforePlatform(Construct):
    """Base of Kubernetes clusters: what their service creates before the platform and after it."""

    _cluster: ClusterFile
    _issuer_url: str
    _plane: eks.ICluster

    def create_before_platform(self, scope: Construct) -> list[IDependable]:
        """Create it in the scope of the platform, which is applied after it. By default, nothing."""
        return []

    def create_late_add_on(self, scope: Construct, name: str, outputs: Sequence[Output]) -> Construct:
        """Create an add-on whose pods run on nodes that join later than others, from the outputs of the deployment."""
        return add_on_of_file(scope, name, self._cluster, self._plane)
