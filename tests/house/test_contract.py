"""Every exported construct behaves as the CDK's own do; what applies to each is in `support.contracts`.

Nothing here reads an attribute of a construct in Python where a construct of the CDK can read it in JavaScript: jsii
sees class members only, so the two can differ.
"""

import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

import ultracluster
from docs_reference.contracts import contracts_page
from support import ROOT
from support.contracts import (
    ACCOUNT,
    MANNERS,
    PACKAGES,
    REGION,
    Connects,
    Grants,
    No,
    Row,
    World,
    assembly,
    exported,
    rows,
)
from support.faces import names_of_face
from ultracluster import clusterfile, stacks
from ultracluster.orchestration import NodeResource
from ultracluster.rules import Refusal

#: The tests of one construct run one after the other: they share its stacks.
TOGETHER = "name"
ROWS = rows()
TAG = ("cost-center", "42")
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/Boundary"


def having(manner: str) -> pytest.MarkDecorator:
    """The constructs to which a manner applies."""
    return pytest.mark.parametrize(
        "name", [name for name, row in sorted(ROWS.items()) if not isinstance(getattr(row, manner), No)]
    )


every = pytest.mark.parametrize("name", sorted(ROWS))


def app() -> cdk.App:
    # They take time, and no test reads them.
    return cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False)


def stack_of(
    parent: cdk.App, id: str = "Stack", region: str | None = REGION, *, cross_region: bool | None = None
) -> cdk.Stack:
    env = cdk.Environment(account=ACCOUNT, region=region) if region else None
    return cdk.Stack(parent, id, env=env, cross_region_references=cross_region)


def test_every_exported_construct_has_a_row() -> None:
    assert set(ROWS) == set(exported())


def test_every_other_class_that_creates_resources_creates_constructs_with_rows() -> None:
    """`ClusterStacks` is no construct: it creates stacks in a Stage, and each of them has a row."""
    creators = {
        f"{package}.{member.__name__}"
        for package in PACKAGES
        for member in face(f"ultracluster.{package}")
        if inspect.isclass(member) and not is_construct(member) and not getattr(member, "_is_protocol", False)
        if {"scope", "stage"} & set(inspect.signature(member.__init__).parameters)
    }
    assert creators == {"stacks.ClusterStacks"}
    attributes = {type(stack).__name__ for stack in cluster_stacks().stacks}
    assert {f"stacks.{name}" for name in attributes} <= set(ROWS)


def cluster_stacks() -> stacks.ClusterStacks:
    return stacks.ClusterStacks(app(), cluster=clusterfile.load(ROOT / "examples" / "slurm-512-gpus.yaml"))


def test_every_package_with_constructs_has_rows() -> None:
    packages = {
        module.name.removeprefix("ultracluster.")
        for module in pkgutil.walk_packages(ultracluster.__path__, "ultracluster.")
        if module.ispkg and any(map(is_construct, face(module.name)))
    }
    # `orchestration` has the base of node groups alone, which nobody creates.
    assert packages - {"orchestration"} == set(PACKAGES)
    assert list(filter(is_construct, face("ultracluster.orchestration"))) == [NodeResource]


def face(package: str) -> list[object]:
    module = importlib.import_module(package)
    return [getattr(module, name) for name in names_of_face(package)]


def is_construct(member: object) -> bool:
    return inspect.isclass(member) and issubclass(member, Construct)


def test_every_reason_is_given() -> None:
    assert all(
        value.reason for row in ROWS.values() for manner in MANNERS if isinstance(value := getattr(row, manner), No)
    )


def test_the_page_has_each_construct_and_each_reason() -> None:
    page = contracts_page()
    assert all(page.count(f"\n| `{name}` |") == 1 for name in ROWS)
    for name, row in ROWS.items():
        for manner in MANNERS:
            if isinstance(value := getattr(row, manner), No):
                assert value.reason in page, (name, manner)


def jsii_interfaces() -> list[Any]:
    """Every construct, and each interface of jsii that it says it implements."""
    return [
        pytest.param(construct, interface, id=f"{name}-{interface.__name__}")
        for name, construct in sorted(exported().items())
        for interface in getattr(construct, "__jsii_ifaces__", [])
    ]


