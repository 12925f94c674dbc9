"""The launch template of a node group."""

from collections.abc import Mapping, Sequence
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.compute.capacity import launch_template_fields
from ultracluster.hardware import InstanceType, Interface, Layout, interfaces
from ultracluster.hardware import instance_type as look_up
from ultracluster.planning import Capacity, OnDemand

_L1 = ec2.CfnLaunchTemplate


class NodeGroupTemplate(Construct):
    """A launch template for one group of equal nodes: interfaces, capacity, placement, disk and metadata service.

    L1, because `ec2.LaunchTemplate` has neither several network interfaces nor reservations (aws-cdk-lib 2.275.0).

    Args:
        instance_type: A name of the catalogue, or a record (`InstanceType.from_api` makes one of a type that is new).
        security_groups: Groups of every interface. EFA needs one that allows all traffic from and to itself, such as
            `network.EfaSecurityGroup`.
        layout: Which interfaces a node gets; see `hardware.interfaces`. Default: `one-ip`.
        capacity: How the nodes are bought. Default: on demand.
        placement_group: `cluster` makes one for nodes with EFA, where the capacity allows one; a Capacity Block and an
            UltraServer place themselves. A group of yours, or None, is taken as it is.
        subnet: Subnet of every interface. AWS PCS and plain EC2 want it here; leave it out for an EKS managed node
            group, which refuses it.
        image_id: An `ami-...`, or a token. Default: none, the service that launches brings its own.
        user_data: Plain text; see `boot.user_data`. Default: none.
        root_volume_gib: Size of the root volume. Default: 500 GiB; container images fill the 75 GiB of AWS's images
            (https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs, read 2026-11-20).
        root_device: Device name of the root volume: `/dev/sda1` on Ubuntu, `/dev/xvda` on Amazon Linux.
        key: Key of the root volume; its policy must let the service that launches use it. AWS PCS has no access to a
            key of yours unless you grant it. Default: the account's key for EBS.
        tags: Tags of the instances, their volumes and interfaces. Tags of a stack reach the template, not those.

    Raises:
        ValueError: When the type can't have the layout, the capacity can't have the placement group, or no security
            group is given.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType | str,
        security_groups: Sequence[ec2.ISecurityGroup],
        layout: Layout = "one-ip",
        capacity: Capacity | None = None,
        placement_group: ec2.IPlacementGroup | Literal["cluster"] | None = "cluster",
        subnet: ec2.ISubnet | None = None,
        image_id: str | None = None,
        user_data: str | None = None,
        root_volume_gib: int = 500,
        root_device: str = "/dev/sda1",
        key: kms.IKey | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        if not security_groups:
            raise ValueError(f"{self.node.path}: security_groups must hold at least one group, got none")
        self.instance_type = look_up(instance_type) if isinstance(instance_type, str) else instance_type
        self.capacity: Capacity = capacity or OnDemand()
        try:
            #: The network interfaces of one node.
            self.interfaces: tuple[Interface, ...] = interfaces(self.instance_type, layout)
            fields = launch_template_fields(self.capacity)
        except ValueError as error:
            raise ValueError(f"{self.node.path}: {error}") from None

        self.placement_group = self._place(placement_group)
        group_ids = [group.security_group_id for group in security_groups]
        subnet_id = None if subnet is None else subnet.subnet_id
        marks = {"Name": self.node.path.removesuffix(f"/{self.node.id}"), **(tags or {})}
        self.resource = _L1(
            self,
            "Resource",
            launch_template_data=_L1.LaunchTemplateDataProperty(
                instance_type=self.instance_type.name,
                image_id=image_id,
                user_data=None if user_data is None else cdk.Fn.base64(user_data),
                network_interfaces=[_interface(row, group_ids, subnet_id) for row in self.interfaces],
                instance_market_options=fields.market_options,
                capacity_reservation_specification=fields.reservation,
                placement=None
                if self.placement_group is None
                else _L1.PlacementProperty(group_name=self.placement_group.placement_group_name),
                metadata_options=_L1.MetadataOptionsProperty(http_tokens="required", http_endpoint="enabled"),
                block_device_mappings=[
                    _L1.BlockDeviceMappingProperty(
                        device_name=root_device,
                        ebs=_L1.EbsProperty(
                            volume_size=root_volume_gib,
                            volume_type="gp3",
                            encrypted=True,
                            kms_key_id=None if key is None else key.key_arn,
                            delete_on_termination=True,
                        ),
                    )
                ],
                tag_specifications=[
                    _L1.TagSpecificationProperty(
                        resource_type=kind,
                        tags=[cdk.CfnTag(key=name, value=text) for name, text in sorted(marks.items())],
                    )
                    for kind in ("instance", "volume", "network-interface")
                ],
            ),
        )
        #: Id of the template.
        self.launch_template_id = self.resource.ref
        #: Number of its newest version: services take this rather than `$Latest`, so that an update reaches them.
        self.latest_version = self.resource.attr_latest_version_number

    def _place(self, wish: ec2.IPlacementGroup | Literal["cluster"] | None) -> ec2.IPlacementGroup | None:
        if wish is None:
            return None
        if wish == "cluster":
            if not (self.capacity.placement_group_allowed and self.instance_type.supports_efa):
                return None
            return ec2.PlacementGroup(self, "PlacementGroup", strategy=ec2.PlacementGroupStrategy.CLUSTER)
        if not self.capacity.takes_given_placement_group:
            raise ValueError(
                f"{self.node.path}: placement_group must be left out with {self.capacity.word}; "
                "EC2 places such instances itself and refuses, or starves, a placement group beside it"
            )
        return wish


def _interface(
    row: Interface, group_ids: list[str], subnet_id: str | None
) -> ec2.CfnLaunchTemplate.NetworkInterfaceProperty:
    return _L1.NetworkInterfaceProperty(
        network_card_index=row.card,
        device_index=row.device,
        interface_type=row.kind,
        groups=group_ids,
        subnet_id=subnet_id,
        delete_on_termination=True,
    )
