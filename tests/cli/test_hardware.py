"""`ultracluster types` and `ultracluster layout`."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from support import TERMINAL
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, ULTRASERVERS, interfaces
from ultracluster.cli import app


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def data(*words: str) -> Any:
    result = run(*words, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_the_catalogue_fits_into_100_columns_uncoloured_and_uncut() -> None:
    result = run("types")
    assert (result.exit_code, result.stderr) == (0, "")
    assert max(len(line) for line in result.stdout.splitlines()) <= 100
    assert "\x1b" not in result.stdout
    assert "…" not in result.stdout


@pytest.mark.parametrize("words", [("types",), ("types", "g6e"), ("layout", "p5.48xlarge")])
def test_a_terminal_of_80_columns_cuts_nothing(words: tuple[str, ...]) -> None:
    narrow = CliRunner().invoke(app, list(words), env=TERMINAL).stdout
    assert "…" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80
    assert narrow.split() == run(*words).stdout.split()


def test_gpu_types_come_first_then_ultraservers_then_cpu_types() -> None:
    lines = run("types").stdout.splitlines()
    first = {line.split()[0]: number for number, line in reversed(list(enumerate(lines))) if line.split()}
    gpu_types = [first[name] for name, record in INSTANCE_TYPES.items() if record.gpus]
    servers = [first[name] for name in ULTRASERVERS]
    cpu_types = [first[name] for name, record in INSTANCE_TYPES.items() if not record.gpus]
    assert max(gpu_types) < min(servers)
    assert max(servers) < min(cpu_types)


def test_the_row_of_a_type_carries_its_figures() -> None:
    (row,) = [line for line in run("types").stdout.splitlines() if "p6-b300.48xlarge" in line]
    assert row.split() == [
        "p6-b300.48xlarge",
        "8",
        "B300",
        "268",
        "2.25/4.5/13.5",
        "1,800",
        "192",
        "4,096",
        "8x3.8",
        "6,400/16",
    ]


def test_a_family_of_general_types_is_listed_by_size() -> None:
    lines = [line.split() for line in run("types", "g6e").stdout.splitlines() if "g6e." in line]
    assert [line[0].partition(".")[2] for line in lines][:2] == ["xlarge", "2xlarge"]
    assert lines[-1] == ["g6e.48xlarge", "x86_64", "192", "1,536", "8", "L40S", "1600", "4"]
    assert {row["name"] for row in data("types", "c7i")["instance_types"]} >= {"c7i.large", "c7i.12xlarge"}
    assert "g6e, " in run("types").stdout


def test_the_catalogue_as_json_carries_every_figure_and_its_source() -> None:
    result = data("types")
    assert {record["name"] for record in result["instance_types"]} == set(INSTANCE_TYPES)
    assert {server["name"] for server in result["ultraservers"]} == set(ULTRASERVERS)
    assert all(record["source"] and record["read_on"] for record in result["instance_types"] + result["ultraservers"])
    (p5,) = [record for record in result["instance_types"] if record["name"] == "p5.48xlarge"]
    assert len(p5["cards"]) == 32


def test_runs_of_cards_are_merged() -> None:
    lines = [line.split() for line in run("layout", "p5.48xlarge", "--layout", "max-ip").stdout.splitlines()]
    assert ["1-31", "0", "efa-only"] in lines
    assert ["4,", "8,", "12,", "16,", "20,", "24,", "28", "1", "interface"] in lines
    assert len([line for line in lines if line and line[-1] in ("interface", "efa", "efa-only")]) == 4


def test_layout_prints_interfaces_and_addresses_of_a_node() -> None:
    out = run("layout", "p5.48xlarge").stdout
    # Its two cards have one place each, both of which must be EFA devices.
    assert data("layout", "hpc6id.32xlarge")["layout"] == "all-efa"
    assert "interfaces 33, EFA devices 32, IPv4 addresses 1." in out
    assert "151 nodes use up a Region's default quota of 5,000 interfaces." in out


@pytest.mark.parametrize("layout", ["one-ip", "max-ip", "all-efa"])
def test_layout_as_json_matches_the_library(layout: Any) -> None:
    result = data("layout", "p6-b200.48xlarge", "--layout", layout)
    rows = interfaces("p6-b200.48xlarge", layout)
    assert [(row["card"], row["device"], row["kind"]) for row in result["interfaces"]] == [
        (row.card, row.device, row.kind) for row in rows
    ]
    assert (result["instance_type"], result["layout"]) == ("p6-b200.48xlarge", layout)
    assert result["interfaces_per_node"] == len(rows)
    assert result["nodes_per_default_interface_quota"] == 5000 // len(rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["p5.48xlrage"], "did you mean p5.48xlarge"),
        (["p6e-gb200.36xlarge", "--layout", "all-efa"], "use one-ip"),
        (["p6e-gb200.36xlarge", "--layout", "max-ip", "--json"], "use one-ip"),
        (["c7i.large", "--layout", "max-ip"], "no EFA device"),
        (["p5.48xlarge", "--layout", "most-ip"], "one-ip, max-ip, all-efa"),
        ([""], "unknown instance type ''"),
        (["[bold]"], "unknown instance type '[bold]'"),
    ],
)
def test_rejects_bad_input_with_one_line_on_stderr_and_exit_code_1(words: list[str], message: str) -> None:
    result = run("layout", *words)
    assert (result.exit_code, bool(result.stdout)) == (1, "--json" in words)
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_rejects_wrong_usage_with_exit_code_2() -> None:
    assert run("layout").exit_code == 2
    assert run("layout", "p5.48xlarge", "--colour").exit_code == 2