@pytest.mark.parametrize(("construct", "interface"), jsii_interfaces())
def test_members_of_an_interface_stand_on_the_class(construct: type, interface: type) -> None:
    members = [name for name in dir(interface) if not name.startswith("_")]
    assert members
    for name in members:
        member = inspect.getattr_static(construct, name, None)
        assert isinstance(member, property) or inspect.isfunction(member), f"{construct.__name__}.{name}"


@cache
def alone(name: str) -> tuple[dict[str, Any], dict[str, str], Construct]:
    """Template of a stack with one instance, tagged, in an app with a permissions boundary.

    Returns:
        The template, the logical ids below the construct with their types, and the construct.
    """
    parent = app()
    stack = stack_of(parent)
    boundary = iam.ManagedPolicy.from_managed_policy_arn(stack, "Boundary", BOUNDARY)
    iam.PermissionsBoundary.of(parent).apply(boundary)
    construct = ROWS[name].make(stack, "Subject", World(stack))
    cdk.Tags.of(construct).add(*TAG)
    resources = [
        cast(cdk.CfnResource, resource)
        for resource in construct.node.find_all()
        if cdk.CfnResource.is_cfn_resource(resource)
    ]
    below = {
        str(stack.resolve(resource.logical_id)): resource.cfn_resource_type
        for resource in resources
        if cdk.Stack.of(resource) is stack
    }
    return assembly(parent)[stack.stack_name], below, construct


@every
def test_a_manner_that_does_not_apply_is_not_there(name: str) -> None:
    row: Row = ROWS[name]
    *_, subject = alone(name)
    child = subject.node.default_child
    there = {
        "connects": hasattr(subject, "connections"),
        "grants": hasattr(subject, "grants") and not isinstance(subject, iam.Role),
        "principal": hasattr(subject, "grant_principal"),
        "default_child": child is not None and cdk.CfnResource.is_cfn_resource(child),
        "imported": any(member.startswith("from_") for member in vars(type(subject))),
    }
    assert not [manner for manner, has in there.items() if has and isinstance(getattr(row, manner), No)]


@having("default_child")
def test_the_default_child_is_the_main_resource(name: str) -> None:
    *_, subject = alone(name)
    child = subject.node.default_child
    assert child is not None
    assert cdk.CfnResource.is_cfn_resource(child)
    assert cast(cdk.CfnResource, child).cfn_resource_type == ROWS[name].default_child


