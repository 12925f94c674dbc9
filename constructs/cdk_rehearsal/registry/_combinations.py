"""Properties that services take together only, or never together.

Sources were read on 2026-11-26: API references, unless another page is named.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._combination import GIVEN, Combination, either

_TRUE = (True, "true", "True")
_LUSTRE: dict[str, Any] = {"FileSystemType": ("LUSTRE",), "BackupId": (None,)}
_KIND = "LustreConfiguration.DeploymentType"
_SCRATCH = ("SCRATCH_1", "SCRATCH_2", None)
_LINKS = tuple(
    f"LustreConfiguration.{name}" for name in ("ImportPath", "ExportPath", "ImportedFileChunkSize", "AutoImportPolicy")
)
_METADATA = "LustreConfiguration.MetadataConfiguration"
_TIERING: dict[str, Any] = _LUSTRE | {"StorageType": ("INTELLIGENT_TIERING",)}
_FSX = (
    # API_CreateFileSystemLustreConfiguration and https://docs.aws.amazon.com/fsx/latest/LustreGuide/
    # create-dra-linked-data-repo.html
    Combination(
        reason="PERSISTENT_2 supports data repository associations instead",
        when=_LUSTRE | {_KIND: ("PERSISTENT_2",)},
        without=_LINKS,
    ),
    *(
        Combination(reason="it needs ImportPath", when=_LUSTRE | {path: (GIVEN,)}, needs=_LINKS[:1])
        for path in _LINKS[1:]
    ),
    Combination(
        reason="only PERSISTENT_2 has EFA",
        when=_LUSTRE | {_KIND: ("PERSISTENT_1", *_SCRATCH), "LustreConfiguration.EfaEnabled": _TRUE},
        without=("LustreConfiguration.EfaEnabled",),
    ),
    Combination(
        reason="EFA needs a metadata configuration",
        when=_LUSTRE | {_KIND: ("PERSISTENT_2",), "LustreConfiguration.EfaEnabled": _TRUE},
        needs=(_METADATA,),
    ),
    Combination(
        reason="only PERSISTENT_2 has a metadata configuration",
        when=_LUSTRE | {_KIND: ("PERSISTENT_1", *_SCRATCH)},
        without=(_METADATA,),
    ),
    Combination(
        reason="the mode AUTOMATIC does not accept IOPS",
        when=_LUSTRE | {f"{_METADATA}.Mode": ("AUTOMATIC",)},
        without=(f"{_METADATA}.Iops",),
    ),
    Combination(
        reason="the mode USER_PROVISIONED needs IOPS",
        when=_LUSTRE | {f"{_METADATA}.Mode": ("USER_PROVISIONED",)},
        needs=(f"{_METADATA}.Iops",),
    ),
    Combination(
        reason="a scratch file system has no tier",
        when=_LUSTRE | {_KIND: _SCRATCH},
        without=("LustreConfiguration.PerUnitStorageThroughput",),
    ),
    Combination(
        reason="only PERSISTENT_1 has the storage type HDD",
        when=_LUSTRE | {_KIND: ("PERSISTENT_2", *_SCRATCH), "StorageType": ("HDD",)},
        without=("StorageType",),
    ),
    Combination(
        reason="the storage type HDD needs it",
        when=_LUSTRE | {"StorageType": ("HDD",)},
        needs=("LustreConfiguration.DriveCacheType",),
    ),
    Combination(
        reason="INTELLIGENT_TIERING has no capacity, and a throughput instead of a tier",
        when=_TIERING,
        without=("StorageCapacity", "LustreConfiguration.PerUnitStorageThroughput"),
        needs=("LustreConfiguration.ThroughputCapacity",),
    ),
    Combination(
        reason="INTELLIGENT_TIERING needs it", when=_TIERING, needs=("LustreConfiguration.DataReadCacheConfiguration",)
    ),
    Combination(reason="INTELLIGENT_TIERING needs it", when=_TIERING, needs=(_METADATA,)),
    Combination(
        reason="only INTELLIGENT_TIERING has it",
        when=_LUSTRE | {"StorageType": ("SSD", "HDD", None)},
        without=("LustreConfiguration.ThroughputCapacity", "LustreConfiguration.DataReadCacheConfiguration"),
    ),
    Combination(
        reason="MULTI_AZ_1 needs a preferred subnet",
        when={"FileSystemType": ("OPENZFS",), "OpenZFSConfiguration.DeploymentType": ("MULTI_AZ_1",)},
        needs=("OpenZFSConfiguration.PreferredSubnetId",),
    ),
)
# API_CreateVpcEndpoint: the default type is Gateway.
_ENDPOINT = (
    Combination(
        reason="a gateway endpoint has routes, and no network interface: set VpcEndpointType",
        when={"VpcEndpointType": ("Gateway", None), "ResourceConfigurationArn": (None,), "ServiceNetworkArn": (None,)},
        without=("SubnetIds", "SecurityGroupIds", "PrivateDnsEnabled"),
    ),
    Combination(
        reason="an interface endpoint has network interfaces, and no routes",
        when={"VpcEndpointType": ("Interface",)},
        without=("RouteTableIds",),
    ),
)
_DATA = "LaunchTemplateData"
_LAUNCH_TEMPLATE = (
    # API_RequestLaunchTemplateData
    *either("either the ARN or the name", f"{_DATA}.IamInstanceProfile.Arn", f"{_DATA}.IamInstanceProfile.Name"),
    *either("either requirements or a type", f"{_DATA}.InstanceRequirements", f"{_DATA}.InstanceType"),
    Combination(
        reason="only the market type spot supports it",
        when={f"{_DATA}.InstanceMarketOptions.MarketType": ("capacity-block", None)},
        without=(f"{_DATA}.InstanceMarketOptions.SpotOptions",),
    ),
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-specify-cpu-options.html
    *(
        Combination(
            reason="cores and threads per core belong together",
            when={f"{_DATA}.CpuOptions.{given}": (GIVEN,)},
            needs=(f"{_DATA}.CpuOptions.{other}",),
        )
        for given, other in (("CoreCount", "ThreadsPerCore"), ("ThreadsPerCore", "CoreCount"))
    ),
)
# API_CreateNatGateway. A regional gateway has neither subnet nor address of its own.
_NAT: dict[str, Any] = {"AvailabilityMode": ("zonal", None)}
_NAT_GATEWAY = (
    Combination(
        reason="a public NAT gateway needs an address",
        when=_NAT | {"ConnectivityType": ("public", None)},
        needs=("AllocationId",),
    ),
    Combination(reason="a zonal NAT gateway needs a subnet", when=_NAT, needs=("SubnetId",)),
    Combination(
        reason="a private NAT gateway has no public address",
        when={"ConnectivityType": ("private",)},
        without=("AllocationId",),
    ),
)
# API_CreateRoute
_DESTINATIONS = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")
_TARGETS = (
    *("GatewayId", "NatGatewayId", "NetworkInterfaceId", "InstanceId", "TransitGatewayId", "VpcEndpointId"),
    *("VpcPeeringConnectionId", "LocalGatewayId", "CarrierGatewayId", "CoreNetworkArn"),
    *("EgressOnlyInternetGatewayId", "OdbNetworkArn"),
)
_ROUTE = (
    Combination(reason="a route needs a destination", needs=_DESTINATIONS),
    *either("a route has one destination", *_DESTINATIONS),
    Combination(reason="a route needs a target", needs=_TARGETS),
    *either("a route has one target", *_TARGETS),
)
# https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html, capacity-blocks-mng.html and
# API_NodegroupUpdateConfig, API_NodeRepairConfig
_NODE_GROUP = (
    Combination(
        reason="a group with a launch template has it there",
        when={"LaunchTemplate": (GIVEN,)},
        without=("DiskSize", "RemoteAccess"),
    ),
    *either("either the id or the name", "LaunchTemplate.Id", "LaunchTemplate.Name"),
    *either("either a number or a share", "UpdateConfig.MaxUnavailable", "UpdateConfig.MaxUnavailablePercentage"),
    *(
        each
        for name in ("MaxUnhealthyNodeThreshold", "MaxParallelNodesRepaired")
        for each in either(
            "either a number or a share", f"NodeRepairConfig.{name}Count", f"NodeRepairConfig.{name}Percentage"
        )
    ),
    *(
        Combination(reason=f"{value} needs a launch template", when={name: (value,)}, needs=("LaunchTemplate",))
        for name, value in (("CapacityType", "CAPACITY_BLOCK"), ("AmiType", "CUSTOM"))
    ),
    Combination(
        reason="the AMI type CUSTOM has its own version",
        when={"AmiType": ("CUSTOM",)},
        without=("Version", "ReleaseVersion"),
    ),
)
# API_CreateFunction
_FUNCTION = (
    Combination(
        reason="a function from a .zip file needs a handler",
        when={"PackageType": ("Zip", None)},
        needs=("Handler",),
    ),
    Combination(
        reason="a function from a .zip file needs a runtime", when={"PackageType": ("Zip", None)}, needs=("Runtime",)
    ),
    Combination(
        reason="a function from an image has it there",
        when={"PackageType": ("Image",)},
        without=("Handler", "Runtime", "Layers"),
    ),
    Combination(reason="code in a bucket needs a key", when={"Code.S3Bucket": (GIVEN,)}, needs=("Code.S3Key",)),
)
_COMBINATIONS: Mapping[str, tuple[Combination, ...]] = MappingProxyType(
    {
        # API_CreateAutoScalingGroup
        "AWS::AutoScaling::AutoScalingGroup": (
            Combination(
                reason="a group needs subnets or zones",
                needs=("VPCZoneIdentifier", "AvailabilityZones", "AvailabilityZoneIds"),
            ),
        ),
        # API_CreateCapacityReservation
        "AWS::EC2::CapacityReservation": (
            Combination(
                reason="a limited reservation needs an end", when={"EndDateType": ("limited",)}, needs=("EndDate",)
            ),
            Combination(
                reason="only a limited reservation has an end",
                when={"EndDateType": ("unlimited", None)},
                without=("EndDate",),
            ),
        ),
        # API_CreateFlowLogs
        "AWS::EC2::FlowLog": (
            Combination(
                reason="logs in CloudWatch need a role that writes them",
                when={"LogDestinationType": ("cloud-watch-logs", None)},
                needs=("DeliverLogsPermissionArn",),
            ),
            Combination(reason="flow logs need a destination", needs=("LogDestination", "LogGroupName")),
        ),
        "AWS::EC2::LaunchTemplate": _LAUNCH_TEMPLATE,
        "AWS::EC2::NatGateway": _NAT_GATEWAY,
        # API_CreatePlacementGroup
        "AWS::EC2::PlacementGroup": (
            Combination(
                reason="only the strategy spread has a level",
                when={"Strategy": ("cluster", "partition", None)},
                without=("SpreadLevel",),
            ),
        ),
        "AWS::EC2::Route": _ROUTE,
        "AWS::EC2::VPCEndpoint": _ENDPOINT,
        # API_CreateFileSystem of Amazon EFS
        "AWS::EFS::FileSystem": (
            Combination(
                reason="the mode provisioned needs a throughput",
                when={"ThroughputMode": ("provisioned",)},
                needs=("ProvisionedThroughputInMibps",),
            ),
            Combination(
                reason="only the mode provisioned has a throughput",
                when={"ThroughputMode": ("bursting", "elastic", None)},
                without=("ProvisionedThroughputInMibps",),
            ),
            Combination(
                reason="a key needs Encrypted", when={"Encrypted": (False, "false", None)}, without=("KmsKeyId",)
            ),
        ),
        # API_KubernetesNetworkConfigRequest
        "AWS::EKS::Cluster": (
            Combination(
                reason="Amazon EKS chooses the range of a cluster with IPv6",
                when={"KubernetesNetworkConfig.IpFamily": ("ipv6",)},
                without=("KubernetesNetworkConfig.ServiceIpv4Cidr",),
            ),
        ),
        "AWS::EKS::Nodegroup": _NODE_GROUP,
        "AWS::FSx::FileSystem": _FSX,
        "AWS::Lambda::Function": _FUNCTION,
        # https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-policies.html
        "AWS::SSM::Parameter": (
            Combination(
                reason="only the tier Advanced has policies", when={"Tier": ("Standard", None)}, without=("Policies",)
            ),
        ),
    }
)


def combination_problems(type_name: str, properties: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a service refuses in the combination of properties."""
    for combination in _COMBINATIONS.get(type_name, ()):
        yield from combination.problems(properties)


def has_combinations(type_name: str) -> bool:
    """Return True if requirements on combinations are known for a type."""
    return type_name in _COMBINATIONS
