"""Nodes, jobs, gate and monitoring on HyperPod: as elsewhere, but for what the service does itself."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from support.boot_scripts import files_of
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFile
from ultracluster.hyperpod._node_boot import node_scripts
from ultracluster.slurm import slurm_collectors
from ultracluster.slurm._boot import node_boot
from ultracluster.storage import Storage
from ultracluster.workloads import job_files, kubernetes_bundle

#: Names of examples, and the orchestrators without HyperPod that take the same file.
SLURM = {name: "slurm" for name in ("hyperpod-slurm", "hyperpod-ultraserver")}
KUBERNETES = {name: "kubernetes" for name in ("hyperpod-kubernetes", "hyperpod-governed")}


def pair(name: str) -> tuple[ClusterFile, ClusterFile]:
    """Return the cluster of an example, and that of a file with the same nodes without HyperPod."""
    path = ROOT / "examples" / f"{name}.yaml"
    document = yaml.safe_load(path.read_text())
    document["orchestrator"] = document["orchestrator"].removeprefix("hyperpod-")
    document.pop("hyperpod", None)
    for group in document["nodes"].values():
        # Karpenter of one's own needs a pinned image.
        group.pop("elastic", None)
        if "capacity" in group:
            kind = "ultraserver" if group["type"].startswith("u-") else "capacity-block"
            group["capacity"] = {"reservation": "cr-0123456789abcdef0", "kind": kind}
    for key in ("scheduler", "add-ons"):
        document.get("kubernetes", {}).pop(key, None)
    return clusterfile.load(path), clusterfile.loads(yaml.safe_dump(document, sort_keys=False), path.name)


def texts(cluster: ClusterFile) -> dict[str, str]:
    return {file.path: file.text for file in job_files(cluster)}


@pytest.mark.parametrize("name", SLURM)
def test_job_files_differ_by_the_option_of_srun_that_resumes(name: str) -> None:
    here, elsewhere = map(texts, pair(name))
    assert here.keys() == elsewhere.keys()
    resumed = [path for path, text in here.items() if "srun --auto-resume=1" in text]
    assert resumed
    assert not [path for path in elsewhere if "--auto-resume" in elsewhere[path]]
    for path in resumed:
        assert "#SBATCH --auto-resume" not in here[path], "sbatch refuses it"
        assert here[path].replace("srun --auto-resume=1 ", "srun ").count("srun ") == elsewhere[path].count("srun ")


@pytest.mark.parametrize("name", SLURM)
def test_nodes_have_the_collectors_and_checks_of_pcs(name: str) -> None:
    here, elsewhere = pair(name)
    for group, other in zip(here.node_groups, elsewhere.node_groups, strict=True):
        nodes = node_scripts(
            here, Storage(), group.instance_type, group=group.name, layout=group.layout, log_group="/logs"
        )
        first = nodes.scripts[0]
        assert (first.name, first.on_error) == ("ultracluster-logs", "CONTINUE"), "a node that fails leaves its log"
        assert first.arguments == ("/logs", here.region, group.name)
        collectors = slurm_collectors(elsewhere, other.instance_type, group=other.name, layout=other.layout)
        boot = node_boot(
            *(elsewhere, Storage(), other.instance_type),
            group=other.name,
            zone=other.zone,
            layout=other.layout,
            extra=collectors,
        )
        unit = "etc/systemd/system/ultracluster-users.service"
        assert files_of(nodes.scripts[-1].text)[unit] == files_of(boot.script.text)[unit]
        hyperpod, reference = ({file.path: file.text for file in files} for files in (nodes.in_place, boot.in_place))
        for program in ("prolog", "epilog", "health-check", "users", "deep-check", "collect-dcgm", "metrics-agent"):
            path = f"/usr/local/sbin/ultracluster-{program}"
            assert hyperpod[path] == reference[path], program


def groups(bundle: Mapping[str, Any]) -> list[dict[str, Any]]:
    differing = ("labels", "optional")
    return [{key: value for key, value in group.items() if key not in differing} for group in bundle["groups"]]


@pytest.mark.parametrize("name", KUBERNETES)
def test_the_gate_expects_the_nodes_devices_and_metrics_of_eks(name: str) -> None:
    here, elsewhere = map(kubernetes_bundle, pair(name))
    assert groups(here) == groups(elsewhere)
    assert all(group["resources"] or group["name"] == "services" for group in groups(here))
    assert here.get("metrics")
    assert here["metrics"] == elsewhere["metrics"]
    for group in here["groups"]:
        assert group["labels"] == {"ultracluster.dev/group": group["name"]}


def test_governed_jobs_are_those_of_the_operator_and_of_sets_in_the_queue_of_a_team() -> None:
    files = texts(pair("hyperpod-governed")[0])
    assert "train/hyperpod-pytorch-job.yaml" in files
    for path in ("train/hyperpod-pytorch-job.yaml", "train/job-set.yaml"):
        assert "kueue.x-k8s.io/queue-name: hyperpod-ns-language-localqueue" in files[path]
    assert "train/train-job.yaml" not in files