def specifications(resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every list of tags of a resource, and of what it launches."""
    properties = resource.get("Properties", {})
    for holder in (properties, properties.get("LaunchTemplateData", {})):
        yield from holder.get("TagSpecifications", [])
    for key in ("Tags", "HostedZoneTags", "UserPoolTags", "FileSystemTags"):
        if key in properties:
            yield {"Tags": properties[key]}


def carries(tags: Any) -> bool:
    if isinstance(tags, dict):
        return tags.get(TAG[0]) == TAG[1]
    return any(tag.get("Key") == TAG[0] and tag.get("Value") == TAG[1] for tag in tags)


@having("tags")
def test_tags_reach_the_resources(name: str) -> None:
    template, below, _ = alone(name)
    for wanted in cast(Any, ROWS[name].tags):
        resources = [template["Resources"][id] for id, type in below.items() if type == wanted]
        assert resources, f"there is no {wanted}"
        for resource in resources:
            lists = list(specifications(resource))
            assert lists, f"{wanted} has no tags"
            assert all(carries(entry["Tags"]) for entry in lists), json.dumps(lists)


@having("tags")
def test_tags_reach_all_that_a_launch_template_launches(name: str) -> None:
    template, below, _ = alone(name)
    for id in (id for id, type in below.items() if type == "AWS::EC2::LaunchTemplate"):
        tagged = template["Resources"][id]["Properties"]["LaunchTemplateData"]["TagSpecifications"]
        reached = {entry["ResourceType"] for entry in tagged if carries(entry["Tags"])}
        assert reached == {"instance", "volume", "network-interface"}, id


@every
def test_a_permissions_boundary_reaches_every_role(name: str) -> None:
    template, *_ = alone(name)
    for id, resource in template.get("Resources", {}).items():
        if resource["Type"] == "AWS::IAM::Role":
            assert resource["Properties"].get("PermissionsBoundary") == BOUNDARY, id


@every
def test_two_of_them_stand_in_one_stack_without_account_and_region(name: str) -> None:
    parent = app()
    stack = stack_of(parent, region=None)
    world = World(stack)
    for id in ("First", "Second"):
        ROWS[name].make(stack, id, world)
    assert assembly(parent)


@every
def test_it_stands_in_another_stack_than_what_it_is_given(name: str) -> None:
    parent = app()
    given, stack = stack_of(parent, "Given"), stack_of(parent)
    ROWS[name].make(stack, "Subject", World(given))
    assert assembly(parent)


@every
@pytest.mark.parametrize("references", [True, None], ids=["references", "no-references"])
def test_what_it_is_given_may_be_in_another_region_or_is_refused(name: str, references: bool | None) -> None:
    parent = app()
    given = stack_of(parent, "Given", "us-west-2", cross_region=references)
    stack = stack_of(parent, cross_region=references)
    try:
        ROWS[name].make(stack, "Subject", World(given))
        parent.synth()
    except Refusal as refusal:
        outcome, wanted = str(refusal), " must be in us-east-2, the Region of the stack"
    except RuntimeError as error:
        # The CDK refuses a role or bucket without a name, unless it may write references across regions.
        outcome, wanted = str(error), "CannotUseCrossEnvironment" if references is None else "no exception"
    else:
        return
    assert wanted in outcome


@having("tokens")
def test_it_takes_tokens(name: str) -> None:
    parent = app()
    stack = stack_of(parent)
    cast(Any, ROWS[name].tokens)(stack, "Subject", World(stack))
    template = assembly(parent)[stack.stack_name]
    text = json.dumps(template)
    given = [parameter for parameter in template.get("Parameters", {}) if parameter.startswith("Token")]
    assert given
    lost = [name for name in given if f'"Ref": "{name}"' not in text and f"${{{name}}}" not in text]
    assert not lost, "tokens that did not arrive in the template"
    assert "${Token[" not in text


def peer_rules(templates: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Rules of security groups, those inside a group included."""
    result = []
    for template in templates.values():
        for resource in template.get("Resources", {}).values():
            properties = resource.get("Properties", {})
            if resource["Type"] in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"):
                result.append({"Kind": resource["Type"], **properties})
            elif resource["Type"] == "AWS::EC2::SecurityGroup":
                for key in ("Ingress", "Egress"):
                    for rule in properties.get(f"SecurityGroup{key}", []):
                        result.append({"Kind": f"AWS::EC2::SecurityGroup{key}", **rule})
    return result


@cache
def connected(name: str) -> list[dict[str, Any]]:
    """Rules of a construct in another stack than its VPC, with a client in its own stack and one in a third."""
    parent = app()
    given, stack, other = stack_of(parent, "Given"), stack_of(parent), stack_of(parent, "Other")
    world = World(given)
    # As an L2 does it: the peer's `connections` is read in JavaScript.
    subject = ROWS[name].make(stack, "Subject", world)
    for place in (stack, other):
        client = ec2.SecurityGroup(place, "Client", vpc=world.vpc, allow_all_outbound=False)
        port = _CLIENTS[place.node.id]
        client.connections.allow_to(subject, ec2.Port.tcp(port), "to it")
        client.connections.allow_from(subject, ec2.Port.tcp(port + 1), "from it")
    client = ec2.SecurityGroup(stack, "Default", vpc=world.vpc, allow_all_outbound=False)
    client.connections.allow_to_default_port(subject, "default port")
    return peer_rules(assembly(parent))


#: Stacks of clients, and the ports by which their rules are known.
_CLIENTS = {"Stack": 4711, "Other": 4721}


@having("connects")
@pytest.mark.parametrize("client_stack", _CLIENTS)
def test_a_construct_of_the_cdk_connects_both_ways(name: str, client_stack: str) -> None:
    rules, port = connected(name), _CLIENTS[client_stack]
    assert {"AWS::EC2::SecurityGroupIngress"} <= {rule["Kind"] for rule in rules if rule.get("ToPort") == port}
    assert any(rule.get("ToPort") == port + 1 for rule in rules)


@having("connects")
def test_the_default_port_is_the_documented_one(name: str) -> None:
    rules = [rule for rule in connected(name) if rule.get("Description") == "default port"]
    assert rules
    documented = cast(Connects, ROWS[name].connects).default_port
    assert all(_port(rule) == documented for rule in rules), rules


def _port(rule: dict[str, Any]) -> str:
    if rule["IpProtocol"] == "-1":
        return "ALL TRAFFIC"
    first, last = rule["FromPort"], rule["ToPort"]
    return str(first) if first == last else f"{first}-{last}"


def grantees(world: World) -> dict[str, iam.IGrantable]:
    return {
        "role": world.role,
        "Lambda function": world.function,
        "service": iam.ServicePrincipal("states.amazonaws.com"),
    }


@cache
def granted(name: str) -> Mapping[str, list[Any]]:
    """Results of all grants of a construct to each kind of principal, which synthesize."""
    parent = app()
    stack = stack_of(parent)
    world = World(stack)
    facade = ROWS[name].make(stack, "Subject", world).grants
    methods = cast(Grants, ROWS[name].grants).methods
    public = {member for member in dir(type(facade)) if not member.startswith("_")}
    assert set(methods) == public, "the row names other methods than `grants` has"
    result = {
        kind: [getattr(facade, method)(grantee) for method in methods] for kind, grantee in grantees(world).items()
    }
    assert assembly(parent)
    return result


@having("grants")
@pytest.mark.parametrize("kind", ["role", "Lambda function", "service"])
def test_grants_take_any_principal_and_return_a_grant(name: str, kind: str) -> None:
    assert granted(name)[kind]
    for grant in granted(name)[kind]:
        assert isinstance(grant, iam.Grant)
        if kind != "service":
            grant.assert_success()
            assert grant.principal_statements or grant.resource_statements


@having("grants")
@pytest.mark.parametrize("region", [REGION, "us-east-1"])
def test_grants_reach_a_role_of_another_stack_and_region(name: str, region: str) -> None:
    parent = app()
    cross = region != REGION or None
    stack, other = stack_of(parent, cross_region=cross), stack_of(parent, "Other", region, cross_region=cross)
    subject = ROWS[name].make(stack, "Subject", World(stack))
    role = iam.Role(other, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    for method in cast(Grants, ROWS[name].grants).methods:
        getattr(subject.grants, method)(role)
    template = assembly(parent)[other.stack_name]
    assert any(resource["Type"] == "AWS::IAM::Policy" for resource in template["Resources"].values())


@having("principal")
def test_it_is_a_principal_of_grants(name: str) -> None:
    parent = app()
    stack = stack_of(parent)
    world = World(stack)
    subject = ROWS[name].make(stack, "Subject", world)
    # The principal is read in JavaScript.
    world.key.grant_encrypt_decrypt(subject).assert_success()
    assert "kms:ReEncrypt*" in json.dumps(assembly(parent)[stack.stack_name])


def members(interface: type) -> set[str]:
    return {name for base in interface.__mro__ for name in (*vars(base), *getattr(base, "__annotations__", {}))
            if not name.startswith("_") and base is not object}  # fmt: skip


@having("imported")
def test_the_imported_construct_keeps_the_same_interface(name: str) -> None:
    row: Row = ROWS[name]
    assert not isinstance(row.imported, No)
    stack = stack_of(app())
    world = World(stack)
    imported = row.imported.make(stack, "Imported")
    created = row.make(stack, "Subject", world)
    wanted = members(row.imported.interface)
    assert wanted
    for subject in (imported, created):
        lacking = {member for member in wanted if not hasattr(subject, member)}
        assert not lacking, f"{type(subject).__name__} lacks {', '.join(sorted(lacking))}"
    resource = cast(Any, imported)
    assert resource.env.region
    if isinstance(row.connects, Connects) and row.imported.connects is None:
        ec2.Connections(security_groups=[world.client]).allow_to(resource, ec2.Port.tcp(4711))
    if isinstance(row.grants, Grants):
        for method in row.grants.methods:
            getattr(resource.grants, method)(world.role)


@dataclass(frozen=True)
class Watched:
    """A construct and its imported construct, whose metrics have alarms and whose alarms have a topic."""

    metrics: Mapping[str, list[str]]
    names: Mapping[str, list[str]]
    alarms: list[dict[str, Any]]


@cache
def watched(name: str) -> Watched:
    parent = app()
    stack = stack_of(parent)
    row = ROWS[name]
    subjects = [row.make(stack, "Subject", World(stack))]
    subjects += [] if isinstance(row.imported, No) else [row.imported.make(stack, "Imported")]
    topic = sns.Topic(stack, "Topic")
    metrics, names = dict[str, list[str]](), dict[str, list[str]]()
    for subject in subjects:
        methods = [member for member in dir(getattr(subject, "metrics", None)) if member.startswith("metric_")]
        metrics[subject.node.id] = methods
        for method in methods:
            metric = getattr(subject.metrics, method)()
            # Only of an imported resource, whose limits are not known, may a utilization be missing.
            if metric is None and subject.node.id == "Imported":
                continue
            id = f"{method}-{subject.node.id}"
            cloudwatch.Alarm(stack, id, metric=metric, threshold=1, evaluation_periods=1)
        names[subject.node.id] = list(getattr(getattr(subject, "alarms", None), "names", ()))
        for alarm in names[subject.node.id]:
            given = {"threshold": 4711, "evaluation_periods": 17, "period": cdk.Duration.minutes(10)}
            subject.alarms.add(alarm, topic, **given)
    resources = assembly(parent)[stack.stack_name]["Resources"].values()
    properties = [entry["Properties"] for entry in resources if entry["Type"] == "AWS::CloudWatch::Alarm"]
    return Watched(metrics, names, properties)


@having("metrics")
def test_metrics_are_metrics_of_the_cdk(name: str) -> None:
    of = watched(name)
    assert set(of.metrics) == ({"Subject"} if isinstance(ROWS[name].imported, No) else {"Subject", "Imported"})
    assert all(of.metrics.values())
    assert [alarm for alarm in of.alarms if alarm["Threshold"] == 1]


@every
def test_no_construct_without_a_reason_lacks_metrics(name: str) -> None:
    *_, subject = alone(name)
    published = [member for member in dir(getattr(subject, "metrics", None)) if member.startswith("metric_")]
    assert bool(published) is not isinstance(ROWS[name].metrics, No)


@having("alarms")
def test_threshold_period_and_action_of_every_alarm_are_arguments(name: str) -> None:
    of = watched(name)
    assert all(of.names.values())
    given = [alarm for alarm in of.alarms if alarm["Threshold"] != 1]
    assert len(given) == sum(map(len, of.names.values()))
    for properties in given:
        assert (properties["Threshold"], properties["EvaluationPeriods"]) == (4711, 17)
        metrics = [entry.get("MetricStat", entry) for entry in properties.get("Metrics", [properties])]
        assert {metric["Period"] for metric in metrics if "Period" in metric} == {600}
        assert len(properties["AlarmActions"]) == len(properties["OKActions"]) == 1


@every
def test_no_construct_without_a_reason_lacks_alarms(name: str) -> None:
    *_, subject = alone(name)
    assert bool(getattr(getattr(subject, "alarms", None), "names", ())) is not isinstance(ROWS[name].alarms, No)


@pytest.mark.parametrize(
    ("name", "use"),
    [(name, use) for name, row in sorted(ROWS.items()) if not isinstance(row.uses, No) for use in row.uses],
)
def test_the_cdk_accepts_it(name: str, use: str) -> None:
    parent = app()
    stack = stack_of(parent)
    world = World(stack)
    subject: Construct = ROWS[name].make(stack, "Subject", world)
    cast(Any, ROWS[name].uses)[use](subject, stack, world)
    assert assembly(parent)
