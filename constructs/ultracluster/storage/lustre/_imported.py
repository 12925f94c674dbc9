"""An existing FSx for Lustre file system."""

from functools import partial
from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network import check_efa_client
from ultracluster.planning.lustre import FILE_SYSTEM_ID, MOUNT_NAME
from ultracluster.storage._checked import checked
from ultracluster.storage.lustre._base import Lustre, lustre_port

#: Id of the warning about what an app cannot do to an existing file system.
EXISTING_LUSTRE = "ultracluster:existing-lustre"


class ImportedLustre(Lustre):
    """File system that `LustreFileSystem.from_lustre_file_system_attributes` returns."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        mount_name: str,
        efa: bool,
        zone: str | None,
        cidr: str | None,
        capacity_gib: int | None,
        dns_name: str | None,
        security_group: ec2.ISecurityGroup | None,
        relatime: bool,
    ) -> None:
        super().__init__(scope, id)
        errors = []
        if not cdk.Token.is_unresolved(file_system_id) and not FILE_SYSTEM_ID.fullmatch(file_system_id):
            errors.append(f"file_system_id must be fs- and 17 hexadecimal digits, got {file_system_id[:60]!r}")
        if not cdk.Token.is_unresolved(mount_name) and not MOUNT_NAME.fullmatch(mount_name):
            errors.append(f"mount_name has 1 to 8 letters, digits, hyphens and underscores, got {mount_name[:60]!r}")
        network = None
        try:
            network = None if cidr is None or cdk.Token.is_unresolved(cidr) else IPv4Network(cidr)
        except ValueError:
            errors.append(f"cidr must be the range of its subnet, such as 10.0.128.0/18, got {cidr!r}")
        if errors:
            raise ValueError("\n".join(f"{self.node.path}: {error}" for error in errors))
        if efa:
            self._reach = partial(check_efa_client, cidr=network, zone=zone)
        self._connect(security_group, lustre_port())
        stack = cdk.Stack.of(self)
        self._set(
            file_system_id=file_system_id,
            mount_name=mount_name,
            dns_name=dns_name or f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}",
            efa=efa,
            relatime=relatime,
            capacity_gib=capacity_gib,
        )
        message = [f"{file_system_id} exists outside of this app, which neither retains nor guards it"]
        if security_group is None:
            message.append(
                "allow its clients: all traffic between its security group and theirs, both ways, by group id"
            )
        if efa and None in (zone, cidr):
            message.append("EFA reaches it from its own zone and /16 only: check both, or pass zone and cidr")
        cdk.Validations.of(self).add_warning(EXISTING_LUSTRE, "; ".join(message))
