"""Templates whose properties a service does not take together, by name, with a part of the reason."""

from typing import Any

from support.rehearsal_tools import Template, file_system

SUBNET, GROUP = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"
VPC = "vpc-0123456789abcdef0"
ROLE = "arn:aws:iam::123456789012:role/x"
NODES = {"ClusterName": "orca", "NodeRole": ROLE, "Subnets": [SUBNET]}
TEMPLATE = {"Id": "lt-0123456789abcdef0", "Version": "1"}
METADATA = {"Mode": "AUTOMATIC"}
BOUNDS = {"MinSize": "0", "MaxSize": "1"}
CRON = {"State": "ENABLED", "Targets": [{"Id": "a", "Arn": "arn:aws:sns:us-east-2:123456789012:topic"}]}


def resource(kind: str, **properties: Any) -> Template:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def lustre(
    kind: str, tier: int | None = None, storage: str = "SSD", capacity: int | None = 2400, **more: Any
) -> Template:
    configuration = {"DeploymentType": kind} | ({"PerUnitStorageThroughput": tier} if tier else {}) | more
    size = {"StorageCapacity": capacity} if capacity else {}
    return file_system(StorageType=storage, LustreConfiguration=configuration, **size)


def volume(**ebs: Any) -> Template:
    device = {"DeviceName": "/dev/sda1", "Ebs": ebs}
    return resource("EC2::LaunchTemplate", LaunchTemplateData={"BlockDeviceMappings": [device]})


def launch(**data: Any) -> Template:
    return resource("EC2::LaunchTemplate", LaunchTemplateData=data)


def nodes(**properties: Any) -> Template:
    return resource("EKS::Nodegroup", **NODES, **properties)


def group(direction: str, **rule: Any) -> Template:
    return resource("EC2::SecurityGroup", GroupDescription="x", VpcId=VPC, **{f"SecurityGroup{direction}": [rule]})


def policy(kind: str, path: str, **statement: Any) -> Template:
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]}
    more: dict[str, Any] = {
        "IAM::Policy": {"PolicyName": "x", "Roles": ["x"]},
        "S3::BucketPolicy": {"Bucket": "x"},
        "EC2::VPCEndpoint": {"VpcId": VPC, "ServiceName": "com.amazonaws.us-east-2.s3"},
    }
    return resource(kind, **{path: document}, **more.get(kind, {}))


def rule(expression: str) -> Template:
    return resource("Events::Rule", ScheduleExpression=f"cron({expression})", **CRON)


def function(**properties: Any) -> Template:
    return resource("Lambda::Function", **({"Code": {"ZipFile": "x"}, "Role": ROLE} | properties))


def manager(routes: str, receiver: str = "{name: a, sns_configs: []}") -> Template:
    text = f"alertmanager_config: |\n  route: {routes}\n  receivers: [{receiver}]\n"
    return resource("APS::Workspace", AlertManagerDefinition=text)


