"""`ultracluster plan`."""

import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from support import TERMINAL
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.planning import Plan

LLAMA = ("--parameters", "405e9", "--tokens", "15.6e12", "--type", "p5.48xlarge", "--nodes", "2048")
SMALL = ("--parameters", "13B", "--tokens", "1T")
ON_64 = (*SMALL, "--type", "p5en.48xlarge", "--nodes", "64")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["plan", *words])


def data(*words: str) -> Any:
    result = run(*words, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_json_has_the_stable_names_and_is_a_plan_again() -> None:
    document = data(*LLAMA, "--mfu", "0.40")
    assert document["flops"] == 6 * 405e9 * 15.6e12
    assert (document["nodes"], document["gpus"], document["mfu"]) == (2048, 16_384, 0.4)
    assert document["checkpoint_bytes"] == 14 * 405e9
    assert any("more than the 2,048 instances of one AWS PCS cluster" in note for note in document["notes"])
    assert not any("AWS PCS" in note for note in data(*ON_64)["notes"])
    low, high = document["ranges"]["interruptions"]
    assert low < document["interruptions"] < high
    assert Plan.from_dict(document).to_dict() == document


def test_units_of_numbers_are_the_same_number() -> None:
    plain = data("--parameters", "13e9", "--tokens", "1e12", "--type", "p5.48xlarge", "--days", "30")
    assert data(*SMALL, "--type", "p5.48xlarge", "--days", "720h") == plain
    assert data("--parameters", "13,000M", "--tokens", "1_000 B", "--type", "p5.48xlarge", "--days", "30d") == plain


def test_explain_prints_formula_and_source_of_every_figure() -> None:
    lines = run(*ON_64, "--explain").stdout.splitlines()
    figures = [line for line in lines if re.match(r"\w+ = ", line)]
    assert len(figures) == sum(line.startswith("    formula") for line in lines)
    assert len(figures) == sum(line.startswith("    source") for line in lines)
    assert "flops = 7.8e+22 FLOP" in figures
    assert "    formula  6 * active_parameters * tokens" in lines


def test_a_figure_can_be_overridden() -> None:
    calm = data(*ON_64, "--set", "failures_per_1000_node_days=3.8", "--set", "checkpoint_stall_seconds=5")
    assert calm["goodput"] > data(*ON_64)["goodput"]
    assert calm["failures_per_1000_node_days"] == 3.8
    assert data(*ON_64, "--tp", "8", "--pp", "2")["tensor_parallel"] == 8


def test_tables_fit_a_pipe() -> None:
    for words in (ON_64, (*SMALL, "--sweep"), ("--for", "inference", "--parameters", "70B", "--type", "p5.48xlarge")):
        result = run(*words)
        assert (result.exit_code, result.stderr) == (0, "")
        assert max(len(line) for line in result.stdout.splitlines() if not line.startswith("note:")) <= 140


def test_post_training_and_inference_have_their_figures() -> None:
    tuned = data(
        "--for", "fine-tuning", "--parameters", "8B", "--tokens", "1B", "--type", "p5.48xlarge", "--nodes", "1"
    )
    assert (tuned["kind"], tuned["batch_tokens"]) == ("fine-tuning", 2**20)
    learned = data("--for", "rl", "--parameters", "70B", "--type", "p5en.48xlarge", "--nodes", "16", "--output", "4096")
    assert learned["training_nodes"] + learned["rollout_nodes"] == 16
    served = data(
        *("--for", "inference", "--parameters", "70B", "--type", "p5en.48xlarge", "--reasoning", "4096"),
        *("--requests", "20", "--token-time", "50ms", "--price", "60"),
    )
    assert served["seconds_per_token"] <= 0.05
    assert served["requests_per_second"] == 20
    assert served["dollars_per_million_tokens"] > 0


def test_a_budget_is_enough() -> None:
    document = data("--flops", "5.76e23", "--type", "p5.48xlarge", "--nodes", "64")
    assert document["parameters"] == pytest.approx(69.3e9, rel=0.01)
    assert document["flops"] == pytest.approx(5.76e23)
    machines = data("--type", "p5.48xlarge", "--nodes", "64", "--days", "30")
    assert machines["tokens"] == pytest.approx(20 * machines["parameters"])


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--parameters", "405X", "--tokens", "1T"), 1, "unknown unit 'X' in --parameters '405X'; units are K, M, B"),
        (("--parameters", "many", "--tokens", "1T"), 1, "--parameters must be a number, 0 or more, got 'many'"),
        (("--parameters", "-7e9", "--tokens", "1T"), 1, "--parameters must be a number, 0 or more, got '-7e9'"),
        ((*SMALL, "--type", "p5.48xlarge", "--days", "3 weeks"), 1, "unknown unit 'weeks' in --days '3 weeks'"),
        ((*SMALL, "--nodes", "8"), 1, "two of type, nodes, days and MFU"),
        ((*LLAMA[:-1], "1"), 1, "the model does not fit"),
        ((*SMALL, "--flops", "1e23", "--nodes", "8"), 1, "leave one of the three out"),
        ((*ON_64, "--set", "speed"), 1, "--set must be NAME=VALUE, got speed"),
        ((*ON_64, "--prompts", "4"), 2, "--prompts is for --for rl, not pretraining"),
        ((*ON_64, "--mfu", "40"), 1, "an MFU must be from 0.0001 to 1"),
        ((*ON_64, "--mfu", "0.4x"), 1, "unknown unit 'x' in --mfu '0.4x'; units are %, as in 40%"),
        ((*ON_64, "--sequence", "100M"), 1, "the sequence must be from 1 to"),
        ((*ON_64, "--sequence", "1.5"), 1, "--sequence must be a whole number, got '1.5'"),
        ((*ON_64, "--csv", "x.csv"), 2, "--csv is for --sweep"),
        ((*SMALL, "--sweep", "--nodes", "4"), 2, "--nodes is not for --sweep"),
        ((*SMALL, "--sweep", "--counts", "9..1"), 1, "--counts must run upward"),
        ((*SMALL, "--sweep", "--days", "1h"), 1, "no candidate ends in"),
        (("--for", "serving"), 2, "--for must be one of pretraining, fine-tuning, rl, inference, got 'serving'"),
        (("--for", "rl", "--parameters", "8B", "--type", "p5.48xlarge"), 2, "--nodes is missing"),
        (("--tokens", "1T", "--type", "p5.48xlarge"), 2, "--parameters is missing"),
        ((*ON_64, "--prices", "no-such-file"), 1, "cannot read no-such-file"),
        ((*ON_64, "--tp", "0"), 1, "tensor must be at least 1, got 0"),
    ],
    ids=lambda value: value[-2].lstrip("-") if isinstance(value, tuple) else None,
)
def test_wrong_input_is_a_sentence(words: tuple[str, ...], code: int, sentence: str) -> None:
    result = run(*words)
    assert result.exit_code == code
    assert sentence in result.stderr
    assert result.stdout == ""


