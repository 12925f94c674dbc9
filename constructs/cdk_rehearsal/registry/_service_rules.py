"""Requirements of services beyond the registry schema of a type: what AWS refuses although the template is valid.

A rule takes the properties of a resource and yields what the service refuses. Values that a template does not show,
which are intrinsics or tokens, break no rule. Sources were read on 2026-11-22.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._combinations import combination_problems, has_combinations
from cdk_rehearsal.registry._document_rules import alert_manager, rule_groups
from cdk_rehearsal.registry._ec2_rules import (
    block,
    eks_cluster,
    group_rule,
    group_rules,
    interfaces,
    market,
    placement,
    user_data,
    volume,
    volumes,
)
from cdk_rehearsal.registry._fsx_rules import lustre_file_system, openzfs_file_system
from cdk_rehearsal.registry._policy_rules import inline_policies, key_policy, no_longer, statements
from cdk_rehearsal.registry._rule_values import ServiceRule, items_at, number_at, text_at
from cdk_rehearsal.registry._time_rules import alarm, schedule


def service_problems(type_name: str, properties: Mapping[str, Any]) -> list[str]:
    """Return what a service refuses in the properties of a resource, empty if nothing."""
    problems = [problem for rule in _RULES.get(type_name, ()) for problem in rule(properties)]
    return [*problems, *combination_problems(type_name, properties)]


def has_service_rules(type_name: str) -> bool:
    """Return True if resources of a type are validated beyond their schema."""
    return type_name in _RULES or has_combinations(type_name)


def _ordered(*paths: str) -> ServiceRule:
    """Return a rule that the numbers at these paths do not fall."""

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        known = [(path, number) for path in paths if (number := number_at(properties, path)) is not None]
        for (low, first), (high, second) in pairwise(known):
            if first > second:
                name = high.rpartition(".")[2]
                yield f"#/{low.replace('.', '/')}: {first} must not be above {name}, which is {second}"

    return rule


def _parameter(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
    tier = properties.get("Tier", "Standard")
    most = 4096 if tier == "Standard" else 8192
    value = text_at(properties, "Value")
    # API_PutParameter
    name = text_at(properties, "Name")
    if name is not None and name.lower().lstrip("/").startswith(("aws", "ssm")):
        yield f"#/Name: a name does not begin with aws or ssm, got {name}"
    if name is not None and name.strip("/").count("/") > 14:
        yield f"#/Name: a name has 15 levels at most, got {name.strip('/').count('/') + 1}"
    if value is not None and len(value.encode()) > most:
        yield f"#/Value: {len(value.encode()):,} bytes; the tier {tier} accepts {most:,}"


def _function(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    timeout = number_at(properties, "Timeout")
    if timeout is not None and timeout > 900:
        yield f"#/Timeout: 900 seconds at most, got {timeout}"


def _transitions(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html
    for rule in items_at(properties, "LifecycleConfiguration.Rules"):
        for row in items_at(rule, "Transitions"):
            days, kind = number_at(row, "TransitionInDays"), row.get("StorageClass")
            if days is not None and days < 30 and kind in ("STANDARD_IA", "ONEZONE_IA"):
                yield f"#/LifecycleConfiguration/Rules: {kind} accepts objects after 30 days or more, got {days}"


# Highest quota of managed policies for a role; a higher one than the default is granted by itself.
_MOST_MANAGED = 25


def _managed(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    policies = properties.get("ManagedPolicyArns")
    if isinstance(policies, list) and len(policies) > _MOST_MANAGED:
        yield f"#/ManagedPolicyArns: {len(policies)} policies; the highest quota of a role is {_MOST_MANAGED}"


_RULES: Mapping[str, Sequence[ServiceRule]] = MappingProxyType(
    {
        "AWS::APS::RuleGroupsNamespace": (rule_groups,),
        "AWS::APS::Workspace": (alert_manager,),
        "AWS::AutoScaling::AutoScalingGroup": (_ordered("MinSize", "DesiredCapacity", "MaxSize"),),
        "AWS::CloudWatch::Alarm": (alarm, _ordered("DatapointsToAlarm", "EvaluationPeriods")),
        "AWS::EC2::Instance": (volumes("BlockDeviceMappings"),),
        "AWS::EC2::LaunchTemplate": (
            user_data,
            interfaces,
            market,
            volumes("LaunchTemplateData.BlockDeviceMappings"),
        ),
        "AWS::EC2::PlacementGroup": (placement,),
        "AWS::EC2::SecurityGroup": (group_rules,),
        "AWS::EC2::SecurityGroupEgress": (group_rule,),
        "AWS::EC2::SecurityGroupIngress": (group_rule,),
        "AWS::EC2::Subnet": (block("CidrBlock"),),
        "AWS::EC2::VPC": (block("CidrBlock"),),
        "AWS::EC2::VPCEndpoint": (statements("PolicyDocument", "endpoint"),),
        "AWS::EC2::Volume": (volume,),
        "AWS::EKS::Cluster": (eks_cluster,),
        "AWS::EKS::Nodegroup": (
            _ordered("ScalingConfig.MinSize", "ScalingConfig.DesiredSize", "ScalingConfig.MaxSize"),
        ),
        "AWS::Events::Rule": (schedule,),
        "AWS::FSx::FileSystem": (lustre_file_system, openzfs_file_system),
        "AWS::IAM::ManagedPolicy": (
            statements("PolicyDocument", "identity"),
            no_longer("PolicyDocument", 6144, "a managed policy", whitespace=False),
        ),
        "AWS::IAM::Policy": (
            statements("PolicyDocument", "identity"),
            no_longer("PolicyDocument", 10_240, "an inline policy", whitespace=False),
        ),
        "AWS::IAM::Role": (
            _managed,
            inline_policies,
            statements("AssumeRolePolicyDocument", "trust"),
            no_longer("AssumeRolePolicyDocument", 8192, "a trust policy", whitespace=False),
        ),
        "AWS::KMS::Key": (
            key_policy,
            statements("KeyPolicy", "resource"),
            no_longer("KeyPolicy", 32_768, "a key policy"),
        ),
        "AWS::Lambda::Function": (_function,),
        "AWS::PCS::ComputeNodeGroup": (
            _ordered("ScalingConfiguration.MinInstanceCount", "ScalingConfiguration.MaxInstanceCount"),
        ),
        "AWS::S3::Bucket": (_transitions,),
        "AWS::S3::BucketPolicy": (
            statements("PolicyDocument", "resource"),
            no_longer("PolicyDocument", 20_480, "a bucket policy"),
        ),
        "AWS::SNS::TopicPolicy": (statements("PolicyDocument", "resource"),),
        "AWS::SQS::QueuePolicy": (statements("PolicyDocument", "resource"),),
        "AWS::SSM::Parameter": (_parameter,),
        "AWS::Scheduler::Schedule": (schedule,),
    }
)
