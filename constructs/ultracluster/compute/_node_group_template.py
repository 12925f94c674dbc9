"""The launch template of a node group."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast, get_args

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_ec2 as ec2_refs
from constructs import Construct

from ultracluster.catalogue.ec2 import InstanceType, Interface, Layout, check_interfaces, interfaces
from ultracluster.compute._arguments import (
    IMAGE,
    PURCHASE,
    UNKNOWN_TYPE,
    Errors,
    check_user_data,
    read_capacity,
    read_image,
    read_instance_type,
)
from ultracluster.compute._capacity_reservation import ICapacityReservation
from ultracluster.compute._images import image_id
from ultracluster.compute._instance_settings import Access, RootVolume
from ultracluster.compute._launch_template_fields import (
    at_synthesis,
    connections_of,
    disk,
    market_options,
    metadata_options,
    network_interfaces,
    reservation,
    subnet_id,
    tag_specifications,
)
from ultracluster.compute._placement_group import new_placement_group
from ultracluster.compute._template_checks import SERVICE, check_efa, check_groups, check_service, existing_template
from ultracluster.planning import as_list, checked, checked_except, path_of, security_group_id, shown, stack_of
from ultracluster.planning.capacity import (
    PLACEMENT,
    Capacity,
    Image,
    NamedGroup,
    PlacementOption,
    Purchase,
    Service,
    Strategy,
    check_image,
    check_sold,
    placement,
    purchase,
)
from ultracluster.rules import Message, Refusal, shared
from ultracluster.security import check_same_region

_L1 = ec2.CfnLaunchTemplate
_LAUNCHED = ("instance", "volume", "network-interface")
_DECLARED = shared("declared-type")
_LAYOUT = shared("layout")
_CAPACITY = shared("capacity-service")


@jsii.implements(ec2.ILaunchTemplate, ec2.IConnectable, iam.IGrantable, cdk.ITaggableV2)
class NodeGroupTemplate(cdk.Resource):
    """A launch template for one group of equal nodes: interfaces, capacity, placement, disk and metadata service.

    It is an `ec2.ILaunchTemplate`. Its tags reach the template and the instances, volumes and network interfaces that
    it launches. Its `connections` are those of the security groups; the default port is all traffic. Grants go to the
    role of the instance profile in `access`.

    L1, because `ec2.LaunchTemplate` has neither several network interfaces nor reservations (aws-cdk-lib 2.275.0).

    Args:
        instance_type: A name, an `ec2.InstanceType` or a record of the catalogue (`instance_type_from_api` creates a
            record of a new type).
        security_groups: One group, or several, of every interface. EFA needs one that allows all traffic from and to
            itself, such as `network.EfaSecurityGroup`.
        service: The service that launches the nodes; see `Service`. Default: `self-managed`, an Auto Scaling group.
        capacity: Purchase option: `on-demand`, `spot`, `cr-...` for a targeted reservation, a `CapacityReservation` or
            an option such as `CapacityBlock`. Default: on demand.
        layout: Network interfaces of a node; see `catalogue.ec2.interfaces`. Or the interfaces themselves. Default:
            `one-ip`.
        placement_group: `auto` uses the group of the reservation, or creates one for nodes with EFA where the capacity
            allows it; `cluster`, `partition` and `spread` create one; an existing group is used; None is no group. What
            EC2 would refuse is refused here: see `planning.capacity.placement`.
        subnet: Subnet of every interface. AWS PCS and EC2 need it here; an EKS managed node group refuses it.
        image: An AMI id, an `ec2.IMachineImage` or an `Image`. Default: none, the service that launches has its own.
        user_data: Plain text or `ec2.UserData`; see `compute.user_data`. Default: none.
        root_volume: Default: 500 GiB, encrypted by the account's key for EBS.
        access: Key pair and instance profile of the nodes. Default: neither.
        tags: Tags, besides those of `cdk.Tags.of`.

    Raises:
        ValueError: If an argument has a wrong type, the type cannot have the layout, the image or the placement group,
            it is not sold with this option, or the service cannot use the capacity; all reasons at once.
    """

    @checked_except("instance_type", "capacity", "image")
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType | ec2.InstanceType | str,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup],
        service: Service = "self-managed",
        capacity: Capacity | ICapacityReservation | str | None = None,
        layout: Layout | Sequence[Interface] = "one-ip",
        placement_group: ec2.IPlacementGroup | PlacementOption = "auto",
        subnet: ec2.ISubnet | None = None,
        image: Image | ec2.IMachineImage | str | None = None,
        user_data: ec2.UserData | str | None = None,
        root_volume: RootVolume | None = None,
        access: Access | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        groups = as_list(security_groups)
        root = root_volume or RootVolume()
        errors = Errors()
        self.service: Service = service
        self.subnet = subnet
        #: Id of the subnet, or None.
        self.subnet_id = None if subnet is None else subnet_id(subnet)
        #: Security groups of every network interface.
        self.security_groups = tuple(groups)
        self._access = access or Access()
        self.image = errors.take(lambda: read_image(self, image), None)
        self.capacity: Capacity = errors.take(lambda: read_capacity(capacity), read_capacity(None))
        record = errors.take(lambda: read_instance_type(instance_type), None, UNKNOWN_TYPE)
        errors.messages += [*check_groups(groups, subnet), *check_user_data(user_data)]
        errors.messages += check_service(service, subnet, self._access.instance_profile)
        errors.messages += check_same_region(scope, {"root_volume.key": root.key, "subnet": subnet})
        if record is None:
            errors.check(self)
        assert record is not None
        self.instance_type = record
        if service != "hyperpod":
            errors.messages += map(PURCHASE, check_sold(record, self.capacity))
        if self.image is not None:
            errors.messages += map(IMAGE, check_image(self.image, record))
        #: The network interfaces of one node.
        self.interfaces: tuple[Interface, ...] = errors.take(
            lambda: interfaces(record, layout) if isinstance(layout, str) else check_interfaces(record, layout),
            (),
            _LAYOUT,
        )
        #: Settings of the service that launches, and of the template, for the capacity.
        self.purchase = errors.take(lambda: purchase(self.capacity, service), Purchase(), _CAPACITY)
        requested = errors.take(lambda: _requested(placement_group), None)
        #: Strategy of the placement group that is created, or name of the existing one, or None.
        self.placed = errors.take(lambda: placement(requested, record=record, capacity=self.capacity), None, PLACEMENT)
        errors.messages += check_efa(self, groups, self.interfaces)
        errors.check(self)
        if record.declared:
            cdk.Validations.of(self).add_warning(
                _DECLARED.warning_id, f"{record.name} was declared, so nothing of it was checked against EC2"
            )
        #: The placement group of the nodes, created or existing, or None.
        self.placement_group = self._place(self.placed, placement_group)
        tags = {"Name": path_of(scope), **(tags or {})}
        initial = [{"key": key, "value": value} for key, value in tags.items()]
        self._tags = cdk.TagManager(cdk.TagType.STANDARD, "AWS::EC2::LaunchTemplate", initial)
        profile = self._access.instance_profile
        self._role = None if profile is None else profile.role
        self.resource = self._launch_template(scope, user_data, root)
        if record.declared or record.ultraservers:
            # cfn-lint takes its types from price lists, which have neither new types nor UltraServers (1.58, 2026-11).
            self.resource.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3628"]}})

    @staticmethod
    @checked
    def from_launch_template_attributes(
        scope: Construct, id: str, *, launch_template_id: str, version_number: str
    ) -> ec2.ILaunchTemplate:
        """Import an existing launch template, for constructs of the CDK that take one.

        Args:
            scope: Scope of the import.
            id: Id of the import.
            launch_template_id: Id of the template.
            version_number: Number of the version to use, `$Latest` or `$Default`.

        Raises:
            Refusal: If id or version are malformed.
        """
        return existing_template(scope, id, launch_template_id, version_number)

    @property
    def launch_template_id(self) -> str:
        """Id of the template."""
        return self.resource.ref

    @property
    def launch_template_name(self) -> str | None:
        """No name, because the id identifies the template."""
        return None

    @property
    def version_number(self) -> str:
        """Number of the newest version: services take this rather than `$Latest`, so that an update reaches them."""
        return self.resource.attr_latest_version_number

    @property
    def launch_template_ref(self) -> ec2_refs.LaunchTemplateReference:
        """Reference to the template."""
        return self.resource.launch_template_ref

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the nodes; the default port is all traffic."""
        return self._connections

    @cached_property
    def _connections(self) -> ec2.Connections:
        return connections_of(self.resource, self.security_groups, interfaces=len(self.interfaces))

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Role of the nodes, if `access` has an instance profile; otherwise a principal that warns of each grant."""
        if self._role is None:
            return cast(iam.IPrincipal, iam.UnknownPrincipal(resource=self))
        return self._role.grant_principal

    @property
    def cdk_tag_manager(self) -> cdk.TagManager:
        """Tags of the template, and of the instances, volumes and network interfaces that it launches."""
        return self._tags

    def problems(self, service: Service, *required: str) -> list[Message]:
        """Return what is wrong with the template for a service, which requires some of its fields."""
        problems = []
        if self.service != service:
            problems.append(SERVICE(f"the template must be for {service}, got {self.service}"))
        lacking = [field for field in required if getattr(self, field) is None]
        return problems + [SERVICE(f"the template has no {field}, and {service} requires one") for field in lacking]

    def _place(
        self, placed: PlacementOption, given: ec2.IPlacementGroup | PlacementOption
    ) -> ec2.IPlacementGroup | None:
        match placed:
            case None:
                return None
            case NamedGroup():
                if not isinstance(given, NamedGroup | str | None):
                    return given
                return ec2.PlacementGroup.from_placement_group_name(self, "PlacementGroup", placed.name)
            case _:
                return new_placement_group(self, ec2.PlacementGroupStrategy[placed.upper()])

    def _launch_template(
        self, scope: Construct, user_data: ec2.UserData | str | None, root: RootVolume
    ) -> ec2.CfnLaunchTemplate:
        profile = self._access.instance_profile
        group_ids = tuple(map(security_group_id, self.security_groups))
        # Tags and commands may be added until synthesis. Node renders the tags: a callback of Python takes four calls.
        tags = self._tags.rendered_tags
        text = cdk.Token.as_string(at_synthesis(user_data.render)) if isinstance(user_data, ec2.UserData) else user_data
        return _L1(
            self,
            "Resource",
            tag_specifications=tag_specifications(tags, "launch-template"),
            launch_template_data=_L1.LaunchTemplateDataProperty(
                instance_type=self.instance_type.name,
                # PCS takes the image of the compute node group, not of its template.
                image_id=image_id(scope, self.image) if self.image and self.service != "pcs" else None,
                key_name=self._access.key_name,
                iam_instance_profile=None
                if profile is None
                else _L1.IamInstanceProfileProperty(arn=profile.instance_profile_arn),
                user_data=None if text is None else cdk.Fn.base64(text),
                network_interfaces=network_interfaces(stack_of(self), self.interfaces, group_ids, self.subnet_id),
                instance_market_options=market_options(self.purchase),
                capacity_reservation_specification=reservation(self.purchase),
                placement=None
                if self.placement_group is None
                else _L1.PlacementProperty(group_name=self.placement_group.placement_group_name),
                metadata_options=metadata_options(),
                block_device_mappings=[disk(root)],
                tag_specifications=tag_specifications(tags, *_LAUNCHED),
            ),
        )


def _requested(given: ec2.IPlacementGroup | PlacementOption) -> PlacementOption:
    if isinstance(given, str) and given not in ("auto", *get_args(Strategy)):
        options = f"auto, {', '.join(get_args(Strategy))}, an ec2.IPlacementGroup, a NamedGroup or None"
        raise Refusal("", f"placement_group must be {options}, got {shown(given)}")
    if isinstance(given, NamedGroup | str | None):
        return given
    return NamedGroup(name=given.placement_group_name)
