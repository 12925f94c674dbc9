"""`ultracluster image bundle` against a local server, and S3 through botocore's own model."""

import json
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import pytest
from botocore.stub import ANY, Stubber
from typer.testing import CliRunner

from support.clusterfile_data import GOOD, bent
from support.root_file_system import Server
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.cli import _image_bundle, app

RUN = CliRunner()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Publishers of all files, each with a content of its own."""
    created = Server()
    served = []
    for item in software.ARTEFACTS:
        url, sha256 = created.put(f"/{item.name}-{item.architecture}/{item.file}", f"{item}".encode() * 1000)
        served.append(item._replace(url=url, sha256=sha256))
    monkeypatch.setattr(software, "ARTEFACTS", tuple(served))
    yield created
    created.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    created = tmp_path / "cluster.yaml"
    created.write_text(GOOD)
    return created


def states(file: Path, *arguments: str, code: int = 0) -> dict[str, str]:
    done = RUN.invoke(app, ["image", "bundle", str(file), *arguments, "--json"])
    assert done.exit_code == code, done.output
    return {row["name"]: row["state"] for row in json.loads(done.stdout)["files"]}


def test_a_directory_gets_every_file_under_the_key_of_the_bucket_once(
    file: Path, server: Server, tmp_path: Path
) -> None:
    first = states(file, "--dir", str(tmp_path / "files"))
    assert set(first) == {item.name for item in software.artefacts("x86_64")}
    assert set(first.values()) == {"downloaded"}
    for item in software.artefacts("x86_64"):
        assert (tmp_path / "files" / item.key).is_file()
    requests = len(server.requests)
    assert set(states(file, "--dir", str(tmp_path / "files")).values()) == {"there"}
    assert len(server.requests) == requests


def test_resumes_a_part_and_refuses_what_has_another_checksum(file: Path, server: Server, tmp_path: Path) -> None:
    for item in software.ARTEFACTS:
        path = tmp_path / item.key
        path.parent.mkdir(parents=True)
        whole = server.files[item.url.removeprefix(server.url)]
        part = {"enroot": whole[:100], "pyxis": whole, "prometheus": b"x" * 50}.get(item.name, b"")
        path.with_name(f"{path.name}.part").write_bytes(part)
    shown = states(file, "--dir", str(tmp_path), code=1)
    failed = shown.pop("prometheus")
    assert set(shown.values()) == {"downloaded"}
    assert failed.startswith("failed: http")
    assert failed.endswith("is pinned; it is not used")
    # The bad part is gone, so that the next run starts from the beginning.
    assert states(file, "--dir", str(tmp_path))["prometheus"] == "downloaded"


def test_a_bucket_gets_what_it_lacks(
    file: Path, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    s3 = botocore.session.get_session().create_client("s3", "us-east-2", **keys)
    monkeypatch.setattr(_image_bundle, "client", lambda service, region: s3)
    with Stubber(s3) as stub:
        for item in software.artefacts("x86_64"):
            where = {"Bucket": "data", "Key": item.key}
            if item.name == "enroot":
                stub.add_response("head_object", {"ContentLength": 1}, where)
                continue
            stub.add_client_error("head_object", "404", http_status_code=404, expected_params=where)
            request = {**where, "Body": ANY, "IfNoneMatch": "*"}
            if item.name == "pyxis":
                stub.add_client_error("put_object", "PreconditionFailed", expected_params=request)
            else:
                stub.add_response("put_object", {}, request)
        shown = states(file, "--to", "s3://data/")
        stub.assert_no_pending_responses()
    assert (shown.pop("enroot"), shown.pop("pyxis")) == ("there", "downloaded")
    assert set(shown.values()) == {"uploaded"}


def test_a_table_names_what_is_not_a_file(file: Path, server: Server, tmp_path: Path) -> None:
    done = RUN.invoke(app, ["image", "bundle", str(file), "--dir", str(tmp_path)])
    assert "Packages of Ubuntu and NVIDIA are not files of this list" in done.stdout


def test_nodes_with_images_of_their_own_need_nothing() -> None:
    text = bent("count: 64", "count: 64, image: ami-0123456789abcdef0")
    needed = _image_bundle.needed(clusterfile.loads(text, "c.yaml"))
    assert {item.architecture for item in needed} == {None, "x86_64"}, "login nodes have AWS's image"
    text += "slurm: {login: {image: ami-0123456789abcdef0}}\n"
    assert list(_image_bundle.needed(clusterfile.loads(text, "c.yaml"))) == []


@pytest.mark.parametrize("arguments", [[], ["--to", "data"], ["--to", "s3://data/prefix"]])
def test_rejects_wrong_usage(file: Path, arguments: list[str]) -> None:
    assert RUN.invoke(app, ["image", "bundle", str(file), *arguments]).exit_code == 2
