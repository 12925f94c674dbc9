"""The scripts of the checks run here in bash; DCGM, MPI and the Kubernetes API are stand-ins."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support import ROOT

SCRIPTS = ROOT / "constructs" / "ultracluster" / "workloads" / "kubernetes"
RESULT = "{size} 4294967296 float sum -1 57000.1 301.4 {busbw} 0 57001.2 301.3 {busbw} 0"


class Pod:
    """A directory for the result, and fake programs."""

    def __init__(self, path: Path) -> None:
        self.verdict = path / "verdict"
        self.bin = path / "bin"
        self.account = path / "account"
        for folder in (self.verdict, self.bin, self.account):
            folder.mkdir()
        (self.account / "token").write_text("secret")

    def program(self, name: str, text: str) -> Path:
        file = self.bin / name
        file.write_text(f"#!/usr/bin/env bash\n{text}\n")
        file.chmod(0o755)
        return file

    def run(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        text = (SCRIPTS / script).read_text().replace("/opt/amazon/openmpi/bin/mpirun", "mpirun")
        known = {"PATH": f"{self.bin}:{os.environ['PATH']}", "VERDICT": str(self.verdict), "ACCOUNT": str(self.account)}
        return subprocess.run(
            ["bash", "-c", text], env={**known, **env}, capture_output=True, text=True, timeout=180, check=False
        )

    def said(self) -> tuple[str, str]:
        return (self.verdict / "code").read_text().strip(), (self.verdict / "reason").read_text().strip()


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


def test_diagnostics_that_pass_pass(pod: Pod) -> None:
    pod.program("nv-hostengine", "true")
    pod.program("dcgmi", 'echo "| Deployment | Pass |"')
    assert pod.run("dcgm.sh", LEVEL="2").returncode == 0
    assert pod.said() == ("0", "dcgmi diag level 2")


def test_reports_failed_diagnostics_even_if_dcgmi_succeeds(pod: Pod) -> None:
    pod.program("nv-hostengine", "true")
    pod.program("dcgmi", 'echo "| Memory          | Fail - GPU: 3 |"')
    assert pod.run("dcgm.sh", LEVEL="2").returncode == 1
    assert pod.said() == ("1", "dcgmi diag level 2: Memory Fail - GPU: 3")


def test_diagnostics_that_end_badly_fail(pod: Pod) -> None:
    pod.program("nv-hostengine", "true")
    pod.program("dcgmi", "exit 226")
    assert pod.run("dcgm.sh", LEVEL="3").returncode == 1
    assert pod.said() == ("1", "dcgmi diag level 3: exit code 226")


@pytest.mark.parametrize(
    "output",
    [
        "Error: Detected unsupported Cuda version",
        "Error: Unable to complete diagnostic. Return: (-30) : DCGM GPU Diagnostic returned an error\n"
        "Error: Cannot load plugins. Unable to change to the plugin dir '/usr/libexec/.../cuda13/'",
    ],
)
def test_an_image_older_than_the_driver_is_no_gpu_failure(pod: Pod, output: str) -> None:
    pod.program("nv-hostengine", "true")
    pod.program("dcgmi", f'echo "{output}"; exit 226')
    assert pod.run("dcgm.sh", LEVEL="2").returncode == 2
    assert pod.said()[1].startswith("dcgmi diag has no plugins for the CUDA version of the driver")


def test_a_host_engine_that_does_not_start_is_no_gpu_failure(pod: Pod) -> None:
    pod.program("nv-hostengine", "exit 1")
    assert pod.run("dcgm.sh", LEVEL="2").returncode == 2
    assert pod.said()[0] == "2"


def nccl(pod: Pod, output: str, *, floor: str = "300", code: int = 0) -> tuple[str, str]:
    pod.program("mpirun", f"cat <<'END'\n{output}\nEND\nexit {code}")
    done = pod.run("nccl.sh", RANKS="16", EACH="8", BYTES="17179869184", FLOOR=floor)
    reported = pod.said()
    assert done.returncode == int(reported[0])
    return reported


def over_efa(busbw: str) -> str:
    return f"NET/OFI Selected provider is efa, fabric is efa-direct\n{RESULT.format(size=17179869184, busbw=busbw)}"


@pytest.mark.parametrize(
    ("busbw", "floor", "verdict"),
    [
        ("301.60", "300", "0"),
        ("300.00", "300", "0"),
        ("299.99", "300", "1"),
        ("99.9", "301.6", "1"),
        ("1000.1", "301.6", "0"),
        ("12.0", "", "0"),
    ],
)
def test_a_run_below_its_floor_fails_and_one_without_a_floor_cannot(
    pod: Pod, busbw: str, floor: str, verdict: str
) -> None:
    assert nccl(pod, over_efa(busbw), floor=floor)[0] == verdict


def test_a_run_over_tcp_fails_however_fast_it_is(pod: Pod) -> None:
    assert nccl(pod, RESULT.format(size=17179869184, busbw="500")) == ("1", "all-reduce did not run over EFA")


def test_a_failure_of_nccl_fails_and_one_of_mpirun_is_no_verdict(pod: Pod) -> None:
    code, reason = nccl(pod, "node: Test NCCL failure common.cu:1 'unhandled system error'", code=3)
    assert (code, reason[:36]) == ("1", "all-reduce failed: Test NCCL failure")
    assert nccl(pod, "ssh: Could not resolve hostname", code=255) == ("2", "mpirun ended with 255 before a result")


def test_a_run_without_a_result_fails(pod: Pod) -> None:
    assert nccl(pod, "Selected provider is efa") == ("1", "all-reduce printed no result")


# Writes down its arguments; answers a list of pods as the API does, over several lines.
CURL = """\
printf '%s\\0' "$@" >>"$CALLS"
printf '\\n' >>"$CALLS"
case "$*" in
  */configmaps\\?*) printf '{"items":[{"data": {"mode": "%s"}}]}\\n' "${MODE:-}" ;;
  */nodes\\?labelSelector=group=train)
    for ((node = 0; node < ${CORDONED:-1}; node++)); do printf '"unschedulable": true\\n'; done ;;
  */nodes\\?fieldSelector=metadata.name=*)
    case " ${BEFORE:-} " in *" ${!###*=} "*) printf '{"items":[{"spec":{"unschedulable": true}}]}\\n' ;; esac ;;
  *labelSelector*)
    printf '{"items":[\\n{"spec":{"nodeName": "ip-10-0-0-1.internal"}},\\n'
    printf '{"spec":{"nodeName":"ip-10-0-0-2.internal"}},{"spec":{"nodeName":"ip-10-0-0-1.internal"}}]}\\n' ;;
