"""The catalogue's figures: against EC2's own description of the types, and as facts of their own."""

import math
import re
from dataclasses import FrozenInstanceError
from datetime import date
from typing import Any

import pytest

from support.hardware_data import described
from ultracluster.catalogue.ec2 import (
    GPUS,
    INSTANCE_TYPES,
    ULTRASERVERS,
    instance_type,
    instance_type_from_api,
    interfaces,
    ultraserver,
)

PUBLIC = sorted(INSTANCE_TYPES.keys() & described().keys())
GPU_TYPES = [name for name, record in INSTANCE_TYPES.items() if record.gpus]


def test_the_types_that_a_training_cluster_is_made_of_are_there() -> None:
    assert set(GPU_TYPES) == {
        "p4d.24xlarge",
        "p4de.24xlarge",
        "p5.4xlarge",
        "p5.48xlarge",
        "p5e.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
        "p6e-gb200.36xlarge",
    }


def test_ec2_describes_every_type_of_the_catalogue_but_gb200() -> None:
    assert INSTANCE_TYPES.keys() - described().keys() == {"p6e-gb200.36xlarge"}


@pytest.mark.parametrize(
    "field",
    [
        "architecture",
        "vcpus",
        "cores",
        "memory_gib",
        "gpus",
        "gpu_model",
        "gpu",
        "nvme",
        "max_efa",
        "ipv4_per_interface",
        "max_interfaces",
        "supports_efa",
        "purchase",
        "placement_strategies",
    ],
)
@pytest.mark.parametrize("name", PUBLIC)
def test_the_catalogue_agrees_with_what_ec2_describes(name: str, field: str) -> None:
    assert getattr(INSTANCE_TYPES[name], field) == getattr(instance_type_from_api(described()[name]), field)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_card_agrees_with_what_ec2_describes(name: str) -> None:
    actual = instance_type_from_api(described()[name]).cards
    expected = INSTANCE_TYPES[name].cards
    assert [(c.index, c.kinds, c.max_interfaces) for c in expected] == [
        (c.index, c.kinds, c.max_interfaces) for c in actual
    ]


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "p6-b300.48xlarge"])
def test_a_card_s_ena_bandwidth_is_the_api_s(name: str) -> None:
    # Under another name, the catalogue adds nothing.
    actual = instance_type_from_api(described()[name] | {"InstanceType": "p9.48xlarge"}).cards
    assert [c.ena_gbps for c in INSTANCE_TYPES[name].cards] == [c.ena_gbps for c in actual]


def test_on_b300_the_api_gives_efa_bandwidth_where_ena_has_220() -> None:
    """3,870 Gbit/s of ENA in all, as AWS's guide says, is 350 + 16 x 220; the API's 400 a card is EFA's."""
    cards = instance_type("p6-b300.48xlarge").cards
    assert sum(card.ena_gbps or 0 for card in cards) == 350 + 16 * 220 == 3870
    item = described()["p6-b300.48xlarge"]
    assert {card.ena_gbps for card in instance_type_from_api(item | {"InstanceType": "p9.48xlarge"}).cards[1:]} == {400}
    assert instance_type_from_api(item).cards == cards


@pytest.mark.parametrize("name", [name for name in GPU_TYPES if name in described()])
def test_ebs_bandwidth_is_the_api_s(name: str) -> None:
    assert INSTANCE_TYPES[name].ebs_gbps == instance_type_from_api(described()[name]).ebs_gbps


@pytest.mark.parametrize("name", [name for name in GPU_TYPES if name != "p6e-gb200.36xlarge"])
def test_efa_bandwidth_is_that_of_all_efa_cards(name: str) -> None:
    record = INSTANCE_TYPES[name]
    assert record.efa_gbps == sum(card.efa_gbps or 0 for card in record.cards)


def test_gb200_s_cards_share_nics_so_its_efa_bandwidth_is_that_of_the_documented_four() -> None:
    record = instance_type("p6e-gb200.36xlarge")
    used = [record.cards[row.card] for row in interfaces(record) if row.kind == "efa-only"]
    assert sum(card.efa_gbps or 0 for card in used) == record.efa_gbps == 1600
    assert sum(card.efa_gbps or 0 for card in record.cards) > 1600


def test_gb200_s_cards_are_as_aws_documents_them() -> None:
    first, *others = instance_type("p6e-gb200.36xlarge").cards
    assert first.kinds == ("interface",)
    assert {(card.kinds, card.max_interfaces, card.efa_gbps) for card in others if card.index % 2} == {
        (("efa-only",), 1, 400)
    }
    assert {(card.max_interfaces, card.ena_gbps) for card in others if card.index % 2 == 0} == {(2, 200)}
    assert len(others) == instance_type("p6e-gb200.36xlarge").max_efa == 16


@pytest.mark.parametrize(
    ("name", "connections"),
    [
        ("p5.4xlarge", 1),
        ("p5.48xlarge", 8),
        ("p5e.48xlarge", 8),
        ("p5en.48xlarge", 8),
        ("p6-b200.48xlarge", 8),
        ("p6-b300.48xlarge", 16),
        ("p6e-gb200.36xlarge", 8),
        ("p4d.24xlarge", None),
        ("p4de.24xlarge", None),
        ("c7i.large", None),
        ("m7i.48xlarge", 1),
    ],
)
def test_how_many_efa_connections_a_lustre_client_opens(name: str, connections: int | None) -> None:
    assert instance_type(name).lustre_efa_interfaces == connections


