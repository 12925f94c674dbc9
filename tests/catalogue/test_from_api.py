"""`instance_type_from_api`: a record from EC2's own description of a type, and a clear refusal of anything else."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.hardware_data import described
from ultracluster.catalogue.ec2 import GPUS, INSTANCE_TYPES, instance_type, instance_type_from_api, interfaces

REQUIRED = [
    "InstanceType",
    "VCpuInfo.DefaultVCpus",
    "MemoryInfo.SizeInMiB",
    "ProcessorInfo.SupportedArchitectures",
    "NetworkInfo.NetworkCards",
    "NetworkInfo.Ipv4AddressesPerInterface",
]


def item(name: str = "p5.48xlarge", **paths: Any) -> dict[str, Any]:
    """One item of the answer, with values replaced by path: `item(VCpuInfo__DefaultVCpus=3)`."""
    result = copy.deepcopy(described()[name])
    for path, value in paths.items():
        *above, last = path.split("__")
        inner = result
        for step in above:
            inner = inner[step]
        inner[last] = value
    return result


def test_every_type_that_ec2_describes_becomes_a_record() -> None:
    for name, described_item in described().items():
        record = instance_type_from_api(described_item)
        network = described_item["NetworkInfo"]
        assert record.name == name
        assert record.max_interfaces == network["MaximumNetworkInterfaces"]
        assert record.supports_efa == network["EfaSupported"]
        assert [card.index for card in record.cards] == list(range(network["MaximumNetworkCards"]))


def test_facts_that_the_api_lacks_are_none_outside_the_catalogue() -> None:
    record = instance_type_from_api(item(InstanceType="p9.48xlarge"))
    assert record.declared
    assert (record.efa_gbps, record.efa_generation, record.nvlink_domain, record.gpudirect_rdma) == (None,) * 4
    assert (record.lustre_efa_interfaces, record.gpudirect_storage, record.software) == (None,) * 3


def test_a_type_of_the_catalogue_keeps_the_facts_of_the_guides() -> None:
    record, known = instance_type_from_api(item()), INSTANCE_TYPES["p5.48xlarge"]
    assert not record.declared
    assert (record.nvlink_domain, record.lustre_efa_interfaces, record.software) == (8, 8, known.software)


@pytest.mark.parametrize(
    ("name", "gpu"),
    [
        ("p4d.24xlarge", "A100"),
        ("p4de.24xlarge", "A100 80GB"),
        ("p5.4xlarge", "H100"),
        ("p5e.48xlarge", "H200"),
        ("p6-b200.48xlarge", "B200"),
        ("p6-b300.48xlarge", "B300"),
    ],
)
def test_a_known_gpu_has_its_facts_by_name_and_memory(name: str, gpu: str) -> None:
    assert instance_type_from_api(item(name)).gpu == GPUS[gpu]


def test_an_unknown_gpu_keeps_its_name_and_brings_no_facts() -> None:
    record = instance_type_from_api(item("g6e.48xlarge"))
    assert (record.gpus, record.gpu_model, record.gpu) == (8, "L40S", None)


def test_a_gpu_of_a_known_name_with_other_memory_is_not_the_known_one() -> None:
    changed = item("p6-b200.48xlarge")
    changed["GpuInfo"]["Gpus"][0]["MemoryInfo"]["SizeInMiB"] = 185 * 1024
    assert instance_type_from_api(changed).gpu is None


def test_an_unknown_type_works() -> None:
    record = instance_type_from_api(item("p6-b300.48xlarge", InstanceType="p7.48xlarge"))
    assert record.name == "p7.48xlarge"
    assert interfaces(record) == interfaces("p6-b300.48xlarge")


def test_a_type_of_the_catalogue_brings_the_cards_that_aws_names_for_it() -> None:
    """Only AWS's guide has the cards that share bandwidth; the layout must not depend on the lookup of the type."""
    assert instance_type_from_api(item()).extra_ena_cards == instance_type("p5.48xlarge").extra_ena_cards
    assert instance_type_from_api(item(InstanceType="p9.48xlarge")).extra_ena_cards is None


def test_gb200_gets_the_documented_four_devices_however_it_was_looked_up() -> None:
    """EC2 says 16 devices on 16 cards; only AWS's guide says that cards share physical NICs."""
    expected = instance_type("p6e-gb200.36xlarge")
    actual = item(InstanceType=expected.name, NetworkInfo__EfaInfo={"MaximumEfaInterfaces": expected.max_efa})
    actual["NetworkInfo"]["NetworkCards"] = [
        {
            "NetworkCardIndex": card.index,
            "MaximumNetworkInterfaces": card.max_interfaces,
            "InterfaceTypes": list(card.kinds),
        }
        for card in expected.cards
    ]
    assert interfaces(instance_type_from_api(actual)) == interfaces(expected)


def test_cards_come_in_the_order_of_their_index_whatever_the_order_of_the_answer() -> None:
    shuffled = item("p6-b300.48xlarge")
    shuffled["NetworkInfo"]["NetworkCards"].reverse()
    assert instance_type_from_api(shuffled) == instance_type_from_api(item("p6-b300.48xlarge"))


@pytest.mark.parametrize(
    ("name", "architecture"), [("mac2.metal", "arm64"), ("mac1.metal", "x86_64"), ("t2.micro", "x86_64")]
)
def test_the_architecture_is_what_instructions_the_cpu_knows(name: str, architecture: str) -> None:
    assert instance_type_from_api(item(name)).architecture == architecture


