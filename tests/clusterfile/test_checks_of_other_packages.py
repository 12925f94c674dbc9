"""Packages above `clusterfile` check a cluster file too, whatever a program imports."""

import subprocess
import sys

import pytest

from support import ROOT
from ultracluster.clusterfile import ClusterFileError, loads

KUBERNETES = "orchestrator: kubernetes\nkubernetes: {teams: {kube-system: {nodes: {train: 2}}}}\n"
ALERTS = "orchestrator: slurm\nobservability: {alerts: {off: [NoSuchAlert]}}\n"
FILE = "name: llama\nregion: us-east-2\nzone: use2-az1\nnodes: {train: {type: p5en.48xlarge, count: 2}}\n"


@pytest.mark.parametrize(("more", "rule"), [(KUBERNETES, "kubernetes-name"), (ALERTS, "alerts-tuning")])
def test_the_module_of_the_cluster_file_alone_applies_them(more: str, rule: str) -> None:
    code = "import sys; from ultracluster.clusterfile import loads; loads(sys.stdin.read(), 'cluster.yaml')"
    run = subprocess.run([sys.executable, "-c", code], input=FILE + more, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 1
    assert f"[{rule}]" in run.stderr


def problems(more: str) -> list[str]:
    with pytest.raises(ClusterFileError) as error:
        loads(FILE.replace("count: 2", "count: many") + more, "cluster.yaml")
    return [f"{problem.field} {problem.rule}" for problem in error.value.problems]


def test_all_errors_come_at_once_though_other_keys_of_the_same_section_are_not_valid() -> None:
    alerts = "{severity: {JobHung: page, JobHang: info}, thresholds: {GpuTemperatureHigh: 200}, off: [NoSuchAlert]}"
    routes = "[{matchers: [nonsense], topic: 'arn:aws:sns:us-east-2:123456789012:a'}]"
    assert problems(f"orchestrator: slurm\nobservability: {{alerts: {alerts}, routes: {routes}, profile: loud}}\n") == [
        "nodes.train.count invalid-value",
        "observability.alerts.severity.JobHung invalid-value",
        "observability.alerts.thresholds.GpuTemperatureHigh alerts-tuning",
        "observability.alerts.off.NoSuchAlert alerts-tuning",
        "observability.routes[0].matchers[0] observability-routes",
        "observability.profile invalid-value",
    ]


def test_a_misspelt_key_hides_no_errors_of_the_keys_beside_it() -> None:
    alerts = "{treshold: {JobHung: 1}, thresholds: {GpuTemperatureHigh: 200}}"
    assert problems(f"orchestrator: slurm\nobservability: {{profil: full, alerts: {alerts}}}\n") == [
        "nodes.train.count invalid-value",
        "observability.profil unknown-key",
        "observability.alerts.treshold unknown-key",
        "observability.alerts.thresholds.GpuTemperatureHigh alerts-tuning",
    ]


def test_a_misspelt_key_hides_no_errors_that_need_the_defaults_of_other_keys() -> None:
    section = "{admns: ['arn:aws:iam::123456789012:role/platform'], second-zone: use2-az1}"
    assert problems(f"orchestrator: kubernetes\nkubernetes: {section}\n") == [
        "nodes.train.count invalid-value",
        "kubernetes.admns unknown-key",
        "kubernetes.second-zone kubernetes-second-zone",
    ]


def test_names_are_checked_though_the_platform_cannot_be() -> None:
    assert problems(KUBERNETES) == ["nodes.train.count invalid-value", "kubernetes.teams.kube-system kubernetes-name"]


CHECK = """
import sys
from ultracluster import cli
sys.argv = ["ultracluster", "check", "examples/slurm-512-gpus.yaml"]
try:
    cli.main()
finally:
    print(*sorted({"aws_cdk", "ultracluster.kubernetes", "ultracluster.cli._plan"} & set(sys.modules)))
"""


def test_check_imports_what_the_file_needs() -> None:
    run = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-2:] == ["examples/slurm-512-gpus.yaml is good.", ""]
