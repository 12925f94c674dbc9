"""Path to the API server: tokens, kubeconfig, outputs of stacks, and the executables."""

import base64
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from support import ROOT
from ultracluster.cli import app
from ultracluster.platform import ApplyError, Target, find_tools
from ultracluster.platform import _connect as connect
from ultracluster.platform import _stacks as stacks

TARGET = Target(cluster="llama", region="us-east-2", role="arn:aws:iam::123456789012:role/platform")


def test_a_token_is_a_signed_request_that_names_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    credential = json.loads(connect.token(Target(cluster="llama", region="us-east-2")))
    prefix, _, encoded = credential["status"]["token"].partition(".")
    url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    query = parse_qs(url.query)
    assert (prefix, url.hostname) == ("k8s-aws-v1", "sts.us-east-2.amazonaws.com")
    assert query["Action"] == ["GetCallerIdentity"]
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]
    assert credential["kind"] == "ExecCredential"


def test_kubectl_reads_the_kubeconfig_and_calls_this_package_for_the_token(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    described = {"certificateAuthority": {"data": "LS0t"}}
    connect.write_kubeconfig(file, described, TARGET, server="https://127.0.0.1:1", tls_server_name="abc.eks.example")
    assert file.stat().st_mode & 0o077 == 0
    tools = find_tools(file)
    read = json.loads(tools.run("kubectl", "config", "view", "--raw", "--output=json"))
    cluster, user = read["clusters"][0]["cluster"], read["users"][0]["user"]["exec"]
    assert cluster == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": "LS0t",
        "tls-server-name": "abc.eks.example",
    }
    assert user["args"][:3] == ["-m", "ultracluster.platform", "token"]
    assert user["args"][-2:] == ["--role", TARGET.role]


def test_kubectl_and_helm_come_with_the_package(tmp_path: Path) -> None:
    tools = find_tools(tmp_path / "none")
    assert "v1.35.2" in tools.run("kubectl", "version", "--client")
    assert tools.run("helm", "version", "--short").startswith("v4.")


def test_the_engine_starts_with_its_own_files_alone(tmp_path: Path) -> None:
    source, target = ROOT / "constructs" / "ultracluster", tmp_path / "ultracluster"
    target.mkdir()
    shutil.copy(source / "__init__.py", target)
    for package in ("platform", "rules"):
        shutil.copytree(source / package, target / package)
    command = [sys.executable, "-S", "-m", "ultracluster.platform", "apply", "--bundle", str(tmp_path)]
    env = {"PYTHONPATH": str(tmp_path), "KUBECONFIG": "none"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, "remedy: render the bundle again" in done.stderr) == (1, True), done.stderr


class Pages:
    def __init__(self, stacks: list[dict[str, Any]]) -> None:
        self.stacks = stacks

    def client(self, service: str) -> "Pages":
        return self

    def get_paginator(self, operation: str) -> "Pages":
        return self

    def paginate(self) -> list[dict[str, Any]]:
        return [{"Stacks": self.stacks}]


def test_outputs_are_those_of_the_stacks_of_the_cluster_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def stack(name: str, value: str, cluster: str = "llama", key: str = "FileSystemId") -> dict[str, Any]:
        described = f"Storage of the cluster {cluster}"
        return {"StackName": name, "Description": described, "Outputs": [{"OutputKey": key, "OutputValue": value}]}

    def outputs(*others: dict[str, Any], names: tuple[str, ...] = ()) -> dict[str, str]:
        every = [stack("llama-two-Storage", "fs-2", "llama-two"), stack("other", "fs-3"), *others]
        # By name, somebody else's.
        every.append(stack("llama-Storage", "fs-4", "alpaca"))
        monkeypatch.setattr(stacks, "aws_session", lambda region: Pages(every))
        return stacks.stack_outputs("llama", "us-east-2", names)

    assert outputs(stack("llama-Compute-2", "fs-1")) == {"FileSystemId": "fs-1"}
    # Of a Stage.
    assert outputs(stack("Prod-llama-Storage", "fs-1")) == {"FileSystemId": "fs-1"}
    # `UltraCluster`, in a stack of its name and of another.
    research = stack("Research", "fs-5", "none", "EksOutputsFileSystemId58026AAE")
    assert outputs(research, names=("Research", "new")) == {"FileSystemId": "fs-5"}
    assert outputs({**research, "StackName": "llama"}) == {"FileSystemId": "fs-5"}
    with pytest.raises(ApplyError, match="there is no stack llama or llama-Network"):
        outputs(research)
    two = stack("Research", "fs-5", "none", "TwoOutputsFileSystemId58026AAF")
    for several in (stack("Dev-llama-Storage", "fs-6"), {**research, "Outputs": research["Outputs"] + two["Outputs"]}):
        names = () if several["StackName"] == "Dev-llama-Storage" else ("Research",)
        with pytest.raises(ApplyError, match="of several clusters called llama"):
            outputs(stack("Prod-llama-Storage", "fs-1"), several, names=names)