def test_gpudirect_storage_is_for_the_types_that_the_lustre_guide_lists() -> None:
    listed = {name for name, record in INSTANCE_TYPES.items() if record.gpudirect_storage}
    assert listed == {"p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge"}


def test_only_the_small_p5_lacks_gpudirect_rdma_and_nvlink() -> None:
    assert {name for name in GPU_TYPES if not INSTANCE_TYPES[name].gpudirect_rdma} == {"p5.4xlarge"}
    assert {name for name in GPU_TYPES if INSTANCE_TYPES[name].nvlink_domain == 1} == {"p5.4xlarge"}


def test_gb200_is_bought_in_capacity_blocks_only_and_is_arm64() -> None:
    record = instance_type("p6e-gb200.36xlarge")
    assert (record.purchase, record.architecture) == (("capacity-block",), "arm64")
    assert all(INSTANCE_TYPES[name].architecture == "x86_64" for name in GPU_TYPES if name != record.name)


@pytest.mark.parametrize(
    ("name", "driver", "cuda", "installer"),
    [
        ("p5.4xlarge", "530", "12.1", "1.43.1"),
        ("p5.48xlarge", "530", "12.1", "1.24.1"),
        ("p5en.48xlarge", "550", "12.1", "1.24.1"),
        ("p6-b200.48xlarge", "570", "12.8", "1.41.0"),
        ("p6-b300.48xlarge", "580", "13.0", "1.44.0"),
        ("p6e-gb200.36xlarge", "570", "12.8", "1.42.0"),
    ],
)
def test_the_oldest_software_of_a_custom_image(name: str, driver: str, cuda: str, installer: str) -> None:
    floor = instance_type(name).software
    assert floor is not None
    assert (floor.driver, floor.cuda, floor.efa_installer) == (driver, cuda, installer)


@pytest.mark.parametrize(
    ("model", "bf16", "fp8", "fp4", "hbm_tb_per_s"),
    [
        ("H100", 0.9895, 1.979, None, 3.35),
        ("H200", 0.9895, 1.979, None, 4.8),
        ("B200", 2.25, 4.5, 9, 8),
        ("B300", 2.25, 4.5, 13.5, 8),
        ("GB200", 2.5, 5, 10, 8),
    ],
)
def test_peaks_are_dense(model: str, bf16: float, fp8: float, fp4: float | None, hbm_tb_per_s: float) -> None:
    gpu = GPUS[model]
    assert (gpu.bf16_pflops, gpu.fp8_pflops, gpu.fp4_pflops, gpu.hbm_tb_per_s) == (bf16, fp8, fp4, hbm_tb_per_s)
    assert gpu.fp8_pflops == pytest.approx(2 * gpu.bf16_pflops)


@pytest.mark.parametrize(
    "record", [*INSTANCE_TYPES.values(), *GPUS.values(), *ULTRASERVERS.values()], ids=lambda r: str(r)[:40]
)
def test_every_record_has_a_source_and_a_date(record: Any) -> None:
    assert record.source
    assert date.fromisoformat(record.read_on) <= date(2026, 11, 20)


@pytest.mark.parametrize(
    ("name", "instances", "gpus", "efa_gbps"), [("u-p6e-gb200x36", 9, 36, 14_400), ("u-p6e-gb200x72", 18, 72, 28_800)]
)
def test_an_ultraserver_is_its_instances_in_one_nvlink_domain(
    name: str, instances: int, gpus: int, efa_gbps: int
) -> None:
    server = ultraserver(name)
    member = instance_type(server.instance_type)
    assert (server.instances, server.gpus, server.efa_gbps) == (instances, gpus, efa_gbps)
    assert server.gpus == server.instances * member.gpus
    assert server.efa_gbps == server.instances * (member.efa_gbps or math.nan)


def test_the_nvlink_domain_of_gb200_is_the_largest_ultraserver_s() -> None:
    largest = max(server.gpus for server in ULTRASERVERS.values())
    assert instance_type("p6e-gb200.36xlarge").nvlink_domain == largest


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("p5en.48xlrage", "p5en.48xlarge"),
        ("p5en48xlarge", "p5en.48xlarge"),
        ("p6_b200.48xlarge", "p6-b200.48xlarge"),
        ("P5.48xlarge", "p5.48xlarge"),
        ("p6-gb200.36xlarge", "p6e-gb200.36xlarge"),
    ],
)
def test_rejects_a_misspelt_type_with_the_one_that_was_meant(wrong: str, meant: str) -> None:
    with pytest.raises(
        ValueError, match=rf"unknown instance type '{wrong}'; did you mean {re.escape(meant)}\b.*from_api"
    ):
        instance_type(wrong)


@pytest.mark.parametrize("name", ["", "quantum.large", "p5", "\0", "p" * 100_000])
def test_rejects_a_type_that_resembles_none_with_the_way_to_bring_a_new_one(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown instance type .*instance_type_from_api") as caught:
        instance_type(name)
    assert len(str(caught.value)) < 300


def test_rejects_an_unknown_ultraserver_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="u-p6e-gb200x36, u-p6e-gb200x72"):
        ultraserver("u-p6e-gb300x72")


def test_the_catalogue_can_t_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        INSTANCE_TYPES["p9.48xlarge"] = instance_type("p5.48xlarge")  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        instance_type("p5.48xlarge").gpus = 9  # type: ignore[misc]
