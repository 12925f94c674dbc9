"""Instance types from a file with EC2's description: `types: {NAME: {from: describe.json}}`."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.hardware_data import described
from ultracluster.boot import health_boot
from ultracluster.catalogue.ec2 import default_layout, instance_type_from_api, interfaces
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile import ClusterFileError, load, loads, warnings
from ultracluster.monitoring._volume import scraped_series
from ultracluster.monitoring.collectors import Dcgm, RemoteWrite, node_collectors
from ultracluster.monitoring.collectors._counters import counters
from ultracluster.monitoring.collectors._node import textfile_arguments
from ultracluster.monitoring.names import Profile

FILE = """\
name: next
region: us-east-2
zone: use2-az1
orchestrator: slurm
types:
  p9.48xlarge: {from: p9.json%s}
nodes:
  train: {type: p9.48xlarge, count: 2, capacity: cr-0123456789abcdef0}
"""


def answer(**changes: Any) -> dict[str, Any]:
    """DescribeInstanceTypes of a type that is not in the catalogue."""
    return {"InstanceTypes": [described()["p5en.48xlarge"] | {"InstanceType": "p9.48xlarge"} | changes]}


def written(folder: Path, content: Any, more: str = "") -> Path:
    (folder / "p9.json").write_text(content if isinstance(content, str) else json.dumps(content))
    (folder / "c.yaml").write_text(FILE % more)
    return folder / "c.yaml"


def messages(file: Path) -> list[str]:
    with pytest.raises(ClusterFileError) as caught:
        load(str(file))
    return [f"{problem.field}: {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize("form", ["an answer", "a list", "one type", "an answer with others"])
def test_a_type_is_read_from_the_output_as_it_is(form: str, tmp_path: Path) -> None:
    (item,) = answer()["InstanceTypes"]
    others = {"InstanceTypes": [described()["p5.48xlarge"], item]}
    content = {"an answer": answer(), "a list": [item], "one type": item, "an answer with others": others}[form]
    (group,) = load(str(written(tmp_path, content))).node_groups
    assert group.instance_type == instance_type_from_api(item)
    assert (group.instance_type.gpus, group.instance_type.max_efa) == (8, 16)
    assert sum(row.kind != "interface" for row in interfaces(group.instance_type, group.layout)) == 16


def test_other_keys_state_what_the_description_lacks(tmp_path: Path) -> None:
    more = ", nvlink-domain: 72, ultraservers: {u-p9x72: 9}, memory: 1 TiB"
    file = written(tmp_path, answer(), more)
    text = file.read_text().replace("type: p9.48xlarge, count: 2", "type: u-p9x72, count: 1")
    capacity = "{reservation: cr-0123456789abcdef0, kind: ultraserver, instances: 9}"
    file.write_text(text.replace("cr-0123456789abcdef0", capacity))
    (group,) = load(str(file)).node_groups
    assert (group.instance_type.nvlink_domain, group.instance_type.memory_gib) == (72, 1024)
    assert (group.count, group.instance_type.gpus) == (9, 8)


def test_what_ec2_describes_needs_no_comparison_with_ec2(tmp_path: Path) -> None:
    assert "declared-type" not in {warning.rule for warning in warnings(load(str(written(tmp_path, answer()))))}


@pytest.mark.parametrize(
    ("content", "more", "expected"),
    [
        ("{", "", "is not the JSON of DescribeInstanceTypes"),
        ("[]", "", "is not the JSON of DescribeInstanceTypes"),
        ("[" * 100_000, "", "is not the JSON of DescribeInstanceTypes"),
        ({"InstanceTypes": [described()["p5.48xlarge"]]}, "", "p5.48xlarge, not p9.48xlarge; write it: aws ec2"),
        ({"InstanceTypes": [{"InstanceType": "p9.48xlarge"}]}, "", "ProcessorInfo.SupportedArchitectures is missing"),
        (answer(), ", like: p5en.48xlarge", "from and like both give the values of other keys; remove like"),
    ],
)  # fmt: skip
def test_rejects_a_description_with_the_command_that_writes_it(
    content: Any, more: str, expected: str, tmp_path: Path
) -> None:
    (message,) = messages(written(tmp_path, content, more))
    assert message.startswith("types.p9.48xlarge.from: ")
    assert expected in message


def test_rejects_a_missing_file(tmp_path: Path) -> None:
    file = written(tmp_path, answer())
    (tmp_path / "p9.json").unlink()
    (message,) = messages(file)
    command = "aws ec2 describe-instance-types --instance-types p9.48xlarge > p9.json"
    assert message.endswith(f"No such file or directory; write it: {command}")


def test_each_type_with_efa_has_a_layout_checks_and_metrics() -> None:
    to = RemoteWrite(region="us-east-2", url="https://aps.example/api/v1/remote_write")
    types = [item for item in described().values() if item["NetworkInfo"].get("EfaSupported")]
    assert len(types) > 300
    for item in types:
        record = instance_type_from_api(item)
        for layout in (default_layout(record), pcs.default_layout(record)):
            rows = interfaces(record, layout)
            devices = sum(row.kind != "interface" for row in rows)
            assert 1 <= devices <= record.max_efa, record.name
            assert health_boot(record, efa_devices=devices).files
            collectors = node_collectors(record, cluster="c", group="train", efa_devices=devices, to=to)
            # Every NVIDIA GPU is monitored, of a known model or not.
            nvidia = bool(record.gpus) and item["GpuInfo"]["Gpus"][0]["Manufacturer"] == "NVIDIA"
            assert any("dcgm" in file.path for file in collectors.files) is nvidia, record.name
            assert scraped_series(record, Profile.STANDARD, efa_devices=devices) > 0


FIGURES = (
    "gpu: {model: GB300, memory: 268 GiB, memory-bandwidth: 8 TB/s, bf16: 2500, nvlink-generation: 5, "
    "nvlink-bandwidth: 1800 GB/s}"
)


def test_a_gpu_with_figures_has_the_counters_of_its_nvlink_and_no_warning() -> None:
    text = (Path(__file__).parents[2] / "examples" / "slurm-new-type.yaml").read_text()
    unknown, known = loads(text, "new.yaml"), loads(text.replace("gpu: GB300", FIGURES), "new.yaml")
    assert unknown.node_groups[0].instance_type.gpu is None
    gpu = known.node_groups[0].instance_type.gpu
    assert gpu is not None
    assert (gpu.model, gpu.hbm_gib, gpu.hbm_tb_per_s, gpu.bf16_pflops) == ("GB300", 268, 8, 2.5)
    assert (gpu.nvlink_generation, gpu.nvlink_gb_per_s) == (5, 1800)
    unclear = [
        any("no facts of the GPU" in str(warning) for warning in warnings(cluster)) for cluster in (unknown, known)
    ]
    assert unclear == [True, False]


WITHOUT_NVLINK = "gpu: {model: RTX PRO 7000, memory: 96 GiB, memory-bandwidth: 1.6 TB/s, bf16: 500}"


def test_a_gpu_without_nvlink_has_no_counters_and_no_checks_of_it() -> None:
    text = (FILE % "").replace("{from: p9.json}", f"{{like: p6-b300.48xlarge, {WITHOUT_NVLINK}}}")
    record = loads(text, "new.yaml").node_groups[0].instance_type
    assert record.gpu is not None
    assert (record.gpu.nvlink_generation, record.gpu.nvlink_gb_per_s, record.nvlink_domain) == (0, 0, 1)
    for dcgm in Dcgm:
        assert "NVLINK" not in counters(record.gpu, Profile.FULL, dcgm=dcgm)
        assert "ECC_SBE" in counters(record.gpu, dcgm=dcgm)
    words = textfile_arguments(record, 1, Profile.STANDARD)
    assert "nvswitch" not in words
    assert "nvlink" not in words


@pytest.mark.parametrize(
    ("figures", "path"),
    [
        (FIGURES.replace("nvlink-generation: 5", "nvlink-generation: 12"), "nvlink-generation: must be 1 to 9"),
        (FIGURES.replace("memory: 268 GiB, ", ""), "memory: is missing"),
        (FIGURES.replace("bf16: 2500", "bf16: 2.5 PFLOPS"), "bf16: must be"),
        (FIGURES.replace(", nvlink-generation: 5", ""), "has one of nvlink-generation and nvlink-bandwidth"),
        (
            f"{WITHOUT_NVLINK}\n    nvlink-domain: 72",
            "nvlink-domain is 72, and gpu has no nvlink-generation: remove nvlink-domain",
        ),
    ],
)
def test_figures_of_a_gpu_are_complete_and_possible(figures: str, path: str) -> None:
    text = (Path(__file__).parents[2] / "examples" / "slurm-new-type.yaml").read_text().replace("gpu: GB300", figures)
    with pytest.raises(ClusterFileError, match=path):
        loads(text, "new.yaml")
