"""Versions that EKS runs today. PCS has no operation that lists its versions of Slurm."""

from collections.abc import Iterator

from ultracluster.catalogue.schedulers import release_parameter
from ultracluster.clusterfile import ClusterFile, NodeGroup, created_add_ons
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding

_VERSIONS = Call(service="eks", operation="describe_cluster_versions", action="eks:DescribeClusterVersions")
_ADD_ONS = Call(service="eks", operation="describe_addon_versions", action="eks:DescribeAddonVersions", result="addons")
_DEPLOYED = Call(service="eks", operation="list_addons", action="eks:ListAddons", result="addons")
_ADD_ON = Call(service="eks", operation="describe_addon", action="eks:DescribeAddon")
_PARAMETER = Call(service="ssm", operation="get_parameter", action="ssm:GetParameter")
_CLUSTER = Call(service="eks", operation="describe_cluster", action="eks:DescribeCluster")


def _runs_eks(cluster: ClusterFile) -> bool:
    return cluster.traits.facts == "eks"


def _versions(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    version = cluster.kubernetes.version
    versions = account.ask(_VERSIONS, includeAll=True)["clusterVersions"]
    status = {entry["clusterVersion"]: entry for entry in versions}.get(version)
    if status is None:
        names = ", ".join(entry["clusterVersion"] for entry in versions)
        yield check.bad(
            f"EKS does not run Kubernetes {version} in {account.region}; it runs {names}", "change the version"
        )
    elif status["versionStatus"] == "UNSUPPORTED":
        yield check.bad(f"EKS no longer supports Kubernetes {version}", "change `kubernetes.version`")
    elif status["versionStatus"] == "EXTENDED_SUPPORT":
        end = status["endOfExtendedSupportDate"].date()
        yield check.doubt(
            f"Kubernetes {version} is in extended support until {end}, which costs more by the hour",
            "update the control plane, one minor version at a time",
        )
    else:
        yield check.good(
            f"EKS has Kubernetes {version} in standard support until {status['endOfStandardSupportDate'].date()}"
        )


def _add_ons(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for name in cluster.kubernetes.add_ons:
        version = cluster.kubernetes.add_on(name).version
        versions = [
            entry["addonVersion"]
            for add_on in account.pages(_ADD_ONS, addonName=name, kubernetesVersion=cluster.kubernetes.version)
            for entry in add_on["addonVersions"]
        ]
        if not versions:
            yield check.bad(
                f"EKS has no add-on {name} for Kubernetes {cluster.kubernetes.version}",
                "remove it from `kubernetes.add-ons`",
            )
        elif version not in ("default", *versions):
            yield check.bad(
                f"EKS has {name} {', '.join(versions[:5])}, not {version}", f"change `kubernetes.add-ons.{name}`"
            )
        else:
            yield check.good(f"EKS has {name} for Kubernetes {cluster.kubernetes.version}")


def _deployed(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    """Compare the add-ons that the stacks created, or the file pins, with the defaults of EKS for its version."""
    version, created = cluster.kubernetes.version, created_add_ons(cluster)
    answer = account.find(_DEPLOYED, missing="ResourceNotFoundException", clusterName=cluster.name)
    for name in (each for each in (answer or {}).get("addons", []) if each in created):
        pinned = cluster.kubernetes.add_on(name).version
        runs = account.ask(_ADD_ON, clusterName=cluster.name, addonName=name)["addon"]["addonVersion"]
        # The newest first.
        versions = {
            entry["addonVersion"]: any(each.get("defaultVersion") for each in entry.get("compatibilities", ()))
            for add_on in account.pages(_ADD_ONS, addonName=name, kubernetesVersion=version)
            for entry in add_on["addonVersions"]
        }
        default = next((each for each, is_default in versions.items() if is_default), None)
        names = [*versions]
        current = runs if pinned == "default" else pinned
        if default is None or (current in versions and names.index(current) <= names.index(default)):
            continue
        reason = "EKS leaves an add-on at the version that it was created with"
        if pinned != "default":
            reason = f"the file has {pinned}"
        yield check.doubt(
            f"{cluster.name} runs {name} {runs}, and the default for Kubernetes {version} is {default}: {reason}",
            f"write `kubernetes.add-ons.{name}: {default}` and deploy",
        )


def _release_parameters(cluster: ClusterFile) -> list[tuple[NodeGroup, str]]:
    """Return the node groups whose image EKS chooses, with the parameter of its newest release."""
    version = cluster.kubernetes.version
    groups = [group for group in cluster.node_groups if group.image is None and not group.elastic]
    return [(group, release_parameter(version, group.os, group.instance_type)) for group in groups]


def _parameter_arns(cluster: ClusterFile) -> list[str]:
    names = sorted({name for _, name in _release_parameters(cluster)})
    return [arn(cluster, "ssm", f"parameter{name}", owner="") for name in names]


def _releases(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    """Compare the pinned releases of AWS's images with the newest ones, which have the newest fixes."""
    version = cluster.kubernetes.version
    newest: dict[str, str | None] = {}
    for group, name in _release_parameters(cluster):
        if name not in newest:
            answer = account.find(_PARAMETER, missing="ParameterNotFound", Name=name)
            newest[name] = answer["Parameter"]["Value"] if answer else None
        pinned, key = cluster.kubernetes.release_of(cluster.nodes[group.section].release, group.os), newest[name]
        if key is None:
            yield check.bad(
                f"{account.region} has no parameter {name}, the image of {group.name}", "change `kubernetes.version`"
            )
        elif pinned is None:
            yield check.good(f"{group.name}: a new node group gets AWS's image {key}, which the file does not pin")
        elif pinned == key:
            yield check.good(f"{group.name}: {pinned} is AWS's newest image for Kubernetes {version}")
        else:
            yield check.doubt(
                f"{group.name}: the file pins {pinned}, and AWS's newest image for Kubernetes {version} is {key}",
                f"write `release: {key}`, and deploy when the nodes may be replaced",
            )


def _existing(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    existing = cluster.kubernetes.existing
    assert existing is not None
    answer = account.find(_CLUSTER, missing="ResourceNotFoundException", name=existing.name)
    if answer is None:
        yield check.bad(f"{account.region} has no EKS cluster {existing.name} in this account", "change its name")
        return
    real = answer["cluster"]
    facts = {
        "endpoint": (existing.endpoint, real["endpoint"]),
        "certificate-authority": (existing.certificate_authority, real["certificateAuthority"]["data"]),
        "security-group": (existing.security_group, real["resourcesVpcConfig"]["clusterSecurityGroupId"]),
    }
    wrong = [name for name, (file, aws) in facts.items() if file != aws]
    for name in wrong:
        yield check.bad(f"{existing.name} has another {name}: {facts[name][1]}", f"change `kubernetes.existing.{name}`")
    if real["version"] != cluster.kubernetes.version:
        yield check.bad(
            f"{existing.name} runs Kubernetes {real['version']}, and the file has {cluster.kubernetes.version}",
            f"set `kubernetes.version: '{real['version']}'`",
        )
    elif not wrong:
        yield check.good(f"{existing.name} is {real['status']}, Kubernetes {real['version']}")


CHECKS = (
    Check(
        id="live-kubernetes-version",
        reason="EKS supports each version of Kubernetes until a date.",
        run=_versions,
        calls=(_VERSIONS,),
        applies=_runs_eks,
    ),
    Check(
        id="live-add-on",
        reason="EKS supports some versions of an add-on for each version of Kubernetes.",
        run=_add_ons,
        calls=(_ADD_ONS,),
        applies=lambda cluster: _runs_eks(cluster) and bool(cluster.kubernetes.add_ons),
    ),
    Check(
        id="live-add-on-age",
        reason="EKS leaves add-ons at the version that they were created with.",
        run=_deployed,
        calls=(_DEPLOYED, _ADD_ON, _ADD_ONS),
        resources=lambda cluster: {
            _DEPLOYED: [arn(cluster, "eks", f"cluster/{cluster.name}")],
            _ADD_ON: [arn(cluster, "eks", f"addon/{cluster.name}/*/*")],
        },
        applies=lambda cluster: _runs_eks(cluster) and cluster.kubernetes.is_new,
    ),
    Check(
        id="live-node-release",
        reason="Nodes keep the image that the file pins, and AWS publishes fixes in newer ones.",
        run=_releases,
        calls=(_PARAMETER,),
        resources=lambda cluster: {_PARAMETER: _parameter_arns(cluster)},
        applies=lambda cluster: _runs_eks(cluster) and bool(_release_parameters(cluster)),
    ),
    Check(
        id="live-existing-cluster",
        reason="Nodes join an existing cluster only by its endpoint, its certificate and its security group.",
        run=_existing,
        calls=(_CLUSTER,),
        resources=lambda cluster: {
            _CLUSTER: [
                arn(cluster, "eks", f"cluster/{cluster.kubernetes.existing.name}")
                if cluster.kubernetes.existing
                else "*"
            ]
        },
        applies=lambda cluster: _runs_eks(cluster) and cluster.kubernetes.existing is not None,
    ),
)
