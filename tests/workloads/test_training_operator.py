"""Jobs of HyperPod's training operator, by AWS's own model of them, and what they have of the cluster."""

import importlib.util
import os
import re
import subprocess
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from pydantic import ValidationError

from support import ROOT
from support.kubernetes_data import cluster, nodes
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.clusterfile import ClusterFile, ClusterFileError, loads
from ultracluster.kubernetes import PYTHON, platform, platform_of
from ultracluster.workloads import IMAGES, job_files, workload_files
from ultracluster.workloads._training_operator import pytorch_job
from ultracluster.workloads._workload import Settings

EXAMPLE = (ROOT / "examples" / "hyperpod-kubernetes.yaml").read_text()
OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
SCRIPTS = ROOT / "constructs/ultracluster/boot/scripts"
FILE = "train/hyperpod-pytorch-job.yaml"


def with_operator() -> ClusterFile:
    return loads(EXAMPLE.replace("kubernetes:\n", f"kubernetes:\n  add-ons: {{{OPERATOR}: default}}\n"), "lyra.yaml")


@pytest.fixture(scope="module")
def model() -> Any:
    """AWS's model of the job, which its SDK has in a module that imports pydantic alone."""
    modules = list((ROOT / ".venv-hyperpod").glob("lib/*/site-packages/sagemaker/hyperpod/training/config/*unified*"))
    assert modules, "make test-packages installs AWS's SDK of HyperPod"
    spec = importlib.util.spec_from_file_location("hyperpod_job", modules[0])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module._HyperPodPytorchJob


