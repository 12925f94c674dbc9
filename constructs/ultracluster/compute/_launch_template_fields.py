"""Fields of a launch template."""

from collections.abc import Callable, Iterable
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2

from ultracluster.catalogue.ec2 import Interface
from ultracluster.compute._instance_settings import RootVolume
from ultracluster.planning import once
from ultracluster.planning.capacity import Purchase

_L1 = ec2.CfnLaunchTemplate


@jsii.implements(cdk.IStableAnyProducer)
class _Producer:
    def __init__(self, render: Callable[[], Any]) -> None:
        self._render = render

    def produce(self) -> Any:
        """Render the value."""
        return self._render()


def at_synthesis(render: Callable[[], Any]) -> cdk.IResolvable:
    """Return a token for a value that may change until synthesis."""
    return cdk.Lazy.any(_Producer(render))


def tag_specifications(rendered: cdk.IResolvable, *resource_types: str) -> cdk.IResolvable:
    """Return tag specifications of the tags that a tag manager renders at synthesis."""
    return cdk.Token.as_any([{"resourceType": kind, "tags": rendered} for kind in resource_types])


@once
def subnet_id(subnet: ec2.ISubnet) -> str:
    """Return the id of a subnet."""
    return subnet.subnet_id


def market_options(purchased: Purchase) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
    """Return the market options of a purchase; see `planning.capacity.purchase`.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html (read 2026-11-20)
    """
    market = purchased.market_type
    return None if market is None else _L1.InstanceMarketOptionsProperty(market_type=market)


def reservation(purchased: Purchase) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
    """Return the capacity reservation of a purchase.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-ec2-launchtemplate-capacityreservationspecification.html
    (read 2026-11-20)
    """
    target = None
    if purchased.reservation_id or purchased.reservation_group:
        # A group's ARN is inside the target too, whatever samples show.
        target = _L1.CapacityReservationTargetProperty(
            capacity_reservation_id=purchased.reservation_id,
            capacity_reservation_resource_group_arn=purchased.reservation_group,
        )
    elif not purchased.preference:
        return None
    return _L1.CapacityReservationSpecificationProperty(
        capacity_reservation_preference=purchased.preference, capacity_reservation_target=target
    )


def network_interfaces(
    stack: cdk.Stack, rows: tuple[Interface, ...], group_ids: tuple[str, ...], subnet_id: str | None
) -> cdk.IResolvable:
    """Return the network interfaces of a node. Equal node groups of a stack share them.

    A node has up to 32. As `NetworkInterfaceProperty`, whose fields jsii checks one by one, they took 9 ms of each
    node group (2026-11-27).
    """
    created, key = _created(stack), (rows, group_ids, subnet_id)
    if key not in created:
        subnet = {} if subnet_id is None else {"subnetId": subnet_id}
        created[key] = cdk.Token.as_any(
            [
                {
                    "networkCardIndex": row.card,
                    "deviceIndex": row.device,
                    "interfaceType": row.kind,
                    "groups": list(group_ids),
                    **subnet,
                    "deleteOnTermination": True,
                }
                for row in rows
            ]
        )
    return created[key]


@once
def _created(stack: cdk.Stack) -> dict[tuple[object, ...], cdk.IResolvable]:
    return {}


def connections_of(
    template: ec2.CfnLaunchTemplate, security_groups: Iterable[ec2.ISecurityGroup], *, interfaces: int
) -> ec2.Connections:
    """Return connections for all traffic, whose later groups reach each interface of a template at synthesis."""
    connections = ec2.Connections(security_groups=list(security_groups), default_port=ec2.Port.all_traffic())
    ids = at_synthesis(lambda: [group.security_group_id for group in connections.security_groups])
    for index in range(interfaces):
        template.add_property_override(f"LaunchTemplateData.NetworkInterfaces.{index}.Groups", ids)
    return connections


def metadata_options() -> ec2.CfnLaunchTemplate.MetadataOptionsProperty:
    """Return the options of the instance metadata service: IMDSv2, and no answer to containers with their own network.

    The hop limit is explicit, because its default follows from the image: 2 for Amazon Linux 2023.

    See: https://docs.aws.amazon.com/linux/al2023/ug/imdsv2.html (read 2026-11-22)
    """
    return _L1.MetadataOptionsProperty(http_tokens="required", http_endpoint="enabled", http_put_response_hop_limit=1)


def disk(root: RootVolume) -> ec2.CfnLaunchTemplate.BlockDeviceMappingProperty:
    """Return the block device mapping of a root volume."""
    return _L1.BlockDeviceMappingProperty(
        device_name=root.device,
        ebs=_L1.EbsProperty(
            volume_size=root.gib,
            volume_type="gp3",
            encrypted=True,
            kms_key_id=None if root.key is None else root.key.key_arn,
            delete_on_termination=True,
        ),
    )
