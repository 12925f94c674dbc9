"""Permissions of the roles of Slurm nodes."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.catalogue.ec2 import image_software
from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import allow_bundle
from ultracluster.slurm._node_health import NodeHealth, replacement_limits
from ultracluster.slurm._node_users import NodeUsers, allow_secret
from ultracluster.slurm._user_scripts import Nodes, allow_scripts
from ultracluster.storage import S3FilesHome, Storage


def allow_nodes(scope: Construct, cluster: ClusterFile, *, compute: iam.IRole, login: iam.IRole) -> None:
    """Allow the nodes of a cluster file what they do at boot, and what their jobs do with the role."""
    users = NodeUsers(scope, "Users", cluster=cluster.name, users=cluster.users)
    health = NodeHealth(scope, "Health", cluster=cluster.name)
    kinds: tuple[Nodes, Nodes] = ("compute", "login")
    for role, nodes in zip((compute, login), kinds, strict=True):
        users.grants.read(role)
        health.allow_drains(role)
        if cluster.slurm.directory is not None:
            allow_secret(role, cluster.slurm.directory.one)
        allow_scripts(scope, cluster, role, nodes)
        allow_bundle(role, cluster.lustre_client.bundle)
    if replacement_limits(cluster):
        health.allow_replacement(compute)


def allow_storage(
    scope: Construct, cluster: ClusterFile, storage: Storage, *, compute: iam.IRole, login: iam.IRole
) -> tuple[iam.IRole, ...]:
    """Allow the nodes of a cluster file what they read and write without a mount.

    The policies are in this scope, so that the stack of the control plane does not wait for that of the storage.

    Returns:
        The roles with these policies, which a node needs when it boots.
    """
    bucket = storage.data_bucket
    images = ({group.image_option for group in cluster.node_groups}, {cluster.login_image})
    # By name, with a policy name of its own: see `SlurmCluster.add_metrics_access`.
    roles = tuple(
        iam.Role.from_role_name(scope, f"{id}StorageRole", role.role_name, default_policy_name=f"{id}Storage")
        for id, role in (("Compute", compute), ("Login", login))
    )
    for role, options in zip(roles, images, strict=True):
        if bucket is not None and "aws" in options:
            # Copies of the software that these nodes install.
            bucket.grants.read_write_objects(role, image_software.SOFTWARE_PREFIX)
        # Where root alone reaches the credentials of the role, jobs have credentials of their own.
        if bucket is not None and cluster.slurm.imds == "all":
            bucket.grants.read_write(role)
        if isinstance(storage.home, S3FilesHome):
            storage.home.grants.read_write(role)
    return roles
