"""Orchestrators behind one contract: rules and arithmetic read it, and do not compare names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import InstanceType, Layout
from ultracluster.catalogue.schedulers import pcs
from ultracluster.planning.capacity import Service


@dataclass(frozen=True, kw_only=True, slots=True)
class OrchestratorTraits:
    """Differences between orchestrators. A further one is a row of `ORCHESTRATORS`, and a section of its name.

    Args:
        name: Name in the cluster file, which is the name of its section too.
        title: Name in messages.
        service: AWS service that runs it, as in messages.
        facts: Topic of its facts; see `catalogue.AS_OF`.
        capacity_service: Service that launches the nodes; see `planning.capacity.purchase`.
        service_nodes: Key of the nodes beside the node groups, in its section.
        group_keys: Keys of a node group for its nodes only.
        capacity_keys: Keys of a Capacity Block for its nodes only.
        installs_software: Nodes install software at boot, so that the deployment can build images with it.
        has_platform: Charts and objects are installed on the cluster after its deployment.
        powers_nodes_off: Idle nodes are powered off, down to the minimum of their group.
        two_zones: The control plane has subnets in two zones.
        default_layout: Network interfaces of a node that names no layout.
        default_pods: Pods of a node that take addresses of its subnet, unless its group names a number.
        service_pods: The same of a node beside the node groups.
        pin: How to keep the image of nodes.
    """

    name: str
    title: str
    service: str
    facts: str
    capacity_service: Service
    service_nodes: str
    group_keys: tuple[str, ...]
    capacity_keys: tuple[str, ...] = ()
    installs_software: bool = False
    has_platform: bool = False
    powers_nodes_off: bool = False
    two_zones: bool = False
    default_layout: Callable[[InstanceType], Layout]
    default_pods: int = 0
    service_pods: int = 0
    pin: str


_SLURM = OrchestratorTraits(
    name="slurm",
    title="Slurm",
    service="AWS PCS",
    facts="pcs",
    capacity_service="pcs",
    service_nodes="login",
    group_keys=("min", "slurm", "scripts"),
    installs_software=True,
    powers_nodes_off=True,
    default_layout=pcs.default_layout,
    pin="run ultracluster image pin FILE",
)
_KUBERNETES = OrchestratorTraits(
    name="kubernetes",
    title="Kubernetes",
    service="EKS",
    facts="eks",
    # A self-managed Auto Scaling group launches what a managed node group cannot.
    capacity_service="self-managed",
    service_nodes="system",
    group_keys=("taints", "os", "pods", "elastic", "update"),
    capacity_keys=("starts", "active"),
    has_platform=True,
    two_zones=True,
    default_layout=lambda _: "one-ip",
    # Two prefixes of 16 addresses hold the pods of daemons, and of a job with one pod for each GPU.
    default_pods=30,
    # Controllers, DNS and drivers are some thirty pods, and half of them may have to move together.
    service_pods=58,
    pin="image: ami-...",
)
#: Orchestrators by their name in the cluster file.
ORCHESTRATORS: Mapping[str, OrchestratorTraits] = {traits.name: traits for traits in (_SLURM, _KUBERNETES)}


def traits_of(orchestrator: str) -> OrchestratorTraits:
    """Return the traits of an orchestrator; those of Slurm for a name that is not valid."""
    return ORCHESTRATORS.get(orchestrator, _SLURM)
