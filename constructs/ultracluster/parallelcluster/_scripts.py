"""Custom actions: health check, users, certificates, and the scripts of the file."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

from ultracluster.boot import health_boot
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.clusterfile import ClusterFile, NodeGroup, Path, node_script
from ultracluster.parallelcluster._notes import Note, path_of

#: Folder of the scripts, in the output directory and in the bucket.
FOLDER = "parallelcluster/scripts"


class Scripts:
    """Scripts of the custom actions. Without a bucket that holds them there are none.

    Nodes run them as root at each boot, and ParallelCluster verifies no checksum: jobs must not write to their bucket.

    Args:
        cluster: The cluster file.
        bucket: Bucket of the scripts, or None.
        notes: Notes, to which those of this class are added.

    Raises:
        ValueError: From the methods of head node and queue, if a script is in the data bucket.
    """

    def __init__(self, cluster: ClusterFile, bucket: str | None, notes: list[Note]) -> None:
        self._cluster = cluster
        self._existing = cluster.storage.existing_bucket
        self._bucket = bucket or (self._existing.name if self._existing else None)
        self._notes = notes
        self._noted: set[Path] = set()
        self.files: dict[str, str] = {}

    @property
    def prefix(self) -> str:
        """Prefix of the scripts in the bucket."""
        return f"parallelcluster/{self._cluster.name}/scripts"

    @property
    def url(self) -> str:
        """Address of the scripts in the bucket."""
        return f"s3://{self._bucket}/{self.prefix}/"

    def permissions(self, scripts: Sequence[Any] = ()) -> dict[str, Any]:
        """Return Iam of head node or queue: what its nodes read and write in S3."""
        rows: list[dict[str, Any]] = []
        if self._existing:
            rows.append({"BucketName": self._existing.name, "EnableWriteAccess": True})
        if self._bucket and not self._is_data(self._bucket):
            rows.append({"BucketName": self._bucket, "KeyName": f"{self.prefix}/*"})
        for script in scripts:
            if script.url and script.url.startswith("s3://"):
                bucket, _, key = script.url.removeprefix("s3://").partition("/")
                rows.append({"BucketName": bucket, "KeyName": key})
        return {"S3Access": rows} if rows else {}

    def of_head_node(self) -> dict[str, Any]:
        """Return CustomActions of the head node."""
        configured = []
        if self._cluster.slurm.health:
            configured += self._script("head-node.sh", _text("head-node.sh"), ("slurm", "health"))
        return _actions(self._start(), [*configured, *self._users()])

    def of_queue(self, group: NodeGroup) -> dict[str, Any]:
        """Return CustomActions of the queue of a node group."""
        configured = [*self._users()]
        if self._cluster.slurm.health:
            program, arguments = _health(group.instance_type)
            text = _text("health.sh").replace("HEALTH_CHECK\nEND", f"{program}END")
            configured += self._script("health.sh", text, ("slurm", "health"), arguments)
        for index, script in enumerate(self._cluster.nodes[group.section].scripts):
            configured += self._own(script, ("nodes", group.section, "scripts"), index)
        return _actions(self._start(), configured)

    def note_login_nodes(self) -> None:
        """Note that login nodes run no scripts: their pools have no S3Access."""
        slurm = self._cluster.slurm
        if not (slurm.login.scripts or slurm.users or (slurm.directory and slurm.directory.one.certificates)):
            return
        self._notes.append(
            Note(
                path=path_of(self._cluster, "slurm", "login", "scripts"),
                reason="pools of login nodes have no S3Access, so no script runs on them",
                fix=f"add a policy that reads {self.prefix}/* to LoginNodes.Pools[0].Iam.AdditionalIamPolicies, and "
                "the CustomActions of the head node to the pool",
            )
        )

    def _start(self) -> list[dict[str, Any]]:
        directory = self._cluster.slurm.directory
        if directory is None or directory.one.certificates is None:
            return []
        text = _text("directory-ca.sh").replace("CERTIFICATES\n", directory.one.certificates.rstrip("\n") + "\n", 1)
        return self._script("directory-ca.sh", text, ("slurm", "directory"))

    def _users(self) -> list[dict[str, Any]]:
        if not self._cluster.users:
            return []
        records = "".join(f"{user.record}\n" for user in self._cluster.users)
        text, home = _text("users.sh").replace("USERS\nEND", f"{records}END"), self._cluster.storage.home
        return self._script("users.sh", text, ("slurm", "users"), [home.mount] if home else [])

    def _own(self, section: Any, path: Path, index: int) -> list[dict[str, Any]]:
        script = node_script(section)
        losses = []
        if script.sha256 is not None:
            losses.append("verifies no checksum of it")
        if script.stage == "nodeReady":
            losses.append("runs it before slurmd starts")
        if script.on_error != "TERMINATE":
            losses.append("terminates the node if it fails")
        if script.every_boot:
            losses.append("runs it once, at the first boot")
        where = (*path, index)
        if losses and where not in self._noted:
            self._noted.add(where)
            self._notes.append(
                Note(
                    path=where,
                    reason=f"ParallelCluster {', '.join(losses)}",
                    fix="change the script so that it does what the key asked for",
                )
            )
        if script.url is not None:
            if self._is_data(script.url.removeprefix("s3://").partition("/")[0]):
                raise ValueError(
                    f"nodes run {script.url} as root, and jobs may write to this bucket, the data bucket; move the "
                    "script to a bucket that nodes only read"
                )
            return [_action(script.url, script.arguments)]
        name = f"{script.name.replace(' ', '-')}.sh".replace(".sh.sh", ".sh")
        return self._script(name, (script.content or b"").decode(), path, script.arguments)

    def _script(self, name: str, text: str, path: Path, arguments: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return the custom action of a file; none without a bucket."""
        if self._bucket is None:
            where = path_of(self._cluster, *map(str, path))
            if path not in self._noted:
                self._noted.add(path)
                self._notes.append(
                    Note(
                        path=where,
                        reason=f"custom actions are read from S3, and no bucket is known for {name}",
                        fix="pass --bucket with a bucket that nodes only read",
                    )
                )
            return []
        if self._is_data(self._bucket):
            raise ValueError(
                f"nodes run {name} as root, and jobs may write to the data bucket {self._bucket}; pass --bucket with "
                f"another one, which nodes only read. If a cluster has its scripts in {self.url}, upload them to the "
                "other bucket, run pcluster update-cluster, and then delete them here"
            )
        self.files[f"{FOLDER}/{name}"] = text
        return [_action(f"s3://{self._bucket}/{self.prefix}/{name}", arguments)]

    def _is_data(self, bucket: str) -> bool:
        """Return True for the data bucket of the file, to which head node and queues write."""
        return self._existing is not None and bucket == self._existing.name


