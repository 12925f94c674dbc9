"""An Auto Scaling group of GPU nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.boot import LUSTRE_EFA_UNIT, LustreClient, mount_boot
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.cloudwatch import Alarms
from ultracluster.compute._arguments import UNKNOWN_TYPE, Errors, read_capacity, read_instance_type
from ultracluster.compute._auto_scaling_group import auto_scaling_group
from ultracluster.compute._boot import user_data
from ultracluster.compute._bundle import allow_bundle
from ultracluster.compute._capacity_reservation import ICapacityReservation
from ultracluster.compute._images import newest_image
from ultracluster.compute._instance_settings import Access, RootVolume
from ultracluster.compute._launch_template_fields import at_synthesis
from ultracluster.compute._metrics import AutoScalingGroupMetrics, auto_scaling_group_alarms
from ultracluster.compute._mounts import MountableFileSystem, read_mounts
from ultracluster.compute._node_group_template import NodeGroupTemplate
from ultracluster.network import EfaSecurityGroup, check_private, check_same_vpc
from ultracluster.planning import as_list, checked, checked_except, checked_method, shown, text_problem
from ultracluster.planning.capacity import Capacity, Image, PlacementOption, check_count
from ultracluster.rules import Refusal, error, warning
from ultracluster.security import NodeRole

_EFA_TOOL = error("lustre-efa-tool", "The default image has no AWS tool for Lustre over EFA.")
_ROOT_VOLUME_KEY = warning("root-volume-key", "The root volume has an imported key, whose policy cannot be changed.")
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html (read 2026-11-22)
_KEY_ACTIONS = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]


class IAutoScalingNodeGroup(cdk.IResource, ec2.IConnectable, iam.IGrantable, Protocol):
    """Auto Scaling group of nodes, created by `AutoScalingNodeGroup` or existing."""

    @property
    def auto_scaling_group_name(self) -> str:
        """Name of the Auto Scaling group."""

    @property
    def metrics(self) -> AutoScalingGroupMetrics:
        """CloudWatch metrics of the group."""

    @property
    def alarms(self) -> Alarms:
        """CloudWatch alarms of the group."""


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class _Base(cdk.Resource):
    auto_scaling_group_name: str
    #: Role of the nodes.
    role: iam.IRole
    _connections: ec2.Connections

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the nodes; the default port is all traffic."""
        return self._connections

    @property
    def metrics(self) -> AutoScalingGroupMetrics:
        """CloudWatch metrics of the group."""
        return AutoScalingGroupMetrics(self.auto_scaling_group_name, self)

    @property
    def alarms(self) -> Alarms:
        """CloudWatch alarms of the group."""
        return auto_scaling_group_alarms(self, self.auto_scaling_group_name)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Role of the nodes."""
        return self.role.grant_principal


class AutoScalingNodeGroup(_Base):
    """An Auto Scaling group of a fixed number of equal nodes, which mount file systems at boot.

    Nodes in a Capacity Block start when the capacity is `active`; until then the group has size zero. If the end of
    the block is known, the group scales in before it. A new launch template version applies to new nodes; running
    nodes keep theirs until they are replaced (`aws autoscaling start-instance-refresh`).

    If `root_volume` has a key, the key policy allows the service-linked role of Auto Scaling to use it. The role must
    exist: `aws iam create-service-linked-role --aws-service-name autoscaling.amazonaws.com`.

    Args:
        instance_type: A name, an `ec2.InstanceType` or a record of the catalogue.
        count: Number of nodes.
        subnet: Private subnet of the nodes.
        vpc: VPC in which a security group is created. Not needed with `security_groups`.
        mounts: File systems by path, such as `{"/fsx": lustre}`; a Lustre file system alone is mounted at `/fsx`. Their
            rules for the nodes are added. Default: none.
        image: An AMI id, an `ec2.IMachineImage` or an `Image`, with cloud-init and the clients of the file systems.
            Default: the newest Deep Learning Base AMI for Ubuntu.
        capacity: See `NodeGroupTemplate`. Default: on demand.
        security_groups: One group, or several; EFA needs one such as `network.EfaSecurityGroup`. Default: a new one.
        role: Role of the nodes. Default: a `security.NodeRole`, which allows Session Manager.
        lustre: Client settings for Lustre file systems with EFA. The default image lacks AWS's tool for them and needs
            a `bundle`; the role may read one in S3. Default: the tool is in the image.
        placement_group: See `NodeGroupTemplate`. Default: `auto`.
        root_volume: Default: 500 GiB, encrypted by the account's key for EBS.

    Raises:
        ValueError: If an argument has a wrong type, the capacity holds fewer nodes, EFA does not reach a file system,
            or the launch template is refused; see `NodeGroupTemplate`.
    """

    @checked_except("instance_type", "capacity", "image", "mounts")
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType | ec2.InstanceType | str,
        count: int,
        subnet: ec2.ISubnet,
        vpc: ec2.IVpc | None = None,
        mounts: Mapping[str, MountableFileSystem] | MountableFileSystem | None = None,
        image: Image | ec2.IMachineImage | str | None = None,
        capacity: Capacity | ICapacityReservation | str | None = None,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup] | None = None,
        role: iam.IRole | None = None,
        lustre: LustreClient | None = None,
        placement_group: ec2.IPlacementGroup | PlacementOption = "auto",
        root_volume: RootVolume | None = None,
    ) -> None:
        super().__init__(scope, id)
        errors = Errors()
        record = errors.take(lambda: read_instance_type(instance_type), None, UNKNOWN_TYPE)
        option = errors.take(lambda: read_capacity(capacity), read_capacity(None))
        file_systems: dict[str, MountableFileSystem] = errors.take(lambda: read_mounts(mounts), {})
        if security_groups is None and vpc is None:
            errors.messages.append("vpc must be given to create a security group in it, or security_groups instead")
        if not errors.messages:
            errors.messages += check_same_vpc({"vpc": vpc, "subnet": subnet})
            errors.messages += check_private({"subnet": subnet})
            errors.messages += check_count(option, count)
        errors.check(self)
        assert record is not None

        lines = [file_system.mount(path) for path, file_system in file_systems.items()]
        client = lustre or LustreClient()
        efa = client.connections(record) > 0
        if image is None and client.bundle is None and efa and any(LUSTRE_EFA_UNIT in line.after for line in lines):
            message = "lustre must have AWS's tool for EFA, which the default image lacks: lustre=boot.LustreClient("
            remedy = "bundle=boot.EfaBundle(url='s3://...', sha256='...')), or use an image that has the tool"
            raise Refusal(self, _EFA_TOOL(message + remedy))
        self.role = role or NodeRole(self, "Role")
        profile = (
            self.role.instance_profile
            if isinstance(self.role, NodeRole)
            else iam.InstanceProfile(self, "InstanceProfile", role=self.role)
        )
        allow_bundle(self.role, client.bundle)
        boot = mount_boot(record, lines, lustre=client)
        self._commands: list[str] = []

        def text() -> str:
            return user_data(mounts=lines, files=boot.files, units=boot.units, commands=self._commands)

        errors.take(text, "")
        errors.check(self)
        created = None
        if security_groups is None:
            created = EfaSecurityGroup(self, "Nodes", vpc=cast(ec2.IVpc, vpc))
        groups: list[ec2.ISecurityGroup] = [created] if created else as_list(cast(ec2.ISecurityGroup, security_groups))
        #: Launch template of the nodes.
        self.template = NodeGroupTemplate(
            self,
            "Template",
            instance_type=record,
            security_groups=groups,
            capacity=option,
            placement_group=placement_group,
            subnet=subnet,
            image=newest_image("dlami", record.architecture) if image is None else image,
            user_data=cdk.Token.as_string(at_synthesis(text)),
            root_volume=root_volume,
            access=Access(instance_profile=profile),
        )
        for line, (path, file_system) in zip(lines, file_systems.items(), strict=True):
            reached = [subnet] if efa and LUSTRE_EFA_UNIT in line.after else []
            try:
                place = getattr(file_system, "rules_scope", None)
                options: dict[str, Any] = {} if place is None else {"scope": place(groups[0], self)}
                file_system.allow_clients(groups[0], subnets=reached, **options)
            except Refusal as refusal:
                named = [message.rule(f"mounts[{path!r}]: {message}") for message in refusal.messages]
                raise Refusal(self, named) from refusal
        if root_volume is not None and root_volume.key is not None:
            self._allow_auto_scaling(root_volume.key)

        self.resource = auto_scaling_group(self, template=self.template, subnet=subnet, count=count)
        if created is not None:
            # Nodes need the group's rules from their first packet on.
            self.resource.node.add_dependency(created)
        self.auto_scaling_group_name = self.resource.ref
        self._connections = self.template.connections

    @staticmethod
    @checked
    def from_auto_scaling_node_group_attributes(
        scope: Construct,
        id: str,
        *,
        auto_scaling_group_name: str,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup],
        role: iam.IRole,
    ) -> IAutoScalingNodeGroup:
        """Import an existing group.

        Args:
            scope: Scope of the import.
            id: Id of the import.
            auto_scaling_group_name: Name of the Auto Scaling group.
            security_groups: Security groups of its nodes.
            role: Role of its nodes.

        Raises:
            Refusal: If the name is empty or too long.
        """
        imported = _Base(scope, id)
        name, form = auto_scaling_group_name, "the name of an Auto Scaling group, 1 to 255 characters"
        if problems := list(text_problem("auto_scaling_group_name", name, r"[^\x00-\x1f]{1,255}", form)):
            raise Refusal(imported, problems)
        imported.auto_scaling_group_name, imported.role = auto_scaling_group_name, role
        imported._connections = ec2.Connections(
            security_groups=as_list(security_groups), default_port=ec2.Port.all_traffic()
        )
        return cast(IAutoScalingNodeGroup, imported)

    @checked_method
    def add_security_group(self, security_group: ec2.ISecurityGroup) -> None:
        """Add a security group to every network interface of the nodes."""
        self.connections.add_security_group(security_group)

    def add_user_data(self, *commands: str) -> None:
        """Add shell commands, which run last at the first boot of a node, as root.

        Raises:
            Refusal: If one is not a text.
        """
        if wrong := [command for command in commands if not isinstance(command, str) or not command.strip()]:
            raise Refusal(self, [f"commands must be texts, got {shown(command)}" for command in wrong])
        self._commands += commands

    def _allow_auto_scaling(self, key: kms.IKey) -> None:
        stack = cdk.Stack.of(self)
        principal = iam.ArnPrincipal(
            stack.format_arn(
                service="iam",
                region="",
                resource="role",
                resource_name="aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
            )
        )
        use = iam.PolicyStatement(principals=[principal], actions=_KEY_ACTIONS, resources=["*"])
        grant = iam.PolicyStatement(
            principals=[principal],
            actions=["kms:CreateGrant"],
            resources=["*"],
            conditions={"Bool": {"kms:GrantIsForAWSResource": "true"}},
        )
        results = [key.add_to_resource_policy(statement) for statement in (use, grant)]
        if not all(result.statement_added for result in results):
            cdk.Validations.of(self).add_warning(
                _ROOT_VOLUME_KEY.warning_id,
                "the policy of an imported key cannot be changed here; its owner must allow "
                "AWSServiceRoleForAutoScaling to use it, or no node starts",
            )
