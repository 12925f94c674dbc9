"""The section `kubernetes`."""

from ipaddress import IPv4Network
from typing import Annotated, Literal, get_args

from pydantic import Field

from ultracluster.catalogue.schedulers import eks, eks_add_ons
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._argo_cd import ArgoCd
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._existing_cluster import ExistingCluster
from ultracluster.clusterfile.sections._kubernetes_team import DNS_LABEL, Principal, Team, TeamName
from ultracluster.clusterfile.sections._nodes import InstanceTypeName, ReleaseName
from ultracluster.clusterfile.sections._section import Section, optional
from ultracluster.clusterfile.sections._slurm_words import ANYWHERE
from ultracluster.clusterfile.sections._word import Word

#: Ranges of addresses that reach the API server beside the VPC.
PublicAccess = Literal["anywhere"] | tuple[IPv4Network, ...]
SchedulerName = Literal["kueue", "volcano", "kai", "task-governance"]
EfaDevices = Literal["device-plugin", "dranet"]
GpuDevices = Literal["device-plugin", "gpu-operator", "dra-driver"]
PlatformInstaller = Literal["admin-host", "code-build", "argo-cd", "none"]

_ADD_ON = r"[a-z0-9][a-z0-9_-]{1,98}"
# Numbers have no zeros before them, and Helm takes no version that has: https://semver.org (read 2026-11-21)
_NUMBERS = r"(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}"
_WORDS = r"[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*"
# https://docs.aws.amazon.com/eks/latest/userguide/managing-add-ons.html (read 2026-11-21)
_ADD_ON_VERSION = rf"v{_NUMBERS}-eksbuild\.[1-9]\d{{0,8}}|default"
_CHART_VERSION = rf"v?{_NUMBERS}(-{_WORDS})?(\+{_WORDS})?"


def _anywhere(value: object) -> PublicAccess:
    if value == ANYWHERE:
        return "anywhere"
    forms = f"a list of ranges beside the VPC, as in [203.0.113.0/24], [] for none, or {ANYWHERE}"
    raise ValueError(f"must be {forms}; got {shown(value)}")


def _few(ranges: tuple[IPv4Network, ...]) -> PublicAccess:
    if len(ranges) <= eks.PUBLIC_RANGES:
        return ranges
    raise ValueError(f"EKS accepts at most {eks.PUBLIC_RANGES} ranges, got {len(ranges)}; join adjacent ranges")


def _public_range(value: object) -> IPv4Network:
    result = t.cidr(value)
    if reason := eks.check_public_range(result):
        raise ValueError(f"{reason}; name the ranges that you come from, or write public-access-cidrs: {ANYWHERE}")
    return result