def _action(url: str, arguments: Sequence[str]) -> dict[str, Any]:
    return {"Script": url, **({"Args": list(arguments)} if arguments else {})}


def _actions(start: list[dict[str, Any]], configured: list[dict[str, Any]]) -> dict[str, Any]:
    stages = {"OnNodeStart": start, "OnNodeConfigured": configured}
    return {stage: {"Sequence": actions} for stage, actions in stages.items() if actions}


def _health(record: InstanceType) -> tuple[str, list[str]]:
    """Return the program of the health check, and the names and values that it expects of a node."""
    # EFA on all cards, or on all but card 0: pcluster/templates/queues_stack.py of aws-parallelcluster 3.16.1 (read
    # 2026-11-23).
    cards = len(record.cards)
    devices = 0 if not record.supports_efa else cards if record.max_efa == cards else cards - 1
    files = {file.path: file.text for file in health_boot(record, efa_devices=devices).files}
    expected = [line.partition(" ") for line in files["/etc/ultracluster/health"].splitlines()]
    return files["/usr/local/sbin/ultracluster-health-check"], [
        word for name, _, text in expected for word in (name, text)
    ]


def _text(name: str) -> str:
    return resources.files(f"{__package__}.scripts").joinpath(name).read_text(encoding="utf-8")
