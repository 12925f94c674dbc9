"""Requirements of services beyond the registry schema of a type: what AWS refuses although the template is valid.

A rule takes the properties of a resource and yields what the service refuses. Values that a template does not show,
which are intrinsics or tokens, break no rule. Sources were read on 2026-11-22.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._document_rules import alert_manager, rule_groups
from cdk_rehearsal.registry._fsx_rules import lustre_file_system, openzfs_file_system
from cdk_rehearsal.registry._rejections import at
from cdk_rehearsal.registry._rule_values import ServiceRule, is_shown, items_at, number_at, text_at


def service_problems(type_name: str, properties: Mapping[str, Any]) -> list[str]:
    """Return what a service refuses in the properties of a resource, empty if nothing."""
    return [problem for rule in _RULES.get(type_name, ()) for problem in rule(properties)]


def has_service_rules(type_name: str) -> bool:
    """Return True if resources of a type are validated beyond their schema."""
    return type_name in _RULES


def _ordered(*paths: str) -> ServiceRule:
    """Return a rule that the numbers at these paths do not fall."""

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        known = [(path, number) for path in paths if (number := number_at(properties, path)) is not None]
        for (low, first), (high, second) in pairwise(known):
            if first > second:
                name = high.rpartition(".")[2]
                yield f"#/{low.replace('.', '/')}: {first} must not be above {name}, which is {second}"

    return rule


def _no_longer(path: str, most: int, what: str, *, whitespace: bool = True) -> ServiceRule:
    """Return a rule for the size of a JSON document, or text."""

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        value = at(properties, path)
        if value is None or not is_shown(value):
            return
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        size = len((text if whitespace else re.sub(r"\s", "", text)).encode())
        if size > most:
            yield f"#/{path.replace('.', '/')}: {what} has {size:,} characters; the quota is {most:,}"

    return rule


def _user_data(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
    text = text_at(properties, "LaunchTemplateData.UserData") or text_at(properties, "UserData")
    if text is None:
        return
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        yield "#/UserData: it must be encoded in base64"
        return
    if size > 16_384:
        yield f"#/UserData: {size:,} bytes; EC2 takes 16,384 before they are encoded"


def _interfaces(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html and efa-acc-inst-types.html
    rows = items_at(properties, "LaunchTemplateData.NetworkInterfaces")
    places = [(str(row.get("NetworkCardIndex", 0)), str(row.get("DeviceIndex", 0))) for row in rows]
    for card, device in sorted({place for place in places if places.count(place) > 1}):
        yield f"#/LaunchTemplateData/NetworkInterfaces: network card {card} has device index {device} twice"
    if rows and ("0", "0") not in places and all(is_shown(row) for row in rows):
        yield "#/LaunchTemplateData/NetworkInterfaces: there is no primary interface (card 0, device 0)"
    if rows and at(properties, "LaunchTemplateData.SecurityGroupIds"):
        yield "#/LaunchTemplateData/SecurityGroupIds: security groups belong to the interfaces of the template"
    public = [row for row in rows if str(row.get("AssociatePublicIpAddress")).lower() == "true"]
    if public and len(rows) > 1:
        yield "#/LaunchTemplateData/NetworkInterfaces: EC2 gives no public address to several interfaces"


def _market(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
    data = at(properties, "LaunchTemplateData")
    if not isinstance(data, Mapping):
        return
    if at(data, "InstanceMarketOptions.MarketType") == "capacity-block":
        if not at(data, "CapacityReservationSpecification.CapacityReservationTarget"):
            yield "#/LaunchTemplateData/InstanceMarketOptions: a Capacity Block needs its reservation as target"
        if at(data, "Placement.GroupName"):
            yield "#/LaunchTemplateData/Placement: a Capacity Block takes no placement group"


def _volumes(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html
    for row in items_at(properties, "LaunchTemplateData.BlockDeviceMappings"):
        ebs = row.get("Ebs")
        if not isinstance(ebs, Mapping):
            continue
        iops, rate, size = (number_at(ebs, name) for name in ("Iops", "Throughput", "VolumeSize"))
        if rate and ebs.get("VolumeType") == "gp3" and rate * 4 > (iops or 3000):
            yield f"#/LaunchTemplateData/BlockDeviceMappings: {rate} MiB/s need {rate * 4} IOPS of gp3"
        if size is not None and size > 65_536:
            yield f"#/LaunchTemplateData/BlockDeviceMappings: a volume has 65,536 GiB at most, got {size:,}"


def _key_policy(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
    policy = properties.get("KeyPolicy")
    if not isinstance(policy, Mapping) or str(properties.get("BypassPolicyLockoutSafetyCheck")).lower() == "true":
        return
    statements = policy.get("Statement")
    for statement in statements if isinstance(statements, list) else [statements]:
        if not isinstance(statement, Mapping) or statement.get("Effect") != "Allow":
            continue
        actions = statement.get("Action")
        for action in actions if isinstance(actions, list) else [actions]:
            if action in ("*", "kms:*", "kms:Put*", "kms:PutKeyPolicy"):
                return
    yield "#/KeyPolicy: it locks everyone out; KMS requires a principal that may call kms:PutKeyPolicy"


def _block(path: str) -> ServiceRule:
    # https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        text = text_at(properties, path)
        try:
            network = ip_network(text) if text else None
        except ValueError as error:
            yield f"#/{path}: {error}"
            return
        if network is not None and not 16 <= network.prefixlen <= 28:
            yield f"#/{path}: a block is between /16 and /28, got /{network.prefixlen}"

    return rule


def _schedule(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
    text = text_at(properties, "ScheduleExpression")
    if text is None:
        return
    if match := re.fullmatch(r"cron\((.*)\)", text):
        fields = match[1].split()
        if len(fields) != 6:
            yield f"#/ScheduleExpression: cron has 6 fields, got {len(fields)}"
        elif (fields[2] == "?") == (fields[4] == "?"):
            yield "#/ScheduleExpression: one of day of month and day of week must be ?"
    elif match := re.fullmatch(r"rate\((\d+) (minute|hour|day)(s?)\)", text):
        if (int(match[1]) == 1) == bool(match[3]):
            yield f"#/ScheduleExpression: write rate({match[1]} {match[2]}{'' if match[3] else 's'})"
    elif not re.fullmatch(r"at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)", text):
        yield f"#/ScheduleExpression: must be cron(...), rate(...) or at(...), got {text}"


def _alarm(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    period, periods = number_at(properties, "Period"), number_at(properties, "EvaluationPeriods")
    if period is not None and period not in (10, 20, 30) and (period < 60 or period % 60):
        yield f"#/Period: 10, 20, 30 or a multiple of 60 seconds, got {period}"
    if period and periods and period * periods > (604_800 if period >= 3600 else 86_400):
        yield f"#/EvaluationPeriods: {periods} periods of {period} s are longer than CloudWatch evaluates"


def _placement(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    count, strategy = number_at(properties, "PartitionCount"), properties.get("Strategy")
    if count is not None and strategy != "partition" and isinstance(strategy, str | None):
        yield f"#/PartitionCount: only the strategy partition takes it, got {strategy}"
    elif count is not None and not 1 <= count <= 7:
        yield f"#/PartitionCount: 1 to 7 partitions in a zone, got {count}"


def _parameter(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
    tier = properties.get("Tier", "Standard")
    most = 4096 if tier == "Standard" else 8192
    value = text_at(properties, "Value")
    if value is not None and len(value.encode()) > most:
        yield f"#/Value: {len(value.encode()):,} bytes; the tier {tier} takes {most:,}"


def _cluster_subnets(properties: Mapping[str, Any]) -> Iterator[str]:
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    subnets = at(properties, "ResourcesVpcConfig.SubnetIds")
    if isinstance(subnets, list) and len(subnets) < 2:
        yield f"#/ResourcesVpcConfig/SubnetIds: at least two subnets in different zones, got {len(subnets)}"


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
                yield f"#/LifecycleConfiguration/Rules: {kind} takes objects after 30 days or more, got {days}"


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
        "AWS::CloudWatch::Alarm": (_alarm, _ordered("DatapointsToAlarm", "EvaluationPeriods")),
        "AWS::EC2::LaunchTemplate": (_user_data, _interfaces, _market, _volumes),
        "AWS::EC2::PlacementGroup": (_placement,),
        "AWS::EC2::SecurityGroupEgress": (_ordered("FromPort", "ToPort"),),
        "AWS::EC2::SecurityGroupIngress": (_ordered("FromPort", "ToPort"),),
        "AWS::EC2::Subnet": (_block("CidrBlock"),),
        "AWS::EC2::VPC": (_block("CidrBlock"),),
        "AWS::EKS::Cluster": (_cluster_subnets,),
        "AWS::EKS::Nodegroup": (
            _ordered("ScalingConfig.MinSize", "ScalingConfig.DesiredSize", "ScalingConfig.MaxSize"),
        ),
        "AWS::Events::Rule": (_schedule,),
        "AWS::FSx::FileSystem": (lustre_file_system, openzfs_file_system),
        "AWS::IAM::ManagedPolicy": (_no_longer("PolicyDocument", 6144, "a managed policy", whitespace=False),),
        "AWS::IAM::Policy": (_no_longer("PolicyDocument", 10_240, "an inline policy", whitespace=False),),
        "AWS::IAM::Role": (_managed, _no_longer("AssumeRolePolicyDocument", 8192, "a trust policy", whitespace=False)),
        "AWS::KMS::Key": (_key_policy, _no_longer("KeyPolicy", 32_768, "a key policy")),
        "AWS::Lambda::Function": (_function,),
        "AWS::PCS::ComputeNodeGroup": (
            _ordered("ScalingConfiguration.MinInstanceCount", "ScalingConfiguration.MaxInstanceCount"),
        ),
        "AWS::S3::Bucket": (_transitions,),
        "AWS::S3::BucketPolicy": (_no_longer("PolicyDocument", 20_480, "a bucket policy"),),
        "AWS::SSM::Parameter": (_parameter,),
        "AWS::Scheduler::Schedule": (_schedule,),
    }
)
