"""Platform of an EKS cluster, applied by CodeBuild in its VPC."""

import io
import zipfile
from collections.abc import Mapping
from datetime import datetime

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct, IDependable

from ultracluster.boot import NodeFile, platform_script, tar
from ultracluster.compute import ScriptAsset
from ultracluster.eks._admin_access import HTTPS, access_entry, https_rule
from ultracluster.eks._kubectl import KubectlAsset
from ultracluster.eks._pipeline_failures import notify_of_failures
from ultracluster.eks._platform import checksum, publish_statements
from ultracluster.eks._scheduled_run import ScheduledRun
from ultracluster.network import Network
from ultracluster.orchestration import wait_condition
from ultracluster.security import acknowledge_wildcards
from ultracluster.storage import private_bucket

# Controllers and the gate have half an hour each.
_HOURS = 2
# Amazon Linux 2023 with Python 3.11, the AWS CLI and dnf:
# https://docs.aws.amazon.com/codebuild/latest/userguide/available-runtimes.html (read 2026-11-25)
_IMAGE = "aws/codebuild/amazonlinux-x86_64-standard:5.0"
_SCRIPT = "apply-platform.sh"
_BUILD_SPEC = f"""\
version: 0.2
phases:
  install:
    runtime-versions:
      python: 3.11
  build:
    commands:
      - bash {_SCRIPT}
"""
# https://docs.aws.amazon.com/codebuild/latest/userguide/auth-and-access-control-iam-identity-based-access-control.html
# #customer-managed-policies-example-create-vpc-network-interface (read 2026-11-25)
_INTERFACES = (
    *("ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeDhcpOptions"),
    *("ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs"),
)
# https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference-S3.html, service role permissions (read
# 2026-11-27); the action of aws-cdk-lib 2.275.0 allows these by wildcards.
_SOURCE_OBJECT = ("s3:GetObject", "s3:GetObjectTagging", "s3:GetObjectVersion", "s3:GetObjectVersionTagging")
_SOURCE_BUCKET = ("s3:GetBucketAcl", "s3:GetBucketLocation", "s3:GetBucketVersioning")
_EPOCH = (1980, 1, 1, 0, 0, 0)


