"""Every construct refuses a key or topic of another region, and subnets, groups and clients of another VPC."""

from collections.abc import Callable, Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from support.contracts import ACCOUNT, REGION, World, exported, rows
from ultracluster.rules import Refusal

ROWS = rows()
REGIONAL: dict[type, Callable[[cdk.Stack], object]] = {
    kms.IKey: lambda stack: kms.Key.from_key_arn(stack, "Foreign", f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/mrk-0"),
    sns.ITopic: lambda stack: sns.Topic.from_topic_arn(stack, "Foreign", f"arn:aws:sns:eu-west-1:{ACCOUNT}:x"),
}
IN_A_VPC: dict[type, Callable[[ec2.Vpc], object]] = {
    ec2.ISubnet: lambda vpc: vpc.private_subnets[0],
    ec2.ISecurityGroup: lambda vpc: ec2.SecurityGroup(vpc, "Group", vpc=vpc),
    ec2.IConnectable: lambda vpc: ec2.SecurityGroup(vpc, "Group", vpc=vpc),
}
#: Arguments that have nothing to be compared with, each with the reason.
ELSEWHERE = {
    "observability.GrafanaWorkspace.security_groups": "its row has no VPC; `test_seams` has the case",
    "observability.GrafanaWorkspace.subnets": "its row has no VPC; `test_seams` has the case",
    "storage.NfsHome.security_group": "nothing else that it takes has a VPC",
}


def kinds(hint: Any) -> Iterator[Any]:
    """Types of an annotation, those of unions and sequences included."""
    yield hint
    for part in get_args(hint):
        yield from kinds(part)


def arguments() -> Iterator[Any]:
    for name, construct in sorted(exported().items()):
        hints = {argument: list(kinds(hint)) for argument, hint in get_type_hints(construct.__init__).items()}
        for argument, hint in hints.items():
            if f"{name}.{argument}" not in ELSEWHERE:
                for kind in {*REGIONAL, *IN_A_VPC} & set(filter(lambda part: isinstance(part, type), hint)):
                    yield pytest.param(name, argument, kind, id=f"{name}-{argument}-{kind.__name__}")


def test_every_exception_is_an_argument() -> None:
    for place in ELSEWHERE:
        name, _, argument = place.rpartition(".")
        assert argument in get_type_hints(exported()[name].__init__)


@pytest.mark.parametrize(("name", "argument", "kind"), list(arguments()))
def test_refuses_it(monkeypatch: pytest.MonkeyPatch, name: str, argument: str, kind: type) -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    world = World(stack)
    foreign: Any = REGIONAL[kind](stack) if kind in REGIONAL else IN_A_VPC[kind](ec2.Vpc(stack, "Foreign", max_azs=2))
    construct = exported()[name]
    create, hint = construct.__init__, get_type_hints(construct.__init__)[argument]
    single = kind in (get_args(hint) if get_origin(hint) in (Union, UnionType) else [hint])

    def with_foreign(self: Any, scope: Any, id: str, **given: Any) -> None:
        create(self, scope, id, **given | {argument: foreign if single else [foreign]})

    monkeypatch.setattr(construct, "__init__", with_foreign)
    with pytest.raises(Refusal) as refused:
        ROWS[name].make(stack, "Subject", world)
    wanted = {"other-region", "alerts-topic-region"} if kind in REGIONAL else {"other-vpc"}
    messages = [message for message in refused.value.messages if message.rule.id in wanted]
    assert any(argument in message for message in messages), refused.value
