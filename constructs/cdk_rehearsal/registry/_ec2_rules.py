"""Requirements of EC2 and EKS beyond the registry schema. Sources were read on 2026-11-22 and 2026-11-26."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from types import MappingProxyType
from typing import Any, NamedTuple

from cdk_rehearsal.registry._rejections import at
from cdk_rehearsal.registry._rule_values import ServiceRule, is_given, is_shown, items_at, number_at, text_at


def user_data(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check encoding and size of user data."""
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
        yield f"#/UserData: {size:,} bytes; EC2 accepts 16,384 before they are encoded"


def interfaces(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the network interfaces of a launch template among each other."""
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


def market(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the purchase option of a launch template."""
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
    data = at(properties, "LaunchTemplateData")
    if not isinstance(data, Mapping):
        return
    if at(data, "InstanceMarketOptions.MarketType") == "capacity-block":
        if not at(data, "CapacityReservationSpecification.CapacityReservationTarget"):
            yield "#/LaunchTemplateData/InstanceMarketOptions: a Capacity Block needs its reservation as target"
        if at(data, "Placement.GroupName"):
            yield "#/LaunchTemplateData/Placement: a Capacity Block does not support a placement group"


class _Volume(NamedTuple):
    """Limits of a volume type: GiB, IOPS, and IOPS for each GiB. Without IOPS, it takes none."""

    sizes: tuple[int, int]
    iops: tuple[int, int] | None = None
    each: int = 0


# https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html and general-purpose.html
_VOLUMES: Mapping[str, _Volume] = MappingProxyType(
    {
        "gp3": _Volume((1, 65_536), (3000, 80_000), 500),
        "gp2": _Volume((1, 16_384)),
        "io1": _Volume((4, 16_384), (100, 64_000), 50),
        "io2": _Volume((4, 65_536), (100, 256_000), 1000),
        "st1": _Volume((125, 16_384)),
        "sc1": _Volume((125, 16_384)),
        "standard": _Volume((1, 1024)),
    }
)
_MOST_THROUGHPUT = 2000


def volumes(path: str) -> ServiceRule:
    """Return a rule for the volumes at a path: size, IOPS and throughput that their type has."""

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        for row in items_at(properties, path):
            for problem in _volume(row.get("Ebs")):
                yield f"#/{path.replace('.', '/')}: {problem}"

    return rule


def volume(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check a volume of its own."""
    size = {"VolumeSize": properties["Size"]} if "Size" in properties else {}
    yield from (f"#/VolumeType: {problem}" for problem in _volume({**properties, **size}))


def _volume(ebs: Any) -> Iterator[str]:
    # The type of a volume without one is that of its image or snapshot.
    name = ebs.get("VolumeType") if isinstance(ebs, Mapping) else None
    limits = _VOLUMES.get(name) if isinstance(name, str) else None
    size = number_at(ebs, "VolumeSize") if isinstance(ebs, Mapping) else None
    if limits is None or not isinstance(name, str):
        if size is not None and size > 65_536:
            yield f"a volume has 65,536 GiB at most, got {size:,}"
        return
    iops, rate = number_at(ebs, "Iops"), number_at(ebs, "Throughput")
    if size is not None and not limits.sizes[0] <= size <= limits.sizes[1]:
        yield f"a volume of {name} has {limits.sizes[0]:,} to {limits.sizes[1]:,} GiB, got {size:,}"
    if limits.iops is None:
        if is_given(ebs.get("Iops")):
            yield f"{name} does not support IOPS"
    elif iops is not None and not limits.iops[0] <= iops <= limits.iops[1]:
        yield f"{name} has {limits.iops[0]:,} to {limits.iops[1]:,} IOPS, got {iops:,}"
    elif iops is not None and size is not None and iops > max(limits.iops[0], size * limits.each):
        yield f"{name} has {limits.each} IOPS for each GiB: {size:,} GiB need {size * limits.each:,}, got {iops:,}"
    elif name in ("io1", "io2") and "Iops" not in ebs:
        yield f"{name} needs IOPS"
    if name != "gp3" and is_given(ebs.get("Throughput")):
        yield f"only gp3 supports a throughput, got {name}"
    elif rate and rate > _MOST_THROUGHPUT:
        yield f"gp3 has {_MOST_THROUGHPUT:,} MiB/s at most, got {rate:,}"
    elif rate and (known := iops if "Iops" in ebs else 3000) and rate * 4 > known:
        yield f"{rate} MiB/s need {rate * 4} IOPS of gp3"


def group_rules(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the rules inside a security group."""
    for name in ("SecurityGroupIngress", "SecurityGroupEgress"):
        for index, row in enumerate(items_at(properties, name)):
            for problem in group_rule(row):
                yield f"#/{name}/{index}{problem.removeprefix('#')}"


def group_rule(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the ports of a rule. Those of ICMP are its type and code."""
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_IpPermission.html
    protocol, low, high = (
        properties.get("IpProtocol"),
        *(number_at(properties, f"{end}Port") for end in ("From", "To")),
    )
    if str(protocol) not in ("tcp", "udp", "6", "17"):
        return
    if low is not None and high is not None and low > high:
        yield f"#/FromPort: {low} must not be above ToPort, which is {high}"
    for name in ("FromPort", "ToPort"):
        if name not in properties:
            yield f"#/{name}: {protocol} needs both ports"


def placement(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the partitions of a placement group."""
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    count, strategy = number_at(properties, "PartitionCount"), properties.get("Strategy")
    if count is not None and strategy != "partition" and isinstance(strategy, str | None):
        yield f"#/PartitionCount: only the strategy partition supports it, got {strategy}"
    elif count is not None and not 1 <= count <= 7:
        yield f"#/PartitionCount: 1 to 7 partitions in a zone, got {count}"


def block(path: str) -> ServiceRule:
    """Return a rule for the address range of a VPC or subnet."""
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


def eks_cluster(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check subnets, endpoints and addresses of a cluster of EKS."""
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    subnets = at(properties, "ResourcesVpcConfig.SubnetIds")
    if isinstance(subnets, list) and len(subnets) < 2:
        yield f"#/ResourcesVpcConfig/SubnetIds: at least two subnets in different zones, got {len(subnets)}"
    public, private = (at(properties, f"ResourcesVpcConfig.Endpoint{kind}Access") for kind in ("Public", "Private"))
    if str(public).lower() == "false" and (private is None or str(private).lower() == "false"):
        yield "#/ResourcesVpcConfig/EndpointPrivateAccess: a cluster has a public or a private endpoint"
    # https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
    text = text_at(properties, "KubernetesNetworkConfig.ServiceIpv4Cidr")
    try:
        network = ip_network(text) if text else None
    except ValueError as error:
        yield f"#/KubernetesNetworkConfig/ServiceIpv4Cidr: {error}"
        return
    private_ranges = [ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    if network is not None and not (
        12 <= network.prefixlen <= 24 and any(network.subnet_of(each) for each in private_ranges)  # type: ignore[arg-type]
    ):
        yield f"#/KubernetesNetworkConfig/ServiceIpv4Cidr: a private range from /12 to /24, got {text}"
