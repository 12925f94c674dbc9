"""Check that a storage that is handed in agrees with the cluster file."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from aws_cdk import aws_ec2 as ec2

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network, check_same_vpc
from ultracluster.planning.lustre import LustreSpec
from ultracluster.rules import Message, error
from ultracluster.storage._interfaces import IDataBucket, ILustreFileSystem

_UNUSED = error("storage-unused", "A key of the file that a handed-in storage makes useless would be ignored.")
_CONTRADICTS = error("storage-contradicts", "A handed-in storage must match the file.")
_NEW_VPC = error("storage-new-vpc", "Nodes in a new VPC do not reach a file system of another one.")
# Keys of exact properties of a file system, with the property.
_EXACT: Mapping[str, str] = {
    **dict.fromkeys(("deployment_type", "temporary"), "deployment_type"),
    **dict.fromkeys(("read_cache", "working_set"), "read_cache_gib"),
    **{name: name for name in ("storage_type", "metadata_iops", "compression", "lustre_version")},
    "tier": "mb_per_s_per_tib",
    "throughput_capacity": "throughput_capacity_mb_per_s",
}
# Keys with which a file requires at least so much.
_AT_LEAST = ("capacity", "checkpoint", "throughput")
# Where nodes mount it, and with which client, is the matter of the file; `_links` of `Storage` reports its links.
_USED = ("mount", "client", "data_repository_associations", "efa")


def check_lustre(cluster: ClusterFile, lustre: ILustreFileSystem) -> Iterator[Message]:
    """Yield the keys of `storage.lustre` that an existing file system contradicts."""
    section = cluster.storage.lustre
    if section is None:
        return
    spec: LustreSpec | None = getattr(lustre, "spec", None)
    planned = cluster.lustre_spec
    if section.efa is not None and section.efa != lustre.efa:
        yield _contradicts("efa", f"EFA {_word(section.efa)}", f"EFA {_word(lustre.efa)}")
    for key in sorted(section.model_fields_set.difference(_USED)):
        if spec is None or planned is None or key not in (*_AT_LEAST, *_EXACT):
            yield _unused(f"lustre.{key}", "file system")
        elif key in _EXACT:
            expected, actual = (getattr(each, _EXACT[key]) for each in (planned, spec))
            if expected != actual:
                yield _contradicts(key, expected, actual)
        else:
            least, has, unit = _sizes(key, cluster, planned, spec)
            if has < least:
                yield _contradicts(key, f"{float(least):,.0f} {unit}", f"{float(has):,.0f} {unit}")


def _sizes(
    key: str, cluster: ClusterFile, planned: LustreSpec, spec: LustreSpec
) -> tuple[float | Fraction, float | Fraction, str]:
    """Return what a key requires at least, what a file system has, and the unit."""
    section = cluster.storage.lustre
    if section is not None and key == "capacity" and section.capacity is not None:
        return section.capacity.gib, spec.most_gib, "GiB"
    if section is not None and key == "throughput" and section.throughput is not None:
        return section.throughput.mb_per_s, spec.disk_read_mb_per_s, "MB/s"
    return planned.disk_write_mb_per_s, spec.disk_write_mb_per_s, "MB/s"


def check_others(cluster: ClusterFile, *, home: object | None, data_bucket: IDataBucket | None) -> Iterator[Message]:
    """Yield the keys of `storage.home` and `storage.data-bucket` that have no effect."""
    section = cluster.storage
    if section.home is not None and home is not None:
        for key in sorted(section.home.model_fields_set - {"mount"}):
            yield _unused(f"home.{key}", "file system")
    if section.existing_bucket is not None and data_bucket is not None:
        yield _unused("data_bucket.existing", "bucket")
    if section.data_bucket is False and data_bucket is not None:
        yield _CONTRADICTS(
            "storage.data_bucket is handed in, and the cluster file has storage.data-bucket: false; remove one of them"
        )


def check_place(cluster: ClusterFile, network: Network | None, file_systems: Mapping[str, object]) -> Iterator[Message]:
    """Yield the file systems that the nodes do not reach.

    Args:
        cluster: Cluster file.
        network: Network that is handed in, or None for that of the file.
        file_systems: File systems by the name of the argument.
    """
    for argument, file_system in file_systems.items():
        groups: list[ec2.ISecurityGroup] = _groups(file_system)
        # A `Mountable` of the caller may need no network.
        if network is not None:
            yield from check_same_vpc({"network.vpc": network.vpc, argument: groups[0] if groups else None})
        elif cluster.network.existing is None and hasattr(file_system, "allow_clients"):
            yield _NEW_VPC(
                f"{argument} exists, and the cluster would get a new VPC that does not reach it: pass network=Network("
                "...) with the VPC of the file system, or set network.existing in the cluster file"
            )


def _groups(file_system: object) -> list[ec2.ISecurityGroup]:
    connections: Any = getattr(file_system, "connections", None)
    return [] if connections is None else list(connections.security_groups)


def _unused(key: str, what: str) -> Message:
    return _UNUSED(
        f"storage.{key.replace('_', '-')} of the cluster file has no effect on the {what} that is handed in: remove it "
        "from the file"
    )


def _contradicts(key: str, expected: object, actual: object) -> Message:
    return _CONTRADICTS(
        f"storage.lustre.{key.replace('_', '-')} of the cluster file requires {expected}, and the file system that is "
        f"handed in has {actual}: change one of them, or remove the key"
    )


def _word(on: bool) -> str:
    return "on" if on else "off"
