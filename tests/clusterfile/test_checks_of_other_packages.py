"""Packages above `clusterfile` check a cluster file too, whatever a program imports."""

import subprocess
import sys

import pytest

from support import ROOT

KUBERNETES = "orchestrator: kubernetes\nkubernetes: {teams: {kube-system: {nodes: {train: 2}}}}\n"
ALERTS = "orchestrator: slurm\nobservability: {alerts: {off: [NoSuchAlert]}}\n"
FILE = "name: llama\nregion: us-east-2\nzone: use2-az1\nnodes: {train: {type: p5en.48xlarge, count: 2}}\n"


@pytest.mark.parametrize(("more", "rule"), [(KUBERNETES, "kubernetes-name"), (ALERTS, "alerts-tuning")])
def test_the_module_of_the_cluster_file_alone_applies_them(more: str, rule: str) -> None:
    code = "import sys; from ultracluster.clusterfile import loads; loads(sys.stdin.read(), 'cluster.yaml')"
    run = subprocess.run([sys.executable, "-c", code], input=FILE + more, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 1
    assert f"[{rule}]" in run.stderr


def test_they_are_imported_when_a_file_is_read() -> None:
    code = "import sys, ultracluster.clusterfile; sys.exit('ultracluster.kubernetes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
