"""The key `software`: oldest versions instead of those of the type, on nodes, in jobs and in checks of nodes."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from ultracluster import clusterfile
from ultracluster.boot import deep_check
from ultracluster.catalogue.ec2 import REPORTED, instance_type, oldest_software
from ultracluster.clusterfile import ClusterFile, ClusterFileError
from ultracluster.workloads import workload_files

FILE = """
name: llama
region: us-east-2
zone: use2-az1
orchestrator: {}
nodes: {{train: {{type: p5en.48xlarge, count: 4}}}}
storage: {{lustre: {{throughput: 2 GB/s}}}}
software: {}
"""
GIVEN = '{driver: "590", nccl: "2.31"}'


def cluster(orchestrator: str, software: str = GIVEN) -> ClusterFile:
    return clusterfile.loads(FILE.format(orchestrator, software), "cluster.yaml")


def test_versions_of_the_file_replace_those_of_the_type_and_settings_replace_both() -> None:
    (health,) = workload_files(cluster("slurm"), "health", settings={"software": "driver=600"})
    assert "oldest_of_node=(driver=600 efa-installer=1.24.1" in health.text
    assert "nccl=2.31" in health.text
    # That of AWS's image of vLLM, 1.18.0, hangs in broadcasts.
    assert re.search(r"oldest_of_image=\(.*\baws-ofi-nccl=1\.20\.0\b", health.text)
    assert oldest_software(instance_type("p5en.48xlarge"), "node", {})["driver"] != "590"


def test_nodes_compare_with_the_versions_of_the_file() -> None:
    files = {file.path: file.text for file in deep_check("p5en.48xlarge", cluster("slurm").software).files}
    assert files["/etc/ultracluster/software"].startswith("driver=590\nefa-installer=1.24.1\n")
    assert "\nnccl=" not in files["/etc/ultracluster/software"]


@pytest.mark.parametrize(
    ("software", "text"),
    [
        ('{ucx: "1"}', "software.ucx: a part of the software is one of driver, driver-below, efa-installer"),
        ("{driver: 590}", 'software.driver: must be a version in quotes, as in "2.31", got 590'),
        ('{nccl: "new"}', "software.nccl: must be a version in quotes"),
    ],
)
def test_a_part_that_nothing_reports_and_a_version_that_is_none_are_refused(software: str, text: str) -> None:
    with pytest.raises(ClusterFileError, match=text.replace("(", ".")):
        cluster("slurm", software)
    assert "ucx" not in REPORTED


@pytest.mark.parametrize(
    ("driver", "failed", "verdict"),
    [
        ("600.1", 0, "dcgmi diag level 2"),
        ("570.2", 0, "dcgmi diag level 2; driver 570.2 is older than 590"),
        ("570.2", 1, "dcgmi diag level 2: exit code 1; driver 570.2 is older than 590"),
    ],
)
def test_the_check_of_kubernetes_names_older_software_and_cordons_for_gpus_alone(
    tmp_path: Path, driver: str, failed: int, verdict: str
) -> None:
    (file,) = workload_files(cluster("kubernetes"), "health")
    job = next(item for item in yaml.safe_load_all(file.text) if item["kind"] == "Job")
    check = job["spec"]["template"]["spec"]["containers"][0]
    (tmp_path / "bin").mkdir()
    for name, text in (("nv-hostengine", ":"), ("dcgmi", f"exit {failed}"), ("nvidia-smi", f"echo {driver}")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    given = {row["name"]: row["value"] for row in check["env"] if "value" in row}
    environment = {**given, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "VERDICT": str(tmp_path)}
    done = subprocess.run(check["command"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / "reason").read_text().strip()) == (failed, verdict), done.stdout + done.stderr
    assert "/opt/amazon" in [mount["mountPath"] for mount in check["volumeMounts"]]


@pytest.mark.parametrize(("nccl", "code"), [("2.30.4", 0), ("2.18.1", 1)])
def test_a_job_of_kubernetes_compares_the_software_of_a_container_image(tmp_path: Path, nccl: str, code: int) -> None:
    (file,) = workload_files(cluster("kubernetes"), "health", settings={"image": "my/image:1", "software": "nccl=2.20"})
    jobs = {item["metadata"]["name"]: item for item in yaml.safe_load_all(file.text)}
    pod = jobs["software-train"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["image"], pod["restartPolicy"]) == ("my/image:1", "Never")
    assert pod["nodeSelector"] == jobs["dcgm-train"]["spec"]["template"]["spec"]["nodeSelector"]
    package = tmp_path / "nvidia_nccl_cu13-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: nvidia-nccl-cu13\nVersion: {nccl}\n")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "ULTRACLUSTER_ROOT": str(tmp_path)}
    command = [*container["command"], *container["args"]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("nccl 2.18.1 is older than 2.20" in done.stdout) == bool(code)