def test_prices_come_from_a_dated_file(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"as_of": "2026-11-01", "source": "contract", "dollars_per_node_hour": {"p5en.48xlarge": 60}}')
    document = data(*ON_64, "--prices", str(file))
    paid = document["nodes"] + document["spare_nodes"]
    assert document["dollars"] == pytest.approx(60 * paid * document["days"] * 24)
    assert "prices of 2026-11-01, contract" in document["notes"]
    swept = (*SMALL, "--sweep", "--type", "p5en.48xlarge", "--counts", "8,16", "--prices", str(file))
    assert [data(*swept)[key] for key in ("as_of", "source")] == ["2026-11-01", "contract"]
    assert run(*swept).stdout.splitlines()[-1] == "note: prices of 2026-11-01, contract"
    for text, sentence in (
        ("[]", "has no as_of, source, dollars_per_node_hour"),
        ('{"as_of": "today", "source": "x", "dollars_per_node_hour": {}}', "must be a date such as 2026-11-01"),
        ('{"as_of": "2026-11-01", "source": "x", "dollars_per_node_hour": {"p5.48xlarge": -1}}', "p5.48xlarge are not"),
        ("{", "is not JSON"),
    ):
        file.write_text(text)
        assert sentence in run(*ON_64, "--prices", str(file)).stderr


