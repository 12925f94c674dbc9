"""The section `kubernetes` of a cluster file, as its keys stand in it."""

from ipaddress import IPv4Network

from pydantic import Field

from ultracluster.clusterfile.sections.section import Section
from ultracluster.clusterfile.types import kubernetes as k
from ultracluster.clusterfile.types import values as t
from ultracluster.hardware import eks


class SystemNodes(Section):
    """The nodes that run what the cluster itself needs: DNS, drivers, controllers."""

    type: t.InstanceTypeName = Field(default="m7i.2xlarge", description="EC2 instance type; a GPU is not needed.")
    count: t.Count = Field(default=2, description="How many system nodes.")


class Team(Section):
    """A team: a namespace and a queue of its own, and a share of the nodes."""

    nodes: dict[t.NodeGroupName, t.Spare] | None = Field(
        default=None, description="How many nodes of which group are its own. Default: an equal part of what is left."
    )
    borrow: t.Flag = Field(default=True, description="Whether its jobs may use what other teams leave idle.")


class ExistingCluster(Section):
    """An EKS cluster of yours that the nodes join."""

    name: k.ClusterName = Field(description="Its name.")
    endpoint: k.ApiServer = Field(description="Address of its API server.")
    certificate_authority: k.CertificateAuthority = Field(description="Its certificate authority, in base64.")
    security_group: t.SecurityGroupId = Field(description="The security group that EKS made for it.")


class Kubernetes(Section):
    """Kubernetes, run by Amazon EKS."""

    version: k.Version = Field(default=eks.DEFAULT_VERSION, description="Version of Kubernetes.")
    endpoint: k.Endpoint = Field(
        default="private",
        description="Who reaches the API server: private, the VPC alone; a list of ranges, they as well; "
        "open-to-the-world, everybody who has a key.",
    )
    admins: k.Principals = Field(
        default=(), description="ARNs of IAM roles and users that administer the cluster. Default: nobody."
    )
    second_zone: t.ZoneId | None = Field(
        default=None,
        description="Id of a zone beside `zone`, where EKS puts the control plane's other interfaces. Default: az2, or "
        "az1 where `zone` is az2, and so on.",
    )
    scaling_tier: k.ScalingTier = Field(
        default="standard", description="Tier of the control plane: standard, or one that is paid for, from tier-xl on."
    )
    bin_packing: t.Flag = Field(
        default=False, description="Whether Kubernetes' own scheduler fills nodes one after the other."
    )
    service_cidr: t.Cidr = Field(
        default=IPv4Network(eks.SERVICE_CIDR), description="Range of the cluster's Services; outside the VPC."
    )
    system: SystemNodes = Field(default=SystemNodes(), description="The nodes that run what the cluster itself needs.")
    add_ons: k.AddOns = Field(
        default={}, description="Versions of EKS add-ons by name, and further add-ons. Default: EKS's own choice."
    )
    existing: ExistingCluster | None = Field(default=None, description="A cluster of yours, instead of a new one.")
    scheduler: k.Scheduler = Field(
        default="kueue", description="What admits gangs: kueue, or volcano or kai, which also place their pods."
    )
    teams: dict[k.TeamName, Team] = Field(
        default={}, description="Who shares the nodes, by name. Default: one team, research, that has all."
    )
    efa: k.EfaWay = Field(default="device-plugin", description="What hands EFA devices to pods: device-plugin, dranet.")
    gpu: k.GpuWay = Field(
        default="device-plugin", description="What hands GPUs to pods: device-plugin, gpu-operator, dra-driver."
    )
    charts: k.Charts = Field(
        default={}, description="Versions of Helm charts by name of the release. Default: those that this release pins."
    )
