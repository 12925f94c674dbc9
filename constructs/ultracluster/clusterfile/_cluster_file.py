"""The cluster file, with what follows from its keys."""

from collections.abc import Iterable
from functools import cached_property
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator

from ultracluster.catalogue.ec2 import Architecture, InstanceType
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile import _slurm_plan
from ultracluster.clusterfile._compute_stacks import ComputeStack, compute_stacks
from ultracluster.clusterfile._expected_nodes import expected_nodes
from ultracluster.clusterfile._needs import grafana_kind, home_size, second_zone, training_addresses
from ultracluster.clusterfile._node_group import Catalogue, NodeGroup, built, node_groups, with_gpudirect
from ultracluster.clusterfile._orchestrators import OrchestratorTraits, traits_of
from ultracluster.clusterfile._problems import Problem
from ultracluster.clusterfile._slurm_plan import QueuePlan
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections._declared import DeclaredType, DeclaredTypeName
from ultracluster.clusterfile.sections._hyperpod import HyperPod
from ultracluster.clusterfile.sections._image import Image, ImageOption
from ultracluster.clusterfile.sections._kubernetes import Kubernetes
from ultracluster.clusterfile.sections._network import Network, Perimeter
from ultracluster.clusterfile.sections._nodes import NodeGroupName, NodeGroupSection
from ultracluster.clusterfile.sections._observability import Notifications, Observability
from ultracluster.clusterfile.sections._section import Section, optional
from ultracluster.clusterfile.sections._slurm import Slurm
from ultracluster.clusterfile.sections._storage import Storage
from ultracluster.planning.capacity import BuiltImage
from ultracluster.planning.home import OpenZfsSize
from ultracluster.planning.network import SubnetPlan, plan_subnets, plan_zone_subnets
from ultracluster.planning.workload import series_limit

if TYPE_CHECKING:
    from ultracluster.boot import LustreClient, User
    from ultracluster.planning.lustre import LustrePlan, LustreSpec


