"""`ultracluster image`: the plan of a build, and what AWS's APIs answer about images, through botocore's own models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber
from typer.testing import CliRunner

from support import ROOT, TERMINAL
from support.clusterfile_data import GOOD, bent
from ultracluster import clusterfile
from ultracluster.cli import _image, app
from ultracluster.cli._image_pin import pins, uses

BUILT = ROOT / "examples" / "slurm-built-image.yaml"
OLD, NEW = "ami-0aaaaaaaaaaaaaaaa", "ami-0bbbbbbbbbbbbbbbb"
ARN = "arn:aws:imagebuilder:us-east-2:123456789012:image/forge/1.0.0/1"
NOT_FOUND = "ResourceNotFoundException"

Stubs = dict[str, Stubber]


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Stubs:
    """Clients with given answers, which refuse a request or an answer that is not of AWS's model."""
    session, result = botocore.session.get_session(), {}
    for name in ("cloudformation", "eks", "imagebuilder", "pcs", "ssm"):
        client = session.create_client(name, "us-east-2", aws_access_key_id="x", aws_secret_access_key="x")
        result[name] = Stubber(client)
        result[name].activate()
    monkeypatch.setattr(_image, "client", lambda service, region: result[service].client)
    return result


def node_group(stubs: Stubs, cluster: str, name: str, ami: str | None) -> None:
    """Answer for a node group: its image, or that there is none."""
    request = {"clusterIdentifier": cluster, "computeNodeGroupIdentifier": name}
    if ami is None:
        stubs["pcs"].add_client_error("get_compute_node_group", NOT_FOUND, expected_params=request)
        return
    group = {
        **{"name": name, "id": "pcs_1", "arn": "arn:aws:pcs:us-east-2:123456789012:cluster/x", "clusterId": "pcs_2"},
        **{
            "status": "ACTIVE",
            "createdAt": 0,
            "modifiedAt": 0,
            "subnetIds": ["subnet-1"],
            "iamInstanceProfileArn": "x",
        },
        **{
            "customLaunchTemplate": {"id": "lt-1", "version": "1"},
            "scalingConfiguration": _SCALING,
            "instanceConfigs": [],
        },
        "amiId": ami,
    }
    stubs["pcs"].add_response("get_compute_node_group", {"computeNodeGroup": group}, request)


_SCALING = {"minInstanceCount": 0, "maxInstanceCount": 1}


def parameter(stubs: Stubs, name: str, value: str | None) -> None:
    if value is None:
        stubs["ssm"].add_client_error("get_parameter", "ParameterNotFound", expected_params={"Name": name})
    else:
        stubs["ssm"].add_response("get_parameter", {"Parameter": {"Name": name, "Value": value}}, {"Name": name})


def images_stack(stubs: Stubs, *names: str) -> None:
    rows = [
        {"StackName": name, "Description": "Images of the cluster forge", "CreationTime": 0, "StackStatus": _COMPLETE}
        for name in names
    ]
    stubs["cloudformation"].add_response("describe_stacks", {"Stacks": rows}, {})


