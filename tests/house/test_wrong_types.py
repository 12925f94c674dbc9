"""An argument of a wrong type, of a construct, an import or a value, is accepted or refused in words that name it."""

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from typing import Any, get_type_hints

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks_v2
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from support import ROOT
from support.contracts import ACCOUNT, REGION, No, World, exported, rows
from support.contracts.eks import control_plane
from support.contracts.storage import association, lustre
from ultracluster import boot, clusterfile, compute, eks, hyperpod, network, observability, slurm, storage
from ultracluster.catalogue.ec2 import Interface
from ultracluster.planning._types import type_errors
from ultracluster.rules import Refusal

ROWS = rows()
ENV = cdk.Environment(account=ACCOUNT, region=REGION)
IMAGE = "ami-0123456789abcdef0"
BUILDS = clusterfile.load(ROOT / "examples" / "slurm-built-image.yaml")
Given = dict[str, Any]


@cache
def site(package: str) -> World:
    """World of the rows of a package, in a stack of one app for all."""
    return World(cdk.Stack(_app(), package.title(), env=ENV))


@cache
def _app() -> cdk.App:
    return cdk.App(analytics_reporting=False)


@cache
def wrong() -> Given:
    stack = cdk.Stack(_app(), "Wrong", env=ENV)
    return {
        "an object": object(),
        "a list": ["x"],
        "a text": "x",
        "None": None,
        "another construct": sqs.Queue(stack, "Queue"),
        "a token": cdk.CfnParameter(stack, "Token").value_as_string,
    }


