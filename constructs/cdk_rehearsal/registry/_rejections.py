"""Updates that a service rejects, although the registry schema allows them."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._normal import values
from cdk_rehearsal.registry._replacement import LEAST_GROWTH_PERCENT, ONLY_GROWS, UNAVAILABLE, UNCHANGEABLE, UpdateFact

#: Plug-in for one resource type. It takes the properties before and after an update, with scalars as text
#: ("43200", "true"), and returns the properties whose change the service rejects, each with the reason.
UpdateRule = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, str]]

#: Resource type -> its update rules.
UpdateRules = Mapping[str, Sequence[UpdateRule]]

NO_RULES: UpdateRules = MappingProxyType({})

#: Properties of a node group of EKS that change without its nodes.
NODE_SETTINGS = ("Labels", "NodeRepairConfig", "ScalingConfig", "Tags", "Taints", "UpdateConfig")
_NODE_VERSIONS = ("LaunchTemplate", "ReleaseVersion", "Version")

_UNKNOWN = "the template does not show whether it grows"


def rejections(
    type_name: str, old: Mapping[str, Any], new: Mapping[str, Any], update_rules: UpdateRules
) -> dict[str, str]:
    """Return the properties whose change the service rejects, with the reason. Properties are in normal form."""
    result: dict[str, str] = {}
    for fact in UNCHANGEABLE.get(type_name, ()):
        if _applies(fact, old) and at(old, fact.path) != at(new, fact.path):
            result.setdefault(fact.path, fact.reason)
    for fact in ONLY_GROWS.get(type_name, ()):
        before, after = at(old, fact.path), at(new, fact.path)
        if _applies(fact, old) and None not in (before, after) and before != after:
            first, second = _parts(before), _parts(after)
            if not first or not second:
                result.setdefault(fact.path, f"{fact.reason}, and {_UNKNOWN}")
            elif second < first:
                result.setdefault(fact.path, f"{fact.reason}: from {before} to {after} it would shrink")
    for rule in _BUILT_IN.get(type_name, ()):
        for path, reason in rule(old, new).items():
            result.setdefault(path, reason)
    for rule in update_rules.get(type_name, ()):
        for path, reason in rule(old, new).items():
            # A plug-in has the remedy of a change that the facts reject already.
            result[path] = f"{result[path]}; {reason}" if path in result else reason
    return result


def unavailable(type_name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties whose change makes the resource unavailable meanwhile, with the reason."""
    facts = (fact for fact in UNAVAILABLE.get(type_name, ()) if _applies(fact, old))
    return {fact.path: fact.reason for fact in facts if at(old, fact.path) != at(new, fact.path)}


