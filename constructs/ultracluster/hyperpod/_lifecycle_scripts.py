"""Lifecycle scripts of HyperPod nodes, in a bucket with the name that the service requires."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct, IDependable

from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import ScriptAsset, ScriptReads
from ultracluster.hyperpod._provisioning import HyperPodProvisioning
from ultracluster.orchestration import Output
from ultracluster.planning import checked, checked_method, known, text_problem, token_errors
from ultracluster.rules import Refusal, error, shared
from ultracluster.security import acknowledge_wildcards
from ultracluster.storage import private_bucket

_BUCKET = shared("hyperpod-bucket")
_SCRIPTS = error("hyperpod-scripts", "Lifecycle scripts are files below one prefix, without Slurm's provisioning file.")
_NAME = re.compile(r"sagemaker-[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?", re.ASCII)
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,127}", re.ASCII)
_HANDLER = Path(__file__).parent / "_copy_handler.py"


class HyperPodScripts(Construct):
    """Lifecycle scripts in a versioned bucket, below a prefix that is their checksum.

    A changed script has another prefix, so that an update of the cluster shows it. Earlier versions stay, for nodes
    that name them. A function of Lambda copies the scripts from the bucket of `cdk bootstrap`.

    Args:
        scripts: Files by their path below the prefix.
        bucket_name: Name of the new bucket, which begins with `sagemaker-`. Names of buckets are unique in AWS. If a
            first deployment fails, it stays: delete it, or pass it as `bucket`.
        bucket: Existing bucket instead, whose name begins with `sagemaker-`.
        provisioning: Roles of the instance groups in the form of a file, which the scripts read. Default: groups have
            theirs.

    Raises:
        Refusal: If the service does not read a bucket of the name, or a path is not valid. All reasons at once.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scripts: Mapping[str, str],
        bucket_name: str | None = None,
        bucket: s3.IBucket | None = None,
        provisioning: HyperPodProvisioning | None = None,
    ) -> None:
        super().__init__(scope, id)
        if problems := _problems(scripts, bucket_name, bucket):
            raise Refusal(self, problems)
        #: Roles of the instance groups. None: groups have theirs.
        self.provisioning = provisioning
        texts = {} if provisioning is None else {hyperpod.PROVISIONING_PARAMETERS: provisioning.render()}
        content = dict(sorted(scripts.items())) | cdk.Stack.of(self).resolve(texts)
        #: Checksum of all scripts, 64 hexadecimal digits.
        self.sha256 = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        #: Bucket of the scripts.
        # Retained even if the deployment that creates it fails: S3 deletes no bucket with objects.
        self.bucket: s3.IBucket = bucket or scripts_bucket(self, bucket_name, cdk.RemovalPolicy.RETAIN)
        assets = {path: ScriptAsset(self, path.replace("/", "-"), text=text) for path, text in sorted(scripts.items())}
        function, policies = self._function(list(assets.values()))
        copy = cdk.CustomResource(
            self,
            "Copy",
            resource_type="Custom::HyperPodScripts",
            service_token=function.attr_arn,
            service_timeout=cdk.Duration.minutes(5),
            properties={
                "Bucket": self.bucket.bucket_name,
                "Objects": {f"{self.sha256}/{path}": asset.url for path, asset in assets.items()},
                **({"Texts": {f"{self.sha256}/{path}": text for path, text in texts.items()}} if texts else {}),
            },
        )
        copy.node.add_dependency(*policies)
        #: Location of the scripts: `s3://BUCKET/CHECKSUM/`.
        self.source_s3_uri = f"s3://{self.bucket.bucket_name}/{self.sha256}/"
        #: What must exist before a node runs a script.
        self.ready = (copy,)

    @property
    def grants(self) -> "HyperPodScriptsGrants":
        """Permissions on the scripts."""
        return HyperPodScriptsGrants(self.bucket)

    def _function(self, assets: list[ScriptAsset]) -> tuple[lambda_.CfnFunction, Sequence[IDependable]]:
        # Of its own: CloudFormation deletes one that Lambda created with no stack.
        log = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        role = iam.Role(self, "CopyRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        objects = self.bucket.arn_for_objects("*")
        policy = iam.Policy(
            self,
            "CopyPolicy",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=["s3:PutObject"], resources=[objects]),
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log.log_group_arn]
                ),
            ],
        )
        reads = ScriptReads(self, lambda: policy, [role])
        for asset in assets:
            reads.allow(asset)
        acknowledge_wildcards(policy, [objects], "each version of the scripts has a prefix of its own")
        # L1: the L2 depends on its role twice, which cfn-lint reports.
        function = lambda_.CfnFunction(
            self,
            "Function",
            description="Copies lifecycle scripts of HyperPod nodes",
            runtime=lambda_.Runtime.PYTHON_3_14.name,
            architectures=["arm64"],
            handler="index.handle",
            code=lambda_.CfnFunction.CodeProperty(zip_file=_HANDLER.read_text()),
            role=role.role_arn,
            logging_config=lambda_.CfnFunction.LoggingConfigProperty(log_group=log.log_group_name),
            timeout=120,
        )
        function.node.add_dependency(policy)
        return function, reads.policies


