"""`ultracluster render --kubernetes`: files that need no cluster, from the examples."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from typer.testing import CliRunner

from support import EXAMPLES, ROOT
from support.kubernetes_schemas import validate
from support.kubernetes_shapes import RECORD, is_core, shape
from ultracluster import clusterfile, workloads
from ultracluster.cli import app
from ultracluster.cli._copies import manifest_chart
from ultracluster.kubernetes import platform, platform_of
from ultracluster.stacks import main

KUBERNETES = [file for file in EXAMPLES if "orchestrator: kubernetes" in file.read_text()]
FILE = ROOT / "examples" / "eks-512-gpus.yaml"
CHECKED = json.loads(RECORD.read_text())
OUTPUTS = {
    "orca-Storage": {
        "FileSystemId": "fs-0123456789abcdef0",
        "MountCommand": "sudo mount -t lustre -o noatime,flock fs-0123.fsx.us-east-2.amazonaws.com@tcp:/abcdefgh /fsx",
        "DataBucketName": "orca-data",
    },
    "orca-Network": {},
    "orca-Observability": {
        "RemoteWriteUrl": "https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-0/api/v1/remote_write"
    },
}


def render(file: Path, out: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["render", str(file), "--out", str(out), *options])
    return done.exit_code, done.output


@pytest.mark.parametrize("file", KUBERNETES, ids=lambda file: file.stem)
def test_every_object_of_every_example_is_one_that_kubernetes_or_its_project_takes(file: Path) -> None:
    cluster = clusterfile.load(str(file))
    parts = platform_of(cluster)
    objects = list(platform(parts).objects)
    for job in workloads.kubernetes_jobs(parts):
        objects += [document for document in yaml.safe_load_all(job.text) if document]
    for resource in objects:
        if is_core(resource["apiVersion"]):
            validate(resource, parts.kubernetes)
        else:
            assert set(shape(resource)) <= set(CHECKED[f"{resource['apiVersion']} {resource['kind']}"]["fields"])


def test_files_of_512_gpus_request_512_gpus(tmp_path: Path) -> None:
    assert render(FILE, tmp_path, "--kubernetes", "--jobs")[0] == 0
    names = {path.name for path in (tmp_path / "objects").iterdir()}
    assert {
        "00-namespace-pretrain.yaml",
        "17-clusterqueue-pretrain.yaml",
        "19-clustertrainingruntime-torch-train.yaml",
    } <= names
    total = 0
    for path in (tmp_path / "objects").glob("*-clusterqueue-*.yaml"):
        rows = yaml.safe_load(path.read_text())["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
        total += next(int(row["nominalQuota"]) for row in rows if row["name"] == "nvidia.com/gpu")
    assert total == 512
    train = next(yaml.safe_load_all((tmp_path / "train" / "train-job.yaml").read_text()))
    assert train["spec"]["trainer"]["numNodes"] == 64


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    render(FILE, tmp_path, "--kubernetes")
    code, output = render(FILE, tmp_path, "--kubernetes", "--json")
    assert code == 0
    assert {row["fate"] for row in json.loads(output)} == {"unchanged"}


def test_outputs_of_the_deployment_fill_in_the_ids(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps(OUTPUTS))
    assert render(FILE, tmp_path / "out", "--kubernetes", "--outputs", str(outputs))[0] == 0
    volume = yaml.safe_load((tmp_path / "out/objects/04-persistentvolume-pretrain-lustre.yaml").read_text())
    assert volume["spec"]["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeAttributes": {"dnsname": "fs-0123.fsx.us-east-2.amazonaws.com", "mountname": "abcdefgh"},
        "volumeHandle": "fs-0123456789abcdef0-pretrain",
    }
    assert "${FileSystemId}" not in "".join(path.read_text() for path in (tmp_path / "out/objects").iterdir())


def test_ids_of_a_deployment_are_placeholders_before_it(tmp_path: Path) -> None:
    render(FILE, tmp_path, "--kubernetes")
    volume = yaml.safe_load((tmp_path / "objects/04-persistentvolume-pretrain-lustre.yaml").read_text())
    assert volume["spec"]["csi"]["volumeHandle"] == "${FileSystemId}-pretrain"
    assert volume["spec"]["csi"]["volumeAttributes"]["mountname"] == "${LustreMountName}"


def test_rejects_what_it_cannot_render(tmp_path: Path) -> None:
    slurm = next(file for file in EXAMPLES if "orchestrator: slurm" in file.read_text())
    code, output = render(slurm, tmp_path, "--kubernetes")
    assert code == 1
    assert "it needs orchestrator: kubernetes" in output
    assert render(FILE, tmp_path)[0] == 2
    assert render(FILE, tmp_path, "--jobs", "--outputs", "x")[0] == 2
    code, output = render(FILE, tmp_path, "--kubernetes", "--outputs", str(tmp_path / "none"))
    assert code == 1
    assert "cannot read" in output
    bad = tmp_path / "bad.json"
    other = "there is no stack of the cluster orca, only alpaca-Storage; name the stacks by --stack"
    unreadable = dict.fromkeys(("[]", "{", '{"a": 1}'), "holds no outputs")
    for text, message in {**unreadable, '{"alpaca-Storage": {"FileSystemId": "fs-1"}}': other}.items():
        bad.write_text(text)
        code, output = render(FILE, tmp_path, "--kubernetes", "--outputs", str(bad))
        assert code == 1
        assert message in output


def test_rejects_a_file_whose_chart_is_known_to_be_bad(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    text = FILE.read_text().replace("kubernetes:\n", "kubernetes:\n  charts: {nvidia-device-plugin: 0.19.1}\n", 1)
    text = text.replace("orchestrator: kubernetes:\n", "orchestrator: kubernetes\n")
    file.write_text(text)
    code, output = render(file, tmp_path / "out", "--kubernetes")
    assert code == 1
    assert "use 0.19.3 or newer" in output


@pytest.mark.parametrize(
    ("key", "place", "message"),
    [
        ("charts: {nvidia-device-plugin: 0.19.1}", "charts.nvidia-device-plugin", "gives every pod all RDMA devices"),
        ("charts: {kueuee: 0.19.2}", "charts.kueuee", "is no release of this library's; known are"),
        (
            "teams: {a: {nodes: {train: 2}}, b: {nodes: {train: 2}}}",
            "teams",
            "promised 4 nodes of train, which has 2",
        ),
        ("teams: {mount-s3: {}}", "teams.mount-s3", "is a namespace of Kubernetes or of the platform"),
        ("teams: {node-health: {}}", "teams.node-health", "is the platform's own: choose another name"),
        ("efa: dranet, gpu: gpu-operator, charts: {gpu-operator: v26.3.1}", "charts.gpu-operator", "and EFA fails"),
    ],
)
def test_check_and_render_and_deploy_refuse_the_same_in_the_same_words_and_at_its_line(
    tmp_path: Path, key: str, place: str, message: str
) -> None:
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text().replace("kubernetes: {", f"kubernetes: {{{key}, ")
    file = tmp_path / "c.yaml"
    file.write_text(text)
    done = CliRunner().invoke(app, ["check", str(file), "--json"])
    (problem,) = json.loads(done.output)["problems"]
    assert (problem["field"], done.exit_code) == (f"kubernetes.{place}", 1)
    assert message in problem["message"]
    line = text.splitlines()[problem["line"] - 1]
    assert line[problem["column"] - 1 :].startswith(place.rpartition(".")[2])
    place = f"{file}:{problem['line']}:{problem['column']} {problem['field']}"
    assert problem["rule"] in ("kubernetes-chart", "kubernetes-name", "kubernetes-platform")
    messages = f"{place}: {problem['message']} [{problem['rule']}]"
    for arguments in (["check", str(file)], ["render", str(file), "--kubernetes", "--out", str(tmp_path / "out")]):
        done = CliRunner().invoke(app, arguments)
        assert (done.exit_code, messages in done.output) == (1, True)
    with pytest.raises(SystemExit) as deploy:
        main(str(file))
    assert deploy.value.code == messages


def test_the_app_prints_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text()
    file = tmp_path / "c.yaml"
    file.write_text(text.replace("kubernetes: {", "kubernetes: {charts: {kueuee: 0.19.2}, "))
    done = CliRunner().invoke(app, ["check", str(file)])
    deploy = subprocess.run(
        [sys.executable, ROOT / "app.py"],
        env={**os.environ, "CDK_CONTEXT_JSON": json.dumps({"cluster": str(file)})},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (deploy.returncode, done.exit_code) == (1, 1)
    assert deploy.stderr.strip() in done.output
    assert deploy.stderr.startswith(f"{file}:")


def test_rejects_names_that_kubernetes_does_not_take_at_their_key() -> None:
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text().replace("  train:", "  train-:")
    with pytest.raises(clusterfile.ClusterFileError, match=r"c\.yaml:\d+:3 nodes\.train-: its name has lower-case"):
        clusterfile.loads(text, "c.yaml")


def charts_of(file: Path, directory: Path) -> Path:
    """A chart of one object for each release of a cluster file, to use instead of those of the registries."""
    for part in ("charts", "manifests"):
        (directory / part).mkdir(parents=True)
    for release in workloads.kubernetes_bundle(clusterfile.load(str(file)))["releases"]:
        name, text = f"{release['name']}-{release['version']}", f"kind: ConfigMap\nimage: of/{release['name']}:1\n"
        if release.get("manifest"):
            (directory / "manifests" / f"{name}.yaml").write_text(text)
        else:
            archive = manifest_chart(release["name"], release["version"], text)
            (directory / "charts" / f"{name}.tgz").write_bytes(archive)
    return directory


def test_manifests_have_the_objects_of_each_release(tmp_path: Path) -> None:
    charts = charts_of(FILE, tmp_path / "bundle")
    options = ("--kubernetes", "--manifests", "--bundle", str(charts))
    assert render(FILE, tmp_path / "out", *options)[0] == 0
    releases = {row["name"] for row in yaml.safe_load((tmp_path / "out" / "charts.yaml").read_text())}
    texts = {path.stem: path.read_text() for path in (tmp_path / "out" / "manifests").iterdir()}
    assert set(texts) == releases
    assert all("kind: ConfigMap" in text for text in texts.values())
    assert {row["fate"] for row in json.loads(render(FILE, tmp_path / "out", *options, "--json")[1])} == {"unchanged"}
    next((charts / "charts").glob("kueue-*")).write_bytes(b"no archive")
    code, output = render(FILE, tmp_path / "further", *options)
    assert code == 1
    assert "error: controllers: release kueue 0.19.2: " in output
    assert not (tmp_path / "further").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rules", "--manifests"), "--manifests is for --kubernetes"),
        (("--kubernetes", "--bundle", "."), "--bundle is for --manifests"),
        (("--kubernetes", "--manifests", "--bundle", "nowhere"), "--bundle nowhere is not a directory"),
    ],
)
def test_rejects_options_of_manifests_alone(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    code, output = render(FILE, tmp_path / "out", *options)
    assert (code, message in output) == (2, True)
