"""Policies of endpoints that let no data out of a perimeter."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.catalogue.storage import aws_buckets
from ultracluster.planning import perimeter_condition

# Services whose endpoint policies AWS has reviewed for perimeters: https://github.com/aws-samples/
# data-perimeter-policy-examples (service_specific_guidance and vpc_endpoint_policies, 8e0d3c5, read 2026-11-23).
# Their principals reach resources of the perimeter only.
_REVIEWED = frozenset({"aps-workspaces", "ecr.api", "ecr.dkr", "eks", "logs", "monitoring", "secretsmanager", "sns",
                       "ssm", "sts"})  # fmt: skip
# Services whose guides have a policy for their endpoint. Requests name no resource, or images and documents of AWS, so
# that the policy is for principals alone: https://docs.aws.amazon.com/pcs/latest/userguide/vpc-interface-endpoints.html,
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/fsx-vpc-endpoints.html,
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-vpc-endpoints.html,
# https://docs.aws.amazon.com/elasticloadbalancing/latest/userguide/load-balancer-vpc-endpoints.html,
# https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-create-vpc.html and ec2_endpoint_policy.json of the
# examples (read 2026-11-26). No page of AWS shows one for eks-auth, which only exchanges tokens of pods.
_BY_PRINCIPAL = frozenset({"autoscaling", "ec2", "elasticloadbalancing", "fsx", "pcs", "ssmmessages"})
# Images come from registries of AWS too, in an account for each region. Reading lets nothing out.
_PULL = (
    "ecr:GetAuthorizationToken",
    "ecr:BatchCheckLayerAvailability",
    "ecr:GetDownloadUrlForLayer",
    "ecr:BatchGetImage",
)
_READ_SSM = ("ssm:Describe*", "ssm:Get*", "ssm:List*")


def s3_policy(
    scope: Construct, perimeter: Sequence[str], *, buckets: Sequence[str] = (), signals: bool = False
) -> iam.PolicyDocument:
    """Return the policy of an S3 endpoint: buckets of the perimeter for its principals, and some of AWS.

    Args:
        scope: Construct of the endpoint.
        perimeter: An organization, or accounts.
        buckets: Names of further buckets.
        signals: Whether the results of deployments of the account may be written.
    """
    stack = cdk.Stack.of(scope)
    arn = f"arn:{stack.partition}:s3:::"
    statements = [
        _inside(stack, perimeter),
        _allow("OfAws", ("s3:GetObject",), [f"{arn}{name.format(region=stack.region)}/*" for name in aws_buckets.READ]),
    ]
    if signals:
        # The URL that CloudFormation signs has the ARN of the stack as key, and so the account.
        handles = f"arn:{stack.partition}:cloudformation:{stack.region}:{stack.account}:stack/*"
        objects = f"{arn}{aws_buckets.SIGNALS.format(region=stack.region)}/{handles}"
        statements.append(_allow("Signals", ("s3:PutObject",), [objects]))
    if buckets:
        resources = [each for name in buckets for each in (arn + name, f"{arn}{name}/*")]
        statements.append(
            _allow("OfTheFile", ("s3:*",), resources, perimeter_condition(perimeter, stack.account, "Principal"))
        )
    return iam.PolicyDocument(statements=statements)


def service_policy(scope: Construct, service: str, perimeter: Sequence[str]) -> iam.PolicyDocument | None:
    """Return the policy of an interface endpoint, or None for a service without one."""
    stack = cdk.Stack.of(scope)
    by = perimeter_condition(perimeter, stack.account, "Principal")
    if service in _BY_PRINCIPAL:
        return iam.PolicyDocument(statements=[_allow("Perimeter", ("*",), ["*"], by)])
    if service not in _REVIEWED:
        return None
    statements = [_inside(stack, perimeter)]
    if service.startswith("ecr."):
        statements.append(_allow("Pull", _PULL, ["*"], by))
    elif service == "ssm":
        arn = f"arn:{stack.partition}:ssm:{stack.region}::"
        statements.append(_allow("OfAws", _READ_SSM, [f"{arn}parameter/aws/*", f"{arn}document/*"], by))
    elif service == "sts":
        # A principal of an identity provider belongs to no account; roles of service accounts are assumed by such.
        actions = ("sts:AssumeRoleWithWebIdentity", "sts:AssumeRoleWithSAML")
        statements.append(
            _allow("Federated", actions, ["*"], perimeter_condition(perimeter, stack.account, "Resource"))
        )
    return iam.PolicyDocument(statements=statements)


def _inside(stack: cdk.Stack, perimeter: Sequence[str]) -> iam.PolicyStatement:
    by = perimeter_condition(perimeter, stack.account, "Principal")
    return _allow("Perimeter", ("*",), ["*"], by | perimeter_condition(perimeter, stack.account, "Resource"))


def _allow(
    sid: str, actions: Sequence[str], resources: Sequence[str], equals: dict[str, str | list[str]] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid,
        principals=[iam.AnyPrincipal()],
        actions=list(actions),
        resources=list(resources),
        conditions={"StringEquals": equals} if equals else None,
    )