Version = Annotated[str, w.open_choice(eks.VERSIONS, "[0-9][.][0-9]{1,3}", "a version of Kubernetes")]
PublicRange = Annotated[IPv4Network, w.parsed(_public_range, r"^[0-9.]{7,15}/[0-9]{1,2}$", "203.0.113.0/24")]
PublicAccessCidrs = Annotated[PublicAccess, Either(Word(_anywhere, const=ANYWHERE), tuple[PublicRange, ...], _few)]
Support = Annotated[str, w.choice(("standard", "extended"), "a support type of EKS")]
#: Keys that only a new cluster has.
NEW_CLUSTER_KEYS = {
    "public_access_cidrs",
    "admins",
    "second_zone",
    "scaling_tier",
    "support",
    "bin_packing",
    "deletion_protection",
    "add_ons",
    "argo_cd",
    "logs",
    "platform",
    "system",
}
SCALING_TIER = "a scaling tier of the control plane"
ScalingTier = Annotated[str, w.open_choice(eks.SCALING_TIERS, "tier-[a-z0-9-]{1,30}", SCALING_TIER)]
Scheduler = Annotated[SchedulerName, w.choice(get_args(SchedulerName), "what schedules jobs on Kubernetes")]
Efa = Annotated[EfaDevices, w.choice(get_args(EfaDevices), "what hands EFA devices to pods, one of the two on a node,")]
Gpu = Annotated[GpuDevices, w.choice(get_args(GpuDevices), "what hands GPUs to pods")]
Installer = Annotated[PlatformInstaller, w.choice(get_args(PlatformInstaller), "what installs the platform")]
AddOnName = Annotated[str, w.pattern(_ADD_ON, "the name of an add-on, such as coredns", "coredns")]
AddOnVersion = Annotated[
    str, w.pattern(_ADD_ON_VERSION, "a version, such as v1.12.4-eksbuild.1, or default", "v1.12.4-eksbuild.1")
]
# https://github.com/distribution/reference (v0.6.0, read 2026-11-22), with a tag or a digest
ImageName = Annotated[
    str,
    w.pattern(
        r"[a-z0-9][A-Za-z0-9._/:-]{0,250}(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})",
        "a container image with its tag or digest",
        "public.ecr.aws/deep-learning-containers/pytorch:2.13.0-cu133-amzn2023",
    ),
]
# As repositories in ECR are named, by https://docs.aws.amazon.com/AmazonECR/latest/APIReference/
# API_CreateRepository.html (read 2026-11-23). Names of images follow, so that the prefix is short.
RegistryAddress = Annotated[
    str,
    w.pattern(
        r"[a-z0-9][a-z0-9-]{0,62}([.][a-z0-9-]{1,63}){1,8}(:[0-9]{2,5})?(/[a-z0-9]{1,40}([._-][a-z0-9]{1,40}){0,4}){0,4}",
        "a registry, with a prefix of its repositories",
        "123456789012.dkr.ecr.us-east-2.amazonaws.com/ultracluster",
    ),
]
_ROLE = "role/[A-Za-z0-9+=,.@_/-]{1,512}"
RoleArn = Annotated[str, w.arn("iam", _ROLE, "the ARN of an IAM role", "role/NAME", "role/external-dns", region=False)]
ServiceAccount = Annotated[
    str, w.pattern(DNS_LABEL, "lower-case letters, digits and hyphens, as a service account is called", "external-dns")
]
ChartName = Annotated[str, w.pattern(_ADD_ON, "the name of a release, such as kueue", "kueue")]
ChartVersion = Annotated[str, w.pattern(_CHART_VERSION, "a version, such as 0.19.2", "0.19.2")]


class AddOn(Section):
    """An EKS add-on with a role of your own."""

    version: AddOnVersion = Field(default="default", description="Its version. Default: EKS's own choice.")
    role: RoleArn | None = Field(
        default=None,
        description="ARN of a role for its pods, which EKS Pod Identity may assume. Default: one with the policies "
        "that AWS documents, where there are any.",
    )
    service_account: ServiceAccount | None = Field(
        default=None, description="Service account of its pods. Default: that of AWS's documentation."
    )


AddOnOption = Annotated[
    str | AddOn,
    Either(
        w.pattern(_ADD_ON_VERSION, "a version, such as v1.12.4-eksbuild.1, or default", "v1.12.4-eksbuild.1"), AddOn
    ),
]


class SystemNodes(Section):
    """The nodes that run what the cluster itself needs: DNS, drivers, controllers."""

    type: InstanceTypeName = Field(
        default="m7i.2xlarge",
        description="EC2 instance type; a GPU is not needed. In a Region without m7i, the default is m6i.2xlarge.",
    )
    count: t.Count = Field(default=2, description="Number of system nodes.")
    tags: t.Tags = Field(default={}, description=t.TAGS_OF_NODES.format("system"))


