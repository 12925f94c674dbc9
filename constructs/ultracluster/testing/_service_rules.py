"""Plug-in for `cdk_rehearsal`: what services refuse, by the facts of this library, or beside what is referred to."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

_Properties = Mapping[str, Any]
_Find = Callable[..., tuple[str, _Properties] | None]


def eks_launch_template(properties: _Properties, find: _Find) -> Iterator[str]:
    """Check that a managed node group and its launch template do not set the same, or what EKS sets.

    See: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (read 2026-11-26)
    """
    name, template = find(at(properties, "LaunchTemplate", "Id")) or ("", {})
    data = template.get("LaunchTemplateData")
    if not isinstance(data, Mapping):
        return
    if properties.get("InstanceTypes") and data.get("InstanceType"):
        yield f"#/InstanceTypes: {name} has an instance type: Amazon EKS accepts it in one place"
    for field in ("Version", "ReleaseVersion"):
        if data.get("ImageId") and properties.get(field):
            yield f"#/{field}: {name} has an image, whose version is its own"
    if data.get("ImageId") and properties.get("AmiType", "CUSTOM") != "CUSTOM":
        yield f"#/AmiType: {name} has an image, which Amazon EKS does not accept beside an AMI type"
    refused = {
        "IamInstanceProfile": data.get("IamInstanceProfile"),
        "HibernationOptions": data.get("HibernationOptions"),
    }
    rows = data.get("NetworkInterfaces")
    refused["NetworkInterfaces/SubnetId"] = (
        [at(row, "SubnetId") for row in rows if at(row, "SubnetId")] if isinstance(rows, list) else None
    )
    if at(data, "InstanceMarketOptions", "MarketType") == "spot":
        refused["InstanceMarketOptions"] = "spot"
    for field, value in refused.items():
        if value:
            yield f"#/LaunchTemplate: {name} has {field}, which Amazon EKS sets itself"


def pcs_queue(properties: _Properties, find: _Find) -> Iterator[str]:
    """Check that the node groups of a queue are of its cluster.

    See: https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateQueue.html (read 2026-11-26)
    """
    cluster = find(properties.get("ClusterId"))
    configurations = properties.get("ComputeNodeGroupConfigurations")
    for index, row in enumerate(configurations if isinstance(configurations, list) else ()):
        name, group = find(at(row, "ComputeNodeGroupId")) or ("", {})
        other = find(group.get("ClusterId"))
        if cluster and other and cluster[0] != other[0]:
            path = f"#/ComputeNodeGroupConfigurations/{index}/ComputeNodeGroupId"
            yield f"{path}: {name} is of the cluster {other[0]}, and the queue of {cluster[0]}"


def expressions(properties: _Properties, find: _Find) -> Iterator[str]:
    """Check the expressions of rules.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-ruler-rulesfile.html (read 2026-11-26)
    """
    text = properties.get("Data")
    yield from _expression_problems(text) if isinstance(text, str) else ()


@lru_cache(maxsize=64)
def _expression_problems(text: str) -> tuple[str, ...]:
    """Return the problems of a file of rules: a comparison reads the same files on both sides."""
    # Imported on use: each pytest run loads this package, because it holds a pytest plugin.
    import yaml  # type: ignore[import-untyped]  # no stubs

    from ultracluster.monitoring.alerts import promql_problem

    try:
        document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return ()
    groups = at(document, "groups")
    problems = []
    for group in groups if isinstance(groups, list) else ():
        rules = at(group, "rules")
        for rule in rules if isinstance(rules, list) else ():
            expression = at(rule, "expr")
            if problem := promql_problem(str(expression)) if expression is not None else "":
                problems.append(f"#/Data: {at(rule, 'record') or at(rule, 'alert')}: expr: {problem}")
    return tuple(problems)


def efa_file_system(properties: _Properties, find: _Find) -> Iterator[str]:
    """Check the capacity of a Lustre file system with EFA.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html (read 2026-11-22)
    """
    from ultracluster.planning.lustre import check_capacity

    configuration = properties.get("LustreConfiguration")
    capacity, tier = properties.get("StorageCapacity"), at(configuration, "PerUnitStorageThroughput")
    if properties.get("BackupId") or str(at(configuration, "EfaEnabled")).lower() != "true":
        return
    if not {type(capacity), type(tier)} <= {int, str}:
        return
    numbers = [int(str(value)) for value in (capacity, tier) if str(value).isdecimal()]
    if len(numbers) == 2 and numbers[1] in (125, 250, 500, 1000):
        for problem in check_capacity(numbers[0], tier=numbers[1], efa=True):
            yield f"#/StorageCapacity: {problem}"


def at(node: Any, *path: str) -> Any:
    """Return the value at a path, or None."""
    for name in path:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node