def test_outputs_of_a_file_are_those_of_the_stacks_of_the_cluster_alone() -> None:
    def outputs(*chosen: str, names: tuple[str, ...] = ()) -> dict[str, str]:
        every = {
            "llama-Storage": {"FileSystemId": "fs-1", "ExportsOutputRefLog1": "x"},
            "llama-Cluster": {"ClusterName": "llama", "ExportsOutputRefLog1": "y"},
            "Prod-llama-Storage": {"FileSystemId": "fs-2"},
            "Dev-llama-Storage": {"FileSystemId": "fs-3"},
            "llama-two-Storage": {"FileSystemId": "fs-4"},
            "Research": {"OneOutputsFileSystemId58026AAE": "fs-5"},
            "Further": {"TwoOutputsFileSystemId58026AAF": "fs-6"},
            "other": {"FileSystemId": "fs-7"},
        }
        return stacks.file_outputs("llama", {name: every[name] for name in chosen or every}, names)

    assert outputs() == {"FileSystemId": "fs-1", "ClusterName": "llama"}
    assert outputs("Prod-llama-Storage", "llama-two-Storage", "Research") == {"FileSystemId": "fs-2"}
    assert outputs("Research", "llama-two-Storage", "other") == {"FileSystemId": "fs-5"}
    assert outputs(names=("Further", "new")) == {"FileSystemId": "fs-6"}
    for chosen in (("Prod-llama-Storage", "Dev-llama-Storage"), ("Research", "Further")):
        with pytest.raises(ValueError, match="are of several clusters: FileSystemId has more than one value"):
            outputs(*chosen)
    for names in ((), ("new",)):
        with pytest.raises(ValueError, match="only llama-two-Storage, other"):
            outputs("llama-two-Storage", "other", names=names)


class Refusing:
    """Session Manager without a permission."""

    def client(self, service: str) -> "Refusing":
        return self

    def start_session(self, **request: Any) -> None:
        error = {"Code": "AccessDeniedException", "Message": "not authorized to perform: ssm:StartSession"}
        raise ClientError({"Error": error}, "StartSession")


def test_a_tunnel_needs_the_permission() -> None:
    refused = pytest.raises(ApplyError, match="not authorized to perform: ssm:StartSession")
    with refused as error, connect._tunnel(*TUNNEL):
        pass
    assert (error.value.phase, error.value.subject) == ("connect", "tunnel through i-1")
    assert "allow ssm:StartSession on the instance and on the document" in error.value.remedy


TUNNEL = (Refusing(), "us-east-2", "i-1", "abc.eks.example")


class Cluster:
    """EKS, and Session Manager whose plug-in a program stands for."""

    meta = SimpleNamespace(endpoint_url="https://ssm.us-east-2.amazonaws.com")

    def client(self, service: str) -> "Cluster":
        return self

    def describe_cluster(self, name: str) -> dict[str, Any]:
        endpoint = "https://abc.eks.invalid"
        return {"cluster": {"name": name, "endpoint": endpoint, "certificateAuthority": {"data": "LS0t"}}}

    def start_session(self, **request: Any) -> dict[str, str]:
        return {"SessionId": "s-1", "StreamUrl": "wss://x", "TokenValue": "t"}

    def terminate_session(self, **request: Any) -> None:
        pass


# It listens on the port of the request, as AWS's plug-in does, and ends as an idle session does.
PLUGIN = """#!{python}
import json, socket, sys
if sys.argv[1] == "--version":
    sys.exit(print("{version}"))
port = int(json.loads(sys.argv[5])["Parameters"]["localPortNumber"][0])
with socket.create_server(("127.0.0.1", port)) as server:
    server.accept()[0].close()
"""


@pytest.mark.parametrize("version", ["1.2.707.0", ""])
def test_a_plug_in_that_session_manager_does_not_support_is_not_used(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "session-manager-plugin"
    plugin.write_text(PLUGIN.format(python=sys.executable, version=version))
    plugin.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert connect._plugin() is None


def test_a_kubeconfig_lasts_and_its_command_keeps_the_tunnel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = tmp_path / "session-manager-plugin"
    plugin.write_text(PLUGIN.format(python=sys.executable, version="1.2.896.0"))
    plugin.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(connect, "aws_session", lambda region: Cluster())
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = str(ROOT / "examples" / "eks-minimal.yaml")
    options = ["--role", str(TARGET.role), "--through", "i-1", "--port", str(port)]
    done = CliRunner().invoke(app, ["kubeconfig", file, *options])
    assert (done.exit_code, "the tunnel has ended, as an idle session does" in done.output) == (1, True), done.output
    assert f"export KUBECONFIG={tmp_path}/kubeconfig" in done.output
    written = json.loads((tmp_path / "kubeconfig").read_text())
    assert written["clusters"][0]["cluster"]["server"] == f"https://127.0.0.1:{port}"
    assert written["clusters"][0]["cluster"]["tls-server-name"] == "abc.eks.invalid"
    assert written["users"][0]["user"]["exec"]["args"][-2:] == ["--role", TARGET.role]
    with socket.create_server(("127.0.0.1", port)):
        done = CliRunner().invoke(app, ["kubeconfig", file, *options])
    assert f"connect: port {port}: Address already in use" in done.output
    (tmp_path / "kubeconfig").write_text("current-context: another\n")
    done = CliRunner().invoke(app, ["kubeconfig", file, *options])
    assert (done.exit_code, (tmp_path / "kubeconfig").read_text()) == (2, "current-context: another\n")
    slurm = CliRunner().invoke(app, ["kubeconfig", str(ROOT / "examples" / "slurm-minimal.yaml")])
    assert "kubeconfig is for orchestrator: kubernetes" in slurm.output


def test_a_kubeconfig_without_credentials_is_an_error_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    out = tmp_path / "kubeconfig"
    done = CliRunner().invoke(app, ["kubeconfig", str(ROOT / "examples" / "eks-minimal.yaml"), "--out", str(out)])
    assert (done.exit_code, out.exists()) == (3, False)
    assert "error: connect: AWS: Unable to locate credentials\n  remedy: check the credentials" in done.output
