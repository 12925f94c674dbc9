"""Every IAM action that a construct names exists, and the resources of its statement are some that it supports."""

import fnmatch
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
import botocore.session
import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from support import EXAMPLES
from support.contracts import ACCOUNT, REGION, Grants, No, World, assembly, rows
from support.policy_resources import useless
from support.templates import templates
from ultracluster import clusterfile

ROWS = rows()
# Permissions without an API operation of their name. Their source is AWS's own managed policies, which name each of
# them; moto has a copy of all.
PERMISSIONS = {
    *("aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics", "aps:RemoteWrite"),
    *(f"elasticfilesystem:Client{access}" for access in ("Mount", "RootAccess", "Write")),
    "elasticloadbalancing:SetWebACL",
    "iam:PassRole",
    *(f"s3:{name}" for name in ("GetObjectVersion", "ListBucket", "ListBucketMultipartUploads", "ListBucketVersions")),
    "s3:ListMultipartUploadParts",
    "s3express:CreateSession",
    *(f"s3files:Client{access}" for access in ("Mount", "RootAccess", "Write")),
    *("ssm:ListInstanceAssociations", "ssm:UpdateInstanceAssociationStatus", "ssm:UpdateInstanceInformation"),
    *(f"ssmmessages:{verb}{channel}Channel" for verb in ("Create", "Open") for channel in ("Control", "Data")),
    "sts:TagSession",
    "tag:GetResources",
}


@cache
def services() -> dict[str, set[str]]:
    """Services that botocore knows, by the prefix of their IAM actions.

    Only the head of each model is read: parsing all of them takes half a minute.
    """
    folder = Path(botocore.__file__).parent / "data"
    named: dict[str, set[str]] = defaultdict(set)
    for model in folder.glob("*/*/service-2.json.gz"):
        with gzip.open(model, "rt") as text:
            head = text.read(4096)
        prefixes = re.findall(r'"(?:signingName|endpointPrefix)"\s*:\s*"([^"]+)"', head)
        for prefix in {model.parts[-3], *prefixes}:
            named[prefix].add(model.parts[-3])
    return named


@cache
def operations(prefix: str) -> set[str]:
    """Operations of the APIs with a prefix."""
    session = botocore.session.get_session()
    return {
        name for service in services().get(prefix, ()) for name in session.get_service_model(service).operation_names
    }


def actions(node: Any) -> Iterator[str]:
    """Actions of all policy statements below a node of a template."""
    if isinstance(node, list):
        for entry in node:
            yield from actions(entry)
    elif isinstance(node, dict):
        if "Effect" in node and "Action" in node:
            named = node["Action"]
            yield from [named] if isinstance(named, str) else named
        for value in node.values():
            yield from actions(value)


@cache
def template_of(name: str) -> Any:
    """The template of a construct, with all of its grants."""
    app = cdk.App(analytics_reporting=False)
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    world = World(stack)
    subject = ROWS[name].make(stack, "Subject", world)
    if not isinstance(ROWS[name].grants, No):
        for method in cast(Grants, ROWS[name].grants).methods:
            getattr(subject.grants, method)(world.role)
    return list(assembly(app).values())


@cache
def actions_of(name: str) -> frozenset[str]:
    """Actions in the template of a construct, with all of its grants."""
    return frozenset(actions(template_of(name)))


def unknown(action: str) -> bool:
    prefix, _, operation = action.partition(":")
    return action not in PERMISSIONS and not fnmatch.filter(operations(prefix), operation)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_actions_exist(name: str) -> None:
    assert not sorted(action for action in actions_of(name) if action != "*" and unknown(action))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_resources_match_actions(name: str) -> None:
    assert useless(template_of(name)) == set()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_resources_match_actions_in_examples(file: Path) -> None:
    assert useless(list(templates(clusterfile.load(file)).values())) == set()


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        # No resource of the service has a permission of its own for it.
        ("fsx:DescribeFileSystems", "arn:aws:fsx:us-east-2:123456789012:file-system/*"),
        ("pcs:ListTagsForResource", "arn:aws:pcs:us-east-2:123456789012:cluster/*"),
        ("ec2:RebootInstances", "arn:aws:ec2:us-east-2:123456789012:volume/*"),
        ("s3:Get*", "arn:aws:sns:us-east-2:123456789012:topic"),
    ],
)
def test_a_resource_that_matches_no_action_is_found(action: str, resource: str) -> None:
    statement = {"Effect": "Allow", "Action": action, "Resource": {"Fn::Join": ["", [resource]]}}
    assert useless(statement) == {(action, resource)}
    assert not useless({**statement, "Resource": "*"})


def test_permissions_without_an_operation_are_in_use_and_in_policies_of_aws() -> None:
    assert {action for name in ROWS for action in actions_of(name)} >= PERMISSIONS
    published = set(actions(json.loads(aws_managed_policies_data)))
    assert published >= PERMISSIONS


def test_a_misspelt_action_is_found() -> None:
    assert unknown("pcs:DescribeCluster")
    assert unknown("nope:GetCluster")
    assert not unknown("kms:GenerateDataKey*")