def objects(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


def job(cluster_file: ClusterFile, **settings: str) -> dict[str, Any]:
    files = {file.path: file.text for file in workload_files(cluster_file, "pretrain", settings=settings)}
    return objects(files[FILE])[0]


def unknown_fields(given: Any, model: Any) -> list[str]:
    """Fields that the model does not have: it ignores them at the top, and forbids them below."""
    return sorted({*given} - {*model.model_fields})


@pytest.mark.parametrize("settings", [{}, {"nodes": "4"}, {"program": "/fsx/train.py", "image": "a.b/c:d"}])
def test_the_job_is_valid_by_the_model_of_aws(model: Any, settings: dict[str, str]) -> None:
    created = job(with_operator(), **settings)
    assert (created["apiVersion"], created["kind"]) == ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob")
    assert not unknown_fields(created["spec"], model)
    model.model_validate(created["spec"], by_name=True, by_alias=False)


def test_the_model_of_aws_refuses_what_is_not_a_job(model: Any) -> None:
    spec = job(with_operator())["spec"]
    spec["runPolicy"]["jobMaxRetries"] = 1
    with pytest.raises(ValidationError, match="jobMaxRetries"):
        model.model_validate(spec, by_name=True, by_alias=False)


def test_the_job_restarts_by_itself_and_finds_a_program_that_hangs() -> None:
    policy = job(with_operator())["spec"]["runPolicy"]
    assert policy["jobMaxRetryCount"] > policy["restartPolicy"]["numRestartBeforeFullJobRestart"] > 0
    (rule,) = policy["logMonitoringConfiguration"]
    assert re.match(rule["logPattern"], '[default0]:{"event": "step", "step": 10, "loss": 2.5}')
    assert re.match(rule["stopPattern"], '[default0]:{"event": "requested end", "step": 10}')
    assert "expectedStartCutOffInSeconds" not in rule, "ranks other than 0 write no such line"


def test_no_rule_reads_the_lines_of_a_program_of_the_user() -> None:
    assert "logMonitoringConfiguration" not in job(with_operator(), program="/fsx/train.py")["spec"]["runPolicy"]


def test_the_job_is_in_the_queue_of_its_team_on_healthy_nodes() -> None:
    created = job(with_operator())
    assert created["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    (replica,) = created["spec"]["replicaSpecs"]
    assert replica["template"]["spec"]["nodeSelector"] == {
        "ultracluster.dev/group": "train",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
    }


def test_the_operator_reaches_the_agents_of_the_pods() -> None:
    files = {file.path: file.text for file in job_files(with_operator())}
    created, policy = objects(files[FILE])
    container = created["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    assert container["ports"] == [{"containerPort": 8080}]
    shell, (_, gang, *program) = container["command"][2], container["command"][4:]
    assert shell.endswith('exec "$@"\n'), "the first process gets the signals of the kubelet"
    # The image for arm64 is that of NeMo, in which NCCL does not find EFA's plugin by itself.
    assert gang == f"{PYTHON}/ultracluster_gang.sh"
    assert program[:2] == ["over-efa", "hyperpodrun"]
    started = ["bash", str(SCRIPTS / "ultracluster_gang.sh"), "over-efa", "echo", "a b", "c"]
    assert subprocess.run(started, env={"PATH": os.defpath}, capture_output=True, text=True).stdout == "a b c\n"
    # It has a PyTorch that the agent accepts, too.
    assert container["image"] == IMAGES["megatron"].address
    # Its tools first, for PyPI has only its source.
    tools, agent = re.findall(r"^layer '(.*)' \|\| exit$", shell, re.MULTILINE)
    assert "hatchling==" in tools
    assert agent.startswith("hyperpod-elastic-agent==1.1.3 ")
    allowed = policy["spec"]["ingress"][1]
    assert allowed["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "aws-hyperpod"}
    assert allowed["ports"] == [{"port": 8080, "protocol": "TCP"}]


def test_kueue_admits_jobs_of_the_operator_and_the_operator_creates_their_pods() -> None:
    def frameworks(of: ClusterFile) -> Any:
        (kueue,) = [release for release in platform(platform_of(of)).releases if release.name == "kueue"]
        settings = kueue.values["managerConfig"]["controllerManagerConfigYaml"]  # type: ignore[union-attr]
        return yaml.safe_load(settings)["integrations"]

    assert frameworks(with_operator())["externalFrameworks"] == ["HyperPodPyTorchJob.v1.sagemaker.amazonaws.com"]
    assert "externalFrameworks" not in frameworks(loads(EXAMPLE, "lyra.yaml"))


def test_without_the_operator_jobs_are_jobsets_on_healthy_nodes() -> None:
    files = {file.path: file.text for file in job_files(loads(EXAMPLE, "lyra.yaml"))}
    assert FILE not in files
    (jobs,) = [each for each in objects(files["train/job-set.yaml"]) if each["kind"] == "JobSet"]
    pod = jobs["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"]["sagemaker.amazonaws.com/node-health-status"] == "Schedulable"


WITHOUT_CHECKPOINTS = EXAMPLE.replace("hyperpod: {checkpoint-memory: 40}\n", "")


def elastic(**settings: str) -> dict[str, Any]:
    text = WITHOUT_CHECKPOINTS.replace("kubernetes:\n", f"kubernetes:\n  add-ons: {{{OPERATOR}: default}}\n")
    (file,) = workload_files(loads(text, "lyra.yaml"), "elastic", settings=settings)
    return objects(file.text)[0]


def test_an_elastic_job_is_valid_by_the_model_of_aws_and_has_its_limits(model: Any) -> None:
    spec = elastic(min_nodes="4", nodes="16")["spec"]
    assert not unknown_fields(spec, model)
    model.model_validate(spec, by_name=True, by_alias=False)
    policy, (replica,) = spec["elasticPolicy"], spec["replicaSpecs"]
    assert (policy["minReplicas"], policy["maxReplicas"], replica["maxReplicas"]) == (4, 16, 16)
    assert replica["replicas"] == 4, "Kueue admits the first replicas as a whole"
    assert elastic()["spec"]["elasticPolicy"]["minReplicas"] == 1


def test_an_elastic_job_has_no_more_nodes_at_least_than_at_most() -> None:
    with pytest.raises(ValueError, match="min_nodes is 1 to 4, the nodes of the job, got 5"):
        elastic(min_nodes="5", nodes="4")


def test_elastic_jobs_need_the_operator() -> None:
    with pytest.raises(ValueError, match="elastic has no form for Kubernetes without the training operator"):
        workload_files(loads(WITHOUT_CHECKPOINTS, "lyra.yaml"), "elastic")


@pytest.mark.parametrize("name", ["elastic", "checkpointless"])
def test_aws_excludes_tiered_checkpoints_from_elastic_and_checkpointless_jobs(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} has no form for Kubernetes with managed tiered checkpoints"):
        workload_files(with_operator(), name)
    assert f"train/{name}.yaml" not in {file.path for file in job_files(with_operator())}


def test_pods_leave_the_memory_of_tiered_checkpoints() -> None:
    def memory(text: str) -> int:
        text = text.replace("kubernetes:\n", f"kubernetes:\n  add-ons: {{{OPERATOR}: default}}\n")
        pod = job(loads(text, "lyra.yaml"))["spec"]["replicaSpecs"][0]["template"]["spec"]
        return int(pod["containers"][0]["resources"]["limits"]["memory"].removesuffix("Mi"))

    of_node = instance_type("p6e-gb200.36xlarge").memory_gib * 1024
    assert memory(WITHOUT_CHECKPOINTS) - memory(EXAMPLE) == pytest.approx(0.4 * of_node, abs=1)
    with pytest.raises(ClusterFileError, match=r"hyperpod\.checkpoint-memory: 95 % for checkpoints leaves pods on"):
        loads(EXAMPLE.replace("checkpoint-memory: 40", "checkpoint-memory: 95"), "lyra.yaml")


HOPPER = f"""
name: lyra
region: us-east-2
zone: use2-az1
orchestrator: hyperpod-kubernetes
nodes:
  train: {{type: p5.48xlarge, count: 18, spare: 1}}
kubernetes: {{add-ons: {{{OPERATOR}: default}}}}
storage: {{lustre: {{capacity: 4800 GiB}}}}
"""


def checkpointless(text: str = HOPPER, **settings: str) -> dict[str, Any]:
    (file,) = workload_files(loads(text, "lyra.yaml"), "checkpointless", settings=settings)
    return objects(file.text)[0]


def test_a_checkpointless_job_is_valid_by_the_model_of_aws_on_whole_copies_of_its_model(model: Any) -> None:
    spec = checkpointless()["spec"]
    assert not unknown_fields(spec, model)
    pod = spec["replicaSpecs"][0]["template"]["spec"]
    # The model has the class of containers for that of pods, too: both have the same name.
    (sysctl,) = pod.pop("securityContext")["sysctls"]
    assert sysctl["name"] == "net.ipv4.ip_local_port_range"
    model.model_validate(spec, by_name=True, by_alias=False)
    assert spec["replicaSpecs"][0]["replicas"] == 16, "of 18 that work: two copies are 8 nodes"
    (container,) = pod["containers"]
    assert container["image"].startswith(
        "556809692997.dkr.ecr.us-east-2.amazonaws.com/hyperpod-checkpointless-training:"
    )
    assert {"--inprocess-restart", "trainer.num_nodes=16"} <= {*container["command"]}
    assert "privileged" not in container["securityContext"], "its ports are a safe sysctl"
    assert "++callbacks.3.test_fault_config.fault_ranks=[]" in container["command"], "its configuration kills rank 8"
    assert "HPCT_USE_ROOTLESS" in {each["name"] for each in container["env"]}


def test_a_cluster_with_room_for_a_checkpointless_job_has_its_file() -> None:
    def listed(text: str) -> bool:
        return "train/checkpointless.yaml" in {file.path for file in job_files(loads(text, "lyra.yaml"))}

    assert listed(HOPPER)
    assert not listed(HOPPER.replace("count: 18", "count: 7")), "two copies are eight nodes"
    assert not listed(HOPPER.replace("p5.48xlarge", "p5en.48xlarge")), "AWS has no recipe for it"


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (("", ""), {"nodes": "4"}, "2 copies of 32 GPUs are 8 nodes, and 4 is not a multiple of it"),
        (("", ""), {"data": "/home/tokens"}, "data=/home/tokens is on none of the file systems"),
        (("p5.48", "p5en.48"), {}, "recipes for p5.48xlarge and p5e.48xlarge, and train has p5en.48xlarge: set image"),
        (("us-east-2\nzone: use2", "eu-south-2\nzone: eus2"), {}, "and not in eu-south-2: copy it into a registry"),
    ],
)
def test_rejects_a_checkpointless_job_that_cannot_run(
    change: tuple[str, str], settings: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        checkpointless(HOPPER.replace(*change), **settings)


def test_another_program_of_its_package_has_its_own_number_of_nodes() -> None:
    command = checkpointless(nodes="2", program="/fsx/train.py")["spec"]["replicaSpecs"][0]["template"]["spec"]
    assert command["containers"][0]["command"][-1] == "/fsx/train.py"


@pytest.mark.parametrize("requested", [0, 65])
def test_rejects_a_job_of_more_nodes_than_there_are(requested: int) -> None:
    item = cluster(nodes())
    with pytest.raises(ValueError, match=f"nodes is 1 to 64.*got {requested}"):
        pytorch_job(item, item.nodes[0], item.teams[0], Settings(nodes=requested))