esac
"""


def cordon(pod: Pod, code: str, reason: str, **env: str) -> list[tuple[str, dict[str, object]]]:
    """The nodes that were patched, and with what."""
    (pod.verdict / "reason").write_text(reason)
    (pod.verdict / "code").write_text(code)
    calls = pod.bin / "calls"
    calls.write_text("")
    pod.program("curl", CURL)
    known = {"CHECK": "dcgm", "NAMESPACE": "node-health", "CALLS": str(calls), "GROUP": "group=train", "MOST": "2"}
    done = pod.run("cordon.sh", SETTLE="0", **known, **env)
    assert (done.returncode, done.stderr) == (0, "")
    result = []
    for line in calls.read_text().splitlines():
        arguments = line.split("\0")[:-1]
        if "PATCH" in arguments:
            result.append((arguments[-1].rpartition("/")[2], json.loads(arguments[arguments.index("--data") + 1])))
    return result


def test_a_node_that_fails_is_cordoned_with_the_reason(pod: Pod) -> None:
    assert cordon(pod, "1", "Memory Fail - GPU: 3", NODE="ip-10-0-0-9") == [
        (
            "ip-10-0-0-9",
            {
                "metadata": {"annotations": {"ultracluster/dcgm": "failed: Memory Fail - GPU: 3"}},
                "spec": {"unschedulable": True},
            },
        )
    ]


def test_no_more_nodes_stay_cordoned_than_the_breaker_allows(pod: Pod) -> None:
    assert len(cordon(pod, "1", "slow", NODE="n", CORDONED="2")) == 1
    (_, first), (_, second) = cordon(pod, "1", "slow", NODE="n", CORDONED="3")
    assert first["spec"] == {"unschedulable": True}
    assert second == {
        "metadata": {
            "annotations": {
                "ultracluster/dcgm": "failed, not cordoned as 3 of at most 2 were: slow",
                "ultracluster/breaker-dcgm": "open",
            }
        },
        "spec": {"unschedulable": False},
    }


def test_a_node_that_was_cordoned_before_stays_so(pod: Pod) -> None:
    """An administrator, the gate of a gang or Amazon EKS may cordon it while the check runs."""
    nodes = {"PODS": "job-name=nccl", "CORDONED": "3"}
    first, second = "ip-10-0-0-1.internal", "ip-10-0-0-2.internal"
    patched = cordon(pod, "1", "slow", **nodes, BEFORE=first)
    assert [(node, patch["spec"]) for node, patch in patched] == [
        (first, {"unschedulable": True}),
        (second, {"unschedulable": True}),
        (second, {"unschedulable": False}),
    ]
    assert len(cordon(pod, "1", "slow", **nodes, BEFORE=f"{first} {second}")) == 2


@pytest.mark.parametrize(("code", "word"), [("0", "passed"), ("2", "no verdict"), ("137", "no verdict")])
def test_a_node_that_passes_or_of_which_nothing_is_known_is_not_cordoned(pod: Pod, code: str, word: str) -> None:
    ((_, patch),) = cordon(pod, code, "level 2", NODE="n")
    annotations: dict[str, str | None] = {"ultracluster/dcgm": f"{word}: level 2"}
    # Only this check, when it passes, ends the alert about what it found.
    if code == "0":
        annotations["ultracluster/breaker-dcgm"] = None
    assert patch == {"metadata": {"annotations": annotations}}


@pytest.mark.parametrize(("mode", "breaker"), [("observe", "open"), ("off", None)])
def test_the_mode_keeps_nodes_in_service_without_a_deployment(pod: Pod, mode: str, breaker: str | None) -> None:
    ((_, patch),) = cordon(pod, "1", "slow", NODE="n", MODE=mode)
    reason = f"failed, not cordoned as the mode is {mode}: slow"
    alert = {"ultracluster/breaker-dcgm": breaker} if breaker else {}
    assert patch == {"metadata": {"annotations": {"ultracluster/dcgm": reason, **alert}}}
    ((_, patch),) = cordon(pod, "1", "slow", NODE="n", MODE="enforce")
    assert patch["spec"] == {"unschedulable": True}


def test_a_failed_test_of_several_nodes_cordons_each_once(pod: Pod) -> None:
    patched = cordon(pod, "1", "slow", PODS="job-name=nccl")
    assert [node for node, _ in patched] == ["ip-10-0-0-1.internal", "ip-10-0-0-2.internal"]


def test_a_reason_cannot_break_out_of_the_patch(pod: Pod) -> None:
    ((_, patch),) = cordon(pod, "0", 'x"}},"spec":{"unschedulable":true}}\n' + "y" * 500, NODE="n")
    assert set(patch) == {"metadata"}
    assert len(json.dumps(patch)) < 300


def test_it_waits_for_the_verdict(pod: Pod) -> None:
    pod.program("curl", CURL)
    pod.program("sleep", f'echo late >"{pod.verdict}/reason"; echo 0 >"{pod.verdict}/code"')
    done = pod.run("cordon.sh", CHECK="dcgm", NAMESPACE="n", NODE="n", CALLS=str(pod.bin / "calls"))
    assert (done.returncode, done.stdout) == (0, "n: dcgm passed: late\n")


def test_an_api_that_refuses_fails_the_pod(pod: Pod) -> None:
    (pod.verdict / "reason").write_text("x")
    (pod.verdict / "code").write_text("1")
    pod.program("curl", "exit 22")
    assert pod.run("cordon.sh", CHECK="dcgm", NAMESPACE="n", NODE="n").returncode != 0
