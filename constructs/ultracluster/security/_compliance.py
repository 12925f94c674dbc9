"""Findings of cdk-nag's packs for NIST 800-53 R5, HIPAA Security and PCI DSS 3.2.1 that hold for every cluster.

Each has the reason why the finding stays. cdk-nag is not a dependency of the library: its packs are chosen by the app.
"""

import re
from dataclasses import dataclass

import aws_cdk as cdk
from constructs import Construct, IConstruct

_PACKS = {"NIST 800-53 R5": "NIST.800.53.R5", "HIPAA Security": "HIPAA.Security", "PCI DSS 3.2.1": "PCI.DSS.321"}
_LOG_GROUPS = "(LogGroup|FlowLogGroup|Log)/Resource"
_FUNCTIONS = "(GrafanaContent|Lifecycle)/Function"
_LOGS = "(Data|DataBucket)/AccessLogs/Resource"
_SCRIPTS = "(Default/Bucket|Access/Certificates)/Resource"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A finding that stays.

    Args:
        rule: Rule of the packs, without the name of the pack.
        where: End of the construct path, as a regular expression. A class of this library stands for each id.
        reason: Why it stays.
        source: Page of AWS that documents it.
        read: Date on which the page was read; empty if an excerpt of it was.
    """

    rule: str
    where: str
    reason: str
    source: str
    read: str = "2026-11-23"

    def holds(self, path: str) -> bool:
        """Return whether the finding is expected at a construct path."""
        return re.search(f"/{self.where}$", path) is not None

    @property
    def ids(self) -> list[str]:
        """Ids of the finding in all packs."""
        return [f"{pack}-{self.rule}" for pack in _PACKS.values()]


#: Findings that hold for every cluster, each with its reason.
FINDINGS: tuple[Finding, ...] = (
    Finding(
        rule="CloudWatchLogGroupEncrypted",
        where=_LOG_GROUPS,
        reason="CloudWatch Logs encrypts every log group; without a key, with keys of the service. "
        "Logs under a customer's key cannot be read when the key is disabled. `compliance` creates the key",
        source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
        read="2026-11-22",
    ),
    Finding(
        rule="EC2RestrictedCommonPorts",
        where="(Nodes|Rules|EfaSecurityGroup)/SelfIngress",
        reason="EFA requires a rule for all protocols whose source is the group itself; it has no address range",
        source="https://docs.aws.amazon.com/pcs/latest/userguide/working-with_networking_efa_create-sg.html",
    ),
    Finding(
        rule="EC2RestrictedCommonPorts",
        where="Lustre(Client|Listener)Ingress",
        reason="The source is the security group of the nodes or of the file system, not an address range. "
        "FSx requires the ports between the two",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
        read="2026-11-21",
    ),
    Finding(
        rule="IAMNoInlinePolicy",
        where="(Policy|DefaultPolicy|CopyPolicy|Read|Write|Write(Login)?Metrics|(Compute|Login)Storage)/Resource",
        reason="An inline policy belongs to one role only, so that nothing else gets the permissions of a node. "
        "Each is a resource of its own in the template",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html",
    ),
    Finding(
        rule="S3BucketReplicationEnabled",
        where=f"({_LOGS}|(Data|DataBucket)/Bucket/Resource|{_SCRIPTS})",
        reason="Replication needs a second bucket, in a Region and account that the user chooses, and doubles the cost "
        "of checkpoints. Versioning of the data bucket protects from deletion",
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication.html",
        read="",
    ),
    Finding(
        rule="S3DefaultEncryptionKMS",
        where=_LOGS,
        reason="S3 delivers access logs to no bucket whose default encryption is a KMS key",
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html",
        read="2026-11-21",
    ),
    Finding(
        rule="S3DefaultEncryptionKMS",
        where=_SCRIPTS,
        reason="It holds lifecycle scripts without secrets, or certificates of HyperPod's inference operator, whose "
        "role has no permission on a key. S3 encrypts each object with its own keys by default",
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/cloudtrail-logging-s3-info.html",
        read="",
    ),
    Finding(
        rule="S3BucketLoggingEnabled",
        where=_SCRIPTS,
        reason="It holds scripts, whose readers are the nodes, or certificates. CloudTrail logs changes of the bucket "
        "by default; who reads or writes an object is a data event, which a trail of the account may log",
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/cloudtrail-logging-s3-info.html",
        read="",
    ),
    Finding(
        rule="VPCDefaultSecurityGroupClosed",
        where="(Network|ClusterNetwork)/Vpc",
        reason="A VPC's default security group cannot be deleted, and CloudFormation has no resource for it. No "
        "interface of the templates uses it",
        source="https://docs.aws.amazon.com/vpc/latest/userguide/deleting-security-groups.html",
    ),
    Finding(
        rule="VPCNoUnrestrictedRouteToIGW",
        where="PublicSubnet/DefaultRoute",
        reason="The route is that of the NAT gateway, alone in its subnet; nodes have no public addresses. "
        "`internet: false` removes both",
        source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway.html",
        read="",
    ),
    Finding(
        rule="EC2InstancesInVPC",
        where="Host/Resource",
        reason="The network interface of the instance names its subnet; the rule reads the property SubnetId alone",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/"
        "aws-properties-ec2-instance-networkinterface.html",
    ),
    Finding(
        rule="EC2InstanceDetailedMonitoringEnabled",
        where="Host/Resource",
        reason="The admin host runs no workload, and EC2 charges for each metric of a minute. `compliance` "
        "with hipaa enables them",
        source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/manage-detailed-monitoring.html",
        read="",
    ),
    Finding(
        rule="LambdaConcurrency",
        where=_FUNCTIONS,
        reason="CloudFormation calls the function once in a deployment. No other function can use concurrency that "
        "is reserved",
        source="https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html",
        read="",
    ),
    Finding(
        rule="LambdaDLQ",
        where=_FUNCTIONS,
        reason="CloudFormation waits for the answer of the function, and the deployment fails without it",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "aws-resource-cloudformation-customresource.html",
        read="",
    ),
    Finding(
        rule="LambdaInsideVPC",
        where=_FUNCTIONS,
        reason="The function calls public APIs of AWS with its role, and reaches nothing inside the VPC. A VPC is for "
        "functions that need its resources",
        source="https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html",
        read="",
    ),
)


def packs_of(rule: str) -> str:
    """Names of the packs in which a rule is reported."""
    without: dict[str, tuple[str, ...]] = {"EC2InstanceDetailedMonitoringEnabled": ("HIPAA Security",)}
    without |= {name: ("NIST 800-53 R5", "HIPAA Security") for name in ("LambdaConcurrency", "LambdaDLQ")}
    return ", ".join(without.get(rule, tuple(_PACKS)))


def acknowledge_compliance(scope: IConstruct) -> None:
    """Acknowledge the findings of cdk-nag's packs that hold for every cluster, each at its own construct.

    Call it after all stacks are created. A finding at another construct stays, and so do those of the app: only
    constructs of this library, and what they contain, are acknowledged.

    Args:
        scope: An app, stage, stack or construct.
    """
    # Path of a construct of this library, or in one -> the same with classes of this library in place of ids.
    places: dict[str, str] = {}
    above = scope.node.scopes[:-1]
    for construct in (*above, *scope.node.find_all()):
        path = construct.node.path
        parent, _, id = path.rpartition("/")
        name = _class(construct)
        if name is None and parent not in places:
            continue
        places[path] = f"{places.get(parent, '')}/{name or id}"
        findings = [it for it in FINDINGS if it.holds(path) or it.holds(places[path])]
        ids = {id: finding for finding in findings for id in finding.ids}
        if ids and construct not in above:
            rows = (cdk.Acknowledgment(id=id, reason=finding.reason) for id, finding in ids.items())
            cdk.Validations.of(construct).acknowledge(*rows)


def _class(construct: IConstruct) -> str | None:
    """Return the class of this library that a construct is of, or None."""
    classes = (it for it in type(construct).__mro__ if it.__module__.startswith("ultracluster."))
    return next((it.__name__ for it in classes if issubclass(it, Construct)), None)
