"""Mountpoint for Amazon S3: a bucket as a directory, with the limits of S3.

Sources (read 2026-11-21): https://docs.aws.amazon.com/AmazonS3/latest/userguide/mountpoint-usage.html,
https://github.com/awslabs/mountpoint-s3/blob/main/doc/SEMANTICS.md and
https://github.com/awslabs/mountpoint-s3-csi-driver/blob/main/docs/CONFIGURATION.md
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ultracluster.boot._mounts import Mount, Volume
from ultracluster.planning import check_fields
from ultracluster.planning.nodes import MOUNT_PATH, check_mount_path
from ultracluster.rules import ARGUMENT, Refusal, error

DRIVER = "s3.csi.aws.com"
_DIRECTORY_BUCKET = "--x-s3"
_WRITES = error("mountpoint-writes", "Mountpoint for Amazon S3 supports some writes only.")

# What jobs may do -> the option that allows it. Creating files takes none.
_EVERYWHERE = MappingProxyType({"create": None, "overwrite": "allow-overwrite", "delete": "allow-delete"})
_DIRECTORY_BUCKETS = MappingProxyType({"append": "incremental-upload", "rename": None})
_NEVER = MappingProxyType(
    {
        "random-write": "a file is written from its start to its end, once",
        "link": "there are neither hard nor symbolic links",
        "lock": "there are no file locks",
        "chmod": "owner and mode belong to the mount, not to the file",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mountpoint:
    """A bucket that nodes mount; read-only unless `writes` is given.

    A checkpoint library that writes a temporary file and renames it fails here, and so does one that seeks back to
    write a header: use Lustre, or a library that uses the S3 API. Nodes need the package `mount-s3` 1.18 or newer for
    /etc/fstab; Kubernetes needs the Mountpoint CSI driver.

    Args:
        bucket: Name of the bucket; may be a token of the CDK.
        prefix: Prefix to mount, without slashes at the ends. By default, the whole bucket.
        writes: Writes of jobs: create, overwrite, delete; on a directory bucket also append and rename.
        directory_bucket: The bucket is of S3 Express One Zone. By default, its name decides.
        gbps: Bandwidth of the nodes in Gbit/s, for pods: the driver's own reach no instance metadata with a hop limit
            of 1, and Mountpoint then assumes 10. Default: what Mountpoint detects or assumes. See:
            https://github.com/awslabs/mountpoint-s3-csi-driver/blob/main/docs/UPGRADING_TO_V2.md (read 2026-11-26)

    Raises:
        ValueError: If Mountpoint does not support the writes, with all errors.
    """

    bucket: str
    prefix: str = ""
    writes: Sequence[str] = ()
    directory_bucket: bool = False
    gbps: int | None = None

    def __post_init__(self) -> None:
        """Validate the writes."""
        check_fields(self)
        problems = [_WRITES(problem) for write in self.writes for problem in self._refusals(write)]
        if self.prefix != self.prefix.strip("/"):
            problems.append(ARGUMENT(f"prefix has no slash at its ends, got {self.prefix!r}"))
        if problems:
            raise Refusal(f"Mountpoint for {self.bucket}", problems)

    def mount(self, path: str) -> Mount:
        """Return the line of /etc/fstab. All users see the files; the node role decides on access."""
        if problems := check_mount_path(path, example="/data"):
            raise Refusal("", MOUNT_PATH(f"path {problems[0]}"))
        prefix = f"{self.prefix}/" if self.prefix else ""
        access = ["rw", *self._flags] if self.writes else ["ro"]
        return Mount(
            device=f"s3://{self.bucket}/{prefix}",
            path=path,
            type="mount-s3",
            options=",".join(["_netdev", "nosuid", "nodev", "nofail", *access, "allow-other"]),
        )

    def volume(self, name: str) -> Volume:
        """Return a static volume of the CSI driver. Its name is its handle, so it is used once."""
        prefix = [f"prefix {self.prefix}/"] if self.prefix else []
        bandwidth = [f"maximum-throughput-gbps {self.gbps}"] if self.gbps else []
        access = self._flags if self.writes else ["read-only"]
        return Volume(
            name=name,
            driver=DRIVER,
            handle=name,
            attributes={"bucketName": self.bucket},
            mount_options=("allow-other", *prefix, *bandwidth, *access),
        )

    @property
    def _flags(self) -> list[str]:
        known = {**_EVERYWHERE, **_DIRECTORY_BUCKETS}
        return [flag for write, flag in known.items() if write in self.writes and flag is not None]

    def _refusals(self, write: str) -> list[str]:
        directory = self.directory_bucket or self.bucket.endswith(_DIRECTORY_BUCKET)
        allowed = [*_EVERYWHERE, *(_DIRECTORY_BUCKETS if directory else ())]
        if write in allowed:
            return []
        if write in _DIRECTORY_BUCKETS:
            return [f"{write} works on directory buckets (S3 Express One Zone) only: use one, or Lustre"]
        if write in _NEVER:
            return [f"{write} does not work: {_NEVER[write]}; use Lustre"]
        return [f"writes are any of {', '.join(allowed)}, got {write!r}"]
