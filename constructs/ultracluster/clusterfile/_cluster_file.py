"""A cluster file, read."""

from collections.abc import Iterable
from functools import cached_property
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field

from ultracluster.boot import LustreClient, User
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.monitoring import MANAGED_GRAFANA_REGIONS
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile import _slurm_plan
from ultracluster.clusterfile._catalogue import Catalogue
from ultracluster.clusterfile._lustre_client import lustre_client, lustre_zone
from ultracluster.clusterfile._needs import home_size, lustre_plan, second_zone, training_addresses
from ultracluster.clusterfile._node_group import KUBERNETES, NodeGroup, node_groups
from ultracluster.clusterfile._problems import Problem
from ultracluster.clusterfile._slurm_plan import QueuePlan
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._accept import Accepted
from ultracluster.clusterfile.sections._declared import DeclaredType, DeclaredTypeName
from ultracluster.clusterfile.sections._kubernetes import Kubernetes, SystemNodes
from ultracluster.clusterfile.sections._network import Network
from ultracluster.clusterfile.sections._nodes import NodeGroupName, NodeGroupSection
from ultracluster.clusterfile.sections._observability import Notifications, Observability
from ultracluster.clusterfile.sections._section import Section
from ultracluster.clusterfile.sections._slurm import Login, Slurm
from ultracluster.clusterfile.sections._storage import Storage
from ultracluster.planning.capacity import CapacityBlock, InterruptibleReservation, UltraServerBlock
from ultracluster.planning.home import OpenZfsSize
from ultracluster.planning.lustre import LustrePlan, LustreSpec
from ultracluster.planning.network import SubnetPlan, plan_subnets, plan_zone_subnets
from ultracluster.planning.workload import series_limit

# Capacity that is not there yet, or may be gone tomorrow.
_COME_AND_GO = (CapacityBlock, UltraServerBlock, InterruptibleReservation)


