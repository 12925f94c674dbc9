"""The deep check and its judge run here in bash; DCGM, srun and NCCL's test are programs of the test."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.nccl_output import output
from ultracluster.boot import deep_check
from ultracluster.catalogue.ec2 import NCCL_FIGURES
from ultracluster.catalogue.ec2._nccl_floors import NcclFigure

GIB = 2**30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for file in deep_check("p5.48xlarge").files:
        path = tmp_path / file.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
        path.chmod(int(file.mode, 8))
    return tmp_path


def judge(root: Path, text: str, *, kind: str = "p5.48xlarge", nodes: int = 2, gpus: int = 8) -> tuple[int, str]:
    program = root / "usr/local/sbin/ultracluster-nccl-judge"
    done = subprocess.run(
        [program, "--type", kind, "--nodes", str(nodes), "--gpus-per-node", str(gpus)],
        input=text,
        env={"PATH": "/usr/bin:/bin", "ULTRACLUSTER_ROOT": str(root)},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "figure", NCCL_FIGURES, ids=lambda item: f"{item.nodes}x{item.instance_type}-{item.message_bytes}"
)
def test_each_published_figure_passes_and_half_of_it_fails(root: Path, figure: NcclFigure) -> None:
    kind, nodes = figure.instance_type, figure.nodes
    text = output({figure.message_bytes: figure.bus_gb_per_s}, nodes=nodes)
    assert judge(root, text, kind=kind, nodes=nodes)[0] == 0
    text = output({figure.message_bytes: figure.bus_gb_per_s / 2}, nodes=nodes)
    code, reported = judge(root, text, kind=kind, nodes=nodes)
    assert code == 1
    assert f"{figure.floor_gb_per_s:g} is the floor for {figure.nodes} x {figure.instance_type}" in reported


def test_sizes_without_a_source_have_no_floor(root: Path) -> None:
    code, reported = judge(root, output({8 << 20: 12.5, 16 * GIB: 480.1}))
    assert code == 0
    assert reported.splitlines() == [
        "        8388608 bytes     12.50 GB/s  no floor known",
        "    17179869184 bytes    480.10 GB/s  at least 389.6",
        "ok",
    ]


def test_other_numbers_of_nodes_are_not_guessed(root: Path) -> None:
    code, reported = judge(root, output({16 * GIB: 1.0}, nodes=3), nodes=3)
    assert code == 0
    assert reported.splitlines()[-1] == "ok, but no floor is known for 3 x p5.48xlarge and these sizes"


def test_wrong_results_fail_however_fast(root: Path) -> None:
    assert judge(root, output({16 * GIB: 480.1}, wrong="3")) == (
        1,
        "FAILED: 17179869184 bytes: wrong results\n    17179869184 bytes    480.10 GB/s  at least 389.6\n",
    )


def test_a_run_that_was_not_checked_for_wrong_results_is_still_judged(root: Path) -> None:
    assert judge(root, output({16 * GIB: 480.1}, wrong="N/A"))[0] == 0


def test_missing_ranks_fail(root: Path) -> None:
    assert "FAILED: 8 ranks ran, not 2 x 8" in judge(root, output({16 * GIB: 480.1}, nodes=1))[1]
    text = output({16 * GIB: 480.1}).replace("ip-10-1-1-1", "ip-10-1-1-0")
    assert "FAILED: 1 nodes took part, not 2" in judge(root, text)[1]


def test_nccl_over_tcp_fails(root: Path) -> None:
    text = output({8 << 20: 12.5}) + "node-0:1:1 [0] NCCL INFO Using network Socket\n"
    assert judge(root, text) == (1, "        8388608 bytes     12.50 GB/s  no floor known\n" + _tcp())


def test_a_run_without_efa_in_its_output_fails_between_nodes_only(root: Path) -> None:
    text = output({8 << 20: 12.5})
    assert judge(root, text.replace("provider is efa", "Provider is efa"))[0] == 0, "as older plugins write it"
    reported = "FAILED: the log of NCCL does not show EFA\n"
    assert judge(root, text.replace("provider is efa", "provider is tcp"))[1].endswith(reported)
    assert judge(root, output({8 << 20: 12.5}, nodes=1).replace("efa", "none"), nodes=1)[0] == 0


def _tcp() -> str:
    return "FAILED: NCCL ran over TCP, not over EFA\n"


@settings(deadline=None, max_examples=25)
@given(text=st.text(max_size=400))
def test_what_is_no_result_is_never_a_pass(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("judge")
    for file in deep_check("p5.48xlarge").files:
        path = folder / file.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
        path.chmod(0o755)
    assert judge(folder, text.encode("utf-8", "replace").decode())[0] == 1


@pytest.fixture
def cluster(root: Path) -> Path:
    """Commands of a job of two nodes: srun runs once for each, or the test for all."""
    commands = {
        "nvidia-smi": "for n in 0 1 2 3 4 5 6 7; do echo GPU $n; done",
        "dcgmi": 'echo "$@" >>"$LOG"; cat "$DCGM"; exit "$(cat "$DCGM.code")"',
        "srun": (
            'echo "srun $*" >>"$LOG"; case "$*" in *--part*) rc=0; for node in train-1 train-2; do '
            'while [ "${1#--}" != "$1" ]; do shift; done; SLURMD_NODENAME=$node "$@" || rc=1; done; exit $rc ;; '
            '*) cat "$NCCL" ;; esac'
        ),
    }
    (root / "bin").mkdir()
    for name, text in commands.items():
        (root / "bin" / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (root / "bin" / name).chmod(0o755)
    program = root / "opt/nccl-tests/build/all_reduce_perf"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    (root / "nccl").write_text(output({16 * GIB: 480.1}))
    (root / "dcgm").write_text("| Deployment | |\n| Denylist | Pass |\n| Memory | Pass |\n")
    (root / "dcgm.code").write_text("0")
    return root


def run(cluster: Path, *arguments: str, **more: str) -> tuple[int, str]:
    environment = more | {
        "PATH": f"{cluster / 'bin'}:/usr/bin:/bin",
        "ULTRACLUSTER_ROOT": str(cluster),
        "SLURM_JOB_NUM_NODES": "2",
        "LOG": str(cluster / "log"),
        "NCCL": str(cluster / "nccl"),
        "DCGM": str(cluster / "dcgm"),
    }
    done = subprocess.run(
        [cluster / "usr/local/sbin/ultracluster-deep-check", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    return done.returncode, done.stdout + done.stderr


def test_healthy_nodes_pass_the_deep_check(cluster: Path) -> None:
    code, reported = run(cluster)
    assert code == 0, reported
    assert "train-2: dcgmi diag -r 2 found nothing" in reported
    assert reported.endswith("deep-check: nothing is wrong\n")


def test_a_node_whose_jobs_may_not_lock_their_memory_is_named(cluster: Path) -> None:
    """The limits are those of slurmd: EFA registers memory, and fails in the first all-reduce without them."""
    devices = cluster / "sys/class/infiniband/rdmap0s6/device"
    driver = cluster / "sys/bus/pci/drivers/efa"
    for folder in (devices, driver):
        folder.mkdir(parents=True)
    limited = ("--dcgm", "1", "--nccl", "no")
    (cluster / "limits").write_text("ulimit -Sl 64\n")
    assert run(cluster, *limited, BASH_ENV=str(cluster / "limits"))[0] == 0, "no EFA"
    (devices / "driver").symlink_to(driver)
    status, reported = run(cluster, *limited, BASH_ENV=str(cluster / "limits"))
    assert status == 1
    assert "FAILED: train-2: jobs may lock 64 KiB of memory, and EFA needs all: set LimitMEMLOCK=infinity" in reported
    assert "train-2: dcgmi diag -r 1 found nothing" in reported
    # Without a privilege nobody can raise the limit.
    (cluster / "limits").write_text("ulimit() { echo unlimited; }\n")
    assert run(cluster, *limited, BASH_ENV=str(cluster / "limits"))[0] == 0


@pytest.mark.parametrize("level", ["1", "2", "3", "4"])
def test_the_level_is_what_was_asked_for(cluster: Path, level: str) -> None:
    run(cluster, "--dcgm", level, "--nccl", "no")
    assert f"diag -r {level}" in (cluster / "log").read_text()
    assert "all_reduce_perf" not in (cluster / "log").read_text()


@pytest.mark.parametrize(("text", "code"), [("| Memory | Fail - GPU 3 |\n", 0), ("Error: no hostengine\n", 226)])
def test_a_node_that_dcgm_finds_bad_is_named_and_the_rest_is_checked(cluster: Path, text: str, code: int) -> None:
    (cluster / "dcgm").write_text(text)
    (cluster / "dcgm.code").write_text(str(code))
    status, reported = run(cluster)
    assert status == 1
    assert f"FAILED: train-1: dcgmi diag -r 2 ended with {code}:\n    train-1: {text.strip()}" in reported
    assert "480.10 GB/s" in reported


def test_a_slow_all_reduce_fails_the_check(cluster: Path) -> None:
    (cluster / "nccl").write_text(output({16 * GIB: 200.0}))
    status, reported = run(cluster, "--dcgm", "0")
    assert status == 1
    assert "FAILED: 17179869184 bytes: 200.00 GB/s, and 389.6 is the floor for 2 x p5.48xlarge" in reported


def test_a_missing_test_program_is_no_pass(cluster: Path) -> None:
    (cluster / "opt/nccl-tests/build/all_reduce_perf").unlink()
    status, reported = run(cluster, "--dcgm", "0")
    assert status == 1
    assert "set NCCL_TEST" in reported


@pytest.mark.parametrize("arguments", [("--dcgm", "5"), ("--nccl", "maybe"), ("--fast", "1"), ("--dcgm",)])
def test_wrong_usage_runs_nothing(cluster: Path, arguments: tuple[str, ...]) -> None:
    assert run(cluster, *arguments)[0] == 2
    assert not (cluster / "log").exists()
