"""The storage of a cluster: created from its file, or handed in."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.boot import Mount, Mountable
from ultracluster.clusterfile import ClusterFile, perimeter_members
from ultracluster.network import Network
from ultracluster.planning import OTHER_REGION
from ultracluster.rules import Message, error
from ultracluster.security import acknowledge_accepted
from ultracluster.storage._data_repositories import links
from ultracluster.storage._handed_in import check_lustre, check_others, check_place
from ultracluster.storage._interfaces import IDataBucket, ILustreFileSystem, ISharedFileSystem
from ultracluster.storage.home._from_cluster_file import home
from ultracluster.storage.lustre._adopted import adopted_lustre
from ultracluster.storage.lustre._file_system import LustreFileSystem
from ultracluster.storage.s3._data_bucket import DataBucket

#: Mount paths of file systems that the cluster file does not name.
_LUSTRE_PATH, _HOME_PATH = "/fsx", "/home"

_STORAGE = error("storage-required", "A handed-in storage must have all that the cluster file requires.")


@dataclass(frozen=True, kw_only=True)
class Storage:
    """File systems and data bucket of a cluster. Create one by hand to use existing ones."""

    lustre: ILustreFileSystem | None = None
    data_bucket: IDataBucket | None = None
    home: ISharedFileSystem | None = None
    #: File systems that every node mounts, by path. `UltraCluster` adds `lustre` and `home` if they are not in it.
    file_systems: Mapping[str, Mountable] = field(default_factory=dict)

    @classmethod
    def from_cluster_file(cls, scope: Construct, cluster: ClusterFile, *, network: Network) -> "Storage":
        """Create the key, the file systems and the data bucket of a cluster file."""
        section = cluster.storage
        if not cls.needed(cluster):
            return cls()
        new_home = section.home is not None and section.home.existing is None
        new_lustre = cluster.lustre_spec is not None and section.lustre is not None and section.lustre.adopt is None
        creates = new_lustre or new_home or section.data_bucket is True
        key = _key(scope, cluster) if creates else None
        lustre = _lustre(scope, cluster, network, key)
        data_bucket = _data_bucket(scope, cluster, key)
        if lustre is not None:
            links(scope, cluster, lustre, data_bucket)
        acknowledge_accepted(scope, cluster)
        storage = cls(lustre=lustre, data_bucket=data_bucket, home=home(scope, cluster, network, key, data_bucket))
        return replace(storage, file_systems=storage._mounted(cluster))

    @staticmethod
    def needed(cluster: ClusterFile) -> bool:
        """Report whether a cluster file has any storage of its own: CloudFormation has no empty stacks."""
        section = cluster.storage
        return section.lustre is not None or section.home is not None or bool(section.data_bucket)

    @property
    def mounts(self) -> list[Mount]:
        """Mounts of every node."""
        return [file_system.mount(path) for path, file_system in self.file_systems.items()]

    def problems(self, cluster: ClusterFile, network: Network | None) -> list[Message]:
        """Return how this storage, which takes the place of that of the file, differs from the file or the network.

        Args:
            cluster: Cluster file.
            network: Network that is handed in, or None for that of the file.
        """
        section, problems = cluster.storage, self._elsewhere(cluster.region)
        for name, required, present in (
            ("lustre", section.lustre is not None, self.lustre is not None),
            ("home", section.home is not None, self.home is not None),
            ("data_bucket", _requires_bucket(cluster), self.data_bucket is not None),
        ):
            if required and not present:
                key = name.replace("_", "-")
                problems.append(
                    _STORAGE(
                        f"storage has no {name}, and the cluster file has storage.{key}: "
                        f"give Storage({name}=...), or remove storage.{key} from the file"
                    )
                )
        if section.lustre is not None and section.lustre.data_repository_associations:
            problems.append(
                _STORAGE(
                    "storage replaces storage.lustre.data_repository_associations of the cluster file: "
                    "remove it from the file, and create each of them as a DataRepositoryAssociation"
                )
            )
        if self.lustre is not None:
            problems += check_lustre(cluster, self.lustre)
        problems += check_others(cluster, home=self.home, data_bucket=self.data_bucket)
        places: dict[str, object] = {
            f"storage.file_systems[{path!r}]": other for path, other in self.file_systems.items()
        }
        places |= {"storage.lustre": self.lustre, "storage.home": self.home}
        return [*problems, *check_place(cluster, network, places)]

    def _elsewhere(self, region: str) -> list[Message]:
        resources: dict[str, object] = {"lustre": self.lustre, "data_bucket": self.data_bucket, "home": self.home}
        resources |= {f"file_systems[{path!r}]": file_system for path, file_system in self.file_systems.items()}
        return [
            OTHER_REGION(f"storage.{name} must be in {region}, the Region of the cluster file, got one in {there}")
            for name, resource in resources.items()
            # A `Mountable` of the caller may be no resource.
            if (there := getattr(getattr(resource, "env", None), "region", region)) != region
            and not cdk.Token.is_unresolved(there)
        ]

    def connected(self, cluster: ClusterFile, *, network: Network, nodes: Construct) -> "Storage":
        """Return this existing storage with its mounts, after allowing the nodes to reach its file systems."""
        group, mounted = network.nodes, self._mounted(cluster)
        for file_system in filter(None, {id(each): each for each in (self.lustre, *mounted.values())}.values()):
            # A `Mountable` of the caller may have no security group.
            if hasattr(file_system, "allow_clients"):
                # Nodes of other zones mount Lustre over TCP.
                options: dict[str, Any] = {"subnets": [network.training_subnet]} if file_system is self.lustre else {}
                if hasattr(file_system, "rules_scope"):
                    options["scope"] = file_system.rules_scope(group, nodes)
                file_system.allow_clients(group, **options)
        return replace(self, file_systems=mounted)

    def _mounted(self, cluster: ClusterFile) -> dict[str, Mountable]:
        section, mounted = cluster.storage, dict(self.file_systems)
        for file_system, path in (
            (self.lustre, section.lustre.mount if section.lustre else _LUSTRE_PATH),
            (self.home, section.home.mount if section.home else _HOME_PATH),
        ):
            if file_system is not None and not any(other is file_system for other in mounted.values()):
                mounted[path] = file_system
        return mounted


def _requires_bucket(cluster: ClusterFile) -> bool:
    """Report whether a cluster file has a data bucket of its own words, not by default only."""
    section = cluster.storage
    return bool(section.data_bucket) and "data_bucket" in section.model_fields_set


def _lustre(scope: Construct, cluster: ClusterFile, network: Network, key: kms.IKey | None) -> ILustreFileSystem | None:
    section, spec = cluster.storage.lustre, cluster.lustre_spec
    if section is None:
        return None
    lustre: ILustreFileSystem
    if section.existing is not None:
        existing = section.existing
        lustre = LustreFileSystem.from_lustre_file_system_attributes(
            scope,
            "Lustre",
            file_system_id=existing.id,
            mount_name=existing.mount_name,
            efa=existing.efa,
            zone=existing.zone,
            cidr=None if existing.cidr is None else str(existing.cidr),
            relatime=section.release_task is not None,
            security_group=None
            if existing.security_group is None
            else ec2.SecurityGroup.from_security_group_id(scope, "LustreGroup", existing.security_group),
        )
        lustre.allow_clients(network.nodes)
    elif section.adopt is not None:
        lustre = adopted_lustre(scope, cluster, network)
    else:
        assert spec is not None
        lustre = LustreFileSystem(
            scope,
            "Lustre",
            vpc=network.vpc,
            subnet=network.training_subnet,
            spec=spec,
            key=key,
            maintenance=section.maintenance,
            relatime=section.release_task is not None,
            backup_days=None if section.backups is None else section.backups.seconds // 86_400,
        )
        # Nodes of other subnets mount it over TCP.
        lustre.allow_clients(network.nodes, subnets=[network.training_subnet], scope=lustre)
    return lustre


def _data_bucket(scope: Construct, cluster: ClusterFile, key: kms.IKey | None) -> IDataBucket | None:
    section = cluster.storage.existing_bucket
    if section is None:
        if not cluster.storage.data_bucket:
            return None
        return DataBucket(scope, "Data", key=key, perimeter=perimeter_members(cluster))
    return DataBucket.from_data_bucket_attributes(
        scope,
        "Data",
        bucket_name=section.name,
        key=None if section.key is None else kms.Key.from_key_arn(scope, "DataKey", section.key),
    )


def _key(scope: Construct, cluster: ClusterFile) -> kms.IKey:
    if cluster.encryption_key is not None:
        return kms.Key.from_key_arn(scope, "Key", cluster.encryption_key)
    return kms.Key(
        scope,
        "Key",
        description=f"File system and data of the cluster {cluster.name}",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
