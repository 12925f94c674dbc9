"""`ultracluster check` and `ultracluster schema`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import EXAMPLES, ROOT, TERMINAL
from support.clusterfile_data import GOOD, bent
from ultracluster.cli import app
from ultracluster.clusterfile import schema

RUN = CliRunner()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "c.yaml"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_check_takes_every_example(example: Path) -> None:
    result = RUN.invoke(app, ["check", str(example)], env=TERMINAL)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert result.stdout.splitlines()[-1] == f"{example} is good."
    table = result.stdout.partition("\n\n")[0]
    assert "…" not in table
    assert " 0 MB/s" not in result.stdout
    assert max(map(len, table.splitlines())) <= 80
    # Ids are copied from here: a terminal must not fold them.
    ids = {line for line in re.findall(r"\bcr-[0-9a-f]{17}", example.read_text())}
    assert not ids - set(re.findall(r"\bcr-[0-9a-f]{17}", result.stdout))


def test_check_sums_the_main_job_up(file: Path) -> None:
    file.write_text(GOOD)
    out = RUN.invoke(app, ["check", str(file)]).stdout
    row = next(line.split() for line in out.splitlines() if line.strip().startswith("train "))
    assert row == ["train", "p5en.48xlarge", "64", "512", "reservation", "all-efa", "1,024", "1,024"]
    assert "\ntrain: reservation cr-0123456789abcdef0\n" in out
    assert "llama: slurm in us-east-2, use2-az1" in out
    assert "addresses: 1,053 of 16,379 in the training subnet 10.0.128.0/18" in out
    assert "Lustre: 42,187 MB/s from 43,200 GiB at 1000 MB/s/TiB with EFA" in out
    assert "40,000 MB/s is more than the 10,000 MB/s above which AWS recommends it" in out
    assert "\nmetrics: profile standard, about " in out
    assert "[ultracluster:unpinned-image]" in out


def test_the_overview_cuts_no_sentence_short() -> None:
    commands = RUN.invoke(app, ["--help"]).stdout.partition("Commands:")[2]
    assert "\n  rehearse " in commands
    commands += RUN.invoke(app, ["image", "--help"]).stdout.partition("Commands:")[2]
    assert "\n  status " in commands
    assert "..." not in commands


def test_check_adds_several_groups_up(file: Path) -> None:
    file.write_text(bent("nodes:", "nodes:\n  data: {type: m7i.8xlarge, count: 4}"))
    out = RUN.invoke(app, ["check", str(file)]).stdout
    total = next(line.split() for line in out.splitlines() if line.strip().startswith("all "))
    assert total == ["all", "68", "512", "1,028", "1,028"]


def test_a_pipe_has_whole_names(file: Path) -> None:
    block = "{reservation: cr-0123456789abcdef1, kind: ultraserver, ends: 2026-12-24}"
    group = f"a-group-of-a-long-name: {{type: p6e-gb200.36xlarge, count: 18, capacity: {block}}}"
    file.write_text(bent("nodes:", f"nodes:\n  {group}"))
    lines = RUN.invoke(app, ["check", str(file)]).stdout.splitlines()
    (row,) = (line.split() for line in lines if line.strip().startswith("a-group-of-a-long-name "))
    assert row[:2] == ["a-group-of-a-long-name", "u-p6e-gb200x72"]
    assert "ultraserver" in row
    assert any(line.startswith("a-group-of-a-long-name: ultraserver cr-0123456789abcdef1; ") for line in lines)


def test_check_names_all_quotas_of_hyperpod(file: Path) -> None:
    text = bent("capacity: cr-0123456789abcdef0", "capacity: on-demand").replace("slurm", "hyperpod-slurm")
    file.write_text(text + "hyperpod: {controller: m7i.8xlarge}\nslurm: {login: {type: m7i.8xlarge, count: 2}}\n")
    assert (
        "\nquotas of SageMaker: 64 of ml.p5en.48xlarge for cluster usage, 3 of ml.m7i.8xlarge for cluster usage, "
        "67 instances of one HyperPod cluster, and of all, volumes of 500 GB\n"
        in RUN.invoke(app, ["check", str(file)]).stdout
    )


def test_check_as_json_gives_the_same_facts(file: Path) -> None:
    file.write_text(GOOD)
    result = RUN.invoke(app, ["check", str(file), "--json"])
    facts = json.loads(result.stdout)
    assert facts["ok"] is True
    assert facts["nodes"]["train"]["gpus"] == 512
    assert facts["addresses"] == {"needed": 1_053, "capacity": 16_379}
    assert facts["lustre"]["capacity_gib"] == 43_200
    assert [warning["id"] for warning in facts["warnings"]] == [
        "ultracluster:unpinned-image",
        "ultracluster:reservation-size",
        "ultracluster:alerts-without-subscription",
    ]


def test_check_describes_data_repository_associations() -> None:
    example = ROOT / "examples" / "slurm-linked-data.yaml"
    out = RUN.invoke(app, ["check", str(example)]).stdout
    assert "/fsx/data shows s3://my-datasets/tokens; imports NEW, CHANGED, DELETED, exports nothing" in out
    assert "dropped from the file system 14 d after its last use" in out
    links = json.loads(RUN.invoke(app, ["check", str(example), "--json"]).stdout)["links"]
    assert [link["repository"] for link in links] == ["s3://my-datasets/tokens", "s3://DATA-BUCKET/checkpoints"]


def test_check_prints_all_problems_to_stderr_with_exit_code_1(file: Path) -> None:
    file.write_text(bent("count: 64", "count: x", bent("llama", "x")))
    result = RUN.invoke(app, ["check", str(file)])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "error: 2 problems in the cluster file",
        f"{file}:1:7 name: the name of a cluster has 3 to 40 letters, digits and hyphens and begins with a letter, "
        "got 'x' [invalid-value]",
        f"{file}:6:39 nodes.train.count: must be a whole number, got 'x' [invalid-value]",
        "Rules that read a value which is not valid are checked once it is.",
    ]


def test_check_leaves_no_rule_unchecked_where_every_value_is_valid(file: Path) -> None:
    file.write_text(bent("use2-az1", "use1-az1"))
    lines = RUN.invoke(app, ["check", str(file)]).stderr.splitlines()
    assert (len(lines), lines[1].rpartition(" ")[2]) == (2, "[zone-region]")


def test_check_prints_problems_as_json(file: Path) -> None:
    file.write_text(bent("count: 64", "count: x"))
    result = RUN.invoke(app, ["check", str(file), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "file": str(file),
        "ok": False,
        "problems": [
            {
                "line": 6,
                "column": 39,
                "field": "nodes.train.count",
                "message": "must be a whole number, got 'x'",
                "rule": "invalid-value",
            }
        ],
    }


@pytest.mark.parametrize("raw", [b"", b"\xff", b"a: b: c", b"x" * (11 * 2**20)])
def test_rejects_bad_files_in_few_words(file: Path, raw: bytes) -> None:
    file.write_bytes(raw)
    result = RUN.invoke(app, ["check", str(file)])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: 1 problem in the cluster file\n{file}:1:")
    assert len(result.stderr.splitlines()) == 2


def test_rejects_a_file_that_is_not_there() -> None:
    result = RUN.invoke(app, ["check", "nowhere.yaml"])
    assert result.exit_code == 1
    assert "nowhere.yaml:1:1 there is no such file" in result.stderr


def test_wrong_usage_is_exit_code_2() -> None:
    assert RUN.invoke(app, ["check"]).exit_code == 2
    assert RUN.invoke(app, ["check", "a", "b"]).exit_code == 2


def test_schema_prints_the_schema() -> None:
    result = RUN.invoke(app, ["schema"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == schema()


def test_odd_names_do_not_disturb_what_is_printed(tmp_path: Path) -> None:
    odd = tmp_path / "[bold]c[nothing].yaml"
    odd.write_text(GOOD)
    result = RUN.invoke(app, ["check", str(odd)])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"{odd} is good."


def test_check_needs_no_cdk() -> None:
    code = (
        "import sys\n"
        "from ultracluster.cli import app\n"
        "try: app(['check', sys.argv[1]])\n"
        "except SystemExit as end: assert not end.code\n"
        "sys.exit(any(m in sys.modules for m in ('jsii', 'aws_cdk', 'constructs')))\n"
    )
    example = ROOT / "examples" / "slurm-512-gpus.yaml"
    result = subprocess.run([sys.executable, "-c", code, str(example)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_help_loads_no_yaml_and_no_tables() -> None:
    code = (
        "import sys\n"
        "from ultracluster.cli import app\n"
        "try: app(['check', '--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit(any(m in sys.modules for m in ('ruamel.yaml', 'rich', 'moto', 'aws_cdk')))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_equal_groups_are_one_row_and_one_line(file: Path) -> None:
    more = "".join(f"\n  data{number}: {{type: m7i.8xlarge, count: 4}}" for number in range(20))
    file.write_text(bent("nodes:", f"nodes:{more}"))
    out = RUN.invoke(app, ["check", str(file)]).stdout
    (row,) = [line.split() for line in out.splitlines() if line.startswith("data0 to data19 ")]
    assert row[3:] == ["m7i.8xlarge", "20", "x", "4", "-", "on-demand", "one-ip", "80", "80"]
    total = next(line.split() for line in out.splitlines() if line.strip().startswith("all "))
    assert total == ["all", "144", "512", "1,104", "1,104"]
    assert "data0, data1, data2, data3, data4, data5, data6, data7 and 14 more: " in out
    assert len(out.splitlines()) < 45


def test_equal_groups_are_one_line_where_others_are_between_them(file: Path) -> None:
    more = "".join(f"\n  data{number}: {{type: m7i.8xlarge, count: {4 + number % 2}}}" for number in range(40))
    file.write_text(bent("nodes:", f"nodes:{more}"))
    out = RUN.invoke(app, ["check", str(file)], env=TERMINAL).stdout
    rows = [line for line in out.splitlines() if line.startswith("data") and " 20 x " in line]
    assert len(rows) == 2
    assert len(out.splitlines()) < 60


NO_CREDENTIALS = {
    **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")),
    **dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), "none"),
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.mark.parametrize(
    ("arguments", "code", "key"),
    [
        (["check", "slurm-minimal.yaml", "--live"], 3, "error"),
        (["image", "status", "slurm-minimal.yaml"], 3, "error"),
        (["image", "status", "slurm-built-image.yaml"], 3, "error"),
        (["images", "slurm-minimal.yaml"], 1, "error"),
        (["render", "slurm-minimal.yaml", "--ci", "foo", "--out", "."], 2, "error"),
        (["diff", "bad.yaml"], 1, "problems"),
        (["rehearse", "bad.yaml"], 1, "problems"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_a_failure_prints_json_too(
    arguments: list[str], code: int, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It may have the credentials of another test.
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.chdir(tmp_path)
    for example in ("slurm-minimal.yaml", "slurm-built-image.yaml"):
        (tmp_path / example).symlink_to(ROOT / "examples" / example)
    (tmp_path / "bad.yaml").write_text("name: x\n")
    result = RUN.invoke(app, [*arguments, "--json"], env=NO_CREDENTIALS)
    assert result.exit_code == code, result.output
    printed = json.loads(result.stdout)
    assert printed["ok"] is False
    assert printed[key]
    assert code != 3 or "Unable to locate credentials" in result.output
    # The next command prints no JSON.
    assert RUN.invoke(app, arguments, env=NO_CREDENTIALS).stdout.startswith("{") is False


def test_diff_without_credentials_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    # A synthesis takes seconds.
    monkeypatch.setattr("ultracluster.cli._deploy.synthesise", lambda *_: pytest.fail("it synthesizes first"))
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    result = RUN.invoke(app, ["diff", str(ROOT / "examples" / "slurm-minimal.yaml"), "--json"], env=NO_CREDENTIALS)
    assert (result.exit_code, json.loads(result.stdout)["ok"]) == (3, False)