class ClusterFile(Section):
    """A GPU cluster on AWS, described in one file. `load` reads and checks one, `build` one in Python."""

    extends: (
        Annotated[str, w.parsed(lambda value: w.text(value, "a cluster file, such as base.yaml"), "^.+$")] | None
    ) = Field(
        default=None,
        description="Cluster file whose keys this one replaces or adds to; mappings are merged. Default: none.",
    )
    name: t.Name = Field(description="Name of the cluster, and the beginning of the names of its stacks.")
    region: t.Region = Field(description="AWS region.")
    zone: t.ZoneId = Field(
        description="Id of the zone of all nodes: EFA does not cross zones. Ids, unlike names such as us-east-2a, mean "
        "the same zone in every account."
    )
    account: t.Account | None = Field(
        default=None, description="AWS account, 12 digits. Default: that of your credentials."
    )
    orchestrator: t.Orchestrator = Field(description="slurm, run by AWS PCS, or kubernetes, run by EKS.")
    nodes: Annotated[dict[NodeGroupName, NodeGroupSection], Field(min_length=1)] = Field(
        description="Groups of equal nodes, by name.", examples=[{"train": {"type": "p5en.48xlarge", "count": 64}}]
    )
    types: dict[DeclaredTypeName, DeclaredType] = Field(
        default={}, description="Instance types that this release does not know, by name."
    )
    slurm: Slurm = Field(default=Slurm(), description="Slurm, run by AWS PCS.")
    kubernetes: Kubernetes = Field(default=Kubernetes(), description="Kubernetes, run by Amazon EKS.")
    network: Network = Field(default=Network(), description="The VPC. Default: a new one, 10.0.0.0/16.")
    storage: Storage = Field(default=Storage(), description="File systems and buckets.")
    encryption_key: t.KeyArn | None = Field(
        default=None, description="KMS key of file system and data bucket. Default: a new one."
    )
    notifications: Notifications = Field(
        default=Notifications(), description="Notices of capacity that starts or ends."
    )
    observability: Observability = Field(default=Observability(), description="Metrics, alerts and dashboards.")
    tags: t.Tags = Field(default={}, description="Tags of every resource.")
    accept: Accepted = Field(
        default={},
        description="Rules that are no concern: the id of each, and the reason. Warnings, and errors that rest on a "
        "fact with a date.",
    )

    _accepted: tuple[Problem, ...] = ()

    @property
    def accepted(self) -> tuple[Problem, ...]:
        """Errors that `accept` allows."""
        return self._accepted

    def take_accepted(self, problems: Iterable[Problem]) -> None:
        """Keep the errors that `accept` allows; for the loader."""
        self._accepted = tuple(problems)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The types that the file can name."""
        return Catalogue(declared={name: section.record(name) for name, section in self.types.items()})

    @cached_property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """The node groups in the order of the file; a section that lists several Capacity Blocks gives one for each."""
        return tuple(
            group
            for name, section in self.nodes.items()
            for group in node_groups(
                name, section, zone=self.zone, catalogue=self.catalogue, orchestrator=self.orchestrator
            )
        )

    @property
    def service_nodes(self) -> Login | SystemNodes:
        """The nodes beside the node groups: login nodes under Slurm, system nodes under Kubernetes."""
        return self.kubernetes.system if self.orchestrator == KUBERNETES else self.slurm.login

    @property
    def service_count(self) -> int:
        """How many there are: a Kubernetes cluster of yours has its own."""
        return 0 if self.orchestrator == KUBERNETES and self.kubernetes.existing else self.service_nodes.count

    @cached_property
    def service_type(self) -> InstanceType:
        """The type of the nodes beside the node groups."""
        return self.catalogue.look_up(self.service_nodes.type)[0]

    @cached_property
    def queues(self) -> tuple[QueuePlan, ...]:
        """The queues."""
        return _slurm_plan.queues(self.slurm, tuple(self.nodes))

    @property
    def slurm_settings(self) -> dict[str, str]:
        """Settings of slurm.conf: those of the file, and what its queues need."""
        return _slurm_plan.cluster_settings(self.slurm)

    @property
    def slurm_metrics(self) -> bool:
        """Whether Slurm's controller shows its own metrics; where metrics are collected, a login node asks it then."""
        return (
            self.slurm.metrics
            if self.slurm.metrics is not None
            else self.observability.on and _slurm_plan.may_show_metrics(self.slurm)
        )

    @property
    def users(self) -> tuple[User, ...]:
        """The users of all nodes."""
        return tuple(User(name=name, uid=user.uid, ssh_keys=user.ssh_keys) for name, user in self.slurm.users.items())

    @property
    def accounting_script(self) -> str | None:
        """What a login node runs to make accounts, QoS and users of Slurm. None: the file has none."""
        return _slurm_plan.accounting_script(self.slurm)

    @property
    def instances(self) -> int:
        """Instances of the cluster, those beside the node groups included."""
        return sum(group.count for group in self.node_groups) + self.service_count

    @property
    def expected_nodes(self) -> dict[str, int]:
        """Node group, or `login`, -> how many nodes are always there. Those that come as jobs do are not."""
        kubernetes = self.orchestrator == KUBERNETES
        always = {
            # Of EKS a group has all its nodes, but for those of Karpenter and of blocks that have not begun.
            group.name: (0 if group.elastic or isinstance(group.capacity, _COME_AND_GO) else group.count)
            if kubernetes
            else group.minimum
            for group in self.node_groups
        }
        beside = "system" if kubernetes else "login"
        return {name: count for name, count in (*always.items(), (beside, self.service_count)) if count}

    @property
    def controller_size(self) -> str:
        """The size of the Slurm controller; it can't change."""
        return self.slurm.size or pcs.size_for(self.instances)

    @cached_property
    def other_zones(self) -> tuple[str, ...]:
        """Zones of subnets beside the cluster's own, in the order of their ids: of nodes, and of EKS's interfaces."""
        second = {self.second_zone} if self.orchestrator == KUBERNETES else set()
        return tuple(sorted(({group.zone for group in self.node_groups} | second) - {self.zone}))

    @property
    def second_zone(self) -> str:
        """The zone of the other subnet that EKS wants. Of no use under Slurm."""
        return self.kubernetes.second_zone or second_zone(self.network.control_plane_zone or self.zone)

    @cached_property
    def lustre_plan(self) -> LustrePlan | None:
        """The file system to buy, and why. None: the file asks for none, or has one."""
        lustre = self.storage.lustre
        return None if lustre is None else lustre_plan(lustre, zone=self.zone, accept=self.accept)

    @property
    def lustre_spec(self) -> LustreSpec | None:
        """The file system to buy. None: the file asks for none, or has one."""
        return self.lustre_plan.spec if self.lustre_plan else None

    @property
    def lustre_zone(self) -> str:
        """The zone of the file system. Of no use when the file asks for none."""
        return lustre_zone(self.storage.lustre, self.zone) if self.storage.lustre else self.zone

    @property
    def lustre_efa(self) -> bool:
        """Whether there is a file system that was, or will be, made with EFA."""
        lustre = self.storage.lustre
        if self.lustre_spec:
            return self.lustre_spec.efa
        return bool(lustre and lustre.existing and lustre.existing.efa)

    @cached_property
    def lustre_client(self) -> LustreClient:
        """How nodes reach a file system with EFA."""
        return lustre_client(self.storage.lustre, self.efa_clients) if self.storage.lustre else LustreClient()

    @property
    def efa_clients(self) -> list[tuple[InstanceType, int]]:
        """The types of the nodes in the file system's zone, and how many nodes there are of each, all included."""
        here = (self.network.control_plane_zone or self.zone) == self.lustre_zone
        found = [(group.instance_type, group.count) for group in self.node_groups if group.zone == self.lustre_zone]
        return [*found, (self.service_type, self.service_count)] if here else found

    @cached_property
    def home_size(self) -> OpenZfsSize | None:
        """The home to buy, and why. None: the file asks for none."""
        home = self.storage.home
        return (
            None
            if home is None
            else home_size(home, region=None if "home-region" in self.accept else self.region, clients=self.instances)
        )

    @property
    def home_clients(self) -> tuple[IPv4Network, ...]:
        """Ranges of addresses that may mount the home. Of no use when the file asks for none."""
        home = self.storage.home
        return home.clients if home is not None and home.clients is not None else (self.network.cidr,)

    @property
    def grafana(self) -> str:
        """Where dashboards are looked at: as the file says, or `self-hosted` where the region has nothing else.

        A server installs Grafana from its project's repository, so without a way to the internet there is none.
        """
        kind = self.observability.grafana.kind
        missing = kind == "managed" and self.region not in MANAGED_GRAFANA_REGIONS
        found = "self-hosted" if missing else kind
        return "none" if found == "self-hosted" and not self.network.internet else found

    @property
    def series_limit(self) -> int:
        """Active series that the cluster may have. Of no use when the file names a workspace of yours."""
        requested = self.observability
        return requested.series_limit or series_limit(requested.profile, self.instances)

    @cached_property
    def addresses(self) -> int:
        """IPv4 addresses that the training subnet must hold."""
        here = [group for group in self.node_groups if group.zone == self.zone]
        return training_addresses(
            here,
            service=self.service_count,
            service_type=self.service_type,
            lustre=self.lustre_spec,
            kubernetes=self.orchestrator == KUBERNETES,
        ).total

    @cached_property
    def subnets(self) -> SubnetPlan:
        """The subnets of the VPC that is made. Of no use when the file names a network of yours."""
        return plan_subnets(self.network.cidr, self.addresses, self.network.training_subnet)

    @cached_property
    def zone_subnets(self) -> dict[str, IPv4Network]:
        """Ranges of the subnets in other zones, by zone. Of no use when the file names a network of yours."""
        plan = self.subnets
        taken = (plan.training, plan.public, plan.services)
        return plan_zone_subnets(self.network.cidr, self.other_zones, self.network.subnets, taken)