class HyperPodScriptsGrants:
    """Permissions on lifecycle scripts."""

    def __init__(self, bucket: s3.IBucket) -> None:
        self._bucket = bucket

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow nodes to list and read the scripts."""
        objects = self._bucket.arn_for_objects("*")
        listed = iam.Grant.add_to_principal(
            grantee=grantee, actions=["s3:ListBucket"], resource_arns=[self._bucket.bucket_arn]
        )
        read = iam.Grant.add_to_principal(grantee=grantee, actions=["s3:GetObject"], resource_arns=[objects])
        if isinstance(principal := grantee.grant_principal, iam.Role):
            acknowledge_wildcards(principal, [objects], "nodes name scripts of several versions, by prefix")
        return listed.combine(read)


def _problems(scripts: Mapping[str, str], bucket_name: str | None, bucket: s3.IBucket | None) -> list[str]:
    problems: list[str] = []
    if (bucket_name is None) == (bucket is None):
        problems.append("give one of bucket_name and bucket")
    name = bucket_name if bucket is None else bucket.bucket_name
    if name is not None and (bucket is None or known(name)):
        form = f"the name of a bucket that begins with {hyperpod.BUCKET_PREFIX}, for the service reads no other"
        # Account and region may be tokens.
        plain = re.sub(r"\$\{Token\[[^]]*\]\}", "1", name)
        problems += map(_BUCKET, text_problem("bucket_name" if bucket is None else "bucket", plain, _NAME, form))
    if not scripts:
        problems.append(_SCRIPTS("scripts must hold at least one file, got none"))
    for path, text in scripts.items():
        problems += token_errors({f"scripts[{path!r}]": text, "the path of a script": path})
        if not _PATH.fullmatch(path) or ".." in path.split("/"):
            problems.append(_SCRIPTS(f"scripts must have paths such as on_create.sh, got {path[:80]!r}"))
        if path.rpartition("/")[2] == hyperpod.PROVISIONING_PARAMETERS:
            message = (
                "HyperPod refuses it beside the Slurm configuration of its API; set node_type and partition of the"
            )
            problems.append(_SCRIPTS(f"scripts must not hold {path}: {message} groups, or provisioning"))
    return problems


def create_or_import_bucket(scope: Construct, cluster: ClusterFile, role: iam.IGrantable) -> s3.IBucket:
    """Return the bucket of the lifecycle scripts of a cluster file, which the role may read."""
    existing, account = cluster.hyperpod.bucket, cdk.Stack.of(scope).account
    bucket: s3.IBucket = (
        # Empty until Compute is created, which is another stack.
        scripts_bucket(
            scope,
            hyperpod.scripts_bucket_name(cluster.name, account, cluster.region),
            cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        if existing is None
        else s3.Bucket.from_bucket_name(scope, "Bucket", existing)
    )
    HyperPodScriptsGrants(bucket).read(role)
    return bucket


def role_outputs(role: iam.IRole, bucket: s3.IBucket) -> list[Output]:
    """Return the outputs of what exists before the nodes."""
    return [
        Output("ExecutionRole", "Role of the nodes", role.role_arn),
        Output("ScriptsBucket", "Bucket of the lifecycle scripts", bucket.bucket_name),
    ]


def scripts_bucket(scope: Construct, name: str | None, removal_policy: cdk.RemovalPolicy) -> s3.Bucket:
    """Create a bucket for lifecycle scripts."""
    reason = "it holds scripts only, whose readers are the nodes, and CloudTrail has the writers"
    return private_bucket(scope, "Bucket", reason=reason, bucket_name=name, removal_policy=removal_policy)
