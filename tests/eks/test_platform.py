"""Platform of a cluster file: the archive that the admin host gets, and the values of its bundle."""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from support import EXAMPLES, ROOT
from support.templates import synth, templates
from ultracluster import clusterfile
from ultracluster.eks import KubernetesPlatform

INSTALLED = [file for file in EXAMPLES if KubernetesPlatform.needed(clusterfile.load(file))]


def bundle_of(directory: Path) -> tarfile.TarFile:
    """Return what the platform applies. Under HyperPod the charts that come before its cluster are a bundle too."""
    archives = [path for path in directory.glob("asset.*.tar") if b"bundle/bundle.json" in path.read_bytes()]
    return tarfile.open(fileobj=io.BytesIO(max(archives, key=lambda path: path.stat().st_size).read_bytes()))


def parameters(template: dict[str, Any]) -> dict[str, Any]:
    (association,) = (
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::SSM::Association"
    )
    result: dict[str, Any] = association["Parameters"]
    return result


@pytest.fixture(scope="module")
def archive() -> tarfile.TarFile:
    return bundle_of(synth(clusterfile.load(ROOT / "examples" / "eks-minimal.yaml")).directory)


def test_the_engine_runs_on_a_host_that_has_python_alone(archive: tarfile.TarFile, tmp_path: Path) -> None:
    archive.extractall(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import runpy; sys.argv[1:] = ['apply', '--help']; "
    code += "runpy.run_module('ultracluster.platform', run_name='__main__')"
    # -S: no site-packages. -I: no variables of the environment.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"--bundle", "--values", "--kubeconfig"} <= set(done.stdout.split())


def test_the_bundle_holds_placeholders_and_no_word_of_a_missing_deployment(archive: tarfile.TarFile) -> None:
    member = archive.extractfile("bundle/bundle.json")
    assert member is not None
    text = member.read().decode()
    assert "${FileSystemId}" in text
    assert "not-deployed" not in text


@pytest.mark.parametrize("file", INSTALLED, ids=lambda path: path.stem)
def test_every_placeholder_has_a_value(file: Path) -> None:
    cluster = clusterfile.load(file)
    template = templates(cluster)[f"{cluster.name}-Platform"]
    (value,) = parameters(template)["values"]
    joined = value["Fn::Base64"]["Fn::Join"][1]
    names = json.loads("".join(part if isinstance(part, str) else "x" for part in joined))
    member = bundle_of(synth(cluster).directory).extractfile("bundle/bundle.json")
    assert member is not None
    assert set(json.loads(member.read())["parameters"]) == set(names)


def test_the_platform_waits_for_nodes_and_add_ons() -> None:
    assembly = synth(clusterfile.load(ROOT / "examples" / "eks-minimal.yaml"))
    stack = assembly.get_stack_by_name("tiny-Platform")
    needed = {*stack.dependencies}
    assert {"tiny-Compute", "tiny-Cluster", "tiny-Network"} <= needed


def test_new_clusters_have_a_platform() -> None:
    assert {file.stem for file in EXAMPLES if file.stem.startswith("eks")} - {file.stem for file in INSTALLED} == {
        "eks-own-cluster"
    }
    assert not [file for file in INSTALLED if file.stem.startswith("slurm")]


def test_no_platform_where_ultracluster_apply_installs_it() -> None:
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text().replace("{admins:", "{platform: none, admins:")
    assert "tiny-Platform" not in templates(clusterfile.loads(text, "c.yaml"))


def test_the_host_mounts_lustre_without_efa() -> None:
    template = templates(clusterfile.load(ROOT / "examples" / "eks-512-gpus.yaml"))["orca-Platform"]
    (host,) = (
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::Instance"
    )
    text = json.dumps(host["UserData"])
    assert "/fsx" in text
    assert "dnf install --assumeyes lustre-client" in text
    assert "lustre-efa" not in text
    assert "export DIRECTORIES='/fsx:/'" in json.dumps(template)


def test_a_private_host_reaches_the_registry_and_signals_the_result() -> None:
    private = templates(clusterfile.load(ROOT / "examples" / "eks-private.yaml"))
    (role,) = (
        resource["Properties"]
        for resource in private["vault-Platform"]["Resources"].values()
        if resource["Type"] == "AWS::IAM::Role"
    )
    assert "AmazonEC2ContainerRegistryPullOnly" in json.dumps(role["ManagedPolicyArns"])
    rows = {
        row.get("Sid"): row
        for resource in private["vault-Network"]["Resources"].values()
        if resource["Type"] == "AWS::EC2::VPCEndpoint"
        for row in resource["Properties"].get("PolicyDocument", {}).get("Statement", ())
    }
    assert rows["Signals"]["Action"] == "s3:PutObject"
    assert (
        rows["Signals"]["Resource"]
        == "arn:aws:s3:::cloudformation-waitcondition-us-east-2/arn:aws:cloudformation:us-east-2:123456789012:stack/*"
    )
    services = json.dumps(private["vault-Network"]["Resources"])
    # What the host calls: its script, its agent, helm, and kubectl's token.
    for service in ("ecr.api", "ecr.dkr", "eks", "ssm", "ssmmessages", "sts", "s3"):
        assert f'".{service}"' in services or f".{service}" in services, service


def test_only_a_pipeline_imports_the_modules_of_the_cdk_for_pipelines() -> None:
    code = "import sys, ultracluster.eks; print({'aws_cdk.aws_codebuild', 'aws_cdk.aws_codepipeline'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