class ClusterFile(Section):
    """A GPU cluster on AWS, described in one file. `load` reads and checks one, `build` one in Python."""

    keeps_keys = True
    extends: t.BaseFile | None = Field(
        default=None,
        description="Cluster file whose keys this one replaces or adds to; mappings are merged. Default: none.",
    )
    name: t.Name = Field(description="Name of the cluster, and the beginning of the names of its stacks.")
    region: t.Region = Field(description="AWS Region.")
    zone: t.ZoneId = Field(
        description="Id of the zone of all nodes: EFA does not cross zones. Ids, unlike names such as us-east-2a, mean "
        "the same zone in every account."
    )
    account: t.Account | None = Field(default=None, description="AWS account, 12 digits. Default: your credentials'.")
    orchestrator: t.Orchestrator = Field(
        description="slurm: AWS PCS. kubernetes: Amazon EKS. hyperpod-slurm, hyperpod-kubernetes: HyperPod."
    )
    nodes: Annotated[dict[NodeGroupName, NodeGroupSection], Field(min_length=1)] = Field(
        description="Groups of equal nodes, by name.", examples=[{"train": {"type": "p5en.48xlarge", "count": 64}}]
    )
    image: Image = Field(
        default="aws",
        description="Image of the nodes, login nodes included; node groups may name another. aws: AWS's newest for the "
        "service. build: one that the deployment builds, for Slurm. Or an existing image.",
    )
    software: dict[t.SoftwareName, t.Version] = Field(
        default={}, examples=[{"driver": "590", "nccl": "2.31"}], description=t.SOFTWARE
    )
    types: dict[DeclaredTypeName, DeclaredType] = Field(default={}, description="Types not in this release, by name.")
    slurm: Slurm = optional(description="Slurm, run by AWS PCS.")
    kubernetes: Kubernetes = optional(description="Kubernetes, run by Amazon EKS.")
    hyperpod: HyperPod = optional(description="SageMaker HyperPod, beside `slurm` or `kubernetes`.")
    network: Network = optional(description="The VPC. Default: a new one, 10.0.0.0/16.")
    storage: Storage = optional(description="File systems and buckets.")
    encryption_key: t.KeyArn | None = Field(default=None, description="KMS key of the storage. Default: a new one.")
    perimeter: Perimeter | None = Field(
        default=None, description="Data perimeter. Default: none; with `internet: false`, the account of the cluster."
    )
    notifications: Notifications = optional(description="Notices when capacity starts or ends.")
    observability: Observability = optional(description="Metrics, alerts and dashboards.")
    compliance: t.Compliance = Field(default=(), description=t.COMPLIANCE)
    tags: t.Tags = Field(default={}, description=t.TAGS)
    accept: dict[str, t.Reason] = Field(
        default={}, examples=[{"interface-quota": "raised to 20000"}], description=t.ACCEPT
    )

    _accepted: tuple[Problem, ...] = ()

    @field_validator("*", mode="wrap")
    @classmethod
    def _keep_value(cls, value: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """Keep each valid value for the rules: other keys of the file may not be valid."""
        result = validate(value)
        if info.context is not None:
            info.context[info.field_name] = result
        return result

    @property
    def accepted(self) -> tuple[Problem, ...]:
        """Errors that `accept` allows."""
        return self._accepted

    def take_accepted(self, problems: Iterable[Problem]) -> None:
        """Keep the errors that `accept` allows; for the loader."""
        self._accepted = tuple(problems)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Instance types of this release and of the file."""
        return Catalogue(declared={name: section.record(name) for name, section in self.types.items()})

    @cached_property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """Node groups in the order of the file; a section that lists several Capacity Blocks has one for each."""
        groups = tuple(
            group
            for name, section in self.nodes.items()
            for group in node_groups(
                name, section, zone=self.zone, catalogue=self.catalogue, traits=self.traits, image=self.image
            )
        )
        return with_gpudirect(groups) if "lustre-gpudirect" in self.accept else groups

    @property
    def traits(self) -> OrchestratorTraits:
        """Properties of the orchestrator."""
        return traits_of(self.orchestrator)

    @property
    def control_plane(self) -> Slurm | Kubernetes:
        """Section of the orchestrator."""
        return cast("Slurm | Kubernetes", getattr(self, self.traits.sections[0]))

    @property
    def service_count(self) -> int:
        """Number of nodes beside the node groups; an existing Kubernetes cluster has system nodes already."""
        return self.control_plane.service_nodes.count if self.control_plane.is_new else 0

    @cached_property
    def service_type(self) -> InstanceType:
        """Instance type of the nodes beside the node groups."""
        return self.catalogue.look_up(self.traits.type_of(self.control_plane.service_nodes, self.region))[0]

    @property
    def login_image(self) -> ImageOption:
        """Image of the login nodes of Slurm."""
        return self.slurm.login.image or self.image

    @property
    def built_images(self) -> dict[Architecture, BuiltImage]:
        """Images that the deployment builds, by architecture."""
        return built(self.node_groups, self.service_type, self.login_image) if self.traits.installs_software else {}

    @cached_property
    def queues(self) -> tuple[QueuePlan, ...]:
        """Queues of Slurm."""
        return _slurm_plan.queues(self.slurm, tuple(self.nodes))

    @cached_property
    def compute_stacks(self) -> tuple[ComputeStack, ...]:
        """Stacks of the node groups, in their order."""
        return compute_stacks(self.name, self.node_groups, self.nodes, self.queues, split=self.traits.own_instances)

    @property
    def slurm_settings(self) -> dict[str, str]:
        """Settings of slurm.conf: those of the file, and those that its queues and accounts need."""
        return _slurm_plan.cluster_settings(self.slurm, self.node_groups if self.traits.keeps_accounting else ())

    @property
    def slurm_metrics(self) -> bool:
        """True if the controller of Slurm serves metrics, which a login node then scrapes."""
        metrics = self.slurm.metrics if self.traits.serves_metrics else False
        return self.observability.on and _slurm_plan.may_show_metrics(self.slurm) if metrics is None else metrics

    @property
    def users(self) -> "tuple[User, ...]":
        """Users of all nodes."""
        from ultracluster.boot import User

        return tuple(User(name=name, uid=user.uid, ssh_keys=user.ssh_keys) for name, user in self.slurm.users.items())

    @property
    def accounting_script(self) -> str | None:
        """Script that creates accounts, QoS and users of Slurm on a login node, or None if the file has none."""
        from ultracluster.clusterfile._slurm_accounting import accounting_script

        return accounting_script(self.slurm)

    @property
    def instances(self) -> int:
        """Instances of the cluster, those beside the node groups included."""
        return sum(group.count for group in self.node_groups) + self.service_count + self.traits.control_nodes

    @property
    def expected_nodes(self) -> dict[str, int]:
        """Number of nodes that always run, by node group, and of `login` or `system` nodes."""
        return expected_nodes(self.node_groups, self.traits, self.service_count)

    @property
    def controller_size(self) -> str:
        """Size of the Slurm controller, fixed for its life."""
        return self.slurm.size or pcs.size_for(self.instances)

    @property
    def control_plane_zone(self) -> str:
        """Zone of NAT gateway, controller, and nodes beside the node groups."""
        return self.network.control_plane_zone or self.zone

    @property
    def second_zone(self) -> str:
        """Zone of the second subnet of the EKS control plane."""
        return self.kubernetes.second_zone or second_zone(self.control_plane_zone)

    @cached_property
    def other_zones(self) -> tuple[str, ...]:
        """Zones of further subnets, sorted: of nodes, and of the control plane of a new EKS cluster."""
        zones = {group.zone for group in self.node_groups}
        if self.traits.two_zones and self.control_plane.is_new:
            zones |= self.network.existing.subnets.keys() if self.network.existing else {self.second_zone}
        return tuple(sorted(zones - {self.zone}))

    @cached_property
    def lustre_plan(self) -> "LustrePlan | None":
        """New file system and the reasons for its shape, or None."""
        from ultracluster.clusterfile._lustre import lustre_plan

        lustre = self.storage.lustre
        return None if lustre is None else lustre_plan(lustre, zone=self.zone, accept=self.accept)

    @property
    def lustre_spec(self) -> "LustreSpec | None":
        """New file system, or None."""
        return self.lustre_plan.spec if self.lustre_plan else None

    @property
    def lustre_zone(self) -> str:
        """Zone of the file system: the cluster's, unless an existing one is in another."""
        lustre = self.storage.lustre
        return (lustre.existing.zone if lustre and lustre.existing else None) or self.zone

    @property
    def lustre_efa(self) -> bool:
        """True if there is a file system with EFA."""
        lustre = self.storage.lustre
        return self.lustre_spec.efa if self.lustre_spec else bool(lustre and lustre.existing and lustre.existing.efa)

    @cached_property
    def lustre_client(self) -> "LustreClient":
        """Configuration of the nodes that mount a file system with EFA."""
        from ultracluster.clusterfile._lustre import lustre_client

        return lustre_client(self.storage.lustre, self.efa_clients if self.storage.lustre else ())

    @property
    def efa_clients(self) -> list[tuple[InstanceType, int]]:
        """Types and number of the nodes in the zone of the file system, those beside the node groups included."""
        clients = [(group.instance_type, group.count) for group in self.node_groups if group.zone == self.lustre_zone]
        near = self.control_plane_zone == self.lustre_zone
        return [*clients, (self.service_type, self.service_count)] if near else clients

    @cached_property
    def home_size(self) -> OpenZfsSize | None:
        """Size of the new home file system of FSx for OpenZFS and the reasons for it, or None."""
        home, region = self.storage.home, None if "home-region" in self.accept else self.region
        if home is None or home.type != "openzfs" or home.existing is not None:
            return None
        return home_size(home, region=region, clients=self.instances, any_throughput="home-throughput" in self.accept)

    @property
    def grafana(self) -> str:
        """Kind of Grafana: that of the file, or the one that the region and the network allow."""
        return grafana_kind(self.observability.grafana, self.region, accept=self.accept, internet=self.network.internet)

    @property
    def series_limit(self) -> int:
        """Limit of active series of a new Prometheus workspace."""
        return self.observability.series_limit or series_limit(self.observability.profile, self.instances)

    @cached_property
    def addresses(self) -> int:
        """IPv4 addresses that the training subnet must hold."""
        return training_addresses(
            [group for group in self.node_groups if group.zone == self.zone],
            service=self.service_count + self.traits.control_nodes,
            service_type=self.service_type,
            lustre=self.lustre_spec,
            pods=self.traits.service_pods,
        ).total

    @cached_property
    def subnets(self) -> SubnetPlan:
        """Subnets of a new VPC."""
        return plan_subnets(self.network.cidr, self.addresses, self.network.training_subnet)

    @cached_property
    def zone_subnets(self) -> dict[str, IPv4Network]:
        """Ranges of the subnets of a new VPC in other zones, by zone."""
        taken = (self.subnets.training, self.subnets.public, self.subnets.services)
        return plan_zone_subnets(self.network.cidr, self.other_zones, self.network.subnets, taken)[0]
