"""The sections of a cluster file, as its keys stand in it."""

from ipaddress import IPv4Network

from pydantic import Field

from ultracluster.clusterfile.quantities import Duration, Size
from ultracluster.clusterfile.sections.section import Section
from ultracluster.clusterfile.sections.slurm import Account, NodeSlurm, Qos, Queue, Ssh, User
from ultracluster.clusterfile.types import slurm as s
from ultracluster.clusterfile.types import values as t
from ultracluster.hardware import pcs
from ultracluster.planning import OnDemand


class NodeGroupSection(Section):
    """A group of equal nodes: one launch template, one Slurm partition or one node group of EKS."""

    type: t.InstanceTypeName = Field(
        description="EC2 instance type, or UltraServer; `ultracluster types` lists them, and `types` declares more."
    )
    count: t.Count = Field(description="How many nodes, or UltraServers where `type` names one.")
    min: t.Spare | None = Field(
        default=None,
        description="How many of them are up always; the others are powered on as jobs come. Default: all where they "
        "are reserved, none where they are bought on demand, on the Spot market or from an interruptible reservation.",
    )
    spare: t.Spare = Field(default=0, description="Nodes beside them that stand by for one that fails.")
    capacity: t.Capacity = Field(default=OnDemand(), description="How the nodes are bought.")
    zone: t.ZoneId | None = Field(
        default=None, description="Id of the zone of the nodes. Default: the cluster's. EFA does not cross zones."
    )
    layout: t.Layout | None = Field(
        default=None,
        description="Network interfaces of a node. Default: under Slurm all-efa, as AWS's templates for PCS have it, "
        "and one-ip where the type can't; under Kubernetes one-ip.",
    )
    image: t.Image | None = Field(
        default=None,
        description="An image of yours, ready for PCS or for EKS. Default: the newest of AWS's at each deployment; pin "
        "one. Under Kubernetes EKS chooses it when the node group is made.",
    )
    root_volume: t.Size = Field(
        default=Size.parse("500 GiB"), description="Root volume, 300 GiB at least: container images are large."
    )
    placement_group: t.PlacementGroup = Field(
        default="auto",
        description="auto: the reservation's own, or a cluster placement group for nodes with EFA that are bought on "
        "demand or on the Spot market. cluster, partition, spread: one is made. none. {name: NAME}: one of yours.",
    )
    labels: t.Labels = Field(default={}, description="Labels of the nodes; Slurm has them as features, NAME-VALUE.")
    slurm: NodeSlurm = Field(default=NodeSlurm(), description="What Slurm is told of the nodes.")
    taints: t.Taints = Field(
        default={},
        description="Under Kubernetes: taints of the nodes, each with its effect, beside that of GPUs.",
    )
    os: t.NodeOs | None = Field(default=None, description="Under Kubernetes: al2023 or bottlerocket. Default: al2023.")
    elastic: t.Flag = Field(
        default=False,
        description="Under Kubernetes: whether Karpenter launches nodes when pods need them, `count` at most.",
    )
    pods: t.Count | None = Field(
        default=None,
        description="Under Kubernetes: pods of a node, which take addresses of its subnet. Default: 30.",
    )


class Login(Section):
    """The nodes that people log in to."""

    type: t.InstanceTypeName = Field(default="c7i.2xlarge", description="EC2 instance type; a GPU is not needed.")
    count: t.Count = Field(default=1, description="How many login nodes; 2 outlive the loss of one.")
    image: t.Image | None = Field(default=None, description="As for node groups, of the type's architecture.")
    ssh: Ssh | None = Field(default=None, description="SSH beside Session Manager. Default: none.")