class Kubernetes(Section):
    """Kubernetes, run by Amazon EKS."""

    version: Version = Field(default=eks.DEFAULT_VERSION, description="Version of Kubernetes.")
    release: ReleaseName | None = Field(
        default=None,
        description="Release of AWS's image of the nodes with al2023, which pins driver and kubelet. Default: the "
        "newest of the version when a node group is created, or when `version` changes.",
    )
    public_access_cidrs: PublicAccessCidrs = Field(
        default=(),
        description="Ranges of addresses that reach the API server beside the VPC. anywhere: all addresses, with IAM "
        "alone. Default: none, the API server is private.",
    )
    admins: w.Distinct[Principal] = Field(
        default=(), description="ARNs of IAM roles and users that administer the cluster. Default: none."
    )
    second_zone: t.ZoneId | None = Field(
        default=None,
        description="Id of a zone beside `zone`, where EKS puts the control plane's other interfaces. Default: az2, or "
        "az1 where `zone` is az2, and so on.",
    )
    scaling_tier: ScalingTier = Field(
        default="standard", description="Tier of the control plane: standard, or one that is paid for, from tier-xl on."
    )
    support: Support | None = Field(
        default=None,
        description="At the end of standard support, standard: EKS updates the version; extended: it stays, for a "
        "higher price. Default: extended, the default of EKS.",
    )
    deletion_protection: t.Flag = Field(
        default=True, description="Whether EKS refuses to delete the cluster. To delete it, deploy false first."
    )
    bin_packing: t.Flag = Field(
        default=False, description="Whether Kubernetes' own scheduler fills nodes one after the other."
    )
    service_cidr: t.Cidr = Field(
        default=IPv4Network(eks.SERVICE_CIDR), description="Range of the cluster's Services; outside the VPC."
    )
    system: SystemNodes = optional(description="The nodes that run what the cluster itself needs.")
    add_ons: dict[AddOnName, AddOnOption] = Field(
        default={},
        examples=[{"coredns": "v1.12.4-eksbuild.1"}],
        description="Versions of EKS add-ons by name, or further keys, and further add-ons. Default: EKS's own choice.",
    )
    logs: t.Flag = Field(
        default=False,
        description="Whether logs of pods and nodes go to CloudWatch, by the add-on amazon-cloudwatch-observability "
        "without its metrics, which are billed. Lines of pods have the job's name. CloudWatch bills the logs: 0.50 USD "
        "a GB in us-east-1.",
    )
    existing: ExistingCluster | None = Field(default=None, description="An existing cluster, instead of a new one.")
    platform: Installer = Field(
        default="admin-host",
        description="What installs charts and objects on a new cluster. admin-host: a small instance in the VPC, with "
        "the deployment, which is also a way to the API server. code-build: a pipeline with CodeBuild in the VPC, with "
        "the deployment. argo-cd: Argo CD from a Git repository, after it. none: ultracluster apply.",
    )
    argo_cd: ArgoCd | None = Field(
        default=None, description="With `platform: argo-cd`, the repository and IAM Identity Center."
    )
    scheduler: Scheduler = Field(
        default="kueue",
        description="What admits gangs: kueue, or volcano or kai, which also place their pods. On SageMaker HyperPod "
        "also task-governance, whose add-on has a Kueue of its own.",
    )
    ready_timeout: t.Duration = Field(
        default=Duration.parse("20 min"),
        description="Time that Kueue gives the pods of a job to become ready, at their start and after a restart. Then "
        "it evicts the job, and queues it again. A server is ready once it has loaded its model.",
    )
    teams: dict[TeamName, Team] = Field(
        default={}, description="Teams that share the nodes, by name. Default: one team, research, that has all."
    )
    efa: Efa = Field(default="device-plugin", description="What hands EFA devices to pods: device-plugin, dranet.")
    gpu: Gpu = Field(
        default="device-plugin", description="What hands GPUs to pods: device-plugin, gpu-operator, dra-driver."
    )
    images: w.Distinct[ImageName] = Field(
        default=(),
        description="Container images that GPU nodes pull as soon as they join: those of jobs. Each must have the "
        "program sleep. Default: none.",
    )
    registry: RegistryAddress | None = Field(
        default=None,
        description="Registry that has copies of all charts and images, which ultracluster mirror creates. Default: "
        "with internet access, those of their projects; without, ultracluster/ in the ECR of the account.",
    )
    charts: dict[ChartName, ChartVersion] = Field(
        default={}, description="Versions of Helm charts by name of the release. Default: those that this release pins."
    )

    @property
    def is_new(self) -> bool:
        """True if the control plane is new."""
        return self.existing is None

    @property
    def applied_by_deployment(self) -> bool:
        """True if the deployment installs charts and objects, and waits for them."""
        return self.is_new and self.platform in ("admin-host", "code-build")

    @property
    def service_nodes(self) -> SystemNodes:
        """Nodes beside the node groups."""
        return self.system

    @property
    def requested_add_ons(self) -> tuple[str, ...]:
        """Names of the add-ons of the file, and of that of the logs."""
        return tuple(dict.fromkeys([*self.add_ons, *[eks_add_ons.LOGS] * self.logs]))

    def release_of(self, release: str | None, os: str) -> str | None:
        """Return the release of a node group with a release and an operating system in its section, or None."""
        return release or (self.release if os == "al2023" else None)

    def add_on(self, name: str) -> AddOn:
        """Return the settings of an add-on."""
        option = self.add_ons.get(name, "default")
        return AddOn(version=option) if isinstance(option, str) else option
