"""The launch template of a node group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.compute.capacity import launch_template_fields
from ultracluster.compute.images import image_id
from ultracluster.hardware import InstanceType, Interface, Layout, check_interfaces, interfaces
from ultracluster.hardware import instance_type as look_up
from ultracluster.hardware.quotas import PARTITIONS_PER_GROUP
from ultracluster.planning import (
    Capacity,
    Image,
    NamedGroup,
    OnDemand,
    PlacementWish,
    Purchase,
    Service,
    check_image,
    check_sold,
    placement,
    purchase,
)

_T = TypeVar("_T")
_L1 = ec2.CfnLaunchTemplate
#: Id of the warning about a type that this release does not know.
DECLARED_TYPE = "ultracluster:declared-type"


@dataclass(frozen=True, kw_only=True)
class RootVolume:
    """The root volume of a node: gp3, encrypted, gone with the node.

    Args:
        gib: Size in GiB. Default: 500; container images fill the 75 GiB of AWS's images
            (https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs, read 2026-11-20).
        device: Device name: `/dev/sda1` on Ubuntu, `/dev/xvda` on Amazon Linux.
        key: Its key, whose policy must let the service that launches use it. AWS PCS has no access to a key of yours
            unless you grant it. Default: the account's key for EBS.
    """

    gib: int = 500
    device: str = "/dev/sda1"
    key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Check the size."""
        if self.gib < 1:
            raise ValueError(f"a root volume has at least 1 GiB, got {self.gib}")


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may enter a node, and what it may do itself.

    Args:
        key_pair: Name of a key pair of EC2 that opens the image's own user over SSH. Default: none.
        instance_profile: Instance profile of the nodes, for an Auto Scaling group; AWS PCS and EKS name it themselves.
    """

    key_pair: str | None = None
    instance_profile: iam.IInstanceProfile | None = None


class NodeGroupTemplate(Construct):
    """A launch template for one group of equal nodes: interfaces, capacity, placement, disk and metadata service.

    L1, because `ec2.LaunchTemplate` has neither several network interfaces nor reservations (aws-cdk-lib 2.275.0).

    Args:
        instance_type: A name of the catalogue, or a record (`InstanceType.from_api` makes one of a type that is new).
        security_groups: Groups of every interface. EFA needs one that allows all traffic from and to itself, such as
            `network.EfaSecurityGroup`.
        service: Who launches the nodes; see `planning.Service`. Default: `self-managed`, an Auto Scaling group of
            yours.
        capacity: How the nodes are bought. Default: on demand.
        layout: Which interfaces a node gets; see `hardware.interfaces`. Or the interfaces themselves, one by one.
            Default: `one-ip`.
        placement_group: `auto` is the reservation's own group, or makes one for nodes with EFA where the capacity
            allows it; `cluster`, `partition` and `spread` make one; a group of yours is taken; None is none. What EC2
            would refuse is refused here: see `planning.placement`.
        subnet: Subnet of every interface. AWS PCS and plain EC2 want it here; an EKS managed node group refuses it.
        image: The image, or the id of one. Default: none, the service that launches brings its own.
        user_data: Plain text; see `boot.user_data`. Default: none.
        root_volume: Default: 500 GiB, encrypted by the account's key for EBS.
        access: Key pair and instance profile of the nodes. Default: neither.
        tags: Tags of the instances, their volumes and interfaces. Tags of a stack reach the template, not those.

    Raises:
        ValueError: When the type can't have the layout, the image or the placement group, is not sold in this way, or
            the service can't use the capacity; all reasons at once.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType | str,
        security_groups: Sequence[ec2.ISecurityGroup],
        service: Service = "self-managed",
        capacity: Capacity | None = None,
        layout: Layout | Sequence[Interface] = "one-ip",
        placement_group: ec2.IPlacementGroup | PlacementWish = "auto",
        subnet: ec2.ISubnet | None = None,
        image: Image | str | None = None,
        user_data: str | None = None,
        root_volume: RootVolume | None = None,
        access: Access | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.instance_type = look_up(instance_type) if isinstance(instance_type, str) else instance_type
        self.capacity: Capacity = capacity or OnDemand()
        self.service: Service = service
        self.subnet = subnet
        self._access = access or Access()
        self.image = Image(id=image) if isinstance(image, str) else image
        problems = self._problems(security_groups)
        #: The network interfaces of one node.
        self.interfaces: tuple[Interface, ...] = problems.take(lambda: self._lay_out(layout), ())
        #: What the service that launches is told about the capacity, and the template too.
        self.purchase = problems.take(lambda: purchase(self.capacity, service), Purchase())
        wish = _wish(placement_group)
        placed = problems.take(lambda: placement(wish, record=self.instance_type, capacity=self.capacity), None)
        problems.refuse(self.node.path)
        if self.instance_type.declared:
            cdk.Validations.of(self).add_warning(
                DECLARED_TYPE, f"{self.instance_type.name} was declared, so nothing of it was checked against EC2"
            )

        #: The strategy of the placement group that is made, or the name of the one that is there. None: none.
        self.placed = placed
        #: The placement group, made or handed in. None: the nodes are in none.
        self.placement_group = self._place(placed, placement_group)
        self.resource = self._make(security_groups, user_data, root_volume or RootVolume(), tags or {})
        if self.instance_type.declared or self.instance_type.ultraservers:
            # cfn-lint takes its types from price lists, which have neither new types nor UltraServers (1.58, 2026-11).
            self.resource.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3628"]}})
        #: Id of the template.
        self.launch_template_id = self.resource.ref
        #: Number of its newest version: services take this rather than `$Latest`, so that an update reaches them.
        self.latest_version = self.resource.attr_latest_version_number

    def _problems(self, security_groups: Sequence[ec2.ISecurityGroup]) -> "_Problems":
        problems = _Problems()
        if not security_groups:
            problems.found.append("security_groups must hold at least one group, got none")
        if self.service == "eks-managed" and self.subnet is not None:
            problems.found.append(
                "subnet must be left out: an EKS managed node group names its subnets itself, and refuses a template "
                "that does"
            )
        if self._access.instance_profile is not None and self.service != "self-managed":
            problems.found.append("instance_profile must be left out: the service that launches names it itself")
        if self.service == "hyperpod":
            problems.found.append("HyperPod takes no launch template; see planning.purchase for what it is told")
        else:
            problems.found += check_sold(self.instance_type, self.capacity)
        if self.image is not None:
            problems.found += check_image(self.image, self.instance_type)
        return problems

    def _lay_out(self, layout: Layout | Sequence[Interface]) -> tuple[Interface, ...]:
        if isinstance(layout, str):
            return interfaces(self.instance_type, layout)
        return check_interfaces(self.instance_type, layout)

    def _place(self, placed: PlacementWish, given: ec2.IPlacementGroup | PlacementWish) -> ec2.IPlacementGroup | None:
        match placed:
            case None:
                return None
            case NamedGroup():
                if not isinstance(given, NamedGroup | str | None):
                    return given
                return ec2.PlacementGroup.from_placement_group_name(self, "PlacementGroup", placed.name)
            case _:
                return ec2.PlacementGroup(
                    self,
                    "PlacementGroup",
                    strategy=ec2.PlacementGroupStrategy[placed.upper()],
                    partitions=PARTITIONS_PER_GROUP if placed == "partition" else None,
                )

    def _make(
        self,
        security_groups: Sequence[ec2.ISecurityGroup],
        user_data: str | None,
        root: RootVolume,
        tags: Mapping[str, str],
    ) -> ec2.CfnLaunchTemplate:
        fields = launch_template_fields(self.purchase)
        profile = self._access.instance_profile
        group_ids = [group.security_group_id for group in security_groups]
        subnet_id = None if self.subnet is None else self.subnet.subnet_id
        marks = {"Name": self.node.path.removesuffix(f"/{self.node.id}"), **tags}
        return _L1(
            self,
            "Resource",
            launch_template_data=_L1.LaunchTemplateDataProperty(
                instance_type=self.instance_type.name,
                # PCS takes the image of the compute node group, not of its template.
                image_id=image_id(self, self.image) if self.image and self.service != "pcs" else None,
                key_name=self._access.key_pair,
                iam_instance_profile=None
                if profile is None
                else _L1.IamInstanceProfileProperty(arn=profile.instance_profile_arn),
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
                        device_name=root.device,
                        ebs=_L1.EbsProperty(
                            volume_size=root.gib,
                            volume_type="gp3",
                            encrypted=True,
                            kms_key_id=None if root.key is None else root.key.key_arn,
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


class _Problems:
    """Collects what is wrong, so that it is told at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def take(self, made: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return made()
        except ValueError as error:
            self.found.append(str(error))
            return otherwise

    def refuse(self, path: str) -> None:
        if self.found:
            raise ValueError("\n".join(f"{path}: {problem}" for problem in dict.fromkeys(self.found)))


def _wish(given: ec2.IPlacementGroup | PlacementWish) -> PlacementWish:
    if isinstance(given, NamedGroup | str | None):
        return given
    return NamedGroup(name=given.placement_group_name)


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
