"""Broken templates by name: those that a rehearsal refuses, and those that it cannot judge, with the reasons."""

from typing import Any

from support.launches import BOUNDS, WRONG_CARDS
from support.rehearsal_tools import Template, file_system, parameter
from support.service_templates import GROUP, NODES, launch, resource

SUBNET = "subnet-0123456789abcdef0"
TRUST = {"Version": "2012-10-17", "Statement": []}
VPC = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")}
WORKSPACE = {"Workspace": resource("AWS::APS::Workspace")}
FUNCTION = {
    "Code": {"ZipFile": "x"},
    "Role": "arn:aws:iam::123456789012:role/x",
    "Runtime": "python3.13",
    "Handler": "index.x",
}


def subnet(block: str, **more: Any) -> Template:
    return resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock=block, **more)


def rules(data: str) -> Template:
    return WORKSPACE | {
        "It": resource("AWS::APS::RuleGroupsNamespace", Name="x", Workspace={"Ref": "Workspace"}, Data=data)
    }


def lustre(**configuration: Any) -> Template:
    known = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    return file_system(StorageCapacity=1200, LustreConfiguration=known | configuration)


def openzfs(capacity: int, rate: int) -> Template:
    return resource(
        "AWS::FSx::FileSystem",
        FileSystemType="OPENZFS",
        StorageCapacity=capacity,
        SubnetIds=[SUBNET],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": rate},
    )


def pcs(size: str, version: str) -> Template:
    network = {"SubnetIds": [SUBNET], "SecurityGroupIds": []}
    return resource("AWS::PCS::Cluster", Size=size, Scheduler={"Type": "SLURM", "Version": version}, Networking=network)


def control_plane(*subnets: str, **more: Any) -> Template:
    place = {"SubnetIds": list(subnets)}
    return resource("AWS::EKS::Cluster", RoleArn="arn:aws:iam::123456789012:role/x", ResourcesVpcConfig=place, **more)


def transition(days: int) -> Template:
    rule = {"Status": "Enabled", "Transitions": [{"StorageClass": "STANDARD_IA", "TransitionInDays": days}]}
    return resource("AWS::S3::Bucket", LifecycleConfiguration={"Rules": [rule]})


def policies(*names: str) -> Template:
    arns = [f"arn:aws:iam::aws:policy/{name}" for name in names]
    return resource("AWS::IAM::Role", AssumeRolePolicyDocument=TRUST, ManagedPolicyArns=arns)


def joined(*types: str, **data: Any) -> Template:
    """Return a launch template and a node group of EKS; what is not of the template is of the group."""
    chosen = {name: data.pop(name) for name in ("AmiType", "ReleaseVersion") if name in data}
    template = {"LaunchTemplate": {"Id": {"Ref": "Template"}, "Version": "1"}}
    more = chosen | ({"InstanceTypes": [*types]} if types else {})
    return {"Template": launch(**data), "It": resource("AWS::EKS::Nodegroup", **(NODES | template | more))}


