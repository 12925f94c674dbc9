"""A file system that an earlier deployment retained, used by the next one.

CloudFormation cannot import AWS::FSx::FileSystem: the type is not in its table of types that support import. See
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-import-supported-resources.html (read
2026-11-23). So the file system stays outside every stack, and the template names it for the guard.
"""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.storage._interfaces import ILustreFileSystem
from ultracluster.storage.lustre._file_system import EXISTING_LUSTRE, LustreFileSystem

#: Section of a template's metadata that the guard reads.
ADOPTED = "cdk-rehearsal:adopted"


def adopted_lustre(scope: Construct, cluster: ClusterFile, network: Network) -> ILustreFileSystem:
    """Import the retained file system of a cluster file."""
    lustre_section = cluster.storage.lustre
    assert lustre_section is not None
    section = lustre_section.adopt
    assert section is not None
    lustre = LustreFileSystem.from_lustre_file_system_attributes(
        scope,
        "Lustre",
        file_system_id=section.id,
        mount_name=section.mount_name,
        efa=cluster.lustre_efa,
        zone=cluster.zone,
        relatime=lustre_section.release_task is not None,
        security_group=ec2.SecurityGroup.from_security_group_id(scope, "LustreGroup", section.security_group),
    )
    reason = "the cluster created it in its own network; the guard reports an edit that drops it"
    cdk.Validations.of(lustre).acknowledge(cdk.Acknowledgment(id=EXISTING_LUSTRE.warning_id, reason=reason))
    lustre.allow_clients(network.nodes)
    options = cdk.Stack.of(scope).template_options
    metadata = dict(options.metadata or {})
    metadata[ADOPTED] = {**metadata.get(ADOPTED, {}), section.id: {"Type": "AWS::FSx::FileSystem"}}
    options.metadata = metadata
    return lustre
