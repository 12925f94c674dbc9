"""The gate of a job on nodes of several UltraServers: srun, NCCL's test and nvidia-smi are programs of the test."""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import ROOT
from support.nccl_output import output
from ultracluster.boot import deep_check

GIB = 2**30
NVLINK, EFA = 700.0, 180.0
# The last letter of a domain's UUID is that of its nodes: A3 is in domain a. Nodes Hn have none, as those with HGX.
NVIDIA_SMI = """\
#!/bin/bash
if [ "$1" != --query ]; then printf '%s\\n' 0 1 2 3; exit; fi
name=${SLURMD_NODENAME:0:1}
case $name in H) name=0 clique=0 ;; *) name=${name,,} clique=32766 ;; esac
printf '    Fabric\\n        State                             : Completed\\n'
printf '        CliqueId                          : %s\\n' "$clique"
printf '        ClusterUUID                       : 00000000-0000-0000-0000-00000000000%s\\n' "$name"
"""
# Processes of a node, or the all-reduce of a pair.
SRUN = """\
#!/bin/bash
for word in "$@"; do case $word in --nodelist=*) pair=${word#*=} ;; esac; done
if [ -z "${pair:-}" ]; then
    while [[ $1 == --* ]]; do shift; done
    for node in $NODES; do
        if [ "$node" = "$WITHOUT" ]; then state="failed: pyxis could not be installed"; else state=ok; fi
        echo "$state" >"$ULTRACLUSTER_ROOT/run/ultracluster/containers"
        SLURMD_NODENAME=$node "$@"
    done
    exit
fi
first=${pair%,*} second=${pair#*,} speed=efa
case ${first:0:1}${second:0:1}${NCCL_MNNVL_ENABLE:-2} in AA2 | BB2) speed=nvlink ;; esac
echo "$pair $speed" >>"$HERE/pairs"
if grep -qxE "($first|$second) $speed" "$HERE/bad"; then speed=bad; fi
cat "$HERE/$speed.txt"
"""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Reasons of bad nodes, and the pairs that ran."""

    bad: dict[str, str]
    pairs: list[str]
    error: str


def gate(
    here: Path,
    nodes: Iterable[str],
    *,
    bad: Iterable[str] = (),
    broken: Iterable[str] = (),
    without: str = "",
    image: str = "",
) -> Result:
    """Run the gate on nodes, some with bad links over `nvlink` or `efa`, and some of which fail their own checks.

    The node `without` does not run containers, and the job has an image, or none.
    """
    root, names = here / "root", list(nodes)
    (root / "run/ultracluster").mkdir(parents=True)
    for file in deep_check("p6e-gb200.36xlarge").files:
        path = root / file.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
        path.chmod(int(file.mode, 8))
    (root / "etc/ultracluster/instance-type").write_text("p6e-gb200.36xlarge\n")
    for name, speed in (("nvlink", NVLINK), ("efa", EFA), ("bad", 90.0)):
        (here / f"{name}.txt").write_text(output({2 * GIB: speed, 16 * GIB: speed}, gpus=4))
    (here / "bad").write_text("".join(f"{line}\n" for line in bad))
    programs = here / "bin"
    programs.mkdir()
    gpus = f'case $SLURMD_NODENAME in {"|".join(broken) or "none"}) [ "$1" = --query ] || {{ echo 0; exit; }} ;; esac'
    scripts = {
        "srun": SRUN,
        "nvidia-smi": NVIDIA_SMI.replace("\n", f"\n{gpus}\n", 1),
        "scontrol": '#!/bin/sh\nprintf "%s\\n" $NODES\n',
        "all_reduce_perf": "#!/bin/sh\n",
    }
    for name, text in scripts.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [root / "usr/local/sbin/ultracluster-job-gate", "--gpus", "4", "--efa", "0"],
        env={
            "PATH": f"{programs}:{os.environ['PATH']}",
            "ULTRACLUSTER_ROOT": str(root),
            "SLURM_JOB_NODELIST": "of the job",
            "NODES": " ".join(names),
            "WITHOUT": without,
            "ULTRACLUSTER_GATE_IMAGE": image,
            "NCCL_TEST": str(programs / "all_reduce_perf"),
            "HERE": str(here),
        },
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    tested = here / "pairs"
    rows = (line.split(" ", 1) for line in done.stdout.splitlines())
    return Result(bad=dict(rows), pairs=tested.read_text().splitlines() if tested.exists() else [], error=done.stderr)


def named(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(1, count + 1)]


def test_a_bad_node_leaves_the_healthy_ones_of_two_ultraservers(tmp_path: Path) -> None:
    """Without A3, a pair across both UltraServers would be slower than four fifths of the median."""
    result = gate(tmp_path, [*named("A", 6), *named("B", 6)], broken=["A3"])
    assert result.bad == {"A3": "1 of 4 GPUs are there"}
    nvlink, efa = ([line for line in result.pairs if line.endswith(kind)] for kind in ("nvlink", "efa"))
    assert sorted(nvlink) == sorted(
        ["A1,A2 nvlink", "A4,A5 nvlink", "B1,B2 nvlink", "B3,B4 nvlink", "B5,B6 nvlink", "A6,A1 nvlink"]
    )
    # Each of them again, over EFA alone.
    assert {node for line in efa for node in line.split()[0].split(",")} == {*named("A", 6), *named("B", 6)} - {"A3"}


@pytest.mark.parametrize("image", ["", "nvcr.io#nvidia/pytorch:26.02-py3"])
def test_a_node_without_pyxis_is_left_out_of_jobs_in_containers(tmp_path: Path, image: str) -> None:
    """Its tasks would run outside the container. Jobs without an image use it."""
    result = gate(tmp_path, named("H", 4), without="H2", image=image)
    assert result.bad == ({"H2": "no containers: pyxis could not be installed"} if image else {})
    tested = {node for line in result.pairs for node in line.split()[0].split(",")}
    assert ("H2" in tested) is not bool(image)


def test_a_node_without_pyxis_has_that_reason_before_others(tmp_path: Path) -> None:
    result = gate(tmp_path, ["H1", "H2"], broken=["H2"], without="H2", image="/fsx/a.sqsh")
    assert result.bad == {"H2": "no containers: pyxis could not be installed"}


def start(root: Path, bad: list[str], has: int) -> subprocess.CompletedProcess[str]:
    """Run the gate of a job file with 32 nodes, some of them `bad`. The queue has `train-1` to `train-HAS`."""
    job_files = ROOT / "constructs/ultracluster/workloads/slurm"
    scripts = {
        "usr/local/sbin/ultracluster-job-gate": "\n".join(['cat <<"END"', *bad, "END\n"]),
        "bin/sinfo": f'seq --format="train-%g idle" {has}\n',
        "bin/squeue": '[[ "$*" != *--Format=State* ]] || echo "RUNNING N/A"\n',
        "bin/scontrol": '[ "$1" != show ] || [ "$2" != hostnames ] || tr , "\\n" <<<"$3"\n',
    }
    for name, text in scripts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}")
        path.chmod(0o755)
    script = "source image.sh; source requeue.sh; gpus_per_node=8 efa_devices=16 gate=nodes; source gate.sh"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=job_files,
        env={"PATH": f"{root}/bin:{os.environ['PATH']}", "ULTRACLUSTER_ROOT": str(root), "IMAGE": "/fsx/a.sqsh"}
        | {"RUN": str(root), "SLURM_JOB_NAME": "job"}
        | {"SLURM_JOB_ID": "7", "SLURM_JOB_PARTITION": "train", "SLURM_JOB_NUM_NODES": "32"},
        capture_output=True,
        text=True,
    )


LACKING = [f"train-{number} no containers: Pyxis is built for Slurm 25.05" for number in (1, 2, 3)]
BROKEN = [f"train-{number} 7 of 8 GPUs are there" for number in (4, 5, 6)]


@pytest.mark.parametrize(
    ("bad", "has", "left_out"),
    [
        (LACKING, 35, LACKING),
        (LACKING + BROKEN[:2], 37, LACKING + BROKEN[:2]),
        # More than two of 32 for other reasons, or too few nodes without all of them.
        (LACKING + BROKEN, 38, LACKING),
        (LACKING + BROKEN[:2], 36, LACKING),
    ],
)
def test_nodes_without_containers_are_left_out_however_many(
    tmp_path: Path, bad: list[str], has: int, left_out: list[str]
) -> None:
    """The limit is for tests that are wrong."""
    done = start(tmp_path, bad, has)
    names = ",".join(line.split()[0] for line in left_out)
    assert done.stdout.splitlines()[-1] == f"job: queued again without {names}"
    assert (done.returncode, done.stderr) == (0, "")


def test_a_job_fails_that_has_no_other_nodes_than_those_without_containers(tmp_path: Path) -> None:
    done = start(tmp_path, LACKING, 34)
    assert f"job: bad node: {LACKING[0]}\n" in done.stdout
    assert done.returncode == 2
    assert done.stderr == (
        "job: no containers on train-1,train-2,train-3, and the job cannot be queued without: replace these nodes, or "
        "correct their image\n"
    )


@pytest.mark.parametrize(
    ("variables", "image"),
    [
        ({"IMAGE": "/fsx/a.sqsh"}, "/fsx/a.sqsh"),
        ({"IMAGE": ""}, ""),
        # It runs in no container.
        ({"IMAGE": "/fsx/a.sqsh", "PAYLOAD": "true", "GATE": "nodes"}, ""),
    ],
)
def test_job_files_name_their_image_to_the_gate(tmp_path: Path, variables: dict[str, str], image: str) -> None:
    program = tmp_path / "usr/local/sbin/ultracluster-job-gate"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "train-2 image=${ULTRACLUSTER_GATE_IMAGE:-}"\n')
    program.chmod(0o755)
    script = (
        'gpus_per_node=8 efa_devices=16 gate=nodes; requeue_without() { :; }; log() { echo "job: $*"; }; source "$0"'
    )
    done = subprocess.run(
        ["bash", "-euc", script, ROOT / "constructs/ultracluster/workloads/slurm/gate.sh"],
        env={"PATH": os.environ["PATH"], "ULTRACLUSTER_ROOT": str(tmp_path), **variables}
        | {"SLURM_JOB_NAME": "job", "SLURM_JOB_NUM_NODES": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == f"job: bad node: train-2 image={image}"


@pytest.mark.parametrize("sizes", [(9, 9), (5, 4)])
def test_ultraservers_with_an_odd_number_of_nodes_have_no_bad_one(tmp_path: Path, sizes: tuple[int, int]) -> None:
    result = gate(tmp_path, [*named("A", sizes[0]), *named("B", sizes[1])])
    assert result.bad == {}
    assert result.error == ""


@pytest.mark.parametrize(("link", "how"), [("nvlink", ""), ("efa", ", without NVLink between nodes")])
def test_a_slow_link_is_that_of_its_node(tmp_path: Path, link: str, how: str) -> None:
    result = gate(tmp_path, [*named("A", 5), *named("B", 4)], bad=[f"B2 {link}"])
    assert list(result.bad) == ["B2"]
    assert result.bad["B2"].startswith("all-reduce of 16 GiB at 90.00 GB/s, below ")
    assert result.bad["B2"].endswith(f"the median{how}")


def test_nodes_without_a_domain_or_alone_in_theirs_pair_over_efa(tmp_path: Path) -> None:
    result = gate(tmp_path, named("H", 8), bad=["H7 efa"])
    assert list(result.bad) == ["H7"]
    # Once, and both of the slow pair again.
    assert len(result.pairs) == 4 + 2


def test_a_job_with_a_node_of_each_ultraserver_tests_efa(tmp_path: Path) -> None:
    result = gate(tmp_path, ["A1", "B1", "C1", "D1", "E1", "F1"], bad=["C1 efa"])
    assert list(result.bad) == ["C1"]
    assert len(result.pairs) == 3 + 2


def test_nodes_whose_domain_has_no_good_pair_are_tested_over_efa(tmp_path: Path) -> None:
    nodes = [*named("A", 6), "B1", "B2"]
    result = gate(tmp_path, nodes, bad=["B1 nvlink", "B1 efa"])
    assert list(result.bad) == ["B1"]
    assert result.error == "job-gate: no good pair is in the NVLink domain of B1 B2\n"
