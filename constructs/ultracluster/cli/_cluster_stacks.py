"""Stacks of a cluster: in an app, which may have others, and those that are deployed and no longer in the app."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cdk_rehearsal.deploy import AssembledStack
    from ultracluster.clusterfile import ClusterFile

_CLUSTERS = ("AWS::EKS::Cluster", "AWS::EKS::Nodegroup", "AWS::PCS::Cluster", "AWS::SageMaker::Cluster")


def belongs_to(cluster: str, stacks: Iterable[str]) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that recognizes the stacks of a cluster, by name and description.

    Stacks of a Stage have its name first, so that a second Stage is another cluster.
    """
    from ultracluster.platform import is_stack_of, stage_of

    stages = {stage_of(stack, cluster) for stack in stacks}
    return lambda stack: is_stack_of(stack, cluster) and stage_of(stack["StackName"], cluster) in stages


def cluster_stacks(
    stacks: Iterable["AssembledStack"], cluster: "ClusterFile"
) -> tuple[list["AssembledStack"], list["AssembledStack"]]:
    """Return the stacks of an assembly that hold a cluster, and the same with all that they depend on.

    They are those of `ClusterStacks`, or that of an `UltraCluster`. What they depend on the CDK CLI deploys too.

    Raises:
        DeployError: If no stack holds the cluster.
    """
    from cdk_rehearsal.deploy import DeployError, templates_of

    stacks = list(stacks)
    belongs = belongs_to(cluster.name, [stack.name for stack in stacks])
    existing = cluster.kubernetes.existing
    names = (cluster.name, existing.name if existing else cluster.name)

    def holds(stack: str, template: Mapping[str, Any]) -> bool:
        return belongs({"StackName": stack, **template}) or any(
            _names_cluster(resource, cluster.name, names) for resource in template["Resources"].values()
        )

    result = [stack for stack in stacks if any(holds(stack.name, template) for template in templates_of(stack))]
    if not result:
        raise DeployError(f"no stack of the app has the cluster {cluster.name}: --app must name the app of this file")
    dependencies = {stack.path: stack.dependencies for stack in stacks}
    paths = [stack.path for stack in result]
    # The list grows while it is read.
    for path in paths:
        paths += [other for other in dependencies[path] if other not in paths]
    return result, [stack for stack in stacks if stack.path in paths]


def _names_cluster(resource: Mapping[str, Any], name: str, names: Sequence[str]) -> bool:
    properties = resource.get("Properties") or {}
    if resource["Type"] == "AWS::SSM::Parameter":
        return str(properties.get("Name")).startswith(f"/ultracluster/{name}/")
    return resource["Type"] in _CLUSTERS and (properties.get("ClusterName") or properties.get("Name")) in names
