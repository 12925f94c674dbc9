"""Change sets: what CloudFormation itself would do to deployed stacks. They are never executed, and deleted at once."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from cdk_rehearsal.deploy._assembly import AssembledStack
from cdk_rehearsal.deploy._comparison import Client, Comparison
from cdk_rehearsal.registry import read

# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html (read 2026-11-23)
_LONGEST_BODY = 51_200
_CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")
_RUNNING = ("CREATE_PENDING", "CREATE_IN_PROGRESS")
# The status reasons of a change set without changes: CloudFormation has no code for them.
_EMPTY = ("didn't contain changes", "No updates are to be performed")
_SECONDS, _POLLS = 2, 150


@dataclass(kw_only=True)
class ChangeSets:
    """Result of `change_sets`.

    Args:
        changes: Stack -> its changes, each a `ResourceChange` of CloudFormation's API.
        refused: Stack -> reason why CloudFormation refuses the update before it begins.
        missing: Stack -> reason why there is no change set, such as a missing permission.
    """

    changes: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def change_sets(stacks: Iterable[AssembledStack], client: Client, sides: Comparison) -> ChangeSets:
    """Create a change set for each stack that exists and differs, return its changes, and delete it.

    Args:
        stacks: Stacks of the assembly.
        client: Creates clients; needs cloudformation:CreateChangeSet, DescribeChangeSet and DeleteChangeSet, and
            s3:PutObject, s3:GetObject and s3:DeleteObject on `ultracluster-diff/*` in the bucket of the CDK's bootstrap
            stack for a template of more than 51,200 bytes.
        sides: Result of `comparison`.
    """
    from botocore.exceptions import ClientError

    result = ChangeSets()
    for stack in stacks:
        if stack.name in sides.new or stack.name in sides.blocked or sides.same(stack.name):
            continue
        cloudformation, existing = client("cloudformation", stack.region), sides.existing[stack.name]
        body = read(stack.template.read_text(encoding="utf-8"))
        try:
            with _template(stack, body, existing, client) as template:
                request = {**template, "Parameters": _parameters(body, existing)}
                change_set = _created(cloudformation, stack.name, request)
        except ClientError as error:
            # A template that CloudFormation cannot take is an error of the request; a missing permission has its own,
            # but for the object in S3, which CloudFormation reads as the caller.
            refused = error.response["Error"]["Code"] == "ValidationError" and "S3 error" not in str(error)
            (result.refused if refused else result.missing)[stack.name] = str(error)
            continue
        if change_set["Status"] in _RUNNING:
            result.missing[stack.name] = f"CloudFormation needs more than {_SECONDS * _POLLS} seconds for it"
            continue
        if change_set["Status"] == "FAILED" and not any(text in change_set["StatusReason"] for text in _EMPTY):
            result.refused[stack.name] = change_set["StatusReason"]
        result.changes[stack.name] = change_set["Changes"]
    return result


def _created(cloudformation: Any, stack: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Create a change set, and return its description with all changes."""
    name = f"compare-{uuid4()}"
    names = {"StackName": stack, "ChangeSetName": name}
    cloudformation.create_change_set(**names, **request, ChangeSetType="UPDATE", Capabilities=list(_CAPABILITIES))
    try:
        page = cloudformation.describe_change_set(**names)
        for _ in range(_POLLS):
            if page["Status"] not in _RUNNING:
                break
            time.sleep(_SECONDS)
            page = cloudformation.describe_change_set(**names)
        rows = list(page["Changes"])
        while token := page.get("NextToken"):
            page = cloudformation.describe_change_set(**names, NextToken=token)
            rows += page["Changes"]
    finally:
        cloudformation.delete_change_set(**names)
    changes = [row["ResourceChange"] for row in rows if row.get("Type") == "Resource"]
    return {"Status": page["Status"], "StatusReason": page.get("StatusReason", ""), "Changes": changes}


def _parameters(template: Mapping[str, Any], existing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Keep the values that the stack has, as the CDK CLI does (read in CLI 2.1148.1, 2026-11-23)."""
    known = {parameter["ParameterKey"] for parameter in existing.get("Parameters", [])}
    return [{"ParameterKey": key, "UsePreviousValue": True} for key in template.get("Parameters") or {} if key in known]


@contextmanager
def _template(
    stack: AssembledStack, template: Mapping[str, Any], existing: Mapping[str, Any], client: Client
) -> Iterator[dict[str, str]]:
    """Provide the template of a request: its text, or where that is too long, a URL in the bootstrap bucket.

    The key is not that of the CDK CLI, which never replaces an object: who may only compare could choose what is
    deployed later.
    """
    body = json.dumps(template, separators=(",", ":"))
    if len(body.encode()) <= _LONGEST_BODY or stack.asset is None:
        yield {"TemplateBody": body}
        return
    _, partition, _, region, account, _ = existing["StackId"].split(":", 5)
    place = {"${AWS::AccountId}": account, "${AWS::Region}": region, "${AWS::Partition}": partition}
    url = stack.asset
    for token, value in place.items():
        url = url.replace(token, value)
    bucket, _, name = url.removeprefix("s3://").partition("/")
    target = {"Bucket": bucket, "Key": f"ultracluster-diff/{uuid4()}/{name}"}
    s3 = client("s3", stack.region)
    s3.put_object(**target, Body=stack.template.read_bytes())
    try:
        domain = "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com"
        yield {"TemplateURL": f"https://{bucket}.s3.{region}.{domain}/{target['Key']}"}
    finally:
        s3.delete_object(**target)
