"""Job files of each workload, on each orchestrator and generation of GPUs: what the table of the docs says of them.

The tests show what it says: a real Slurm takes the files that are `accepted` there, and those of Kubernetes match the
definitions of their kinds. `ON_CPUS` names the test that runs a program of a workload.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from ultracluster.clusterfile import ClusterFile, loads
from ultracluster.rules import Refusal
from ultracluster.workloads import JobFile, Workload, workload_files

FAMILIES = ("slurm", "kubernetes")
_FILE = """
name: table
region: us-east-2
zone: use2-az1
orchestrator: {family}
nodes:
{groups}
storage: {{lustre: {{throughput: 20 GB/s}}}}
"""
_CAPACITY = "{reservations: [cr-0123456789abcdef0], kind: ultraserver, instances: 18}"
_BLOCK = f"{{type: u-p6e-gb200x72, count: 1, capacity: {_CAPACITY}}}"
_SERVICE = "hyperpod-kubernetes"
_PLAN = '{training-plan: "arn:aws:sagemaker:us-east-2:123456789012:training-plan/table"}'
_OPERATOR = "kubernetes: {add-ons: {amazon-sagemaker-hyperpod-training-operator: default}}\n"
#: The group of each generation, in the syntax of the cluster file.
GENERATIONS: Mapping[str, str] = MappingProxyType(
    {
        "A100": "{type: p4d.24xlarge, count: 4}",
        "H100": "{type: p5.48xlarge, count: 4}",
        "H200": "{type: p5en.48xlarge, count: 4}",
        "B200": "{type: p6-b200.48xlarge, count: 4}",
        "B300": "{type: p6-b300.48xlarge, count: 4}",
        "GB200": _BLOCK,
    }
)
#: Those that the Slurm of the tests has: it knows no topology of blocks.
ON_SLURM = tuple(name for name, group in GENERATIONS.items() if group != _BLOCK)
#: Workloads of an operator that only clusters of HyperPod have.
OPERATED = ("elastic", "checkpointless")
#: What ran on CPUs in the tests, and the test.
ON_CPUS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "pretrain": (
            "the file of Slurm, with its program",
            "tests/integration/slurm/test_training.py::test_the_curve_of_a_killed_and_requeued_run_is_that_of_a_run_"
            "without_faults",
        ),
        "torchtitan": (
            "the program, FSDP2 over two processes",
            "tests/workloads/test_programs_run.py::test_a_requested_run_ends_with_a_checkpoint_and_continues_with_the_"
            "next_step",
        ),
        "finetune": (
            "the program, with DeepSpeed",
            "tests/workloads/test_programs_run.py::test_a_requested_run_ends_with_a_checkpoint_and_continues_with_the_"
            "next_step",
        ),
        "rl": (
            "the configuration, composed by veRL's own",
            "tests/workloads/test_verl_run.py::test_the_job_file_gives_verl_all_that_it_needs",
        ),
        "health": (
            "the comparison of software",
            "tests/workloads/test_software.py::test_a_job_of_kubernetes_compares_the_software_of_a_container_image",
        ),
    }
)


@cache
def cluster(family: str, *generations: str) -> ClusterFile:
    """Cluster file with a group for each generation, named in lower-case letters."""
    groups = "\n".join(f"  {name.lower()}: {GENERATIONS[name]}" for name in generations or GENERATIONS)
    text = _FILE.format(family=family, groups=groups)
    if family == _SERVICE:
        text = text.replace(_CAPACITY, _PLAN).replace("count: 4", "count: 8") + _OPERATOR
    return loads(text, "table.yaml")


def support(row: Workload, family: str, generation: str) -> tuple[str, tuple[JobFile, ...]]:
    """Return what the table says of a workload, and its files."""
    if not any(form.family == family for form in row.forms):
        return "no", ()
    operated = row.name in OPERATED
    try:
        orchestrator = _SERVICE if operated else family
        files = workload_files(cluster(orchestrator), row.name, group=_group(orchestrator, generation))
    except Refusal as refusal:
        if [message.rule.id for message in refusal.messages] == ["job-image"]:
            return "image", ()
        raise
    if operated:
        return "operator", ()
    if any("# IMAGE    must be set" in file.text for file in files):
        return "image", files
    return "accepted" if family != "slurm" or generation in ON_SLURM else "rendered", files


def _group(family: str, generation: str) -> str:
    """Return the name of a group: on Kubernetes, each block of UltraServers has one."""
    name = generation.lower()
    return (
        next(group.name for group in cluster(family).node_groups if group.name.startswith(name))
        if family != "slurm"
        else name
    )
