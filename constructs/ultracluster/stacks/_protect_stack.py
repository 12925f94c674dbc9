"""Runbook step that protects a stack: its text runs in Systems Manager Automation, whose runtime has boto3."""

import json
import re
from collections.abc import Mapping
from typing import Any

# Types that hold data, of those in the stacks of a cluster. What a template retains counts as well.
_DATA = (
    "AWS::APS::Workspace",
    "AWS::CloudFormation::Stack",
    "AWS::EKS::Cluster",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::FSx::Volume",
    "AWS::Grafana::Workspace",
    "AWS::KMS::Key",
    "AWS::PCS::Cluster",
    "AWS::S3::Bucket",
    "AWS::S3Express::DirectoryBucket",
    "AWS::S3Files::FileSystem",
    "AWS::SageMaker::Cluster",
    "AWS::SecretsManager::Secret",
)
# Add-ons that running jobs need.
_ADD_ONS = ("amazon-sagemaker-hyperpod-taskgovernance", "aws-efs-csi-driver")
_NODES = ("AWS::AutoScaling::AutoScalingGroup", "AWS::EKS::Nodegroup", "AWS::PCS::ComputeNodeGroup", "AWS::PCS::Queue")
# Servers that CloudFormation replaces at each change, such as Grafana's, are no nodes.
_SERVERS = ("AutoScalingReplacingUpdate", "AutoScalingRollingUpdate")
_RETAINED = ("Retain", "RetainExceptOnCreate")
# Built again from its recipe.
_BUILT = "AWS::ImageBuilder::Image"
_PREFIX = "LogicalResourceId/"


def protected(resources: Mapping[str, Any]) -> list[str]:
    """Return the logical ids whose replacement or deletion loses data or ends nodes."""
    names = []
    for name, resource in resources.items():
        kind = resource["Type"]
        policies = (resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy"))
        retained = kind != _BUILT and any(policy in _RETAINED for policy in policies)
        nodes = kind in _NODES and not any(name in (resource.get("UpdatePolicy") or {}) for name in _SERVERS)
        needed = kind == "AWS::EKS::Addon" and resource["Properties"].get("AddonName") in _ADD_ONS
        # Only Karpenter ends the instances that it launched.
        karpenter = (
            kind == "AWS::EKS::PodIdentityAssociation" and resource["Properties"]["ServiceAccount"] == "karpenter"
        )
        if retained or nodes or needed or karpenter or kind in _DATA:
            names.append(name)
    return sorted(names)


def policy(resources: Mapping[str, Any], existing: str | None) -> str:
    """Return the policy of a stack; statements of an existing one stay, except for the one that this step adds."""
    names = protected(resources)
    denied = {*names}
    statements: list[Any] = []
    deny: dict[str, Any] = {"Effect": "Deny", "Action": ["Update:Replace", "Update:Delete"], "Principal": "*"}
    if existing is None:
        statements.append({"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"})
    rows = json.loads(existing)["Statement"] if existing else []
    for row in rows if isinstance(rows, list) else [rows]:
        ids = row.get("Resource")
        if isinstance(ids, list) and row == {**deny, "Resource": ids} and "*" not in "".join(ids):
            denied |= {id.removeprefix(_PREFIX) for id in ids} & resources.keys() - {*names}
        else:
            statements.append(row)
    if denied:
        statements.append({**deny, "Resource": [f"{_PREFIX}{name}" for name in sorted(denied)]})
    return json.dumps({"Statement": statements}, separators=(",", ":"))


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Set the policy of the stack of an event: no update replaces or deletes its data and node groups."""
    import boto3

    stack = event["StackId"]
    # Stacks of another cluster, which is called `llama-Compute`, start this runbook too.
    if not re.fullmatch("[A-Za-z]+|Compute-[0-9]+", stack.split("/")[1].removeprefix(event["Prefix"])):
        return {"Protected": []}
    cloudformation = boto3.client("cloudformation", region_name=stack.split(":")[3])
    body = cloudformation.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
    resources = (json.loads(body) if isinstance(body, str) else body)["Resources"]
    existing = cloudformation.get_stack_policy(StackName=stack).get("StackPolicyBody")
    cloudformation.set_stack_policy(StackName=stack, StackPolicyBody=policy(resources, existing))
    return {"Protected": protected(resources)}