class PlatformBuild(Construct):
    """A pipeline that applies a platform in CodeBuild, in the VPC of the cluster, without a standing host.

    CodePipeline runs it when it is created, and after each update: its source has the checksum of the content. The
    build signals the last lines of its log to a wait condition, so that the deployment waits, and fails with them. An
    execution that fails before the build is published to the topic; the deployment then waits for two hours.

    Args:
        cluster: Cluster.
        network: Network of the build, which has a private subnet.
        files: Files by path: the engine, and its bundle below `bundle/`.
        values: Values of the placeholders of the bundle, which may be tokens.
        topic: Topic that gets the result of each run. Default: none.
        runs: Times of further runs by a name. Default: none.

    See: https://docs.aws.amazon.com/codepipeline/latest/userguide/pipelines-about-starting.html (read 2026-11-25)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster,
        network: Network,
        files: Mapping[str, str],
        values: Mapping[str, str],
        topic: sns.ITopic | None = None,
        runs: Mapping[str, datetime] | None = None,
    ) -> None:
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        account = {"StringEquals": {"aws:SourceAccount": stack.account}}
        #: Role of the build.
        self.role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("codebuild.amazonaws.com", conditions=account)
        )
        group = ec2.SecurityGroup(
            self, "Group", vpc=network.vpc, description="Builds that apply the platform", allow_all_outbound=False
        )
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(HTTPS), "AWS, registries and the API server")
        ready: list[IDependable] = [
            access_entry(self, "Entry", cluster=cluster, role=self.role),
            https_rule(
                self,
                "ApiServer",
                group_id=cluster.cluster_security_group_id,
                source=group,
                description="API server from the build",
            ),
        ]
        if network.endpoints is not None:
            endpoints = network.endpoints.security_group_id
            description = "Calls of AWS services from the build"
            ready.append(https_rule(self, "Endpoints", group_id=endpoints, source=group, description=description))
        members = [NodeFile(path=path, text=text, mode="0644") for path, text in sorted(files.items())]
        bundle = ScriptAsset(self, "Bundle", text=tar(members), suffix="tar")
        tools = KubectlAsset(self, "Tools")
        script = "\n".join(platform_script({}))
        source = ScriptAsset(
            self, "Source", text=_archive({"buildspec.yml": _BUILD_SPEC, _SCRIPT: script}), suffix="zip"
        )
        #: Checksum of what is applied, and of the references to other resources.
        self.checksum = checksum(stack.resolve([bundle.url, tools.url, source.url, values]))
        handle, condition = wait_condition(self, self.checksum, seconds=_HOURS * 3600)
        log = logs.LogGroup(self, "Log", retention=logs.RetentionDays.THREE_MONTHS)
        log.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        self._allow(cluster, network, group, log)
        for asset in (bundle.grants.read(self.role), tools.grants.read(self.role)):
            assert asset.success
        for statement in () if topic is None else publish_statements(topic):
            self.role.add_to_policy(statement)
        environment = {
            "CLUSTER": cluster.cluster_name,
            "BUNDLE": bundle.url,
            "BUNDLE_SHA256": bundle.sha256,
            "TOOLS": tools.url,
            "TOOLS_SHA256": tools.sha256,
            "VALUES": cdk.Fn.base64(stack.to_json_string(values)),
            "HANDLE": handle.ref,
            "TOPIC": topic.topic_arn if topic else "",
        }
        project = self._project(network, group, log, environment)
        self.pipeline = self._pipeline(project, source)
        self.pipeline.node.add_dependency(self.role, *ready)
        condition.add_dependency(self.pipeline)
        #: Pipeline whose creation and update apply the platform, and what a deployment waits for.
        self.node.default_child = self.pipeline
        if topic is not None:
            notify_of_failures(self, self.pipeline, topic)
        arn = stack.format_arn(service="codepipeline", resource=self.pipeline.ref)
        for name, at in (runs or {}).items():
            call = "codepipeline:startPipelineExecution"
            ScheduledRun(self, name, call=call, resources=[arn], at=at, input={"Name": self.pipeline.ref})

    def _allow(self, cluster: eks.ICluster, network: Network, group: ec2.ISecurityGroup, log: logs.ILogGroup) -> None:
        stack = cdk.Stack.of(self)
        interfaces = stack.format_arn(service="ec2", resource="network-interface", resource_name="*")
        subnet = stack.format_arn(service="ec2", resource="subnet", resource_name=network.services_subnet.subnet_id)
        condition = {"StringEquals": {"ec2:AuthorizedService": "codebuild.amazonaws.com", "ec2:Subnet": [subnet]}}
        described = stack.format_arn(service="eks", resource="cluster", resource_name=cluster.cluster_name)
        for actions, resource, conditions in (
            (_INTERFACES, "*", None),
            (("ec2:CreateNetworkInterfacePermission",), interfaces, condition),
            (("eks:DescribeCluster",), described, None),
        ):
            statement = iam.PolicyStatement(actions=list(actions), resources=[resource], conditions=conditions)
            self.role.add_to_policy(statement)
        log.grant_write(self.role)
        reason = "CodeBuild creates the network interface of a build, whose id is not known before"
        acknowledge_wildcards(self.role, ["*", interfaces], reason)

    def _project(
        self, network: Network, group: ec2.ISecurityGroup, log: logs.ILogGroup, environment: Mapping[str, str]
    ) -> codebuild.CfnProject:
        l1 = codebuild.CfnProject
        project = l1(
            self,
            "Project",
            description="Applies the platform of a Kubernetes cluster",
            service_role=self.role.role_arn,
            source=l1.SourceProperty(type="CODEPIPELINE"),
            artifacts=l1.ArtifactsProperty(type="CODEPIPELINE"),
            environment=l1.EnvironmentProperty(
                type="LINUX_CONTAINER",
                image=_IMAGE,
                compute_type="BUILD_GENERAL1_SMALL",
                privileged_mode=False,
                environment_variables=[
                    l1.EnvironmentVariableProperty(name=name, value=value) for name, value in environment.items()
                ],
            ),
            logs_config=l1.LogsConfigProperty(
                cloud_watch_logs=l1.CloudWatchLogsConfigProperty(status="ENABLED", group_name=log.log_group_name)
            ),
            timeout_in_minutes=_HOURS * 60,
            vpc_config=l1.VpcConfigProperty(
                vpc_id=network.vpc.vpc_id,
                subnets=[network.services_subnet.subnet_id],
                security_group_ids=[group.security_group_id],
            ),
        )
        project.node.add_dependency(self.role, *network.ready)
        reason = "a build has a script and writes nothing; CodeBuild encrypts with the key of S3 in the account"
        cdk.Validations.of(project).acknowledge(cdk.Acknowledgment(id="AwsSolutions-CB4", reason=reason))
        return project

    def _pipeline(self, project: codebuild.CfnProject, source: ScriptAsset) -> codepipeline.CfnPipeline:
        stack = cdk.Stack.of(self)
        # Retained even if the first build fails: S3 deletes no bucket with objects, and this one has the source by
        # then. It is empty after a day.
        bucket = private_bucket(
            self,
            "Artifacts",
            reason="it holds the script of a run for a day, and its readers are the build and the pipeline",
            versioned=False,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(1))],
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        objects = bucket.arn_for_objects("*")
        read = iam.PolicyStatement(actions=["s3:GetObject", "s3:GetObjectVersion"], resources=[objects])
        self.role.add_to_policy(read)
        account = {"StringEquals": {"aws:SourceAccount": stack.account}}
        role = iam.Role(
            self,
            "PipelineRole",
            assumed_by=iam.ServicePrincipal("codepipeline.amazonaws.com", conditions=account),
        )
        name, _, key = source.url.removeprefix("s3://").partition("/")
        held = stack.format_arn(service="s3", region="", account="", resource=name)
        for actions, resource in (
            (_SOURCE_OBJECT, source.arn),
            (_SOURCE_BUCKET, held),
            (("codebuild:BatchGetBuilds", "codebuild:StartBuild"), project.attr_arn),
            (("s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"), objects),
            (("s3:GetBucketVersioning",), bucket.bucket_arn),
        ):
            role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[resource]))
        for each in (self.role, role):
            acknowledge_wildcards(each, [objects], "CodePipeline names the objects of an execution")
        l1 = codepipeline.CfnPipeline

        def action(
            category: str, provider: str, configuration: Mapping[str, str], **artifacts: str
        ) -> codepipeline.CfnPipeline.StageDeclarationProperty:
            kind = l1.ActionTypeIdProperty(category=category, owner="AWS", provider=provider, version="1")
            declared = l1.ActionDeclarationProperty(
                name=category,
                action_type_id=kind,
                configuration=dict(configuration),
                output_artifacts=[l1.OutputArtifactProperty(name=artifacts["out"])] if "out" in artifacts else None,
                input_artifacts=[l1.InputArtifactProperty(name=artifacts["into"])] if "into" in artifacts else None,
            )
            return l1.StageDeclarationProperty(name=category, actions=[declared])

        # Another checksum is another pipeline structure, which runs.
        content = f'[{{"name":"CONTENT","value":"{self.checksum}"}}]'
        built = {"ProjectName": project.ref, "EnvironmentVariables": content}
        fetched = {"S3Bucket": name, "S3ObjectKey": key, "PollForSourceChanges": "false"}
        pipeline = l1(
            self,
            "Resource",
            role_arn=role.role_arn,
            pipeline_type="V2",
            restart_execution_on_update=True,
            artifact_store=l1.ArtifactStoreProperty(type="S3", location=bucket.bucket_name),
            stages=[action("Source", "S3", fetched, out="Source"), action("Build", "CodeBuild", built, into="Source")],
        )
        pipeline.node.add_dependency(role, bucket)
        return pipeline


def _archive(files: Mapping[str, str]) -> bytes:
    """Return files as a zip archive, with the same bytes on every machine."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
    return packed.getvalue()
