"""Templates that services refuse although their schemas allow them, by name, with a part of the reason."""

import base64
from typing import Any

from support.combined_templates import TOGETHER
from support.rehearsal_tools import Template, file_system, parameter


def launch(**data: Any) -> Template:
    return {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}


def resource(kind: str, **properties: Any) -> Template:
    return {"Type": kind, "Properties": properties}


def persistent(capacity: int, tier: int | None = 250, **more: Any) -> Template:
    configuration = {"DeploymentType": "PERSISTENT_2", **({"PerUnitStorageThroughput": tier} if tier else {})}
    return file_system(StorageCapacity=capacity, LustreConfiguration=configuration, **more)


def statement(size: int) -> Template:
    body = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "x" * size}
    return {"Version": "2012-10-17", "Statement": [body]}


CARD = {"NetworkCardIndex": 0, "DeviceIndex": 0}
ALARM = {"ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 1, "Threshold": 1, "Period": 60}
METRIC = {"MetricName": "a", "Namespace": "b", "Statistic": "Sum"}
GROUP = {
    "ClusterId": "pcs_0123456789",
    "InstanceConfigs": [{"InstanceType": "p5.48xlarge"}],
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "IamInstanceProfileArn": "arn:aws:iam::123456789012:instance-profile/aws-pcs/x",
    "CustomLaunchTemplate": {"TemplateId": "lt-0123456789abcdef0", "Version": "1"},
}
NODES = {
    "ClusterName": "orca",
    "NodeRole": "arn:aws:iam::123456789012:role/nodes",
    "Subnets": ["subnet-0123456789abcdef0"],
}
SCHEDULE = {
    "FlexibleTimeWindow": {"Mode": "OFF"},
    "Target": {"Arn": "arn:aws:sns:us-east-2:123456789012:topic", "RoleArn": "arn:aws:iam::123456789012:role/x"},
}
BROKEN: dict[str, tuple[Template, str]] = {
    "null in a condition of a policy": (
        resource(
            "AWS::IAM::Role",
            AssumeRolePolicyDocument={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "ec2.amazonaws.com"},
                        "Action": "sts:AssumeRole",
                        "Condition": {"StringEquals": {"aws:SourceAccount": ["123456789012", None]}},
                    }
                ],
            },
        ),
        "Statement/0/Condition/StringEquals/aws:SourceAccount/1: null is not a value",
    ),
    "user data of 17 KB": (launch(UserData=base64.b64encode(b"x" * 17_000).decode()), "EC2 accepts 16,384"),
    "user data that is not base64": (launch(UserData="#!/bin/sh"), "must be encoded in base64"),
    "an interface twice": (launch(NetworkInterfaces=[CARD, CARD]), "has device index 0 twice"),
    "no primary interface": (launch(NetworkInterfaces=[{"NetworkCardIndex": 1, "DeviceIndex": 1}]), "no primary"),
    "groups beside interfaces": (
        launch(NetworkInterfaces=[CARD], SecurityGroupIds=["sg-0123456789abcdef0"]),
        "security groups belong to the interfaces",
    ),
    "public addresses on two interfaces": (
        launch(NetworkInterfaces=[{**CARD, "AssociatePublicIpAddress": True}, {**CARD, "NetworkCardIndex": 1}]),
        "no public address to several interfaces",
    ),
    "a block without its reservation": (
        launch(InstanceMarketOptions={"MarketType": "capacity-block"}),
        "needs its reservation",
    ),
    "gp3 without the IOPS": (
        launch(BlockDeviceMappings=[{"Ebs": {"VolumeType": "gp3", "Throughput": 1000, "VolumeSize": 500}}]),
        "1000 MiB/s need 4000 IOPS",
    ),
    "a volume of 70 TB": (launch(BlockDeviceMappings=[{"Ebs": {"VolumeSize": 70_000}}]), "65,536 GiB at most"),
    "capacity off the grid": (persistent(3600), "1,200 or a multiple of 2,400 GiB, got 3,600"),
    "an unknown tier": (persistent(2400, 300), "125, 250, 500 or 1000, got 300"),
    "no tier": (persistent(2400, None), "a persistent file system needs a tier"),
    "two subnets": (
        persistent(2400, SubnetIds=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]),
        "one subnet, got 2",
    ),
    "scratch off the grid": (
        file_system(StorageCapacity=3000, LustreConfiguration={"DeploymentType": "SCRATCH_1"}),
        "a multiple of 3,600 GiB",
    ),
    "a key without administrators": (
        resource("AWS::KMS::Key", KeyPolicy=statement(1) | {"Statement": []}),
        "locks everyone out",
    ),
    "a VPC of /8": (resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/8"), "between /16 and /28"),
    "a cron of five fields": (
        resource("AWS::Scheduler::Schedule", ScheduleExpression="cron(0 3 * * *)", **SCHEDULE),
        "cron has 6 fields, got 5",
    ),
    "a cron with both days": (
        resource("AWS::Scheduler::Schedule", ScheduleExpression="cron(0 3 1 * 2 *)", **SCHEDULE),
        "must be ?",
    ),
    "a rate of one days": (
        resource("AWS::Scheduler::Schedule", ScheduleExpression="rate(1 days)", **SCHEDULE),
        "write rate(1 day)",
    ),
    "an expression that is none": (
        resource("AWS::Scheduler::Schedule", ScheduleExpression="daily", **SCHEDULE),
        "must be cron(...), rate(...) or at(...)",
    ),
    "an alarm of 45 s": (resource("AWS::CloudWatch::Alarm", **METRIC, **(ALARM | {"Period": 45})), "multiple of 60"),
    "an alarm over two days": (
        resource("AWS::CloudWatch::Alarm", **METRIC, **(ALARM | {"EvaluationPeriods": 2880})),
        "longer than CloudWatch evaluates",
    ),
    "more points than periods": (
        resource("AWS::CloudWatch::Alarm", **METRIC, **ALARM, DatapointsToAlarm=2),
        "must not be above EvaluationPeriods",
    ),
    "partitions of a cluster group": (
        resource("AWS::EC2::PlacementGroup", Strategy="cluster", PartitionCount=2),
        "only the strategy partition",
    ),
    "eight partitions": (
        resource("AWS::EC2::PlacementGroup", Strategy="partition", PartitionCount=8),
        "1 to 7 partitions",
    ),
    "a long parameter": (parameter("x" * 5000), "the tier Standard accepts 4,096"),
    "a long managed policy": (
        resource("AWS::IAM::ManagedPolicy", PolicyDocument=statement(7000)),
        "the quota is 6,144",
    ),
    "a PCS group with more minimum than maximum": (
        resource(
            "AWS::PCS::ComputeNodeGroup",
            **GROUP,
            ScalingConfiguration={"MinInstanceCount": 4, "MaxInstanceCount": 2},
        ),
        "4 must not be above MaxInstanceCount, which is 2",
    ),
    "an EKS group with more nodes than its maximum": (
        resource("AWS::EKS::Nodegroup", **NODES, ScalingConfig={"MinSize": 1, "DesiredSize": 4, "MaxSize": 2}),
        "4 must not be above MaxSize",
    ),
    **TOGETHER,
}