def test_rejects_an_empty_item_and_names_all_that_is_missing() -> None:
    with pytest.raises(ValueError, match="not an item of DescribeInstanceTypes") as caught:
        instance_type_from_api({})
    for path in REQUIRED:
        assert f"- {path} is missing\n" in str(caught.value)
    assert "aws ec2 describe-instance-types" in str(caught.value)


@pytest.mark.parametrize("path", REQUIRED)
def test_rejects_an_item_without_a_value_that_a_cluster_needs(path: str) -> None:
    *above, last = path.split(".")
    lacking = item()
    inner = lacking
    for step in above:
        inner = inner[step]
    del inner[last]
    with pytest.raises(ValueError, match=f"- {path} is missing") as caught:
        instance_type_from_api(lacking)
    assert str(caught.value).count("\n- ") == 1


def test_rejects_efa_without_a_number_of_devices() -> None:
    lacking = item()
    del lacking["NetworkInfo"]["EfaInfo"]
    with pytest.raises(ValueError, match=r"NetworkInfo\.EfaInfo\.MaximumEfaInterfaces is missing"):
        instance_type_from_api(lacking)


@pytest.mark.parametrize(
    ("path", "value", "must"),
    [
        ("InstanceType", 5, "be a text"),
        ("VCpuInfo__DefaultVCpus", 0, "be a whole number, 1 or more"),
        ("VCpuInfo__DefaultVCpus", True, "be a whole number"),
        ("VCpuInfo__DefaultCores", "96", "be a whole number"),
        ("MemoryInfo", "2 TiB", "lie in a mapping"),
        ("MemoryInfo__SizeInMiB", 1.5, "be a whole number"),
        ("ProcessorInfo__SupportedArchitectures", ["riscv64"], "name x86_64 or arm64"),
        ("NetworkInfo__NetworkCards", [], "be a list with something in it"),
        ("NetworkInfo__EfaSupported", "yes", "be true or false"),
        ("GpuInfo", 8, "lie in a mapping"),
        ("GpuInfo__Gpus", [8], "lie in a mapping"),
        ("InstanceStorageInfo__Disks", "eight", "be a list"),
        ("EbsInfo__EbsOptimizedInfo__MaximumBandwidthInMbps", float("nan"), "be a number"),
        ("EbsInfo__EbsOptimizedInfo__MaximumBandwidthInMbps", float("inf"), "be a number"),
        ("SupportedUsageClasses", "spot", "be a list"),
    ],
)
def test_rejects_a_value_of_the_wrong_kind(path: str, value: Any, must: str) -> None:
    with pytest.raises(ValueError, match=f"must {must}"):
        instance_type_from_api(item(**{path: value}))


@pytest.mark.parametrize(
    ("key", "value", "must"),
    [
        ("NetworkCardIndex", 1, "hold card 0, and no card twice"),
        ("NetworkCardIndex", 99, "hold card 0"),
        ("NetworkCardIndex", -1, r"NetworkCards\[0\].NetworkCardIndex must be a whole number, 0 or more"),
        ("MaximumNetworkInterfaces", None, r"NetworkCards\[0\].MaximumNetworkInterfaces is missing"),
        ("InterfaceTypes", ["efa", "secondary"], "list some of interface, efa, efa-only"),
        ("InterfaceTypes", [["efa"]], "list some of interface, efa, efa-only"),
    ],
)
def test_rejects_a_card_that_makes_no_sense(key: str, value: Any, must: str) -> None:
    bad = item()
    bad["NetworkInfo"]["NetworkCards"][0][key] = value
    with pytest.raises(ValueError, match=must):
        instance_type_from_api(bad)


def test_rejects_two_cards_of_one_index() -> None:
    bad = item()
    bad["NetworkInfo"]["NetworkCards"][5]["NetworkCardIndex"] = 4
    with pytest.raises(ValueError, match="hold card 0, and no card twice"):
        instance_type_from_api(bad)


def test_all_problems_come_at_once() -> None:
    with pytest.raises(ValueError, match="not an item") as caught:
        instance_type_from_api(item(InstanceType="", VCpuInfo={}, MemoryInfo=[]))
    assert str(caught.value).count("\n- ") == 3


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(ValueError, match="must") as caught:
        instance_type_from_api(item(VCpuInfo__DefaultVCpus="9" * 100_000))
    assert len(str(caught.value)) < 400


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["Gpus", "Count", "SizeInMiB", "NetworkCards", "Name"]), inner, max_size=3)
    ),
    max_leaves=4,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


# One GPU type with one card is all of the answer's shapes; more cards would only make the search slower.
PLACES = sorted(places(described()["p5.4xlarge"]), key=str)


@settings(max_examples=400)
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), values), min_size=1, max_size=3))
def test_a_mutated_item_is_a_record_or_a_value_error(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    mutated: Any = item("p5.4xlarge")
    for path, value in changes:
        if not path:
            mutated = value
            continue
        inner = mutated
        try:
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = value
        except (TypeError, KeyError, IndexError):
            continue  # An earlier change took the place away.
    refusal = ""
    try:
        record = instance_type_from_api(mutated)
    except ValueError as error:
        refusal = str(error)
    if refusal:
        assert "\n- " in refusal
        return
    assert record.name
    assert record.vcpus >= 1
    assert record.cores >= 1
    assert record.memory_gib > 0
    assert record.gpus >= 0
    assert record.max_efa >= 0
    assert record.ipv4_per_interface >= 1
    assert record.cards[0].index == 0
    assert isinstance(hash(record), int)
