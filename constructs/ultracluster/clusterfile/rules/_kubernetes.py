"""Rules of Kubernetes."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from ultracluster.catalogue.ec2 import is_local_zone
from ultracluster.catalogue.schedulers import check_driver, eks, eks_add_ons, registries
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._orchestrators import ORCHESTRATORS
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._hyperpod_kubernetes import instead_of_add_on
from ultracluster.clusterfile.rules._kubernetes_nodes import check_elastic
from ultracluster.clusterfile.rules._other_orchestrator import OTHER
from ultracluster.clusterfile.rules._rule import Rule, error, shared, warning
from ultracluster.clusterfile.sections._kubernetes import NEW_CLUSTER_KEYS, SCALING_TIER, AddOn, Kubernetes
from ultracluster.clusterfile.sections._slurm_words import ANYWHERE
from ultracluster.clusterfile.sections._word import did_you_mean, not_one_of

_KUBERNETES_NO_ADMINS = warning("kubernetes-no-admins", "No principal has access to the Kubernetes cluster.")
_KUBERNETES_OPEN = warning("kubernetes-open", "The API server is public for all addresses.")
_KUBERNETES_ADD_ON = warning("kubernetes-add-on", "An EKS add-on that is not in the documentation of AWS.")
_VERSION = shared("kubernetes-version")
_TIER = shared("kubernetes-scaling-tier")
_REGISTRY = warning(
    "kubernetes-registry", "A registry other than Amazon ECR of the Region needs more than the role of nodes."
)
_DRANET = error("kubernetes-dranet", "DRANET needs Dynamic Resource Allocation of a newer Kubernetes.")
_READY = error("kubernetes-ready-timeout", "Kueue evicts a workload whose pods are not ready in time.")
_TEAM = error("kubernetes-team", "A team has nodes of node groups that exist.")
_WEIGHT = error("kubernetes-team-weight", "Weights divide the idle nodes that teams borrow.")
_EXISTING = error("kubernetes-existing", "An existing cluster keeps its own settings and its own VPC.")
_HYPERPOD = error("kubernetes-hyperpod-add-on", "Add-ons of SageMaker HyperPod need its nodes, and some much more.")
_ADD_ON = error("kubernetes-add-on-name", "EKS refuses unknown add-ons.", acceptable=True)
_ADD_ON_ROLE = error(
    "kubernetes-add-on-role", "An add-on without the permissions that it needs runs, and does nothing.", acceptable=True
)
_SERVICE_CIDR = shared("kubernetes-service-cidr")
KUBERNETES_NAME = shared("kubernetes-name")
KUBERNETES_CHART = shared("kubernetes-chart")
KUBERNETES_PLATFORM = shared("kubernetes-platform")
_ZONE = error("kubernetes-zone", "EKS does not support control plane subnets in some zones.", acceptable=True)
_SECOND_ZONE = shared("kubernetes-second-zone")
_ULTRASERVER = error("kubernetes-ultraserver", "UltraServers need Dynamic Resource Allocation and Amazon Linux 2023.")
_PODS = error("kubernetes-pods", "EKS and the addresses of the first network card limit the pods of a node.")
_NODE_DRIVER = error(
    "kubernetes-node-driver", "Some types need a newer NVIDIA driver than some images of EKS have.", acceptable=True
)
_BOTTLEROCKET = error("bottlerocket-image", "EKS chooses the image of Bottlerocket nodes.")
_ARGO_CD = error("kubernetes-argo-cd", "Argo CD reads a Git repository, and people sign in by IAM Identity Center.")

_HERE: Path = ("kubernetes",)
_READY_LEAST, _READY_MOST = 300, 86_400


def check_kubernetes(draft: Draft) -> Iterator[Problem]:
    """Check the EKS cluster, and the node groups on it."""
    requested = draft.kubernetes
    yield from until_invalid(_check_cluster(requested, draft))
    yield from until_invalid(_check_platform(draft))
    yield from until_invalid(_check_zones(requested, draft))
    yield from until_invalid(_check_notifications(draft))
    for group in draft.node_groups:
        yield from until_invalid(_check_group(group, requested, draft))
    if requested.efa == "dranet" and not eks.at_least(requested.version, eks.DRANET_FROM):
        message = (
            f"dranet needs Kubernetes {eks.DRANET_FROM} or newer, got {requested.version}; write efa: device-plugin"
        )
        yield _DRANET((*_HERE, "efa"), message)
    if "ready_timeout" in requested.model_fields_set:
        yield from _check_ready(requested)
    names = [group.name for group in draft.node_groups]
    for team, share in requested.teams.items():
        if share.weight is not None and (problem := _without_weight(requested, borrow=share.borrow)):
            yield _WEIGHT((*_HERE, "teams", team, "weight"), f"{problem}; remove it", at_key=True)
        for name in share.nodes or {}:
            if name not in names and name not in draft.wrong_nodes:
                message = f"there is no node group {name}; there are {', '.join(names)}"
                yield _TEAM((*_HERE, "teams", team, "nodes", name), message, at_key=True)


def _without_weight(requested: Kubernetes, *, borrow: bool) -> str:
    """Return the reason why a weight of a team has no effect, or an empty text."""
    if not borrow:
        return "divides the idle nodes that teams borrow, and borrow is false"
    # https://github.com/volcano-sh/volcano, pkg/scheduler/plugins/capacity (commit ed72c7c, read 2026-11-27)
    return "the queues of Volcano have resources here, and no weights" if requested.scheduler == "volcano" else ""


def _check_ready(requested: Kubernetes) -> Iterator[Problem]:
    path = (*_HERE, "ready-timeout")
    if requested.scheduler != "kueue":
        message = f"is a setting of the Kueue of scheduler: kueue, and scheduler is {requested.scheduler}"
        yield _READY(path, f"{message}; remove it", at_key=True)
    elif not _READY_LEAST <= requested.ready_timeout.seconds <= _READY_MOST:
        limits = f"{_READY_LEAST // 60} min, in which a node pulls an image, to {_READY_MOST // 3600} h"
        yield _READY(path, f"must be from {limits}, got {requested.ready_timeout}")


def _check_notifications(draft: Draft) -> Iterator[Problem]:
    for key in sorted({"drain", "notice"} & draft.notifications.model_fields_set):
        message = "is for Slurm: EKS scales a node group in by itself, 40 minutes before its block ends; remove it"
        yield OTHER(("notifications", key), message, at_key=True)


def _check_cluster(requested: Kubernetes, draft: Draft) -> Iterator[Problem]:
    for message in eks.check_version(requested.version):
        yield _VERSION((*_HERE, "version"), message)
    if requested.scaling_tier not in eks.SCALING_TIERS:
        yield _TIER((*_HERE, "scaling-tier"), not_one_of(requested.scaling_tier, eks.SCALING_TIERS, SCALING_TIER))
    if requested.existing is not None:
        given = NEW_CLUSTER_KEYS & requested.model_fields_set
        yield from _EXISTING.of_new(_HERE, given, "cluster", "kubernetes.existing")
        for name in [name for name, team in requested.teams.items() if team.members]:
            text = (
                "access to an existing cluster is not managed; remove it, and create access entries with the group of "
                f"the team: aws eks create-access-entry --kubernetes-groups ultracluster-{name}"
            )
            yield _EXISTING((*_HERE, "teams", name, "members"), text, at_key=True)
    for name in requested.add_ons:
        path: Path = (*_HERE, "add-ons", name)
        if name.startswith(eks_add_ons.HYPERPOD) and name not in draft.traits.kubernetes_nodes.add_ons:
            yield _HYPERPOD(path, instead_of_add_on(name, draft), at_key=True)
        elif not eks_add_ons.is_known(name) and (hint := did_you_mean(name, eks_add_ons.ADD_ONS)):
            yield _ADD_ON(path, f"EKS has no such add-on; {hint.strip()}", at_key=True)
        yield from _check_access(name, requested.add_on(name), path, draft)
    others = {traits.kubernetes_nodes.own_scheduler for traits in ORCHESTRATORS.values()} - {None}
    if requested.scheduler in others - {draft.traits.kubernetes_nodes.own_scheduler}:
        message = (
            f"{requested.scheduler} is a part of SageMaker HyperPod; write kueue, or orchestrator: hyperpod-kubernetes"
        )
        yield _HYPERPOD((*_HERE, "scheduler"), message)
    cidr = requested.service_cidr
    for message in eks.check_service_range(cidr):
        yield _SERVICE_CIDR((*_HERE, "service-cidr"), message)
    network = draft.network
    if requested.existing is not None and network.existing is None:
        message = "is in an existing VPC, and nodes must be there too; name it in network.existing"
        yield _EXISTING((*_HERE, "existing"), message, at_key=True)
    taken = network.existing.cidr if network.existing else network.cidr
    if taken is not None and cidr.overlaps(taken):
        free = eks.OTHER_SERVICE_CIDR if IPv4Network(eks.SERVICE_CIDR).overlaps(taken) else eks.SERVICE_CIDR
        message = f"Services have {cidr}, which overlaps {taken}, the range of the nodes; write another, such as {free}"
        yield _SERVICE_CIDR((*_HERE, "service-cidr"), message)


def _check_access(name: str, option: AddOn, path: Path, draft: Draft) -> Iterator[Problem]:
    example = f"{name}: {{role: arn:aws:iam::ACCOUNT:role/NAME}}"
    known = eks_add_ons.ACCESS.get(name)
    if option.role is None:
        if name in eks_add_ons.OWN_ROLE:
            depends = eks_add_ons.OWN_ROLE[name]
            message = f"needs a role, whose permissions depend on {depends}; create it, and write {example}"
            yield _ADD_ON_ROLE(path, message, at_key=True)
        elif name == "aws-mountpoint-s3-csi-driver" and not draft.storage.data_bucket:
            message = f"needs a role for the buckets that it mounts, and the file has no data bucket; write {example}"
            yield _ADD_ON_ROLE(path, message, at_key=True)
        if option.service_account is not None:
            yield _ADD_ON_ROLE((*path, "service-account"), "needs a role of your account; add role, or remove it")
    elif option.service_account is None and known is None:
        message = "needs the service account of its pods, which no page of AWS names; add service-account"
        yield _ADD_ON_ROLE((*path, "role"), message)


def _check_zones(requested: Kubernetes, draft: Draft) -> Iterator[Problem]:
    if requested.existing is not None:
        return
    network, first, second = draft.network, draft.control_plane_zone, requested.second_zone
    if first in eks.ZONES_WITHOUT_CONTROL_PLANE:
        message = (
            f"EKS puts no control plane into {first}; name another zone for it: network: {{control-plane-zone: ...}}"
        )
        yield _ZONE(("zone",), message)
    if second is not None:
        if second == first:
            yield _SECOND_ZONE((*_HERE, "second-zone"), f"is the first one, {first}; EKS requires two")
        elif second in eks.ZONES_WITHOUT_CONTROL_PLANE or is_local_zone(second):
            yield _ZONE((*_HERE, "second-zone"), f"EKS puts no control plane into {second}")
        elif second.split("-")[0] != first.split("-")[0]:
            yield _SECOND_ZONE((*_HERE, "second-zone"), f"{second} is in another Region than {first}")
    if network.existing is not None and second is not None and second not in network.existing.subnets:
        message = f"name the existing subnet there too: network: {{existing: {{subnets: {{{second}: subnet-...}}}}}}"
        yield _SECOND_ZONE((*_HERE, "second-zone"), message)
    elif network.existing is not None and not network.existing.subnets:
        message = (
            "EKS requires subnets in two zones; name a private one of another zone as well: "
            f"subnets: {{{second or first.split('-')[0] + '-az2'}: subnet-...}}"
        )
        yield _SECOND_ZONE(("network", "existing"), message, at_key=True)


def _check_group(group: NodeGroup, requested: Kubernetes, draft: Draft) -> Iterator[Problem]:
    path: Path = ("nodes", group.section)
    if group.instance_type.ultraservers:
        for message in eks.check_ultraserver_version(requested.version):
            at = (*_HERE, "version") if "version" in requested.model_fields_set else (*path, "type")
            yield _ULTRASERVER(at, message)
        if group.os == "bottlerocket":
            message = "UltraServers run Amazon Linux 2023, whose image has IMEX and NVLink's subnet manager; remove it"
            yield _ULTRASERVER((*path, "os"), message)
    yield from _check_driver(group, requested, draft)
    if group.elastic:
        yield from until_invalid(check_elastic(group, draft))
    most = eks.most_pods(group.instance_type)
    if group.pods > most:
        message = (
            f"{group.instance_type.name} runs at most {most} pods: EKS caps them, and the addresses of its first "
            f"network card end; got {group.pods}"
        )
        yield _PODS((*path, "pods"), message)
    if group.os == "bottlerocket" and group.image is not None:
        message = "a custom image runs on Amazon Linux 2023's terms here; with bottlerocket EKS chooses it: remove it"
        yield _BOTTLEROCKET((*path, "image"), message)


def _check_driver(group: NodeGroup, requested: Kubernetes, draft: Draft) -> Iterator[Problem]:
    if group.image is not None:
        return
    release = None if group.elastic else requested.release_of(draft.nodes[group.section].release, group.os)
    for message in check_driver(group.instance_type, group.os, version=requested.version, release=release):
        if group.os == "bottlerocket":
            yield _NODE_DRIVER(("nodes", group.section, "os"), f"{message}; write os: al2023, or use another type")
        else:
            of_group = draft.nodes[group.section].release is not None
            yield _NODE_DRIVER(("nodes", group.section, "release") if of_group else (*_HERE, "release"), message)


def _check_platform(draft: Draft) -> Iterator[Problem]:
    requested = draft.kubernetes
    if requested.platform == "argo-cd" and requested.argo_cd is None:
        message = (
            "needs the key argo-cd, such as argo-cd: {identity-center: arn:aws:sso:::instance/ssoins-..., admins: "
        )
        message += "[GROUP], repository: https://github.com/acme/clusters.git}"
        yield _ARGO_CD(("kubernetes", "platform"), message)
    if requested.platform != "argo-cd" and requested.argo_cd is not None:
        message = f"has no effect with platform: {requested.platform}; write platform: argo-cd, or remove it"
        yield _ARGO_CD(("kubernetes", "argo-cd"), message, at_key=True)


def warn_kubernetes(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    requested = cluster.kubernetes
    if requested.existing is None and not requested.admins:
        yield (
            _KUBERNETES_NO_ADMINS,
            "no principal has access to the cluster; name the IAM roles that administer it: kubernetes: {admins: "
            "[arn:aws:iam::...]}",
        )
    if requested.public_access_cidrs == ANYWHERE:
        yield (
            _KUBERNETES_OPEN,
            "the API server answers the whole world, and IAM alone keeps it out; name the ranges that you come from",
        )
    if requested.registry is not None:
        region = registries.ecr_region(requested.registry)
        if region is None:
            yield (
                _REGISTRY,
                f"{requested.registry.partition('/')[0]} is not Amazon ECR: nodes pull from it without credentials, "
                "and the admin host reads charts without them",
            )
        elif region != cluster.region:
            yield (
                _REGISTRY,
                f"the registry is in {region}, and each node pulls its images from there, which AWS charges as traffic "
                f"between Regions; copy them to {cluster.region}",
            )
    unknown = [name for name in requested.add_ons if not eks_add_ons.is_known(name)]
    if unknown:
        yield (
            _KUBERNETES_ADD_ON,
            f"{', '.join(unknown)}: no page of AWS names such an add-on (read 2026-11-21), and EKS refuses at the "
            "deployment add-ons that it does not have; list them: aws eks describe-addon-versions --addon-name NAME",
        )