class Slurm(Section):
    """Slurm, run by AWS PCS."""

    version: t.SlurmVersion = Field(default=pcs.DEFAULT_SLURM_VERSION, description="Version of Slurm.")
    size: t.ControllerSize | None = Field(
        default=None,
        description="Size of the controller: SMALL for 32 instances, MEDIUM for 512, LARGE for 2,048, login nodes "
        "included. It can't change later, so leave room to grow. Default: the smallest that holds the nodes.",
    )
    accounting: t.Flag = Field(default=True, description="Whether Slurm keeps its accounting database.")
    scale_down_idle_time: t.Duration = Field(
        default=Duration.parse("10 min"), description="How long an idle node that was powered on for a job stays."
    )
    accounting_purge_time: t.Duration | None = Field(
        default=None, description="For how long accounting records are kept, in whole days. Default: for ever."
    )
    rest_api: t.Flag = Field(default=False, description="Whether the controller answers Slurm's REST API, port 6820.")
    metrics: t.Flag | None = Field(
        default=None,
        description="Whether the controller shows its own metrics to Prometheus, without a password, port 6817. "
        "Default: where metrics are collected, from Slurm 25.11 on, unless settings speak of them or of PrivateData.",
    )
    settings: t.SlurmSettings = Field(
        default={},
        description="Settings of slurm.conf that PCS takes, by name, such as Prolog; PCS refuses others.",
    )
    health: t.Flag = Field(
        default=True, description="Whether nodes are checked before each job, and cleaned up after it: prolog, epilog."
    )
    slurmdbd_settings: t.SlurmSettings = Field(default={}, description="The same of slurmdbd.conf.")
    cgroup_settings: t.SlurmSettings = Field(default={}, description="The same of cgroup.conf.")
    queues: dict[t.NodeGroupName, Queue] = Field(
        default={}, description="Queues by name. Default: each section of `nodes` that no queue names has its own."
    )
    accounts: dict[s.AccountName, Account] = Field(default={}, description="Accounts of Slurm, by name.")
    qos: dict[s.AccountName, Qos] = Field(default={}, description="Qualities of service of Slurm, by name.")
    users: dict[s.UserName, User] = Field(default={}, description="Users of all nodes, by name. Default: the image's.")
    login: Login = Field(default=Login(), description="The nodes that people log in to.")


class ExistingNetwork(Section):
    """A network of yours that the cluster moves into."""

    vpc: t.VpcId = Field(description="The VPC.")
    subnet: t.SubnetId = Field(description="The private subnet of nodes, file system and controller, in the zone.")
    cidr: t.Cidr | None = Field(
        default=None, description="Range of the subnet, to check that the nodes fit. Default: not checked."
    )
    subnets: t.SubnetIds = Field(
        default={}, description="Private subnets of nodes in other zones than the cluster's, by the id of the zone."
    )


class Network(Section):
    """The VPC."""

    cidr: t.Cidr = Field(default=IPv4Network("10.0.0.0/16"), description="Range of the VPC, /16 to /26.")
    training_subnet: t.Cidr | None = Field(
        default=None,
        description="Range of the subnet of nodes and file system. Default: a quarter of the VPC, or half.",
    )
    subnets: t.Cidrs = Field(
        default={},
        description="Ranges of the subnets of nodes in other zones than the cluster's, by the id of the zone. Default: "
        "a 32nd of the VPC each.",
    )
    services_zone: t.ZoneId | None = Field(
        default=None,
        description="Zone of what can't sit in a Local Zone: NAT gateway and Slurm controller. Default: `zone`.",
    )
    internet: t.Flag = Field(
        default=True,
        description="Whether nodes reach the internet, through a NAT gateway. false: endpoints of the services that "
        "nodes need, under Kubernetes alone.",
    )
    existing: ExistingNetwork | None = Field(default=None, description="A network of yours, instead of a new VPC.")


class Notifications(Section):
    """Who hears of capacity that starts or ends."""

    topic: t.TopicArn | None = Field(
        default=None, description="SNS topic of yours, which lets EventBridge publish. Default: one is made."
    )
    email: t.Email | None = Field(
        default=None, description="Address that is subscribed to the topic that is made, and has to confirm it."
    )
    drain: t.Duration = Field(
        default=Duration.parse("1 h"),
        description="How long before its instances are terminated the nodes of a Capacity Block take no more jobs.",
    )
    notice: t.Duration = Field(
        default=Duration.parse("1 d"), description="How long before the end of a Capacity Block a notice is sent."
    )