QUEUE = {
    "First": pcs("SMALL", "25.11"),
    "Second": pcs("SMALL", "25.11"),
    "Group": resource(
        "AWS::PCS::ComputeNodeGroup", **(GROUP | BOUNDS | {"ClusterId": {"Fn::GetAtt": ["First", "Id"]}})
    ),
    "It": resource(
        "AWS::PCS::Queue",
        ClusterId={"Fn::GetAtt": ["Second", "Id"]},
        ComputeNodeGroupConfigurations=[{"ComputeNodeGroupId": {"Fn::GetAtt": ["Group", "Id"]}}],
    ),
}
REFUSED: dict[str, tuple[Template, str]] = {
    "overlapping subnets": (VPC | {"A": subnet("10.0.0.0/24"), "B": subnet("10.0.0.0/25")}, "conflicts with another"),
    "a subnet outside its VPC": (VPC | {"A": subnet("10.9.0.0/24")}, "is invalid"),
    "a subnet in no zone": (
        VPC | {"A": subnet("10.0.0.0/24", AvailabilityZone="us-east-2z")},
        "parameter availabilityZone is invalid",
    ),
    "an attribute that is not there": (
        {"A": parameter("x"), "B": parameter({"Fn::GetAtt": ["A", "Nope"]})},
        "does not support attribute type Nope",
    ),
    "a cycle": ({"A": parameter({"Ref": "B"}), "B": parameter({"Ref": "A"})}, "Circular dependency"),
    "a reference to nothing": ({"A": parameter({"Ref": "Z"})}, "Unresolved resource dependencies"),
    "a dependency on nothing": ({"A": parameter("x") | {"DependsOn": "Z"}}, "Unresolved resource dependencies"),
    "an unknown condition": ({"A": parameter("x") | {"Condition": "No"}}, "Unresolved condition dependency"),
    "an import of nothing": ({"A": parameter({"Fn::ImportValue": "none:at-all"})}, "No export named none:at-all"),
    "an element that is not there": ({"A": parameter({"Fn::Select": ["9", ["a"]]})}, "there is no element 9"),
    "an unknown type": ({"A": resource("AWS::EC2::Nothing")}, "Unrecognized resource types"),
    "an unknown deletion policy": ({"A": parameter("x") | {"DeletionPolicy": "Keep"}}, "DeletionPolicy of A is Keep"),
    "an unknown property": ({"A": resource("AWS::SSM::Parameter", Type="String", Value="x", Hue="red")}, "no such"),
    "no value": ({"A": resource("AWS::SSM::Parameter", Type="String")}, "'Value' is a required property"),
    "an enum": ({"A": resource("AWS::SSM::Parameter", Type="Text", Value="x")}, "'Text' is not one of"),
    "a long name": (
        {"A": resource("AWS::IAM::Role", RoleName="x" * 65, AssumeRolePolicyDocument=TRUST)},
        "maximum length: 64",
    ),
    "an alias without its prefix": ({"A": resource("AWS::KMS::Alias", AliasName="mine", TargetKeyId="x")}, "match"),
    "a name twice": (
        {name: resource("AWS::Logs::LogGroup", LogGroupName="/a/b") for name in "AB"},
        "already exists",
    ),
    "a retention of 42 days": ({"A": resource("AWS::Logs::LogGroup", RetentionInDays=42)}, "42 is not one of"),
    "an alarm on nothing": (
        {
            "A": resource(
                "AWS::CloudWatch::Alarm", ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1, Threshold=1
            )
        },
        "is a required property",
    ),
    "a bucket in upper case": ({"A": resource("AWS::S3::Bucket", BucketName="Orca_Data")}, "does not match"),
    "a transition after a day": ({"A": transition(1)}, "accepts objects after 30 days or more, got 1"),
    "a function of 1 MB": ({"A": resource("AWS::Lambda::Function", **FUNCTION, MemorySize=1)}, "minimum of 128"),
    "a function of 1,000 s": ({"A": resource("AWS::Lambda::Function", **FUNCTION, Timeout=1000)}, "900 seconds"),
    "messages for 23 days": (
        {"A": resource("AWS::SQS::Queue", MessageRetentionPeriod=2_000_000)},
        "maximum of 1209600",
    ),
    "thirty managed policies": (
        {"A": policies(*(f"P{number}" for number in range(30)))},
        "highest quota of a role is 25",
    ),
    "PromQL with an open bracket": (
        rules('groups: [{name: a, rules: [{record: b, expr: "sum(((up)"}]}]'),
        "expected ')'",
    ),
    "PromQL that ends too early": (
        rules("groups: [{name: a, rules: [{record: b, expr: sum by up +}]}]"),
        "expr: column",
    ),
    "a group of rules twice": (
        rules("groups: [{name: a, rules: []}, {name: a, rules: []}]"),
        "two groups have the name a",
    ),
    "a rule with two names": (
        rules("groups: [{name: a, rules: [{record: b, alert: c, expr: up}]}]"),
        "either record or",
    ),
    "rules that are no YAML": (rules("groups: ["), "not valid YAML"),
    "rules without groups": (rules("rules: []"), "needs the key groups"),
    "an alert manager of text": (
        {"A": resource("AWS::APS::Workspace", AlertManagerDefinition="just text")},
        "needs the key alertmanager_config",
    ),
    "backups of Lustre for 100 days": ({"A": lustre(AutomaticBackupRetentionDays=100)}, "0 to 90 days"),
    "maintenance on sunday": ({"A": lustre(WeeklyMaintenanceStartTime="sunday")}, "d:HH:MM"),
    "7,000 metadata IOPS": (
        {"A": lustre(MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": 7000})},
        "a multiple of 12,000 up to 192,000, got 7,000",
    ),
    "OpenZFS of 10 GiB": ({"A": openzfs(10, 320)}, "64 to 524,288 GiB"),
    "OpenZFS with 333 MB/s": ({"A": openzfs(64, 333)}, "SINGLE_AZ_HA_2 has 160, 320"),
    "a PCS cluster of no size": ({"A": pcs("HUGE", "25.11")}, "'HUGE' is not one of"),
    "EKS in one subnet": ({"A": control_plane(SUBNET)}, "at least two subnets"),
    "EFA below its smallest capacity": (
        {"A": lustre(EfaEnabled=True, MetadataConfiguration={"Mode": "AUTOMATIC"})},
        "38,400",
    ),
    "an instance type in two places": (joined("p5.48xlarge", InstanceType="p5.48xlarge"), "accepts it in one place"),
    "an image beside an AMI type": (
        joined(AmiType="AL2023_x86_64_NVIDIA", ImageId="ami-0123456789abcdef0"),
        "does not accept beside an AMI type",
    ),
    "a release of an own image": (
        joined(ReleaseVersion="1.35.2-20261105", ImageId="ami-0123456789abcdef0"),
        "whose version is its own",
    ),
    "a subnet in the template of EKS": (
        joined(NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": SUBNET}]),
        "NetworkInterfaces/SubnetId, which Amazon EKS sets itself",
    ),
    "a profile in the template of EKS": (joined(IamInstanceProfile={"Name": "x"}), "which Amazon EKS sets itself"),
    "spot in the template of EKS": (
        joined(InstanceMarketOptions={"MarketType": "spot"}),
        "InstanceMarketOptions, which Amazon EKS sets itself",
    ),
    "a queue with a group of another cluster": (QUEUE, "is of the cluster"),
    **WRONG_CARDS,
}
_TYPES = "new types are released between releases of the tables; `check --live` asks the Region"
_EXISTING = "a literal id may be that of an existing resource"
_VERSIONS = "a cluster that exists with it takes other changes; the cluster file validates versions"
#: Templates that fail on AWS, at the latest when instances launch, and that a rehearsal accepts, with the reason.
ACCEPTED: dict[str, tuple[Template, str]] = {
    "a template of an unknown type": ({"A": launch(InstanceType="p9.48xlarge")}, _TYPES),
    "a PCS group of an unknown type": (
        {
            "A": resource(
                "AWS::PCS::ComputeNodeGroup",
                **(GROUP | BOUNDS | {"InstanceConfigs": [{"InstanceType": "p9.48xlarge"}]}),
            )
        },
        _TYPES,
    ),
    "an EKS group of an unknown type": (
        {"A": resource("AWS::EKS::Nodegroup", **NODES, InstanceTypes=["p9.48xlarge"])},
        _TYPES,
    ),
    "a PCS group without its cluster": ({"A": resource("AWS::PCS::ComputeNodeGroup", **GROUP, **BOUNDS)}, _EXISTING),
    "an EKS group without its cluster": ({"A": resource("AWS::EKS::Nodegroup", **NODES)}, _EXISTING),
    "an add-on without its cluster": (
        {"A": resource("AWS::EKS::Addon", ClusterName="orca", AddonName="vpc-cni")},
        _EXISTING,
    ),
    "an unknown policy of AWS": ({"A": policies("Nope")}, "the table would be out of date each week"),
    "Slurm 19.05": ({"A": pcs("SMALL", "19.05")}, _VERSIONS),
    "EKS 1.12": ({"A": control_plane(SUBNET, "subnet-0123456789abcdef1", Version="1.12")}, _VERSIONS),
}
