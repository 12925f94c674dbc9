"""Security group rules between NFS clients and their server."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

# NFS 4 needs no other port (RFC 8881, 2.9.3). Port mapper, mount and lock daemon, which the guide of FSx for OpenZFS
# opens too, belong to NFS 3: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html and
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html (read 2026-11-21)
NFS_PORT = 2049


def allow_nfs(scope: Construct, id: str, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
    """Allow NFS from one group to the server of another, by rules that name both by id.

    The egress rule is for clients whose group does not allow all outbound traffic. Both rules belong to `scope`, so
    that the groups may live in different stacks without a circular reference.
    """
    ec2.CfnSecurityGroupIngress(
        scope,
        f"{id}Ingress",
        group_id=server.security_group_id,
        source_security_group_id=client.security_group_id,
        ip_protocol="tcp",
        from_port=NFS_PORT,
        to_port=NFS_PORT,
        description="NFS 4, by group id",
    )
    ec2.CfnSecurityGroupEgress(
        scope,
        f"{id}Egress",
        group_id=client.security_group_id,
        destination_security_group_id=server.security_group_id,
        ip_protocol="tcp",
        from_port=NFS_PORT,
        to_port=NFS_PORT,
        description="NFS 4, by group id",
    )
