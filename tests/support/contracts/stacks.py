"""Rows of `ultracluster.stacks`."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
from constructs import Construct

from support import ROOT
from support.contracts._row import No, Row
from support.contracts._world import World
from ultracluster import clusterfile, stacks, storage
from ultracluster.eks import KubernetesCluster
from ultracluster.orchestration import Output
from ultracluster.slurm import SlurmCluster
from ultracluster.workloads import kubernetes_bundle

_EXAMPLE = ROOT / "examples" / "slurm-512-gpus.yaml"
_FILE = clusterfile.load(_EXAMPLE)
_BUILDS = clusterfile.load(ROOT / "examples" / "slurm-built-image.yaml")
_KUBERNETES = clusterfile.load(ROOT / "examples" / "eks-own-cluster.yaml")
_PARTS = "its parts connect and grant"


def _named(id: str) -> clusterfile.ClusterFile:
    """Cluster file with a name of its own: two clusters of one name would have the same controller."""
    text = _EXAMPLE.read_text().replace(f"name: {_FILE.name}\n", f"name: cluster-{id.lower()}\n", 1)
    return clusterfile.loads(text, _EXAMPLE.name)


def _orchestrator(world: World, cluster: clusterfile.ClusterFile = _FILE) -> SlurmCluster:
    id = f"Slurm-{cluster.name}"
    child: Any = world.stack.node.try_find_child(id)
    given = {"cluster": cluster, "network": world.network, "storage": storage.Storage()}
    return child or SlurmCluster(world.stack, id, **given)  # type: ignore[arg-type]


def _row(make: Callable[[Construct, str, World], Any], *tagged: str) -> Row:
    return Row(
        make=make,
        connects=No(_PARTS),
        grants=No(_PARTS),
        principal=No(_PARTS),
        tags=tagged or No("ClusterStacks sets the tags of the cluster file on them"),
        default_child=No("it has no main resource"),
        tokens=No("it takes a cluster file"),
        imported=No("a whole cluster is imported by its parts"),
    )


def _kubernetes(world: World) -> KubernetesCluster:
    child: Any = world.stack.node.try_find_child("Kubernetes")
    given = {"cluster": _KUBERNETES, "network": world.network, "storage": storage.Storage()}
    return child or KubernetesCluster(world.stack, "Kubernetes", **given)  # type: ignore[arg-type]


def _platform_stack(scope: Construct, id: str, world: World) -> stacks.PlatformStack:
    outputs = [Output(name, name, name) for name in kubernetes_bundle(_KUBERNETES)["parameters"]]
    return stacks.PlatformStack(
        scope,
        id,
        network=world.network,
        storage=storage.Storage(),
        orchestrator=_kubernetes(world),
        outputs=outputs,
        **_in_the_environment_of(scope) | {"cluster": _KUBERNETES},
    )


def _in_the_environment_of(scope: Construct) -> dict[str, Any]:
    stack = cdk.Stack.of(scope)
    return {"cluster": _FILE, "env": cdk.Environment(account=stack.account, region=stack.region)}


ROWS: dict[str, Row] = {
    "ClusterStack": _row(
        lambda scope, id, world: stacks.ClusterStack(
            scope, id, network=world.network, storage=storage.Storage(), **_in_the_environment_of(scope)
        )
    ),
    "ComputeStack": _row(
        lambda scope, id, world: stacks.ComputeStack(
            scope,
            id,
            orchestrator=_orchestrator(world, _named(id)),
            **_in_the_environment_of(scope) | {"cluster": _named(id)},
        )
    ),
    "ImagesStack": _row(
        lambda scope, id, world: stacks.ImagesStack(
            scope, id, network=world.network, **_in_the_environment_of(scope) | {"cluster": _BUILDS}
        )
    ),
    "NetworkStack": _row(lambda scope, id, world: stacks.NetworkStack(scope, id, **_in_the_environment_of(scope))),
    "ObservabilityStack": _row(
        lambda scope, id, world: stacks.ObservabilityStack(
            scope,
            id,
            network=world.network,
            storage=storage.Storage(),
            orchestrator=_orchestrator(world),
            **_in_the_environment_of(scope),
        )
    ),
    "PlatformStack": _row(_platform_stack),
    "StorageStack": _row(
        lambda scope, id, world: stacks.StorageStack(scope, id, network=world.network, **_in_the_environment_of(scope))
    ),
    "UltraCluster": _row(
        lambda scope, id, world: stacks.UltraCluster(scope, id, cluster=_named(id), network=world.network),
        "AWS::PCS::Cluster",
        "AWS::FSx::FileSystem",
        "AWS::APS::Workspace",
    ),
}
