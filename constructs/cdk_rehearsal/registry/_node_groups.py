"""Resource types that start nodes, and properties that set how many."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._rejections import at, groups_by_name

#: Resource type -> properties with the largest and the desired number of nodes. A smaller value ends nodes, and what
#: runs on them. The smallest number of PCS is not here: below it, PCS ends idle nodes only.
#: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_cng_update.html
#: https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html
#: https://docs.aws.amazon.com/autoscaling/ec2/userguide/asg-capacity-limits.html (read 2026-11-22)
NODE_COUNTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "AWS::PCS::ComputeNodeGroup": ("ScalingConfiguration.MaxInstanceCount",),
        "AWS::EKS::Nodegroup": ("ScalingConfig.DesiredSize", "ScalingConfig.MaxSize"),
        "AWS::AutoScaling::AutoScalingGroup": ("DesiredCapacity", "MaxSize"),
        # Its instance groups are in a list, by name: `_instance_groups`.
        "AWS::SageMaker::Cluster": (),
    }
)

# With one of these policies, CloudFormation replaces the instances of a group at each change: they are servers that may
# end at any time, such as one of Grafana, and no nodes with jobs.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
# (read 2026-11-22)
_NO_SUCH_UPDATE = "AWS documents no such update of a group"
_UNDOCUMENTED = {
    "InstanceStorageConfigs": _NO_SUCH_UPDATE,
    "OverrideVpcConfig": _NO_SUCH_UPDATE,
    "SlurmConfig.PartitionNames": "AWS does not document what becomes of the jobs of a partition that leaves",
    "TrainingPlanArn": "AWS does not document whether the instances of a group stay",
}
_TIERED = (
    "AWS documents that Mode=Disable removes it, and not what becomes of it if it is left out: first run `aws "
    "sagemaker update-cluster --cluster-name {} --tiered-storage-config Mode=Disable`, then allow this edit, alone"
)
_EVICTS = "the new taint evicts the pods of running jobs"
_KEEPS_AWAY = (
    "jobs that were submitted before do not tolerate the new taint: they run on, and cannot restart on the nodes"
)
_EFFECTS = {
    "NO_EXECUTE": _EVICTS,
    "NoExecute": _EVICTS,
    "NO_SCHEDULE": _KEEPS_AWAY,
    "NoSchedule": _KEEPS_AWAY,
}
#: Types whose deletion ends jobs: "If there are jobs running in the queue, they will be terminated".
#: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_queues_delete.html (read 2026-11-26)
JOB_QUEUES = ("AWS::PCS::Queue",)
#: Types without nodes whose end running jobs notice -> the effect. CloudFormation does not wait for the jobs.
USED_BY_JOBS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(JOB_QUEUES, "jobs run and wait in it"),
        "AWS::EC2::NatGateway": "running jobs lose their connections to the internet",
        "AWS::EC2::EIP": "its address is released: services that admit only this address reject the next one",
    }
)
_ROLLING = ("AutoScalingReplacingUpdate", "AutoScalingRollingUpdate")


def starts_nodes(resource: Mapping[str, Any]) -> bool:
    """Return whether a resource of a template is a group of nodes that run jobs."""
    policy = resource.get("UpdatePolicy")
    rolling = isinstance(policy, Mapping) and any(name in policy for name in _ROLLING)
    return resource.get("Type") in NODE_COUNTS and not rolling


def fewer_nodes(type_name: str, old: Any, new: Any) -> dict[str, str]:
    """Return the properties by which a group of nodes shrinks, with the reason. Properties are in normal form."""
    result = dict(_instance_groups(old, new)) if type_name == "AWS::SageMaker::Cluster" else {}
    for path in NODE_COUNTS.get(type_name, ()):
        before, after = at(old, path), at(new, path)
        if isinstance(before, str) and isinstance(after, str) and before.isdecimal() and after.isdecimal():
            if int(after) < int(before):
                result[path] = f"from {before} to {after} nodes: jobs on the others end"
        elif before != after and before is not None:
            result[path] = "the template does not show whether the group shrinks"
    return result


def ended_by_rollback(type_name: str, old: Any, new: Any) -> dict[str, str]:
    """Return the property whose rollback ends nodes that the old template does not have, with the reason."""
    path = "ScalingConfig.DesiredSize"
    if type_name != "AWS::EKS::Nodegroup" or at(old, path) != "0" or at(new, path) == "0":
        return {}
    reason = "a schedule or a command may have started the nodes; if this deployment fails, its rollback ends them"
    return {path: f"from 0 to {shown}: {reason}" if isinstance(shown := at(new, path), str) else reason}


def new_taints(type_name: str, old: Any, new: Any) -> dict[str, str]:
    """Return the properties that put a taint on running nodes of Kubernetes, with the reason.

    EKS and SageMaker set it on the nodes that there are. Pods of running jobs were created before it, and do not
    tolerate it. `PreferNoSchedule` keeps no pod away.
    See: https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupConfig.html and
    https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ (read 2026-11-26)
    """
    if type_name == "AWS::EKS::Nodegroup":
        return _new_taints("Taints", at(old, "Taints"), at(new, "Taints"))
    if type_name != "AWS::SageMaker::Cluster":
        return {}
    path = "KubernetesConfig.Taints"
    before, after = groups_by_name(old) or {}, groups_by_name(new) or {}
    result: dict[str, str] = {}
    for name, group in before.items():
        if name in after:
            result |= _new_taints(f"InstanceGroups.{name}.{path}", at(group, path), at(after[name], path))
    return result


def _new_taints(path: str, old: Any, new: Any) -> dict[str, str]:
    if old == new:
        return {}
    if not isinstance(old, list | None) or not isinstance(new, list | None):
        return {path: "the template does not show whether a taint is added"}
    added = [taint for taint in new or () if taint not in (old or ())]
    effects = {_EFFECTS.get(str(taint.get("Effect")), "") if isinstance(taint, Mapping) else "" for taint in added}
    reasons = sorted(filter(None, effects))
    return {path: "; ".join(reasons)} if reasons else {}


def undocumented(type_name: str, old: Any, new: Any) -> dict[str, str]:
    """Return the changes of a group of nodes whose effect no page of AWS documents, with the reason.

    An existing group of SageMaker HyperPod takes another number of instances and other lifecycle scripts. What becomes
    of its instances when their volumes or subnets change is not documented, nor what becomes of the jobs of a partition
    that leaves. A group takes another training plan, and no page documents whether its instances stay. Checkpoints in
    memory end when their mode is `Disable`.
    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-operate-slurm-cli-command.html
    (read 2026-11-24), https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterTieredStorageConfig.html
    (read 2026-11-27) and https://docs.aws.amazon.com/sagemaker/latest/dg/
    use-training-plan-for-hyperpod-update-using-api-cli-sdk.html (excerpt)
    """
    if type_name != "AWS::SageMaker::Cluster":
        return {}
    before, after = groups_by_name(old) or {}, groups_by_name(new) or {}
    tiered = "TieredStorageConfig"
    ends = at(old, f"{tiered}.Mode") == "Enable" and at(new, tiered) is None
    kept = {tiered: _TIERED.format(at(old, "ClusterName"))} if ends else {}
    return kept | {
        f"InstanceGroups.{name}.{field}": f"{reason}: add one with another name"
        for name, group in before.items()
        for field, reason in _UNDOCUMENTED.items()
        if name in after and not _keeps(at(group, field), at(after[name], field))
    }


def _keeps(before: Any, after: Any) -> bool:
    """Return whether a field of an instance group stays, but for file systems of FSx that come or change.

    New instances alone mount those. A path that moves or leaves is in the job files of all instances at once.
    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html (read
    2026-11-27)
    """
    (old, mounted), (new, mounts) = _storage(before), _storage(after)
    return old == new and mounted <= mounts


def _storage(value: Any) -> tuple[Any, frozenset[str]]:
    """Return storage of an instance group without file systems of FSx, and the paths of those."""
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        return value, frozenset()
    systems = [system for each in value for key, system in each.items() if str(key).startswith("Fsx")]
    others = [each for each in value if not any(str(key).startswith("Fsx") for key in each)]
    return others or None, frozenset(json.dumps(at(system, "MountPath")) for system in systems)


def _instance_groups(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yield the instance groups of SageMaker HyperPod that shrink or leave, with the reason.

    HyperPod chooses at random the instances that end.
    See: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-scale-down.html (read 2026-11-24)
    """
    before, after = groups_by_name(old), groups_by_name(new)
    if before is None or after is None:
        if at(old, "InstanceGroups") != at(new, "InstanceGroups"):
            yield "InstanceGroups", "the template does not show whether a group shrinks"
        return
    for name, group in before.items():
        path = f"InstanceGroups.{name}"
        if name not in after:
            yield path, "the group leaves: SageMaker ends its instances and what runs on them"
            continue
        counts = str(group.get("InstanceCount")), str(after[name].get("InstanceCount"))
        if all(count.isdecimal() for count in counts):
            if int(counts[1]) < int(counts[0]):
                yield path, f"from {counts[0]} to {counts[1]} nodes: SageMaker chooses at random which ones end"
        elif counts[0] != counts[1]:
            yield path, "the template does not show whether the group shrinks"
