"""Software that nodes and container images of a type need: oldest and pinned versions."""

import re

import pytest

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType, software_set
from ultracluster.catalogue.ec2._software_set import PARTS
from ultracluster.workloads import IMAGES

GPU_TYPES = [record for record in INSTANCE_TYPES.values() if record.gpu and record.software]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


@pytest.mark.parametrize("record", GPU_TYPES, ids=lambda record: record.name)
def test_what_this_release_pins_is_new_enough_for_each_type(record: InstanceType) -> None:
    parts = software_set(record)
    assert tuple(part.name for part in parts) == PARTS
    for part in parts:
        assert part.source
        assert bool(part.pinned) == bool(part.pinned_by)
        if part.oldest and part.pinned:
            assert numbers(part.pinned) >= numbers(part.oldest), part
    oldest = {part.name: part.oldest for part in parts}
    assert oldest["libfabric"], "the installer is in the table of its contents"
    assert oldest["aws-ofi-nccl"]


def test_pins_of_containers_are_those_of_the_image_of_the_job_files() -> None:
    held = IMAGES["pytorch"].contents
    pinned = {part.name: part.pinned for part in software_set(INSTANCE_TYPES["p5.48xlarge"])}
    for name, text in (("pytorch", "PyTorch"), ("cuda", "CUDA"), ("nccl", "NCCL"),
                       ("transformer-engine", "Transformer Engine")):  # fmt: skip
        assert f"{text} {pinned[name]}" in held  # type: ignore[index]  # a name of a part


def test_blackwell_needs_frameworks_that_support_it() -> None:
    def oldest(name: str) -> dict[str, str | None]:
        return {part.name: part.oldest for part in software_set(INSTANCE_TYPES[name])}

    assert (oldest("p6-b200.48xlarge")["pytorch"], oldest("p6-b300.48xlarge")["pytorch"]) == ("2.7.0", "2.9.0")
    assert oldest("p6-b300.48xlarge")["cuda"] == "13.0"
    assert oldest("p5.48xlarge")["pytorch"] is None
    assert software_set(INSTANCE_TYPES["p5en.48xlarge"]) != ()
