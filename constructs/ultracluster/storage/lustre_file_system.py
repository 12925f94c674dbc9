"""An FSx for Lustre file system that training nodes mount."""

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.network import allow_all_between
from ultracluster.planning import LustreSize

# 2.15 is what AL2023's and Ubuntu 24.04's clients mount, and what metadata settings ask for. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html (read 2026-11-20).
_LUSTRE_VERSION = "2.15"

# Waits for the network, never blocks the boot, and mounts on first use. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html (read 2026-11-20).
MOUNT_OPTIONS = ",".join(
    [
        "defaults",
        "noatime",
        "flock",
        "_netdev",
        "nofail",
        "x-systemd.automount",
        "x-systemd.requires=systemd-networkd-wait-online.service",
    ]
)


@jsii.implements(ec2.IConnectable)
class LustreFileSystem(Construct):
    """A persistent SSD file system in one subnet, encrypted, compressed, and kept when the stack goes.

    L1, because `fsx.LustreFileSystem` has neither EFA nor metadata settings nor logs (aws-cdk-lib 2.275.0).

    CloudFormation answers a change of subnet, security group or key with a new, empty file system. The security group
    is therefore the file system's own and never changes; clients are let in by rules (`allow_clients`).

    Args:
        vpc: The VPC of the subnet.
        subnet: The one subnet; for EFA the one of its clients.
        size: What to buy; `planning.size_lustre` finds it from a throughput.
        key: Key of the data at rest. Default: the account's key for FSx.
        removal_policy: What becomes of the file system when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        size: LustreSize,
        key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        self.size = size
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="FSx for Lustre: its own group, never to be exchanged"
        )
        self.security_group: ec2.ISecurityGroup = group
        self.connections = ec2.Connections(security_groups=[self.security_group])
        # EFA needs the group's rules before the file system: FSx checks them when it creates one.
        rules = Construct(self, "Rules")
        allow_all_between(rules, "Self", group, group)
        # The servers talk to each other through these: a file system that stays without them is cut off from itself.
        cdk.RemovalPolicies.of(rules).apply(removal_policy)
        group.apply_removal_policy(removal_policy)

        log_group = logs.LogGroup(
            self,
            "LogGroup",
            # FSx takes log groups under this prefix only.
            log_group_name=f"/aws/fsx/lustre/{cdk.Names.unique_resource_name(self, max_length=80, separator='-')}",
            retention=logs.RetentionDays.THREE_MONTHS,
            # A log group that stayed would stand in the way of the next cluster of this name.
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=_LUSTRE_VERSION,
            storage_type="SSD",
            storage_capacity=size.capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            kms_key_id=None if key is None else key.key_arn,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="PERSISTENT_2",
                per_unit_storage_throughput=size.mb_per_s_per_tib,
                efa_enabled=size.efa,
                # Can't be added later, and EFA asks for it; AUTOMATIC costs nothing and grows with the capacity.
                metadata_configuration=fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC"),
                data_compression_type="LZ4",
                log_configuration=fsx.CfnFileSystem.LogConfigurationProperty(
                    level="WARN_ERROR", destination=_without_star(log_group)
                ),
            ),
        )
        self._resource.apply_removal_policy(removal_policy)
        self._resource.node.add_dependency(rules)
        #: Id, such as `fs-0123456789abcdef0`.
        self.file_system_id = self._resource.ref
        #: DNS name of the management server.
        self.dns_name = self._resource.attr_dns_name
        #: Name that clients mount.
        self.mount_name = self._resource.attr_lustre_mount_name

    @property
    def device(self) -> str:
        """What a client mounts: `DNS@tcp:/MOUNTNAME`. The address says tcp with EFA too."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"

    def allow_clients(self, security_group: ec2.ISecurityGroup, *, id: str = "Clients") -> None:
        """Let the members of a group mount the file system, over EFA as over TCP.

        Args:
            security_group: The group of the clients.
            id: Prefix of the rules' ids. Give a name of its own to every group after the first.
        """
        allow_all_between(self, id, self.security_group, security_group)


def _without_star(log_group: logs.LogGroup) -> str:
    """The ARN of the group without the `:*` that CloudFormation appends and FSx refuses."""
    return cdk.Stack.of(log_group).format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group.log_group_name,
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