class _Addresses(HTMLParser):
    """Elements of a page and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "data")]


def test_a_sweep_with_prices_fits_80_columns() -> None:
    words = (*SMALL, "--sweep", "--type", "p6e-gb200.36xlarge", "--counts", "18,8992", "--price", "9999")
    shown = CliRunner().invoke(app, ["plan", *words], env=TERMINAL).stdout
    assert "p6e-gb200.36xlarge 8,992 35,968" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_sweep_is_a_table_json_csv_and_a_report_that_loads_nothing(tmp_path: Path) -> None:
    report, table = tmp_path / "sweep.html", tmp_path / "sweep.csv"
    words = (*SMALL, "--sweep", "--type", "p5.48xlarge,p5en.48xlarge", "--counts", "8..256*2", "--price", "55")
    document = data(*words, "--html", str(report), "--csv", str(table))
    assert document["candidates"] == len(table.read_text().splitlines()) - 1 == 12
    assert {row["instance_type"] for row in document["pareto"]} <= {"p5.48xlarge", "p5en.48xlarge"}
    assert all(row["dollars"] == pytest.approx(55 * row["nodes"] * row["days"] * 24) for row in document["pareto"])
    text = report.read_text()
    page = _Addresses()
    page.feed(text)
    assert page.loaded == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert "url(" not in text
    plots = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(plots) == 3
    for plot in plots:
        root = ElementTree.fromstring(plot)
        numbers = [float(dot.get("cx", "nan")) for dot in root.iter("{http://www.w3.org/2000/svg}circle")]
        assert len(numbers) == 12
        assert all(80 <= number <= 820 for number in numbers)
    # What a line joins is not beaten: to the right of a candidate of it, the next is lower.
    for points in re.findall(r'<polyline points="([^"]+)"', text):
        line = [tuple(map(float, point.split(","))) for point in points.split()]
        assert line == sorted(line)
        assert [y for _, y in line] == sorted(y for _, y in line)
    # Ten digits do not fit to the left of the axis, and 1e+04 is no label for people.
    assert max(len(label) for label in re.findall(r'text-anchor="end">([^<]+)<', text)) <= 7
    assert "e+" not in "".join(plots)
    assert run(*words, "--html", str(report), "--csv", str(table)).exit_code == 0
    report.write_text("mine")
    refused = run(*words, "--html", str(report))
    assert (refused.exit_code, report.read_text()) == (1, "mine")


@pytest.mark.parametrize("instance_type", ["p4d.24xlarge", "p5.48xlarge", "p6-b300.48xlarge", "p6e-gb200.36xlarge"])
def test_a_written_file_is_valid_and_names_layout_and_nodes(instance_type: str, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    nodes = "48" if instance_type.startswith("p6e") else "36"
    result = run(*SMALL, "--type", instance_type, "--nodes", nodes, "--write", str(file), "--name", "llama")
    assert (result.exit_code, result.stderr) == (0, "")
    cluster = clusterfile.load(str(file))
    groups = [group for group in cluster.node_groups if group.instance_type.gpus]
    assert {group.instance_type.name for group in groups} == {instance_type}
    # A job has 16 of the 18 nodes of an UltraServer.
    assert sum(group.count - group.spare for group in groups) == (54 if instance_type.startswith("p6e") else 36)
    assert "--set tensor_parallel=" in file.read_text()
    planned = re.search(r"lustre_capacity_gib +([\d,]+) GiB", result.output)
    assert planned
    assert cluster.lustre_spec
    assert cluster.lustre_spec.capacity_gib
    # The Local Zone of p6e-gb200 has lower tiers, which need more capacity for the same throughput.
    assert cluster.lustre_spec.capacity_gib >= int(planned[1].replace(",", ""))
    assert cluster.lustre_spec.mb_per_s_per_tib in (125, 250) or not instance_type.startswith("p6e")
    assert run(*SMALL, "--type", "p5.48xlarge", "--nodes", "37", "--write", str(file)).exit_code == 1


@pytest.mark.parametrize(
    ("words", "options", "absent"),
    [
        (
            ("--parameters", "70B", "--nodes", "36"),
            ("ddp.use_megatron_fsdp=true", "ddp.data_parallel_sharding_strategy=optim_grads_params"),
            ("sequence_parallel", "recompute_granularity", "account_for_loss"),
        ),
        (
            ("--parameters", "70B", "--nodes", "36", "--tp", "8", "--pp", "4", "--virtual", "5", "--recompute"),
            (
                "model.sequence_parallel=true",
                "model.virtual_pipeline_model_parallel_size=5",
                "model.recompute_granularity=full",
            ),
            ("use_megatron_fsdp", "account_for_loss_in_pipeline_split"),
        ),
        (
            ("--parameters", "70B", "--nodes", "36", "--layers", "70", "--pp", "4", "--tp", "4"),
            ("account_for_embedding_in_pipeline_split=true", "account_for_loss_in_pipeline_split=true"),
            ("use_megatron_fsdp",),
        ),
    ],
    ids=["fsdp", "pipeline", "embedding"],
)
def test_a_written_file_renders_the_job_of_the_plan(
    words: tuple[str, ...], options: tuple[str, ...], absent: tuple[str, ...], tmp_path: Path
) -> None:
    file, out, saved = tmp_path / "cluster.yaml", tmp_path / "jobs", tmp_path / "plan.json"
    words = ("--tokens", "1T", "--type", "p5en.48xlarge", "--set", "checkpoints_kept=3", *words)
    result = run(*words, "--write", str(file))
    assert (result.exit_code, result.stderr) == (0, "")
    done = rendered(file.read_text(), out)
    assert done.exit_code == 0, done.output
    job = (out / "train/megatron.sbatch").read_text()
    assert all(option in job for option in (*options, "ddp.use_distributed_optimizer=true"))
    assert not any(option in job for option in absent)
    saved.write_text(run(*words, "--json").stdout)
    plan = Plan.from_dict(json.loads(saved.read_text()))
    (batch,) = re.findall(r"train.global_batch_size=\$\(\(SLURM_JOB_NUM_NODES \* gpus_per_node \* (.*?)\)\)", job)
    each, _, share = batch.partition(" / ")
    assert 36 * 8 * int(each) // int(share or 1) * 8192 == plan.number("batch_tokens")
    assert f"model.tensor_model_parallel_size={plan.number('tensor_parallel'):g}" in job
    # Without them, the recipe's own: 1,168,251 of Llama 3, over which its learning rate decays.
    steps = round(1e12 / plan.number("batch_tokens"))
    assert f'"train.train_iters={steps}" "scheduler.lr_decay_iters={steps}"' in job
    assert '"checkpoint.most_recent_k=3"' in job
    again = ["render", str(file), "--workload", "megatron", "--plan", str(saved), "--set", "recipe=a_pretrain_config"]
    assert CliRunner().invoke(app, [*again, "--out", str(tmp_path / "again")]).exit_code == 0
    assert (tmp_path / "again/train/megatron.sbatch").read_text() == job


def rendered(text: str, out: Path) -> Result:
    """Run the command of the comment of a written file, as a shell reads it."""
    command = text[text.index("ultracluster render") : text.index("name: ")].replace("\n#", "\n").replace("\\\n", " ")
    arguments = shlex.split(command.replace("=RECIPE", "=a_pretrain_config").replace("--out jobs", f"--out {out}"))
    return CliRunner().invoke(app, arguments[1:])


@pytest.mark.parametrize("limit", [("--days", "30"), ("--nodes", "144"), ("--nodes", "9"), ("--nodes", "8")])
def test_a_job_on_ultraservers_has_whole_segments_and_pays_for_whole_ultraservers(
    limit: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    words = ("--parameters", "70B", "--tokens", "2T", "--type", "p6e-gb200.36xlarge", *limit, "--price", "100")
    result = run(*words, "--write", str(file))
    assert (result.exit_code, result.stderr) == (0, "")
    plan = data(*words)
    servers = -(-plan["nodes"] // 16)
    assert plan["nodes"] % 16 == 0 or plan["nodes"] in (8, 9)
    # The smallest UltraServer whose segment, 8 of 9 or 16 of 18 nodes, holds the job.
    name, instances = ("u-p6e-gb200x36", 9) if plan["nodes"] == 8 else ("u-p6e-gb200x72", 18)
    assert plan["ultraserver"] == name
    groups = [group for group in clusterfile.load(str(file)).node_groups if group.instance_type.gpus]
    assert sum(group.count for group in groups) == instances * servers
    assert f"    type: {name} " in file.read_text()
    assert f"    count: {servers}\n" in file.read_text()
    assert plan["spare_nodes"] == instances * servers - plan["nodes"]
    assert plan["dollars"] == pytest.approx(100 * instances * servers * 24 * plan["days"])
    done = rendered(file.read_text(), tmp_path / "jobs")
    assert done.exit_code == 0, done.output


def test_a_job_of_parts_of_segments_is_refused_and_a_sweep_rounds_it() -> None:
    words = ("--parameters", "70B", "--tokens", "2T", "--type", "p6e-gb200.36xlarge")
    refused = run(*words, "--nodes", "36")
    assert refused.exit_code == 1
    assert (
        "nodes must be a multiple of 16, the nodes of a job in one u-p6e-gb200x72, got 36: use 32 or 48"
        in refused.stderr
    )
    swept = data(*words, "--sweep", "--counts", "36,40,72", "--price", "100")["pareto"]
    assert {row["nodes"] for row in swept} <= {32, 64}
    assert all(row["dollars"] == pytest.approx(100 * row["nodes"] * 18 / 16 * 24 * row["days"]) for row in swept)


def test_a_written_file_has_templates(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    assert run(*ON_64, "--write", str(file)).exit_code == 0
    rendered = CliRunner().invoke(app, ["render", str(file), "--templates", "--jobs", "--out", str(tmp_path / "out")])
    assert rendered.exit_code == 0, rendered.output
    assert len(list(tmp_path.rglob("*.template.json"))) > 3
    assert (tmp_path / "out" / "train" / "pretrain.sbatch").exists()


def test_a_plan_that_no_cluster_file_holds_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    result = run(*LLAMA, "--write", str(file))
    assert result.exit_code == 1
    assert "no cluster file holds this plan" in result.stderr
    assert not file.exists()
    wrong = run(*ON_64, "--write", str(file), "--zone", "use1-az3")
    assert "p5en.48xlarge is not offered in use1-az3" in wrong.stderr


def test_planning_starts_neither_the_cdk_nor_the_cluster_file() -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom ultracluster.cli import app\n"
        f"assert CliRunner().invoke(app, {['plan', *ON_64]!r}).exit_code == 0\n"
        "sys.exit(not {'jsii', 'aws_cdk', 'constructs', 'ultracluster.clusterfile', 'rich'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