_COMPLETE = "CREATE_COMPLETE"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["image", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_plans_each_architecture_before_a_build() -> None:
    images = json.loads(run("plan", str(BUILT), "--json"))["images"]
    assert [(image["architecture"], image["nodes"]) for image in images] == [
        ("arm64", ["prepare"]),
        ("x86_64", ["train", "login"]),
    ]
    for image in images:
        assert image["parent"].startswith(f"/aws/service/deeplearning/ami/{image['architecture']}/")
        assert image["driver_floor"] == "580"
        assert {"EFA", "Enroot", "Pyxis", "Prometheus"} <= {item["name"].title() for item in image["software"]} | {
            "EFA"
        }
        assert "no GPU" in image["not_run"]["metrics of dcgm-exporter"]
        assert all(item["proof"] for item in image["software"] if item["source"] != "the parent")
    printed = run("plan", str(BUILT))
    narrow = CliRunner().invoke(app, ["image", "plan", str(BUILT)], env=TERMINAL).output
    assert narrow.split() == [word for word in printed.split() if word.strip("─")]
    assert "at least 30 min" in printed
    assert "$0.71 for two c7i.4xlarge" in printed
    assert printed.count("Not run there:") == 1


def test_names_the_key_of_a_file_that_builds_nothing() -> None:
    assert "builds no image; write image: build" in run("plan", str(ROOT / "examples" / "slurm-512-gpus.yaml"))


def test_refuses_kubernetes() -> None:
    result = CliRunner().invoke(app, ["image", "plan", str(ROOT / "examples" / "eks-minimal.yaml")])
    assert result.exit_code == 1
    assert "under Kubernetes EKS chooses the image" in result.output


def test_shows_a_failed_build_with_its_reason(stubs: Stubs) -> None:
    resource = {
        **{
            "LogicalResourceId": "NodesX86Image1",
            "ResourceType": "AWS::ImageBuilder::Image",
            "PhysicalResourceId": ARN,
        },
        **{"ResourceStatus": "CREATE_FAILED", "LastUpdatedTimestamp": 0},
    }
    images_stack(stubs, "Prod-forge-Images")
    stubs["cloudformation"].add_response(
        "list_stack_resources", {"StackResourceSummaries": [resource]}, {"StackName": "Prod-forge-Images"}
    )
    state = {"status": "FAILED", "reason": "SSM execution failed: Check"}
    image = {"arn": ARN, "name": "forge-x86", "state": state, "outputResources": {"amis": []}}
    stubs["imagebuilder"].add_response("get_image", {"image": image}, {"imageBuildVersionArn": ARN})
    parameter(stubs, "/ultracluster/forge/images/arm64", NEW)
    parameter(stubs, "/ultracluster/forge/images/x86_64", None)
    for name in ("login", "train", "prepare"):
        node_group(stubs, "forge", name, None if name == "train" else OLD)
    printed = run("status", str(BUILT), "--json")
    shown = json.loads(printed)
    assert shown["stacks"] == ["Prod-forge-Images"]
    assert shown["builds"] == [{"name": "forge-x86", "state": "FAILED", "ami": None, "reason": state["reason"]}]
    assert shown["parameters"] == {"arm64": NEW, "x86_64": None}
    assert shown["node_groups"] == {"login": OLD, "train": None, "prepare": OLD}


def test_reports_that_the_stack_of_the_images_is_not_deployed(stubs: Stubs) -> None:
    images_stack(stubs)
    for architecture in ("arm64", "x86_64"):
        parameter(stubs, f"/ultracluster/forge/images/{architecture}", None)
    for name in ("login", "train", "prepare"):
        node_group(stubs, "forge", name, None)
    assert "no stack forge-Images is deployed in us-east-2" in run("status", str(BUILT))


def test_pins_what_nodes_run_and_not_what_is_newest(stubs: Stubs, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(f"# The main cluster.\n{GOOD}")
    node_group(stubs, "llama", "train", OLD)
    node_group(stubs, "llama", "login", OLD)
    assert run("pin", str(file)) == f"image: {OLD}\n"
    assert file.read_text() == f"# The main cluster.\n{bent('nodes:', f'image: {OLD}{chr(10)}nodes:')}"
    assert uses(clusterfile.load(file)) == []
    assert run("pin", str(file)) == f"{file}: every image is pinned already\n"


def test_pins_the_newest_image_of_nodes_that_are_not_deployed(stubs: Stubs, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(BUILT.read_text())
    for name in ("train", "prepare", "login"):
        node_group(stubs, "forge", name, None)
        architecture = "arm64" if name == "prepare" else "x86_64"
        parameter(stubs, f"/ultracluster/forge/images/{architecture}", NEW if name == "prepare" else OLD)
    printed = run("pin", str(file))
    assert f"nodes.prepare.image: {NEW}" in printed
    assert f"Key=ultracluster:keep,Value=true --resources {OLD} {NEW}" in printed
    cluster = clusterfile.load(file)
    assert {group.name: group.image and group.image.id for group in cluster.node_groups} == {
        "train": OLD,
        "prepare": NEW,
    }
    assert uses(cluster) == []
    changed = [line for line in file.read_text().splitlines() if line not in BUILT.read_text().splitlines()]
    assert len(changed) == 5


def test_does_not_pin_an_image_that_is_not_built(stubs: Stubs, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(BUILT.read_text())
    node_group(stubs, "forge", "train", None)
    parameter(stubs, "/ultracluster/forge/images/x86_64", None)
    result = CliRunner().invoke(app, ["image", "pin", str(file)])
    assert result.exit_code == 1
    assert "train: no image is built yet; deploy forge-Images" in result.output
    assert file.read_text() == BUILT.read_text()


def test_an_error_of_aws_is_printed_without_a_traceback(stubs: Stubs) -> None:
    stubs["pcs"].add_client_error("get_compute_node_group", "AccessDeniedException", "no permission")
    result = CliRunner().invoke(app, ["image", "pin", str(BUILT)])
    assert result.exit_code == 3
    assert "AccessDeniedException" in result.output


def test_refuses_several_images_of_one_section() -> None:
    blocks = "{reservations: [cr-0aaaaaaaaaaaaaaaa, cr-0bbbbbbbbbbbbbbbb], kind: capacity-block}"
    text = bent("capacity: cr-0123456789abcdef0", f"capacity: {blocks}, image: aws")
    cluster = clusterfile.loads(text, "c.yaml")
    several = {use: ami for use, ami in zip(uses(cluster), (OLD, NEW, NEW), strict=True)}
    with pytest.raises(ValueError, match=rf"nodes\.train: its node groups have {OLD} and {NEW}"):
        pins(several)


def test_without_boto3_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    plain: Callable[..., Any] = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "boto3":
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    result = CliRunner().invoke(app, ["image", "status", str(BUILT)])
    assert result.exit_code == 2
    assert "pip install 'cdk-ultracluster[live]'" in result.output


PARAMETER = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/{}/recommended/release_version"
EKS_FILE = """\
# Two groups.
name: llama
region: us-east-2
zone: use2-az1
orchestrator: kubernetes
kubernetes: {version: "1.35", admins: ["arn:aws:iam::123456789012:role/admin"]}
nodes:
  train: {type: p5.48xlarge, count: 2}  # deployed
  cpu: {type: c7i.large, count: 2}
"""


OLD_RELEASE, NEW_RELEASE = "1.35.0-20261101", "1.35.0-20261115"


@pytest.mark.parametrize(
    ("newest", "system"),
    [(OLD_RELEASE, OLD_RELEASE), (OLD_RELEASE, None), (NEW_RELEASE, OLD_RELEASE), (OLD_RELEASE, NEW_RELEASE)],
)
def test_pin_writes_the_releases_of_eks(stubs: Stubs, tmp_path: Path, newest: str, system: str | None) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(EKS_FILE)
    group = {"nodegroupName": "train", "clusterName": "llama", "releaseVersion": "1.35.0-20261101"}
    request = {"clusterName": "llama", "nodegroupName": "train"}
    stubs["eks"].add_response("describe_nodegroup", {"nodegroup": group}, request)
    request = {"clusterName": "llama", "nodegroupName": "cpu"}
    stubs["eks"].add_client_error("describe_nodegroup", NOT_FOUND, expected_params=request)
    parameter(stubs, PARAMETER.format("standard"), newest)
    request = {"clusterName": "llama", "nodegroupName": "system"}
    if system is None:
        stubs["eks"].add_client_error("describe_nodegroup", NOT_FOUND, expected_params=request)
    else:
        group = {"nodegroupName": "system", "clusterName": "llama", "releaseVersion": system}
        stubs["eks"].add_response("describe_nodegroup", {"nodegroup": group}, request)
    output = run("pin", str(file))
    cluster = clusterfile.load(file)
    same = {newest, system} <= {OLD_RELEASE, None}
    assert cluster.kubernetes.release == ("1.35.0-20261101" if same else None)
    assert cluster.nodes["cpu"].release == (None if same else newest)
    assert ("kubernetes.release: 1.35.0-20261101" in output) == same
    assert "# deployed" in file.read_text()
    assert "every image is pinned already" in run("pin", str(file))


def test_pin_names_a_version_without_an_image(stubs: Stubs, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(EKS_FILE.replace("  cpu: {type: c7i.large, count: 2}\n", ""))
    request = {"clusterName": "llama", "nodegroupName": "train"}
    stubs["eks"].add_client_error("describe_nodegroup", NOT_FOUND, expected_params=request)
    parameter(stubs, PARAMETER.format("nvidia"), None)
    result = CliRunner().invoke(app, ["image", "pin", str(file)])
    assert (result.exit_code, "AWS has no image for Kubernetes 1.35" in result.output) == (1, True), result.output
    assert "release" not in file.read_text()