def at(properties: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or None."""
    return next(values(properties, path.split(".")), None)


def _grows_too_little(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    before, after = (_parts(at(properties, "StorageCapacity")) for properties in (old, new))
    percent = LEAST_GROWTH_PERCENT.get(str(at(new, "FileSystemType")))
    if percent is None or not before or not after or after <= before:
        return {}
    least = -(-before[0] * (100 + percent) // 100)
    if after[0] >= least:
        return {}
    return {
        "StorageCapacity": f"it grows by {percent} % or more at a time: from {before[0]:,} to {least:,} GiB at least"
    }


def _skips_a_version(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Check an update of the Kubernetes version: one minor version up, or back within seven days.

    See: https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html and rollback-cluster.html
    (read 2026-11-22)
    """
    before, after = (_parts(at(properties, "Version")) for properties in (old, new))
    if len(before) != 2 or len(after) != 2 or before == after:
        return {}
    step = after[1] - before[1] if after[0] == before[0] else 2
    if step > 1:
        return {"Version": "Amazon EKS updates one minor version at a time"}
    if step < -1:
        return {"Version": "Amazon EKS goes back by one minor version at most"}
    if step == -1:
        return {"Version": "Amazon EKS goes back only within seven days of the update, and after the nodes went back"}
    return {}


def _mixes_updates(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Check that an update of a node group of EKS replaces its nodes or changes its settings, and not both.

    EKS has an API for each, and CloudFormation refuses an update that needs both: "Version and ReleaseVersion updates
    cannot be combined with other updates". A launch template counts as a version there.
    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-eks-nodegroup.html,
    https://github.com/aws/containers-roadmap/issues/1258 and
    https://github.com/awsdocs/aws-cloudformation-user-guide/pull/1181 (read 2026-11-27)
    """
    changed = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    versions = sorted(name for name in changed if name in _NODE_VERSIONS)
    settings = sorted(name for name in changed if name in NODE_SETTINGS)
    # Any other property replaces the group.
    if not versions or not settings or len(versions) + len(settings) < len(changed):
        return {}
    return {
        settings[0]: f"CloudFormation refuses {' and '.join(settings)} in one update of a node group with "
        f"{' and '.join(versions)}: deploy one of both first"
    }


def groups_by_name(properties: Any) -> dict[str, Mapping[str, Any]] | None:
    """Return the instance groups of SageMaker HyperPod by name, or None if the template does not show them."""
    groups = at(properties, "InstanceGroups")
    if not isinstance(groups, list) or not all(isinstance(group, Mapping) for group in groups):
        return None
    names = [group.get("InstanceGroupName") for group in groups]
    return dict(zip(names, groups, strict=True)) if all(isinstance(name, str) for name in names) else None


def _changes_instances(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Check that the instance groups of SageMaker HyperPod keep their type, their threads and their role.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html
    (read 2026-11-24)
    """
    before, after = groups_by_name(old) or {}, groups_by_name(new) or {}
    both = sorted(before.keys() & after.keys())
    kept = {
        f"InstanceGroups.{name}.{field}": f"{first} to {second}; a group keeps it: add one with another name"
        for name in both
        for field in ("InstanceType", "ThreadsPerCore")
        for first, second in [(before[name].get(field), after[name].get(field))]
        if isinstance(first, str) and isinstance(second, str) and first != second
    }
    roles = {
        f"InstanceGroups.{name}.ExecutionRole": "AWS asks to keep the role of a group: add one with another name"
        for name in both
        if before[name].get("ExecutionRole") != after[name].get("ExecutionRole")
    }
    return kept | roles


def _drops_accounting(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Check that a cluster of SageMaker HyperPod keeps a database of Slurm's accounting.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
    (read 2026-11-26)
    """
    path = "Orchestrator.Slurm.AccountingDatabase"
    if at(old, path) is None or at(new, path) is not None:
        return {}
    return {path: "a cluster that has an external database does not return to that of its controller"}


def _sets_strategy(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Check that a cluster of SageMaker HyperPod with continuous provisioning gets no strategy for slurm.conf.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html (read 2026-11-27)
    """
    path = "Orchestrator.Slurm.SlurmConfigStrategy"
    if at(old, "NodeProvisioningMode") != "Continuous" or at(new, path) is None:
        return {}
    return {path: "a cluster with continuous provisioning has no strategy, and SageMaker refuses one"}


def _drops_autoscaling(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Check that Karpenter of SageMaker HyperPod is off before it leaves: until then, its role cannot change.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html (read 2026-11-27)
    """
    if at(old, "AutoScaling.Mode") != "Enable" or at(new, "AutoScaling") is not None:
        return {}
    return {
        "AutoScaling": "it stays on if it is left out, and its role cannot change while it is on: first run "
        f"`aws sagemaker update-cluster --cluster-name {at(old, 'ClusterName')} --auto-scaling Mode=Disable`, "
        "then allow this edit, alone"
    }


def _applies(fact: UpdateFact, old: Mapping[str, Any]) -> bool:
    """Return whether a fact applies; an unresolved intrinsic may have any value."""
    pairs = ((at(old, path), expected) for path, expected in fact.only_if.items())
    return all(value in expected or not isinstance(value, str | dict | None) for value, expected in pairs)


def _parts(value: Any) -> tuple[int, ...]:
    """Convert "43200" to (43200,) and "2.15" to (2, 15); empty if it is neither a number nor a version."""
    parts = value.split(".") if isinstance(value, str) else []
    return tuple(map(int, parts)) if parts and all(part.isdecimal() and len(part) < 20 for part in parts) else ()


#: Resource type -> update rules that compare two values.
_BUILT_IN: Mapping[str, Sequence[UpdateRule]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (_grows_too_little,),
        "AWS::EKS::Cluster": (_skips_a_version,),
        "AWS::EKS::Nodegroup": (_mixes_updates,),
        "AWS::SageMaker::Cluster": (_changes_instances, _drops_accounting, _sets_strategy, _drops_autoscaling),
    }
)
