"""Every IAM action that a construct names exists: as an operation of AWS's APIs, or as a permission without one."""

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

from support.contracts import ACCOUNT, REGION, Grants, No, World, assembly, rows

ROWS = rows()
# Permissions without an API operation of their name. Their source is AWS's own managed policies, which name each of
# them; moto has a copy of all.
PERMISSIONS = {
    *("aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics", "aps:RemoteWrite"),
    *(f"elasticfilesystem:Client{access}" for access in ("Mount", "RootAccess", "Write")),
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
def actions_of(name: str) -> frozenset[str]:
    """Actions in the template of a construct, with all of its grants."""
    app = cdk.App(analytics_reporting=False)
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    world = World(stack)
    subject = ROWS[name].make(stack, "Subject", world)
    if not isinstance(ROWS[name].grants, No):
        for method in cast(Grants, ROWS[name].grants).methods:
            getattr(subject.grants, method)(world.role)
    return frozenset(actions(list(assembly(app).values())))


def unknown(action: str) -> bool:
    prefix, _, operation = action.partition(":")
    return action not in PERMISSIONS and not fnmatch.filter(operations(prefix), operation)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_actions_exist(name: str) -> None:
    assert not sorted(action for action in actions_of(name) if action != "*" and unknown(action))


def test_permissions_without_an_operation_are_in_use_and_in_policies_of_aws() -> None:
    assert {action for name in ROWS for action in actions_of(name)} >= PERMISSIONS
    published = set(actions(json.loads(aws_managed_policies_data)))
    assert published >= PERMISSIONS


def test_a_misspelt_action_is_found() -> None:
    assert unknown("pcs:DescribeCluster")
    assert unknown("nope:GetCluster")
    assert not unknown("kms:GenerateDataKey*")
