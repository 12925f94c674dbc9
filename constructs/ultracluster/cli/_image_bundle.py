"""`ultracluster image bundle`: the files that nodes install, into the bucket or a directory, before a deployment."""

import hashlib
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._aws import call, client
from ultracluster.cli._output import FileArgument, JsonOption, fail, load, misuse, print_json, print_table, table

if TYPE_CHECKING:
    from ultracluster.catalogue.ec2 import image_software
    from ultracluster.clusterfile import ClusterFile

_To = Annotated[
    str | None, typer.Option("--to", metavar="s3://BUCKET", help="Bucket of the cluster, which its nodes read.")
]
_Dir = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", help="Directory for the files, under the keys that the bucket has."),
]
_CHUNK = 1 << 20
_TIMEOUT_S = 30
# Statuses of HTTP.
_PARTIAL, _NOTHING_LEFT = 206, 416
_S3 = "s3://"
_PACKAGES = (
    "Packages of Ubuntu and NVIDIA are not files of this list: nodes install them from signed repositories. Nodes "
    "without internet access need an image that has them, or a mirror of these repositories."
)


def bundle(file: FileArgument, to: _To = None, directory: _Dir = None, json_: JsonOption = False) -> None:
    """Download and verify the files that nodes with AWS's image install, and put them where nodes read them.

    A second run continues: it skips what is there, and resumes a download that --dir has a part of.
    """
    cluster = load(file)
    if to is None and directory is None:
        misuse("name the bucket with --to s3://BUCKET, or a directory with --dir DIR, or both")
    if to is not None and (not to.startswith(_S3) or "/" in to.removeprefix(_S3).rstrip("/")):
        misuse(f"--to is a bucket, such as s3://my-bucket: nodes read fixed keys; got {to}")
    if not cluster.traits.installs_software:
        fail("nodes of Slurm install software; under Kubernetes it comes in containers")
    s3 = None if to is None else client("s3", cluster.region)
    bucket = (to or "").removeprefix(_S3).rstrip("/")
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as temporary:
        for item in needed(cluster):
            try:
                state = _put(item, directory or Path(temporary), s3, bucket)
            except (OSError, ValueError) as error:
                state, failed = f"failed: {error}", True
            rows.append({"name": item.name, "version": item.version, "file": item.file, "state": state})
    if json_:
        print_json({"file": file, "files": rows})
    elif rows:
        shown = table("Software", "name", "version", "file", "state")
        for row in rows:
            shown.add_row(*row.values())
        print_table(shown, wraps=False)
        typer.echo(_PACKAGES)
    else:
        typer.echo(f"{file}: no nodes have AWS's image, so none installs software")
    raise typer.Exit(1 if failed else 0)


def needed(cluster: "ClusterFile") -> Iterator["image_software.Artefact"]:
    """Return the files that the nodes of a cluster install, each once."""
    from ultracluster.catalogue.ec2 import image_software

    architectures = {
        group.instance_type.architecture for group in cluster.node_groups if group.image_option == "aws"
    } | ({cluster.service_type.architecture} if cluster.login_image == "aws" else set())
    return (item for item in image_software.ARTEFACTS if architectures and item.architecture in (None, *architectures))


def _put(item: "image_software.Artefact", directory: Path, s3: Any, bucket: str) -> str:
    """Put a file where it lacks, and return what was done."""
    if s3 is not None and call(s3.head_object, "404 403", Bucket=bucket, Key=item.key) is not None:
        return "there"
    state = "downloaded" if _fetch(item, directory / item.key) else "there"
    return "uploaded" if s3 is not None and _upload(s3, bucket, item, directory / item.key) else state


def _fetch(item: "image_software.Artefact", path: Path) -> bool:
    """Download a file and verify it. Return False if it is there already.

    Raises:
        OSError: If it cannot be downloaded.
        ValueError: If it has another checksum.
    """
    if path.exists() and _checksum(path) == item.sha256:
        return False
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    from rich.console import Console
    from rich.progress import wrap_file

    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(item.url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            length = int(answer.headers.get("Content-Length") or 0)
            # A server that ignores the range sends all of it.
            with (
                part.open("ab" if answer.status == _PARTIAL else "wb") as out,
                wrap_file(answer, length, description=item.file, console=Console(stderr=True)) as read,
            ):
                shutil.copyfileobj(read, out, _CHUNK)
    except urllib.error.HTTPError as error:
        # The part has everything already.
        if error.code != _NOTHING_LEFT:
            raise
    checksum = _checksum(part)
    if checksum != item.sha256:
        part.unlink()
        raise ValueError(f"{item.url} has the checksum {checksum}, and {item.sha256} is pinned; it is not used")
    part.replace(path)
    return True


def _checksum(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _upload(s3: Any, bucket: str, item: "image_software.Artefact", path: Path) -> bool:
    """Upload a file. Return False if its key exists: a node was first."""
    with path.open("rb") as body:
        request = {"Bucket": bucket, "Key": item.key, "Body": body, "IfNoneMatch": "*"}
        return call(s3.put_object, "PreconditionFailed", **request) is not None
