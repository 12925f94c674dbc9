"""AWS resources of Karpenter, which launches the nodes of elastic groups."""

from collections.abc import Iterable, Mapping
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from ultracluster.catalogue.schedulers import eks as facts
from ultracluster.eks._add_on import pod_role
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.planning import checked, known
from ultracluster.rules import TOKEN, Refusal
from ultracluster.security import acknowledge_wildcards

#: Namespace and service account of its chart.
NAMESPACE, SERVICE_ACCOUNT = "karpenter-system", "karpenter"
# https://karpenter.sh/docs/reference/cloudformation/ (1.14, read 2026-11-21)
_DESCRIBE = (
    "AvailabilityZones",
    "CapacityReservations",
    "Images",
    "InstanceStatus",
    "InstanceTypeOfferings",
    "InstanceTypes",
    "Instances",
    "LaunchTemplates",
    "PlacementGroups",
    "SecurityGroups",
    "SpotPriceHistory",
    "Subnets",
)
_LAUNCHED = ("fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request")
_USED = ("security-group", "subnet", "capacity-reservation", "placement-group")
_EVENTS = {
    "Health": ("aws.health", "AWS Health Event"),
    "Spot": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "Rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "State": ("aws.ec2", "EC2 Instance State-change Notification"),
    "Reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}


@jsii.implements(iam.IGrantable)
class EksKarpenter(cdk.Resource):
    """The role of Karpenter's controller, and the queue of the interruptions of its nodes.

    Its chart, node classes and pools are objects of Kubernetes. Its role may terminate only what Karpenter launched,
    by tags.

    Args:
        cluster: Cluster of Karpenter.
        name: Name of the cluster. It must be known at synthesis: it is part of the key of a tag.
        node_role: Role of the nodes that it launches; see `EksNodeRole.add_access_entry`.

    Raises:
        Refusal: If the name of the cluster is a token, or is not one that EKS takes.

    See: https://karpenter.sh/docs/reference/cloudformation/ (read 2026-11-21)
    """

    @checked
    def __init__(
        self, scope: Construct, id: str, *, cluster: eks.ICluster | IEksCluster, name: str, node_role: iam.IRole
    ) -> None:
        super().__init__(scope, id)
        if cdk.Token.is_unresolved(name):
            message = "name must be known at synthesis, got a token: it is part of the key of a tag"
            raise Refusal(self, TOKEN(message))
        # Policies name it: with a wildcard they would allow the instances of other clusters.
        if known(name) and (problems := facts.check_cluster_name(name)):
            raise Refusal(self, problems)
        #: Role of the nodes that it launches.
        self.node_role = node_role
        #: Queue of interruptions.
        self.queue = sqs.Queue(
            self,
            "Queue",
            retention_period=cdk.Duration.minutes(5),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        cdk.Validations.of(self.queue).acknowledge(
            cdk.Acknowledgment(id="AwsSolutions-SQS3", reason="A notice of an interruption has no use after minutes")
        )
        for rule, (source, kind) in _EVENTS.items():
            events.Rule(
                self,
                rule,
                event_pattern=events.EventPattern(source=[source], detail_type=[kind]),
                targets=[targets.SqsQueue(self.queue)],
            )
        #: Role of the controller.
        self.role = pod_role(self, "Role")
        statements = list(self._statements(name, node_role))
        for statement in statements:
            self.role.add_to_policy(statement)
        acknowledge_wildcards(
            self.role,
            [arn for statement in statements for arn in statement.resources if arn.endswith("*")],
            "Karpenter creates instances, templates and profiles whose ARNs are not known at synthesis; conditions "
            "limit it to the tags of the cluster, as in its published policy",
        )
        eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=cluster.cluster_name,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=self.role.role_arn,
        )

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Principal of the controller."""
        return self.role.grant_principal

    def _statements(self, name: str, node_role: iam.IRole) -> Iterable[iam.PolicyStatement]:
        stack = cdk.Stack.of(self)
        owned = f"kubernetes.io/cluster/{name}"
        pool, node_class = "karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass"
        launched = [self._ec2(kind) for kind in _LAUNCHED]
        launch = ["ec2:RunInstances", "ec2:CreateFleet"]
        # Of any account: AWS RAM shares them, and their ARNs have the account of their owner.
        used = [self._ec2(kind, account="*") for kind in _USED]
        used += [self._ec2(kind, account="") for kind in ("image", "snapshot")]
        yield _allow(launch, used)
        yield _allow(launch, [self._ec2("launch-template")], _tagged("Resource", owned, pool))
        yield _allow([*launch, "ec2:CreateLaunchTemplate"], launched, _tagged("Request", owned, pool))
        created = _tagged("Request", owned, pool)
        created["StringEquals"]["ec2:CreateAction"] = ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]
        yield _allow(["ec2:CreateTags"], launched, created)
        renamed = _tagged("Resource", owned, pool)
        renamed["ForAllValues:StringEquals"] = {"aws:TagKeys": ["karpenter.sh/nodeclaim", "Name"]}
        yield _allow(["ec2:CreateTags"], [self._ec2("instance")], renamed)
        yield _allow(
            ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            [self._ec2("instance"), self._ec2("launch-template")],
            _tagged("Resource", owned, pool),
        )
        here = {"StringEquals": {"aws:RequestedRegion": stack.region}}
        yield _allow([f"ec2:Describe{resources}" for resources in _DESCRIBE], ["*"], here)
        yield _allow(["pricing:GetProducts", "iam:ListInstanceProfiles"], ["*"])
        images = stack.format_arn(service="ssm", account="", resource="parameter", resource_name="aws/service/*")
        yield _allow(["ssm:GetParameter"], [images])
        yield _allow(
            ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
            [self.queue.queue_arn],
        )
        # The second is its name in China, as in the policy of Karpenter.
        ec2_names = ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]
        yield _allow(["iam:PassRole"], [node_role.role_arn], {"StringEquals": {"iam:PassedToService": ec2_names}})
        profiles = stack.format_arn(service="iam", region="", resource="instance-profile", resource_name="*")
        yield _allow(["iam:CreateInstanceProfile"], [profiles], _tagged("Request", owned, node_class))
        both = _tagged("Resource", owned, node_class)
        for operator, keys in _tagged("Request", owned, node_class).items():
            both[operator] |= keys
        yield _allow(["iam:TagInstanceProfile"], [profiles], both)
        yield _allow(
            ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
            [profiles],
            _tagged("Resource", owned, node_class),
        )
        yield _allow(["iam:GetInstanceProfile"], [profiles])
        described = stack.format_arn(service="eks", resource="cluster", resource_name=name)
        yield _allow(["eks:DescribeCluster"], [described])

    def _ec2(self, kind: str, *, account: str | None = None) -> str:
        stack = cdk.Stack.of(self)
        return stack.format_arn(service="ec2", resource=kind, resource_name="*", account=account)


def _allow(
    actions: list[str], resources: list[str], conditions: Mapping[str, Any] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=actions, resources=resources, conditions=conditions)


def _tagged(source: str, owned: str, key: str) -> dict[str, dict[str, Any]]:
    return {
        "StringEquals": {f"aws:{source}Tag/{owned}": "owned"},
        "StringLike": {f"aws:{source}Tag/{key}": "*"},
    }
