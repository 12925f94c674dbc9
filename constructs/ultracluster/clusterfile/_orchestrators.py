"""Orchestrators behind one contract: rules and arithmetic read it, and do not compare names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ultracluster.catalogue.ec2 import InstanceType, Layout, default_layout, default_type
from ultracluster.catalogue.schedulers import eks_add_ons, hyperpod, hyperpod_add_ons, hyperpod_kubernetes, pcs
from ultracluster.clusterfile.sections._kubernetes import SystemNodes
from ultracluster.clusterfile.sections._slurm import Login
from ultracluster.planning.capacity import Service


@dataclass(frozen=True, kw_only=True, slots=True)
class KubernetesNodes:
    """Nodes of a Kubernetes cluster, as the service that launches them labels them.

    Args:
        type_prefix: Text before the name of their instance type, in its label.
        gpu_taint: Nodes with GPUs have a taint, which keeps other pods off.
        pod_prefixes: Pods take addresses in prefixes of 16.
        late: Reason why nodes join after the platform was applied, or empty.
        required_releases: Releases that the service requires before it launches nodes.
        add_ons: EKS add-ons of the service that the deployment creates if the file names them.
        own_scheduler: Scheduler that only this service has.
        healthy: Labels of nodes with GPUs that passed the checks of the service.
        own_karpenter: The service runs Karpenter, which scales groups of the service.
        volume_actions: IAM actions of the service with which the EBS driver attaches volumes.
    """

    type_prefix: str = ""
    gpu_taint: bool = True
    pod_prefixes: bool = True
    late: str = ""
    required_releases: tuple[str, ...] = ()
    add_ons: tuple[str, ...] = ()
    own_scheduler: str | None = None
    healthy: tuple[tuple[str, str], ...] = ()
    own_karpenter: bool = False
    volume_actions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OrchestratorTraits:
    """Differences between orchestrators. A further one is a row of `ORCHESTRATORS`, and its section.

    Args:
        name: Name in the cluster file.
        title: Name in messages.
        service: AWS service that runs it, as in messages.
        facts: Topic of its facts; see `catalogue.AS_OF`.
        capacity_service: Service that launches the nodes; see `planning.capacity.purchase`.
        sections: Sections of the file that configure it; the first has its service nodes.
        service_nodes: Key of the nodes beside the node groups, in its first section.
        service_type: Type of these nodes, unless the file names one. By default, that of the section.
        control_plane_resources: Types of CloudFormation that its control plane is, created one after the other.
        node_resources: Those of its nodes.
        control_nodes: Nodes that run its control plane, beside the others.
        group_keys: Keys of a node group for its nodes only.
        capacity_keys: Keys of a reservation for its nodes only.
        starts_by_schedule: Schedules start the nodes of capacity that begins later; other services wait for it.
        installs_software: Nodes install software at boot, so that the deployment can build images with it.
        own_instances: Instances are in the account, so that quotas of EC2, placement groups and tags apply to them.
        has_platform: Charts and objects are installed on the cluster after its deployment.
        powers_nodes_off: Idle nodes are powered off, down to the minimum of their group.
        two_zones: The control plane has subnets in two zones.
        default_layout: Network interfaces of a node that names no layout.
        addresses: Addresses of a node whose network interfaces the service creates. By default, those of the layout.
        serves_metrics: The control plane serves metrics.
        keeps_accounting: The service keeps the accounting database of Slurm.
        log_groups: Prefix of the log groups of its nodes and jobs, with `{name}` for the cluster's; empty: none.
        logs_add_on: Add-on that sends them. By default, the nodes do.
        resume_options: Options of srun for jobs that resume from a checkpoint.
        default_pods: Pods of a node that take addresses of its subnet, unless its group names a number.
        service_pods: The same of a node beside the node groups.
        kubernetes_nodes: Labels and addresses of the nodes of Kubernetes.
        pin: How to keep the image of nodes.
    """

    name: str
    title: str
    service: str
    facts: str
    capacity_service: Service
    sections: tuple[str, ...]
    service_nodes: str
    service_type: str | None = None
    control_plane_resources: tuple[str, ...] = ()
    node_resources: tuple[str, ...]
    control_nodes: int = 0
    group_keys: tuple[str, ...]
    capacity_keys: tuple[str, ...] = ()
    starts_by_schedule: bool = False
    installs_software: bool = False
    own_instances: bool = True
    has_platform: bool = False
    powers_nodes_off: bool = False
    two_zones: bool = False
    default_layout: Callable[[InstanceType], Layout]
    addresses: Callable[[InstanceType], int] | None = None
    serves_metrics: bool = False
    keeps_accounting: bool = False
    log_groups: str = ""
    logs_add_on: str = ""
    resume_options: tuple[str, ...] = ()
    default_pods: int = 0
    service_pods: int = 0
    kubernetes_nodes: KubernetesNodes = field(default_factory=KubernetesNodes)
    pin: str

    def type_of(self, nodes: Login | SystemNodes, region: str) -> str:
        """Return the type of the nodes beside the node groups: that of their section, or the default of the Region."""
        return nodes.type if "type" in nodes.model_fields_set else default_type(self.service_type or nodes.type, region)


_SLURM = OrchestratorTraits(
    name="slurm",
    title="Slurm",
    service="AWS PCS",
    facts="pcs",
    capacity_service="pcs",
    sections=("slurm",),
    service_nodes="login",
    control_plane_resources=("AWS::PCS::Cluster",),
    node_resources=("AWS::PCS::ComputeNodeGroup",),
    group_keys=("min", "slurm", "scripts", "canary"),
    installs_software=True,
    powers_nodes_off=True,
    default_layout=pcs.default_layout,
    serves_metrics=True,
    keeps_accounting=True,
    log_groups="/ultracluster/",
    pin="run ultracluster image pin FILE",
)
_KUBERNETES = OrchestratorTraits(
    name="kubernetes",
    title="Kubernetes",
    service="EKS",
    facts="eks",
    # A self-managed Auto Scaling group launches what a managed node group cannot.
    capacity_service="self-managed",
    sections=("kubernetes",),
    service_nodes="system",
    control_plane_resources=("AWS::EKS::Cluster",),
    node_resources=("AWS::EKS::Nodegroup",),
    group_keys=("taints", "os", "pods", "elastic", "update"),
    capacity_keys=("active",),
    starts_by_schedule=True,
    has_platform=True,
    two_zones=True,
    default_layout=default_layout,
    # Two prefixes of 16 addresses hold the pods of daemons, and of a job with one pod for each GPU.
    default_pods=30,
    # Controllers, DNS and drivers are some thirty pods, and half of them may have to move together.
    service_pods=58,
    log_groups="/aws/containerinsights/{name}/application",
    logs_add_on=eks_add_ons.LOGS,
    pin="image: ami-...",
)
_HYPERPOD_SLURM = OrchestratorTraits(
    name="hyperpod-slurm",
    title="Slurm on HyperPod",
    service="SageMaker HyperPod",
    facts="hyperpod",
    capacity_service="hyperpod",
    sections=("slurm", "hyperpod"),
    service_nodes="login",
    # AWS's own examples have general types, and HyperPod has none of the seventh generation for computing.
    service_type="m7i.2xlarge",
    node_resources=("AWS::SageMaker::Cluster",),
    control_nodes=1,
    # Rules of HyperPod refuse each with its reason.
    group_keys=_SLURM.group_keys,
    own_instances=False,
    default_layout=pcs.default_layout,
    addresses=hyperpod.addresses,
    resume_options=hyperpod.RESUME_OPTIONS,
    log_groups="/ultracluster/",
    pin="HyperPod keeps the image of a node until its software is updated",
)
_HYPERPOD_KUBERNETES = OrchestratorTraits(
    name="hyperpod-kubernetes",
    title="Kubernetes on HyperPod",
    service="SageMaker HyperPod",
    facts="hyperpod",
    capacity_service="hyperpod",
    sections=("kubernetes", "hyperpod"),
    service_nodes="system",
    control_plane_resources=_KUBERNETES.control_plane_resources,
    # System nodes, and charts without which HyperPod creates no cluster.
    node_resources=("AWS::EKS::Nodegroup", "AWS::SSM::Association", "AWS::SageMaker::Cluster"),
    # Rules of HyperPod refuse each with its reason.
    group_keys=_KUBERNETES.group_keys,
    own_instances=False,
    has_platform=True,
    two_zones=True,
    default_layout=pcs.default_layout,
    addresses=hyperpod_kubernetes.kubernetes_addresses,
    service_pods=_KUBERNETES.service_pods,
    log_groups=_KUBERNETES.log_groups,
    logs_add_on=_KUBERNETES.logs_add_on,
    kubernetes_nodes=KubernetesNodes(
        type_prefix="ml.",
        # Deep health checks exclude nodes with taints of others.
        gpu_taint=False,
        pod_prefixes=False,
        # Deep health checks take "anywhere between a few mins to several hours":
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-eks.html (read 2026-11-23)
        late="HyperPod launches nodes continuously, and tests each before it joins",
        required_releases=hyperpod_kubernetes.CHARTS,
        add_ons=(hyperpod_kubernetes.TRAINING_OPERATOR, hyperpod_add_ons.OBSERVABILITY, hyperpod_add_ons.INFERENCE),
        own_scheduler="task-governance",
        healthy=(hyperpod_kubernetes.SCHEDULABLE,),
        own_karpenter=True,
        volume_actions=hyperpod_kubernetes.VOLUME_ACTIONS,
    ),
    pin="HyperPod keeps the image of a node until its software is updated",
)
#: Orchestrators by their name in the cluster file.
ORCHESTRATORS: Mapping[str, OrchestratorTraits] = {
    traits.name: traits for traits in (_SLURM, _KUBERNETES, _HYPERPOD_SLURM, _HYPERPOD_KUBERNETES)
}


def orchestrators() -> tuple[str, ...]:
    """Return the names of all orchestrators."""
    return tuple(ORCHESTRATORS)


def traits_of(orchestrator: str) -> OrchestratorTraits:
    """Return the traits of an orchestrator; those of Slurm for a name that is not valid."""
    return ORCHESTRATORS.get(orchestrator, _SLURM)