_KMS = {"Action": "kms:*", "Resource": "*"}
_S3 = {"Action": "s3:GetObject", "Resource": "*"}
_PORTS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 80}
_ROUTE = {"RouteTableId": "rtb-0123456789abcdef0"}
TOGETHER: dict[str, tuple[Template, str]] = {
    "a key for a service alone": (
        policy("KMS::Key", "KeyPolicy", Principal={"Service": "sns.amazonaws.com"}, **_KMS),
        "locks everyone out",
    ),
    "a key policy without principal": (policy("KMS::Key", "KeyPolicy", **_KMS), "needs Principal"),
    "a trust policy without principal": (
        policy("IAM::Role", "AssumeRolePolicyDocument", Action="sts:AssumeRole"),
        "needs Principal",
    ),
    "a trust policy with a resource": (
        policy(
            "IAM::Role",
            "AssumeRolePolicyDocument",
            Action="sts:AssumeRole",
            Principal={"Service": "ec2.amazonaws.com"},
            Resource="*",
        ),
        "has no Resource",
    ),
    "a policy with a principal": (policy("IAM::Policy", "PolicyDocument", Principal="*", **_S3), "has no Principal"),
    "a policy without resource": (policy("IAM::Policy", "PolicyDocument", Action="s3:*"), "needs Resource"),
    "a policy that permits": (policy("IAM::Policy", "PolicyDocument", **_S3, Effect="Permit"), "Allow or Deny"),
    "a bucket policy without principal": (policy("S3::BucketPolicy", "PolicyDocument", **_S3), "needs Principal"),
    "an endpoint policy without principal": (
        policy("EC2::VPCEndpoint", "PolicyDocument", **_S3),
        "needs Principal",
    ),
    "hour 25": (rule("0 25 * * ? *"), "hours of cron must be 0 to 23, got 25"),
    "month 13": (rule("0 3 1 13 ? *"), "month of cron must be 1 to 12, got 13"),
    "day Foo": (rule("0 3 ? * FOO *"), "day of week of cron must be 1 to 7, got FOO"),
    "every zero minutes": (rule("0/0 3 * * ? *"), "minutes of cron must be 0 to 59, got 0/0"),
    "a rule of nothing": (resource("Events::Rule", **CRON), "is a required property"),
    "six targets": (
        resource(
            "Events::Rule",
            ScheduleExpression="rate(1 day)",
            Targets=[{"Id": f"t{n}", "Arn": "arn:aws:sns:us-east-2:123456789012:t"} for n in range(6)],
        ),
        "expected maximum item count",
    ),
    "an import path of PERSISTENT_2": (
        lustre("PERSISTENT_2", 125, ImportPath="s3://data"),
        "supports data repository associations",
    ),
    "an export path alone": (lustre("SCRATCH_2", ExportPath="s3://data/out"), "it needs ImportPath"),
    "EFA on PERSISTENT_1": (lustre("PERSISTENT_1", 200, EfaEnabled=True), "only PERSISTENT_2 has EFA"),
    "EFA without metadata": (
        lustre("PERSISTENT_2", 125, capacity=38_400, EfaEnabled=True),
        "needs a metadata configuration",
    ),
    "metadata of scratch": (lustre("SCRATCH_2", MetadataConfiguration=METADATA), "only PERSISTENT_2 has a metadata"),
    "automatic IOPS by number": (
        lustre("PERSISTENT_2", 125, MetadataConfiguration=METADATA | {"Iops": 3000}),
        "AUTOMATIC does not accept IOPS",
    ),
    "IOPS of the user without number": (
        lustre("PERSISTENT_2", 125, MetadataConfiguration={"Mode": "USER_PROVISIONED"}),
        "needs IOPS",
    ),
    "a tier of scratch": (lustre("SCRATCH_2", 125), "has no tier"),
    "backups of scratch": (lustre("SCRATCH_2", AutomaticBackupRetentionDays=7), "SCRATCH_2 has no backups"),
    "PERSISTENT_2 on disks": (lustre("PERSISTENT_2", storage="HDD"), "only PERSISTENT_1 has the storage type HDD"),
    "disks without a cache": (lustre("PERSISTENT_1", 12, "HDD", 6000), "the storage type HDD needs it"),
    "tiering with a capacity": (
        lustre("PERSISTENT_2", storage="INTELLIGENT_TIERING", ThroughputCapacity=4000),
        "INTELLIGENT_TIERING has no capacity",
    ),
    "tiering without a cache": (
        lustre("PERSISTENT_2", storage="INTELLIGENT_TIERING", capacity=None, ThroughputCapacity=4000),
        "INTELLIGENT_TIERING needs it",
    ),
    "a throughput of SSD": (lustre("PERSISTENT_2", 125, ThroughputCapacity=4000), "only INTELLIGENT_TIERING has it"),
    "PERSISTENT_2 with Lustre 2.10": (
        file_system(
            StorageCapacity=2400,
            FileSystemTypeVersion="2.10",
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
        ),
        "needs Lustre 2.12",
    ),
    "OpenZFS in two subnets": (
        resource(
            "FSx::FileSystem",
            FileSystemType="OPENZFS",
            StorageCapacity=64,
            SubnetIds=[SUBNET, f"{SUBNET[:-1]}1"],
            OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacity": 160},
        ),
        "needs one subnet, got 2",
    ),
    "disk size beside a launch template": (
        nodes(DiskSize=100, LaunchTemplate=TEMPLATE),
        "a group with a launch template has it there",
    ),
    "two limits of unavailable nodes": (
        nodes(UpdateConfig={"MaxUnavailable": 1, "MaxUnavailablePercentage": 10}),
        "either a number or a share",
    ),
    "two limits of repairs": (
        nodes(
            NodeRepairConfig={
                "Enabled": True,
                "MaxUnhealthyNodeThresholdCount": 2,
                "MaxUnhealthyNodeThresholdPercentage": 5,
            }
        ),
        "either a number or a share",
    ),
    "a block without a launch template": (nodes(CapacityType="CAPACITY_BLOCK"), "CAPACITY_BLOCK needs a launch"),
    "a cluster without an endpoint": (
        resource(
            "EKS::Cluster",
            RoleArn=ROLE,
            ResourcesVpcConfig={
                "SubnetIds": [SUBNET, f"{SUBNET[:-1]}1"],
                "EndpointPublicAccess": False,
                "EndpointPrivateAccess": False,
            },
        ),
        "a public or a private endpoint",
    ),
    "public service addresses": (
        resource(
            "EKS::Cluster",
            RoleArn=ROLE,
            ResourcesVpcConfig={"SubnetIds": [SUBNET, f"{SUBNET[:-1]}1"]},
            KubernetesNetworkConfig={"ServiceIpv4Cidr": "8.8.0.0/16"},
        ),
        "a private range from /12 to /24",
    ),
    "ports from 443 to 80": (group("Ingress", **_PORTS, CidrIp="10.0.0.0/8"), "443 must not be above ToPort"),
    "ports from 443 to nowhere": (
        group("Egress", IpProtocol="tcp", FromPort=443, CidrIp="10.0.0.0/8"),
        "tcp needs both ports",
    ),
    "a rule for nobody": (group("Ingress", IpProtocol="-1"), "is a required property"),
    "a rule for two": (
        group("Ingress", IpProtocol="-1", CidrIp="10.0.0.0/8", SourceSecurityGroupId=GROUP),
        "is a required property",
    ),
    "a gateway endpoint in a subnet": (
        resource("EC2::VPCEndpoint", VpcId=VPC, ServiceName="com.amazonaws.us-east-2.s3", SubnetIds=[SUBNET]),
        "a gateway endpoint has routes",
    ),
    "an interface endpoint with routes": (
        resource(
            "EC2::VPCEndpoint",
            VpcId=VPC,
            ServiceName="com.amazonaws.us-east-2.ec2",
            VpcEndpointType="Interface",
            RouteTableIds=["rtb-0123456789abcdef0"],
        ),
        "and no routes",
    ),
    "a NAT gateway without address": (resource("EC2::NatGateway", SubnetId=SUBNET), "needs an address"),
    "a route to nowhere": (resource("EC2::Route", **_ROUTE, DestinationCidrBlock="0.0.0.0/0"), "needs a target"),
    "a route to two gateways": (
        resource(
            "EC2::Route",
            **_ROUTE,
            DestinationCidrBlock="0.0.0.0/0",
            GatewayId="igw-0123456789abcdef0",
            NatGatewayId="nat-0123456789abcdef0",
        ),
        "one target",
    ),
    "a handler of nothing": (function(Runtime="python3.13"), "needs a handler"),
    "an image with a handler": (
        function(PackageType="Image", Code={"ImageUri": "x"}, Handler="index.x"),
        "from an image has it there",
    ),
    "a bucket without key": (
        function(Runtime="python3.13", Handler="x.y", Code={"S3Bucket": "code-of-orca"}),
        "needs a key",
    ),
    "gp3 with 90,000 IOPS": (volume(VolumeType="gp3", Iops=90_000, VolumeSize=1000), "3,000 to 80,000 IOPS"),
    "gp3 with IOPS beyond its size": (volume(VolumeType="gp3", Iops=16_000, VolumeSize=20), "500 IOPS for each GiB"),
    "gp3 with 3,000 MiB/s": (volume(VolumeType="gp3", Iops=16_000, Throughput=3000), "2,000 MiB/s at most"),
    "io2 without IOPS": (volume(VolumeType="io2", VolumeSize=100), "io2 needs IOPS"),
    "gp2 with a throughput": (volume(VolumeType="gp2", Throughput=250), "only gp3 supports a throughput"),
    "st1 of 50 GiB": (volume(VolumeType="st1", VolumeSize=50), "125 to 16,384 GiB"),
    "a profile by ARN and name": (
        launch(IamInstanceProfile={"Arn": "arn:aws:iam::123456789012:instance-profile/x", "Name": "x"}),
        "either the ARN or the name",
    ),
    "cores without threads": (launch(CpuOptions={"CoreCount": 96}), "belong together"),
    "spot options of a block": (
        launch(
            InstanceMarketOptions={"MarketType": "capacity-block", "SpotOptions": {"MaxPrice": "1"}},
            CapacityReservationSpecification={
                "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
            },
        ),
        "only the market type spot",
    ),
    "an instance with two subnets": (
        resource(
            "EC2::Instance",
            SubnetId=SUBNET,
            NetworkInterfaces=[{"DeviceIndex": "0", "SubnetId": SUBNET}],
        ),
        "should not be included with",
    ),
    "a limited reservation without end": (
        resource(
            "EC2::CapacityReservation",
            EndDateType="limited",
            InstanceType="p5.48xlarge",
            InstanceCount=1,
            InstancePlatform="Linux/UNIX",
        ),
        "needs an end",
    ),
    "a level of a cluster group": (
        resource("EC2::PlacementGroup", Strategy="cluster", SpreadLevel="rack"),
        "only the strategy spread",
    ),
    "flow logs without a role": (
        resource("EC2::FlowLog", ResourceId=VPC, ResourceType="VPC", TrafficType="ALL", LogGroupName="x"),
        "need a role",
    ),
    "a scaling group of nothing": (
        resource("AutoScaling::AutoScalingGroup", **BOUNDS, VPCZoneIdentifier=[SUBNET]),
        "is a required property",
    ),
    "a scaling group nowhere": (
        resource(
            "AutoScaling::AutoScalingGroup",
            **BOUNDS,
            LaunchTemplate={"LaunchTemplateId": TEMPLATE["Id"], "Version": "1"},
        ),
        "needs subnets or zones",
    ),
    "a provisioned EFS without throughput": (
        resource("EFS::FileSystem", ThroughputMode="provisioned"),
        "needs a throughput",
    ),
    "an EFS with a key, not encrypted": (
        resource(
            "EFS::FileSystem", KmsKeyId="arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
        ),
        "a key needs Encrypted",
    ),
    "a parameter of AWS": (
        resource("SSM::Parameter", Name="/aws/mine", Type="String", Value="x"),
        "does not begin with aws",
    ),
    "a deep parameter": (resource("SSM::Parameter", Name="/a" * 16, Type="String", Value="x"), "15 levels at most"),
    "policies of a standard parameter": (
        resource("SSM::Parameter", Type="String", Value="x", Policies="[]"),
        "only the tier Advanced",
    ),
    "an alarm with two statistics": (
        resource(
            "CloudWatch::Alarm",
            ComparisonOperator="GreaterThanThreshold",
            EvaluationPeriods=1,
            Threshold=1,
            Period=60,
            MetricName="a",
            Namespace="b",
            Statistic="Sum",
            ExtendedStatistic="p99",
        ),
        "should not be included with",
    ),
    "a route to an unknown receiver": (manager("{receiver: b}"), "the receiver b, which is not there"),
    "a receiver of Slack": (
        manager("{receiver: a}", "{name: a, slack_configs: []}"),
        "the service supports SNS and PagerDuty",
    ),
}
