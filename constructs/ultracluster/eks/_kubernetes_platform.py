"""Platform of a cluster file, applied by an admin host, a pipeline or Argo CD."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib import resources
from typing import TYPE_CHECKING, Any

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster import platform as engine
from ultracluster.clusterfile import ClusterFile, NodeGroup, exporting
from ultracluster.eks._add_ons import late_add_ons
from ultracluster.eks._admin_host import EksAdminHost
from ultracluster.eks._argo_cd import EksArgoCd
from ultracluster.eks._kubernetes_cluster import KubernetesCluster
from ultracluster.eks._platform import EksPlatform
from ultracluster.kubernetes import registry_of
from ultracluster.network import Network
from ultracluster.orchestration import Output
from ultracluster.planning import checked
from ultracluster.planning.capacity import starts_at
from ultracluster.platform import BUNDLE_FILE
from ultracluster.rules import Refusal
from ultracluster.security import add_managed_policy
from ultracluster.storage import Storage
from ultracluster.workloads import kubernetes_bundle

if TYPE_CHECKING:
    from ultracluster.eks._platform_build import PlatformBuild

# After the start of a Capacity Block: its nodes are missing from then on, and the gate waits half an hour for them.
_JOINED = timedelta(minutes=15)
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/security-iam-awsmanpol.html (read 2026-11-23)
_PULL = "AmazonEC2ContainerRegistryPullOnly"


class KubernetesPlatform(Construct):
    """Installer of the releases and objects of a cluster file: an admin host, a pipeline, or Argo CD.

    Host and pipeline apply them with the deployment, and check that nodes are ready.

    Args:
        cluster: Cluster file.
        network: Network of the host or of the pipeline.
        storage: File systems, of which the host mounts Lustre.
        kubernetes: Control plane and nodes, which must exist before.
        outputs: Outputs of the deployment, which the placeholders of the bundle name.
        topic: Topic that gets the result of each run. Default: none.
    """

    @staticmethod
    def needed(cluster: ClusterFile) -> bool:
        """Return True for a new Kubernetes cluster, unless its file has another way."""
        return cluster.traits.has_platform and cluster.kubernetes.is_new and cluster.kubernetes.platform != "none"

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: Network,
        storage: Storage,
        kubernetes: KubernetesCluster,
        outputs: Sequence[Output],
        topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._region, self._name = cluster.region, kubernetes.name
        #: Admin host. None: something else installs the platform.
        self.host: EksAdminHost | None = None
        #: What applies it. None: Argo CD.
        self.platform: EksPlatform | PlatformBuild | None = None
        #: Argo CD. None: it does not apply the platform.
        self.argo_cd = _argo_cd(self, cluster, kubernetes)
        #: Add-ons whose pods run on nodes that join later than others; after the platform, which has their queues.
        self.add_ons: list[Construct] = []
        if self.argo_cd is not None:
            return
        bundle = kubernetes_bundle(cluster)
        if lacking := sorted({*bundle["parameters"]} - {output.id for output in outputs}):
            raise Refusal(self, f"outputs must have {', '.join(lacking)}, to which the bundle refers")
        content: dict[str, Any] = {
            "files": platform_content(bundle),
            "values": _values(bundle["parameters"], outputs),
            "topic": topic,
            "runs": {f"Run{group.name.title().replace('-', '')}": at for group, at in _starts(cluster)},
        }
        if cluster.kubernetes.platform == "code-build":
            # Two modules of the CDK, which other platforms do not need.
            from ultracluster.eks import _platform_build

            control_plane = kubernetes.control_plane.cluster
            self.platform = _platform_build.PlatformBuild(
                self, "Build", cluster=control_plane, network=network, **content
            )
            role = self.platform.role
        else:
            self.host = kubernetes.admin_host or admin_host(
                self, "Host", cluster=kubernetes.control_plane.cluster, network=network, storage=storage
            )
            mounts = [path for path, each in storage.file_systems.items() if each is storage.lustre]
            opened = [(mount, path) for mount in mounts for path in ("/", *exporting(cluster.storage.lustre))]
            self.platform = EksPlatform(self, "Platform", host=self.host, directories=opened, **content)
            role = self.host.role
        if registry_of(cluster) is not None:
            add_managed_policy(role, _PULL, "The host reads charts as the nodes read images, with AWS's policy")
        self.platform.node.add_dependency(
            *kubernetes.node_groups.values(), *kubernetes.add_ons, *kubernetes.create_before_platform(self)
        )
        self.add_ons = late_add_ons(
            self,
            cluster,
            lambda parent, name: kubernetes.create_late_add_on(parent, name, outputs),
            after=self.platform,
        )

    @property
    def outputs(self) -> list[Output]:
        """Outputs of the platform."""
        if self.argo_cd is not None:
            return [
                Output("ClusterArn", "Cluster, as Argo CD names it", self.argo_cd.cluster_arn),
                Output("ArgoCdUrl", "Argo CD, for the groups of IAM Identity Center", self.argo_cd.url),
                Output("GateCommand", "Check of the nodes, once Argo CD has synced", "ultracluster apply FILE --gate"),
            ]
        if self.host is None:
            return []
        id, region = self.host.instance_id, self._region
        session = f"aws ssm start-session --region {region} --target {id}"
        address = (
            f"aws eks describe-cluster --region {region} --name {self._name} "
            "--query cluster.endpoint --output text | cut -d / -f 3"
        )
        tunnel = (
            f"{session} --document-name AWS-StartPortForwardingSessionToRemoteHost "
            f"--parameters host=$({address}),portNumber=443,localPortNumber=8443"
        )
        return [
            Output("AdminHostCommand", "Session on the admin host, which has kubectl and helm", session),
            Output("TunnelCommand", "How to forward the API server to port 8443 of this machine", tunnel),
        ]


def _argo_cd(scope: Construct, cluster: ClusterFile, kubernetes: KubernetesCluster) -> EksArgoCd | None:
    settings = cluster.kubernetes.argo_cd
    if settings is None:
        return None
    result = EksArgoCd(
        scope,
        "ArgoCd",
        cluster=kubernetes.control_plane.cluster,
        identity_center=settings.identity_center,
        identity_center_region=settings.region,
        admins=settings.admins,
    )
    if registry_of(cluster) is not None:
        add_managed_policy(result.role, _PULL, "Argo CD reads charts as the nodes read images, with AWS's policy")
    result.node.add_dependency(*kubernetes.node_groups.values(), *kubernetes.add_ons)
    return result


def admin_host(scope: Construct, id: str, *, cluster: eks.ICluster, network: Network, storage: Storage) -> EksAdminHost:
    """Create an admin host in a network, with Lustre mounted."""
    lustre = {path: storage.lustre for path, each in storage.file_systems.items() if each is storage.lustre}
    host = EksAdminHost(
        scope,
        id,
        cluster=cluster,
        vpc=network.vpc,
        subnet=network.services_subnet,
        endpoints=network.endpoints,
        lustre={path: each for path, each in lustre.items() if each is not None} or None,
    )
    host.node.add_dependency(*network.ready)
    return host


def _values(parameters: Iterable[str], outputs: Iterable[Output]) -> dict[str, str]:
    """Return the outputs that a bundle refers to; others would tie the stacks together for nothing."""
    values = {output.id: output.value for output in outputs}
    return {name: values[name] for name in parameters}


def _starts(cluster: ClusterFile) -> Iterator[tuple[NodeGroup, datetime]]:
    """Yield the groups whose capacity starts later, and when their nodes should have joined."""
    for group in cluster.node_groups:
        if (start := starts_at(group.capacity)) is not None:
            yield group, start + _JOINED


def platform_content(bundle: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of the archive: the engine, without what the package imports elsewhere, and the bundle."""
    package = resources.files(engine)
    modules = {
        f"ultracluster/platform/{entry.name}": entry.read_text(encoding="utf-8")
        for entry in package.iterdir()
        if entry.name.endswith(".py")
    }
    # With an indent, Python encodes it without its C code: 3 ms for each node group (2026-11-28).
    text = json.dumps(bundle, sort_keys=True)
    return {"ultracluster/__init__.py": "", **modules, f"bundle/{BUNDLE_FILE}": text}
