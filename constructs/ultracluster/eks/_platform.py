"""Platform of an EKS cluster, applied by its admin host."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import NodeFile, platform_script, tar
from ultracluster.compute import ScriptAsset
from ultracluster.eks._admin_host import EksAdminHost
from ultracluster.eks._kubectl import KubectlAsset
from ultracluster.eks._scheduled_run import ScheduledRun
from ultracluster.orchestration import HANDLE_PARAMETER, command_document, wait_condition
from ultracluster.planning import checked, stack_of
from ultracluster.rules import Refusal
from ultracluster.security import check_same_region

# A wait condition waits 12 hours at most, an association 48:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-waitcondition.html
# and aws-resource-ssm-association.html (read 2026-11-22)
_HOURS = 4
# Characters of base64 and of checksums: nothing that a shell reads.
_PARAMETERS = {
    "values": ("JSON in base64 of the ids that the deployment creates", "^[A-Za-z0-9+/=]*$"),
    "content": ("Checksum of what is applied", "^[0-9a-f]*$"),
}


class EksPlatform(cdk.Resource):
    """Objects and releases on an EKS cluster, applied by `ultracluster.platform` on its admin host.

    The content is an archive in the bucket of `cdk bootstrap`. An association of State Manager runs it, and the
    deployment waits: four hours at most, without a Lambda function. The logical ids of association and wait condition
    have the checksum of the content, so other content is a new association, which runs. A host that is replaced runs
    the same content again.

    CloudFormation reports a failed association by its id alone (InProgressHandler of
    https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-ssm, read 2026-11-22). So the host
    signals the last lines of its log to a wait condition, whose failure CloudFormation reports with them.

    Args:
        host: Host that applies it.
        files: Files by path: the engine, and its bundle below `bundle/`.
        values: Values of the placeholders of the bundle, which may be tokens.
        topic: Topic that gets the result of each run, with the lines of the gate. Default: none.
        runs: Times of further runs, such as after the start of a Capacity Block, by a name. Default: none.
        directories: Directories of Lustre that the host opens for all users if FSx created them for root alone: mount
            point, and path from there. Default: none.

    Raises:
        Refusal: If the topic is in another Region.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/state-manager-about.html and
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-waitcondition.html (read 2026-11-22)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        host: EksAdminHost,
        files: Mapping[str, str],
        values: Mapping[str, str],
        topic: sns.ITopic | None = None,
        runs: Mapping[str, datetime] | None = None,
        directories: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(scope, id)
        if problems := check_same_region(self, {"topic": topic}):
            raise Refusal(self, problems)
        stack: cdk.Stack = stack_of(self)
        members = [NodeFile(path=path, text=text, mode="0644") for path, text in sorted(files.items())]
        bundle = ScriptAsset(self, "Bundle", text=tar(members), suffix="tar")
        tools = KubectlAsset(self, "Tools")
        bundle.grants.read(host)
        tools.grants.read(host)
        script = platform_script(
            {
                "CLUSTER": host.cluster.cluster_name,
                "AWS_REGION": stack.region,
                "BUNDLE": bundle.url,
                "BUNDLE_SHA256": bundle.sha256,
                "TOOLS": tools.url,
                "TOOLS_SHA256": tools.sha256,
                "VALUES": "{{ values }}",
                "HANDLE": "{{ handle }}",
                "TOPIC": topic.topic_arn if topic else "",
                "DIRECTORIES": " ".join(f"{mount}:{path}" for mount, path in directories),
            }
        )
        document = command_document(
            self,
            "platform",
            description="Applies the platform of a Kubernetes cluster",
            commands=script,
            inputs={"timeoutSeconds": str(_HOURS * 3600)},
            # The association of the earlier content must not run this one with its values, nor run again by a rollback.
            update_method="Replace",
            parameters={
                name: {"type": "String", "description": description, "allowedPattern": pattern}
                for name, (description, pattern) in _PARAMETERS.items()
            }
            | {"handle": dict(HANDLE_PARAMETER)},
        )
        #: Checksum of what is applied, and of the references to other resources.
        self.checksum = checksum(stack.resolve([script, values]))
        handle, condition = wait_condition(self, self.checksum, seconds=_HOURS * 3600)
        association = ssm.CfnAssociation(
            self,
            f"Run{self.checksum[:12]}",
            name=document.ref,
            targets=[ssm.CfnAssociation.TargetProperty(key="InstanceIds", values=[host.instance_id])],
            parameters={
                "values": [cdk.Fn.base64(stack.to_json_string(values))],
                "handle": [handle.ref],
                "content": [self.checksum],
            },
            wait_for_success_timeout_seconds=_HOURS * 3600,
        )
        read = stack.format_arn(service="ssm", resource="document", resource_name=document.ref)
        policy = iam.Policy(
            self,
            "Policy",
            roles=[host.role],
            statements=[iam.PolicyStatement(actions=["ssm:DescribeDocument", "ssm:GetDocument"], resources=[read])],
        )
        # In the stack of the platform: that of the host may have the nodes, and must not import the topic.
        for statement in () if topic is None else publish_statements(topic):
            policy.add_statements(statement)
        #: Association of State Manager.
        self.association = association
        # The association would wait for an agent without permissions, and the condition for an association.
        association.node.add_dependency(policy, *host.ready)
        # Both wait at the same time. The condition's time begins when the host exists.
        condition.node.add_dependency(policy, host)
        self.node.default_child = association
        instance = stack.format_arn(service="ec2", resource="instance", resource_name=host.instance_id)
        parameters = {
            "values": [cdk.Fn.base64(stack.to_json_string(values))],
            "handle": [""],
            "content": [self.checksum],
        }
        for name, at in (runs or {}).items():
            ScheduledRun(
                self,
                name,
                call="ssm:sendCommand",
                resources=[read, instance],
                at=at,
                input={"DocumentName": document.ref, "InstanceIds": [host.instance_id], "Parameters": parameters},
            )


def publish_statements(topic: sns.ITopic) -> Iterator[iam.PolicyStatement]:
    """Allow to publish to a topic, which may be encrypted."""
    yield iam.PolicyStatement(actions=["sns:Publish"], resources=[topic.topic_arn])
    if (key := topic.master_key) is not None:
        yield iam.PolicyStatement(actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[key.key_arn])


def checksum(content: Any) -> str:
    """Return the checksum of resolved content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
