"""General types: the table is that of DescribeInstanceTypes, and each type works in a cluster file."""

import sys
from subprocess import run

import general_types
import pytest

from support.clusterfile_data import GOOD
from support.hardware_data import described
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import (
    GPUS,
    INSTANCE_TYPES,
    general_type_names,
    instance_type,
    instance_type_from_api,
    interfaces,
    known_type,
)
from ultracluster.monitoring.collectors._counters import counters
from ultracluster.monitoring.names import Profile


def with_type(name: str) -> str:
    return f"""
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  work: {{type: {name}, count: 2}}
"""


def test_the_table_is_what_its_generator_writes() -> None:
    assert general_types.TABLE.read_text() == general_types.table()


def test_every_record_is_what_ec2_describes() -> None:
    fields = (
        *("architecture", "cpu", "vcpus", "cores", "memory_gib", "cards", "ipv4_per_interface", "max_efa", "gpus"),
        *("gpu_model", "gpu", "nvme", "ebs_gbps", "purchase", "placement_strategies"),
    )
    names = general_type_names()
    assert len(names) > 1000
    for name in names:
        record, actual = instance_type(name), instance_type_from_api(described()[name])
        assert {field: getattr(record, field) for field in fields} == {
            field: getattr(actual, field) for field in fields
        }
        assert not record.declared


@pytest.mark.parametrize(
    "family", ["c6i", "m6i", "c8g", "m8a", "g4dn", "g5", "g6", "g6e", "g7e", "inf2", "trn1", "trn2"]
)
def test_families_of_every_kind_are_there(family: str) -> None:
    assert [name for name in general_type_names() if name.startswith(f"{family}.")]


def test_every_current_generation_of_cpus_is_there_but_for_xen() -> None:
    others = ("GpuInfo", "FpgaInfo", "MediaAcceleratorInfo", "InferenceAcceleratorInfo", "NeuronInfo")
    for name, item in described().items():
        if item["CurrentGeneration"] and not any(key in item for key in others) and not name.startswith("mac"):
            assert (known_type(name) is None) == (item.get("Hypervisor") == "xen"), name
    for name in ("r7iz.metal-16xl", "g4dn.metal", "g5g.metal"):
        assert instance_type(name).placement_strategies


def test_every_type_has_interfaces() -> None:
    for name in general_type_names():
        assert interfaces(instance_type(name), "one-ip" if name != "hpc6id.32xlarge" else "all-efa")


def test_types_with_all_facts_are_not_in_the_table_and_others_are_unknown() -> None:
    assert not set(general_type_names()) & INSTANCE_TYPES.keys()
    assert known_type("g6f.large") is None, "a part of a GPU needs another driver"
    assert known_type("mac2.metal") is None
    with pytest.raises(ValueError, match=r"did you mean g6e\.48xlarge"):
        instance_type("g6e.48xlrage")


def test_the_table_is_read_on_the_first_look_up_only() -> None:
    code = """
import sys
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import _general_types as g, instance_type
clusterfile.loads(sys.argv[1], 'x.yaml')
assert g._table.cache_info().currsize == 0, "read"
instance_type("m6i.large")
assert g._table.cache_info().currsize == 1
"""
    done = run([sys.executable, "-c", code, GOOD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["m6i.8xlarge", "c8g.4xlarge", "g6e.48xlarge", "hpc7a.96xlarge"])
def test_a_cluster_file_takes_a_general_type(name: str) -> None:
    (group,) = clusterfile.loads(with_type(name), "x.yaml").node_groups
    assert group.instance_type is instance_type(name)


@pytest.mark.parametrize("name", ["inf2.48xlarge", "trn1.32xlarge", "trn2.48xlarge"])
@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_refuses_a_neuron_type_without_an_image_for_it(name: str, orchestrator: str) -> None:
    text = with_type(name).replace("slurm", orchestrator)
    reason = {"slurm": "which AWS's image for", "kubernetes": "which this release does not set up on EKS"}[orchestrator]
    with pytest.raises(clusterfile.ClusterFileError, match=f"{name} has AWS Neuron, {reason}"):
        clusterfile.loads(text, "x.yaml")
    accepted = text + "accept: {image-driver: our own image has the driver}\n"
    assert clusterfile.loads(accepted, "x.yaml").node_groups


def test_a_declared_type_replaces_a_general_one() -> None:
    declared = with_type("m6i.8xlarge") + "types: {m6i.8xlarge: {like: m6i.8xlarge, vcpus: 30}}\n"
    (group,) = clusterfile.loads(declared, "x.yaml").node_groups
    assert group.instance_type.vcpus == 30


def test_a_gpu_without_facts_has_metrics_and_a_warning() -> None:
    cluster = clusterfile.loads(with_type("g6e.48xlarge"), "x.yaml")
    (warning,) = (item for item in clusterfile.warnings(cluster) if item.rule == "gpu-not-known")
    assert "work (g6e.48xlarge with L40S)" in warning.message
    text = counters(None, Profile.FULL)
    assert {line.partition(",")[0] for gpu in ("H100", "B200") for line in lines_of(gpu)} - {
        line.partition(",")[0] for line in text.splitlines()
    } == {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"}


def lines_of(gpu: str) -> list[str]:
    return counters(GPUS[gpu], Profile.FULL).splitlines()
