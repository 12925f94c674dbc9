"""Fields of a launch template, and those that are rendered at synthesis."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2

from ultracluster.catalogue.ec2 import Interface
from ultracluster.compute._instance_settings import RootVolume

_L1 = ec2.CfnLaunchTemplate


@jsii.implements(cdk.IStableAnyProducer)
class TagSpecifications:
    """Tag specifications of the tags that a construct has at synthesis."""

    def __init__(self, tags: cdk.TagManager, resource_types: Sequence[str]) -> None:
        self._tags = tags
        self._resource_types = resource_types

    def produce(self) -> Any:
        """Render the specifications."""
        tags = self._tags.render_tags()
        return [{"resourceType": kind, "tags": tags} for kind in self._resource_types]


@jsii.implements(cdk.IStableListProducer)
class GroupIds:
    """Ids of the security groups that connections have at synthesis."""

    def __init__(self, connections: ec2.Connections) -> None:
        self._connections = connections

    def produce(self) -> list[str]:
        """Render the ids."""
        return [group.security_group_id for group in self._connections.security_groups]


@jsii.implements(cdk.IStableStringProducer)
class RenderedUserData:
    """Text of user data with the commands that it has at synthesis."""

    def __init__(self, user_data: ec2.UserData) -> None:
        self._user_data = user_data

    def produce(self) -> str:
        """Render the text."""
        return self._user_data.render()


def network_interface(
    row: Interface, group_ids: list[str], subnet_id: str | None
) -> ec2.CfnLaunchTemplate.NetworkInterfaceProperty:
    """Return a network interface of a node."""
    return _L1.NetworkInterfaceProperty(
        network_card_index=row.card,
        device_index=row.device,
        interface_type=row.kind,
        groups=group_ids,
        subnet_id=subnet_id,
        delete_on_termination=True,
    )


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