def declared(create: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(create).parameters
    return {name: each for name, each in parameters.items() if name != "self" and each.kind is not each.VAR_KEYWORD}


class Recorded(Exception):
    """Ends a call with its arguments, so that nothing is created."""


def recorded(owner: type, method: str, call: Callable[[], object]) -> Given:
    """Return the arguments with which a row calls a constructor or import."""
    static, signature = vars(owner)[method], inspect.signature(getattr(owner, method))

    def record(*args: Any, **given: Any) -> Any:
        raise Recorded(signature.bind(*args, **given).arguments)

    setattr(owner, method, staticmethod(record) if isinstance(static, staticmethod) else record)
    try:
        call()
    except Recorded as arguments:
        given: Given = dict(arguments.args[0])
        given |= given.pop("kwargs", {})
        given.pop("self", None)
        return given
    finally:
        setattr(owner, method, static)
    raise AssertionError(f"the row does not call {method}")


def check(create: Callable[..., Any], given: Given, path: str) -> None:
    """Call it with each argument replaced by each wrong value."""
    numbers = count()
    for argument, parameter in declared(vars(create).get("__init__", create)).items():
        for label, value in wrong().items():
            # A text is an id, and a queue a scope. The rows of the contract try None and tokens where they fit.
            valid = {"id": "a text", "scope": "another construct"}.get(argument)
            fits = {"None": "None", "a token": "str"}.get(label, "-")
            if label == valid or fits in str(parameter.annotation):
                continue
            # Names of node groups and queues are unique in a cluster.
            named = {"name": f"group{next(numbers)}"} if {"cluster", "name"} <= given.keys() else {}
            arguments = {**given, **named, "id": f"{path}-{argument}-{label}", argument: value}
            scope, id = arguments.pop("scope"), arguments.pop("id")
            if text := refused(lambda: create(scope, id, **arguments)):  # noqa: B023
                assert argument in text, f"{argument} = {label}: {text}"


def refused(create: Callable[[], object]) -> str:
    """Return the message of a refusal without its path; empty if there is none. No other exception may come."""
    try:
        create()
    except Refusal as refusal:
        text = str(refusal).removeprefix(refusal.path)
    except ValueError as problem:
        text = f"{problem} [value]"
    else:
        return ""
    return text if text.endswith("]") and " object at 0x" not in text else f"not a refusal: {text}"


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_construct_names_it(name: str) -> None:
    construct, package = exported()[name], name.partition(".")[0]
    if "__init__" not in vars(construct):
        return
    world = site(package)
    make = partial(ROWS[name].make, world.stack, f"Row{construct.__name__}", world)
    check(construct, recorded(construct, "__init__", make), construct.__name__)


IMPORTS = [
    (name, method)
    for name, construct in sorted(exported().items())
    for method in vars(construct)
    if method.startswith("from_") and not isinstance(ROWS[name].imported, No)
]


@pytest.mark.parametrize(("name", "method"), IMPORTS)
def test_an_import_names_it(name: str, method: str) -> None:
    construct, imported = exported()[name], ROWS[name].imported
    assert not isinstance(imported, No)
    stack = site(name.partition(".")[0]).stack
    make = partial(imported.make, stack, f"Imported{construct.__name__}{method}")
    if method == "from_workspace_attributes" and name == "observability.PrometheusWorkspace":
        given: Given = {"scope": stack, "workspace_id": "ws-01234567-89ab-cdef-0123-456789abcdef"}
    else:
        given = recorded(construct, method, make)
    check(getattr(construct, method), given, f"{construct.__name__}-{method}")


RESERVATION = {"reservation_id": "cr-0123456789abcdef0"}
GROUP = {"arn": f"arn:aws:resource-groups:{REGION}:{ACCOUNT}:group/research"}


def template(stack: cdk.Stack, world: World, **given: Any) -> None:
    arguments: Given = {"security_groups": world.security_group, "subnet": world.subnet, "image": IMAGE}
    compute.NodeGroupTemplate(stack, "Nodes", **{"instance_type": "p5.48xlarge", **arguments, **given})


def login(stack: cdk.Stack, world: World, ssh: slurm.LoginSsh) -> None:
    place: Given = {"subnet": world.subnet, "security_groups": world.security_group}
    cluster = controller(stack, world)
    slurm.PcsLoginNodeGroup(stack, "L", cluster=cluster, instance_type="c7i.2xlarge", image=IMAGE, ssh=ssh, **place)


def controller(stack: cdk.Stack, world: World, **given: Any) -> slurm.PcsCluster:
    place: Given = {"subnet": world.subnet, "security_groups": world.security_group}
    return slurm.PcsCluster(stack, "Slurm", name="llama", max_instances=5, **place, **given)


def nodes(stack: cdk.Stack, world: World, lustre: boot.LustreClient) -> None:
    place: Given = {"vpc": world.vpc, "subnet": world.subnet, "image": IMAGE}
    compute.AutoScalingNodeGroup(stack, "Nodes", instance_type="p5.48xlarge", count=2, lustre=lustre, **place)


def constant(fields: Given) -> Callable[[World], Given]:
    return lambda world: fields


def parts(world: World) -> Given:
    subnets = dict.fromkeys(("training_subnet", "services_subnet"), world.subnet)
    return {"vpc": world.vpc, **subnets, "nodes": world.security_group}


#: Values that constructs take: the fields that each needs, and a construct that takes it.
VALUES: dict[type, tuple[Callable[[World], Given], Callable[[cdk.Stack, World, Any], object]]] = {
    compute.Access: (lambda world: {}, lambda stack, world, value: template(stack, world, access=value)),
    compute.RootVolume: (lambda world: {}, lambda stack, world, value: template(stack, world, root_volume=value)),
    compute.Image: (lambda world: {"id": IMAGE}, lambda stack, world, value: template(stack, world, image=value)),
    compute.NamedGroup: (
        lambda world: {"name": "x"},
        lambda stack, world, value: template(stack, world, placement_group=value),
    ),
    **{
        option: (
            constant(fields),
            lambda stack, world, value: template(stack, world, capacity=value),
        )
        for option, fields in (
            (compute.CapacityBlock, RESERVATION),
            (compute.TargetedReservation, RESERVATION),
            (compute.InterruptibleReservation, RESERVATION),
            (compute.OpenReservation, {}),
            (compute.ReservationGroup, GROUP),
        )
    },
    compute.TrainingPlan: (
        lambda world: {"arn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/x"},
        lambda stack, world, value: hyperpod.HyperPodInstanceGroup(
            name="train", instance_type="p5.48xlarge", count=2, capacity=value
        ),
    ),
    Interface: (
        lambda world: {"card": 0, "device": 0, "kind": "efa"},
        lambda stack, world, value: template(stack, world, layout=[value]),
    ),
    boot.LustreClient: (lambda world: {}, nodes),
    boot.EfaBundle: (
        lambda world: {"url": "https://example.com/efa.tar.gz", "sha256": "a" * 64},
        lambda stack, world, value: nodes(stack, world, boot.LustreClient(bundle=value)),
    ),
    boot.User: (
        lambda world: {"name": "ann", "uid": 2001},
        lambda stack, world, value: slurm.NodeUsers(stack, "Users", cluster="llama", users=[value]),
    ),
    network.Network: (
        parts,
        lambda stack, world, value: slurm.NodeImages(stack, "Images", cluster=BUILDS, network=value),
    ),
    storage.Storage: (
        lambda world: {},
        lambda stack, world, value: slurm.SlurmCluster(
            stack, "Slurm", cluster=BUILDS, network=network.Network(**parts(world)), storage=value
        ),
    ),
    observability.Saml: (
        lambda world: {"metadata_url": "https://example.com/saml", "role_attribute": "role", "admin_roles": ["admin"]},
        lambda stack, world, value: observability.GrafanaWorkspace(stack, "Grafana", name="llama", saml=value),
    ),
    storage.Tier: (
        lambda world: {"storage_class": "GLACIER_IR"},
        lambda stack, world, value: storage.DataBucket(stack, "Bucket", tier=value),
    ),
    slurm.LoginSsh: (
        lambda world: {"vpc": world.vpc, "key_pair": "ann", "sources": ["10.0.0.0/8"]},
        login,
    ),
    slurm.SlurmOptions: (
        lambda world: {},
        lambda stack, world, value: controller(stack, world, options=value),
    ),
}


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_a_value_names_its_field(kind: Any) -> None:
    fields, use = VALUES[kind]
    world = site("values")
    for field in dataclasses.fields(kind):
        for label, wrong_value in wrong().items():
            if label == "a token":
                continue
            stack = cdk.Stack(_app(), f"{kind.__name__}{field.name}{label}".replace(" ", "").replace("_", ""), env=ENV)
            create = partial(kind, **{**fields(world), field.name: wrong_value})
            text = refused(lambda: use(stack, world, create()))  # noqa: B023
            # A text or a number may have the right type, and rules of its own.
            assert not text or isinstance(wrong_value, str | int) or field.name in text, text
            assert not text.startswith("not a refusal")


def outside_a_vpc(world: World) -> lambda_.Function:
    child = world.stack.node.try_find_child("Function")
    if isinstance(child, lambda_.Function):
        return child
    code = lambda_.Code.from_inline("pass")
    return lambda_.Function(world.stack, "Function", code=code, handler="x.y", runtime=lambda_.Runtime.PYTHON_3_12)


def endpoints(world: World) -> None:
    network.ServiceEndpoints(world.stack, "E", vpc=world.vpc, subnet=world.subnet, clients=outside_a_vpc(world))


#: Values whose type is right, and which would fail in the CDK or in the file system of the build.
UNUSABLE: dict[str, Callable[[World], object]] = {
    "suffix must be letters": lambda world: compute.ScriptAsset(world.stack, "S", text="x", suffix="a/b"),
    "text must be text of UTF-8": lambda world: compute.ScriptAsset(world.stack, "T", text="\ud800"),
    "clients[0] must have a security group": endpoints,
    "clients must have a security group, got Function": lambda world: lustre(world.stack, "L", world).allow_clients(
        outside_a_vpc(world)
    ),
    "/A, prefix 'a\\nb': a repository": lambda world: association(world.stack, "A", world, prefix="a\nb"),
    "configuration must have values of JSON": lambda world: eks.EksAddOn(
        world.stack, "O", cluster=control_plane(world.stack, "C", world), name="x", configuration={"a": object()}
    ),
}


@pytest.mark.parametrize("text", UNUSABLE)
def test_a_value_that_cannot_be_used_is_named(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        UNUSABLE[text](site("unusable"))
    assert text in str(caught.value)


def test_every_eks_construct_takes_a_cluster_of_the_cdk_and_of_the_library() -> None:
    creates = {name: get_type_hints(each.__init__) for name, each in exported().items() if name.startswith("eks.")}
    hints = {name: types["cluster"] for name, types in creates.items() if "cluster" in types}
    hints = {name: hint for name, hint in hints.items() if hint is not clusterfile.ClusterFile}
    assert len(hints) == 6
    assert set(hints.values()) == {eks_v2.ICluster | eks.IEksCluster}
    # The classes of the CDK lack a member of the interface that they declare: `kubectl_provider_options`.
    stack = cdk.Stack(cdk.App(), "Stack")
    place: Any = {"version": eks_v2.KubernetesVersion.of("1.35"), "vpc": ec2.Vpc(stack, "Vpc", max_azs=1)}
    no_nodes = eks_v2.DefaultCapacityType.AUTOMODE
    created = eks_v2.Cluster(stack, "Cluster", **place, default_capacity_type=no_nodes)
    on_ec2 = eks_v2.CoreDnsComputeType.EC2
    on_fargate = eks_v2.FargateCluster(stack, "Fargate", **place, core_dns_compute_type=on_ec2)
    assert all(type_errors(eks.EksNodeGroup.__init__, {"cluster": each}) == [] for each in (created, on_fargate))
