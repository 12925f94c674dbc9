"""`ultracluster render`."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk.cloudformation_include import CfnInclude
from typer.testing import CliRunner

from support import EXAMPLES, ROOT
from support.template_lint import problems
from support.templates import of_type
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.cli._templates import template_notes, with_parameter
from ultracluster.cli._writing import RenderedFile, write_files
from ultracluster.workloads import WORKLOADS

RUN = CliRunner()
FILE_SYSTEM = '{"Resources": {"Lustre": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE"}}}}'
MAIN_JOB = str(ROOT / "examples" / "slurm-512-gpus.yaml")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_jobs_of_every_example_are_written_and_listed(example: Path, tmp_path: Path) -> None:
    result = RUN.invoke(app, ["render", str(example), "--jobs", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    kind = "*.yaml" if "kubernetes" in clusterfile.load(example).orchestrator else "*.sbatch"
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob(kind))
    assert written
    for path in written:
        assert path in result.stdout


def test_a_second_run_reports_unchanged_files(tmp_path: Path) -> None:
    arguments = ["render", MAIN_JOB, "--jobs", "--out", str(tmp_path), "--json"]
    assert {row["fate"] for row in json.loads(RUN.invoke(app, arguments).stdout)} == {"written"}
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.sbatch")}
    assert {row["fate"] for row in json.loads(RUN.invoke(app, arguments).stdout)} == {"unchanged"}
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.sbatch")} == times


def test_a_file_that_somebody_changed_stays_and_nothing_else_is_written(tmp_path: Path) -> None:
    changed = tmp_path / "train" / "pretrain.sbatch"
    changed.parent.mkdir()
    changed.write_text("# mine\n")
    result = RUN.invoke(app, ["render", MAIN_JOB, "--jobs", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: 1 of these files exist with other content: {changed}; nothing was written; --force replaces them, "
        "or use another directory\n"
    )
    assert [path.name for path in tmp_path.rglob("*.sbatch")] == ["pretrain.sbatch"]
    assert changed.read_text() == "# mine\n"
    forced = RUN.invoke(app, ["render", MAIN_JOB, "--jobs", "--out", str(tmp_path), "--force", "--json"])
    assert [row["fate"] for row in json.loads(forced.stdout)] == ["replaced", *["written"] * 19]


def test_rules_of_every_example_are_rules_and_know_how_many_nodes_there_should_be(tmp_path: Path) -> None:
    files: list[Path] = []
    for example in EXAMPLES:
        result = RUN.invoke(app, ["render", str(example), "--rules", "--out", str(tmp_path / example.stem)])
        assert result.exit_code == 0, result.output
        rules = sorted((tmp_path / example.stem / "rules").iterdir())
        assert [file.name for file in rules] == ["alerts.yaml", "recording.yaml"]
        expected = re.findall(
            r'_expected_nodes\n +expr: "vector\((\d+)\)[^"]*"\n +labels:\n +cluster: .*\n +group: "?([\w-]+)',
            rules[1].read_text(),
        )
        groups = clusterfile.load(str(example)).expected_nodes
        assert {name: int(count) for count, name in expected} == groups, example.name
        files += rules
    # It takes half a second for all, and a start of it as long as the files of an example.
    checked = subprocess.run(["promtool", "check", "rules", *files], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_rejects_a_call_without_a_kind_and_lists_the_kinds(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["render", MAIN_JOB, "--out", str(tmp_path)])
    kinds = "--jobs, --kubernetes, --manifests, --rules, --dashboards, --templates, --parallelcluster, --workload, --ci"
    assert (result.exit_code, result.stderr) == (2, f"error: specify what to render: {kinds}\n")


def test_one_workload_is_written_for_one_group(tmp_path: Path) -> None:
    mixed = str(ROOT / "examples" / "slurm-mixed.yaml")
    arguments = ["render", mixed, "--workload", "finetune", "--group", "tune", "--set", "nodes=2", "--out"]
    result = RUN.invoke(app, [*arguments, str(tmp_path)])
    assert result.exit_code == 0, result.output
    (written,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert written == tmp_path / "tune" / "finetune.sbatch"
    assert "#SBATCH --nodes=2\n" in written.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--workload", "pretrain", "--set", "gpus=520"], 1, "65 nodes x 8 GPUs = 520 GPUs, and train has 64 nodes"),
        (["--workload", "pretrain", "--set", "gpus"], 2, "--set must be KEY=VALUE, got 'gpus'"),
        (["--workload", "pretrain", "--set", "gpus=8", "--set", "gpus=16"], 2, "--set gpus is given twice"),
        (["--jobs", "--set", "gpus=8"], 2, "--group, --set and --plan are for --workload"),
        (["--jobs", "--group", "train"], 2, "--group, --set and --plan are for --workload"),
        (["--rules", "--team", "chat"], 2, "--team is for --jobs and --workload"),
        (["--jobs", "--team", "chat"], 1, "Slurm has accounts in place of teams: submit with sbatch --account=NAME"),
    ],
)
def test_rejects_settings_that_do_not_apply(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    result = RUN.invoke(app, ["render", MAIN_JOB, *arguments, "--out", str(tmp_path)])
    assert (result.exit_code, list(tmp_path.iterdir())) == (code, [])
    assert result.stderr.startswith(f"error: {message}")


def test_the_table_and_the_json_of_workloads_list_all_of_them() -> None:
    shown = RUN.invoke(app, ["workloads"])
    rows = json.loads(RUN.invoke(app, ["workloads", "--json"]).stdout)
    assert shown.exit_code == 0
    assert [row["name"] for row in rows] == list(WORKLOADS)
    for row in rows:
        assert re.search(rf"(?m)^{row['name']}: ", shown.stdout)
        for form in row["forms"]:
            assert (form["file"] if form["orchestrator"] == "slurm" else form["kind"]) in shown.stdout
            assert WORKLOADS[row["name"]].forms
    inference = next(row for row in rows if row["name"] == "inference")
    assert {form["kind"] for form in inference["forms"]} == {"sbatch", "LeaderWorkerSet"}
    assert (
        "tensor_parallel: GPUs of a tensor-parallel group (torchtitan, megatron, maxtext, inference, sglang)"
        in shown.stdout
    )


def test_a_cluster_without_gpus_has_no_jobs_to_render(tmp_path: Path) -> None:
    file = tmp_path / "cpu.yaml"
    text = (ROOT / "examples" / "slurm-minimal.yaml").read_text().replace("p5.48xlarge", "m7i.8xlarge")
    file.write_text(text)
    result = RUN.invoke(app, ["render", str(file), "--jobs", "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "it needs nodes with GPUs" in result.stderr
    assert not (tmp_path / "out").exists()


def test_rejects_a_bad_cluster_file_and_an_unwritable_directory_without_a_traceback(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: x\n")
    result = RUN.invoke(app, ["render", str(bad), "--jobs", "--out", str(tmp_path)])
    assert (result.exit_code, "bad.yaml" in result.stderr) == (1, True)
    result = RUN.invoke(app, ["render", MAIN_JOB, "--jobs", "--out", str(bad)])
    assert result.exit_code == 1
    assert f"error: cannot write to {bad}: Not a directory" in result.stderr


def test_files_are_written_as_they_are_on_every_system(tmp_path: Path) -> None:
    file = RenderedFile(path="a/b", text="one\ntwo\n", what="lines")
    assert write_files([file], tmp_path, force=False) == ["written"]
    assert (tmp_path / "a" / "b").read_bytes() == b"one\ntwo\n"


def consumer_of(folder: Path, outdir: Path) -> cdk.App:
    """An app that includes every rendered template, as a team with CDK in any language does."""
    app = cdk.App(outdir=str(outdir), analytics_reporting=False)
    for stack in json.loads((folder / "stacks.json").read_text())["stacks"]:
        scope = cdk.Stack(app, stack["name"])
        parameters = {"AssetsBucket": "their-bucket"} if "AssetsBucket" in stack["parameters"] else {}
        CfnInclude(scope, "Template", template_file=str(folder / stack["template"]), parameters=parameters)
    return app


@pytest.mark.parametrize("example", ["slurm-built-image", "slurm-own-vpc", "slurm-managed-grafana", "eks-mixed"])
def test_templates_need_no_cdk(example: str, tmp_path: Path) -> None:
    file = ROOT / "examples" / f"{example}.yaml"
    result = RUN.invoke(app, ["render", str(file), "--templates", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "templates"
    index = json.loads((folder / "stacks.json").read_text())
    seen: set[str] = set()
    exports: set[str] = set()
    for stack in index["stacks"]:
        # The index is in order of deployment, and a stack imports what an earlier one exports.
        assert set(stack["depends_on"]) <= seen
        seen.add(stack["name"])
        text = (folder / stack["template"]).read_text()
        assert problems(text, index["region"]) == []
        template = json.loads(text)
        assert not re.search(r"cdk-\w{1,10}-assets|BootstrapVersion|Fn::GetStackOutput", text)
        assert set(stack["parameters"]) == set(template.get("Parameters", {}))
        assert ("AssetsBucket" in stack["parameters"]) == bool(stack["assets"])
        waits = [row["Properties"]["Timeout"] for row in of_type(template, "AWS::CloudFormation::WaitCondition")]
        assert stack["timeout_minutes"] * 60 > max(map(int, waits), default=30 * 60)
        for asset in stack["assets"]:
            assert Path(asset).name in text
            assert (folder / asset).stat().st_size > 0
        assert set(re.findall(r'"Fn::ImportValue": "([^"]+)"', text)) <= exports
        exports |= {row["Export"]["Name"] for row in template.get("Outputs", {}).values() if "Export" in row}
        assert set(stack["outputs"]) <= set(template.get("Outputs", {}))
    assert seen == {path.name.removesuffix(".template.json") for path in folder.glob("*.template.json")}
    consumed = consumer_of(folder, tmp_path / "out").synth()
    assert {stack.stack_name for stack in consumed.stacks} == seen


def test_templates_are_the_same_at_every_run_and_those_of_stacks_that_left_go(tmp_path: Path) -> None:
    arguments = ["render", str(ROOT / "examples" / "slurm-managed-grafana.yaml"), "--templates", "--out", str(tmp_path)]
    first = RUN.invoke(app, arguments)
    assert f"aws s3 sync {tmp_path}/templates/assets s3://BUCKET/" in first.stdout
    # As if an earlier file had one more stack.
    folder = tmp_path / "templates"
    index = json.loads((folder / "stacks.json").read_text())
    left, asset = folder / "old-Storage.template.json", folder / "assets" / "old.sh"
    index["stacks"].append({"template": left.name, "assets": ["assets/old.sh"]})
    texts = {folder / "stacks.json": json.dumps(index), left: FILE_SYSTEM, asset: "", folder / "note.md": ""}
    for file, text in texts.items():
        file.write_text(text)
    refused = RUN.invoke(app, arguments)
    assert refused.exit_code == 1
    assert f"2 files are no longer rendered: {left}, {asset}; nothing was written" in refused.stderr
    shutil.copytree(folder, tmp_path / "before")
    assert RUN.invoke(app, [*arguments, "--force"]).exit_code == 0
    assert not left.exists()
    lost = RUN.invoke(app, ["guard", str(tmp_path / "before"), str(folder)])
    assert (lost.exit_code, "--allow old-Storage/Lustre" in lost.output) == (1, True), lost.output
    second = RUN.invoke(app, [*arguments, "--json"])
    assert {row["fate"] for row in json.loads(second.stdout)} == {"unchanged"}
    assert {path for path in texts if path.exists()} == {folder / "stacks.json", folder / "note.md"}
    # As after a command that was interrupted.
    left.write_text(FILE_SYSTEM)
    hidden = RUN.invoke(app, ["guard", str(tmp_path / "before"), str(folder)])
    assert (hidden.exit_code, f"error: {left}: stacks.json does not name them" in hidden.output) == (2, True)


def test_a_pipeline_needs_a_bucket_with_versions() -> None:
    source = {"S3Bucket": {"Fn::Sub": "${AssetsBucket}"}}
    template = {"Resources": {"Pipeline": {"Type": "AWS::CodePipeline::Pipeline", "Properties": {"Stages": [source]}}}}
    description = with_parameter(template)["Parameters"]["AssetsBucket"]["Description"]
    assert "versioned for CodePipeline, encrypted by SSE-S3 or the key aws/s3" in description
    files = {"templates/assets/a.zip": "", "templates/a.template.json": json.dumps(template)}
    rendered = [RenderedFile(path=path, text=text, what="") for path, text in files.items()]
    assert "versioned for CodePipeline, encrypted by SSE-S3" in template_notes(rendered, Path("out"))
    assert "versioned" not in template_notes(rendered[:1], Path("out"))


def test_rules_link_to_the_managed_grafana_of_the_outputs_or_report_that_they_do_not(tmp_path: Path) -> None:
    file, out = tmp_path / "cluster.yaml", tmp_path / "out"
    file.write_text(Path(MAIN_JOB).read_text() + "observability: {grafana: {kind: managed}}\n")
    result = RUN.invoke(app, ["render", str(file), "--rules", "--out", str(out)])
    assert "note: alerts link to http://localhost:3000" in result.output
    outputs = tmp_path / "outputs.json"
    address = "https://g-0123456789.grafana-workspace.us-east-2.amazonaws.com"
    outputs.write_text(json.dumps({"llama-Observability": {"Dashboards": address}}))
    result = RUN.invoke(app, ["render", str(file), "--rules", "--outputs", str(outputs), "--force", "--out", str(out)])
    assert "note:" not in result.output
    text = (out / "rules" / "alerts.yaml").read_text()
    assert f"dashboard_url: {address}/d/" in text.replace('"', "")
    assert "localhost" not in text
