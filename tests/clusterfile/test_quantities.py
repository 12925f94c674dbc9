import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.clusterfile_data import problem
from ultracluster.clusterfile._quantities import Duration, Quantity, Size, Throughput, Tier

KINDS: list[type[Quantity]] = [Throughput, Size, Duration]


@pytest.mark.parametrize(
    ("text", "mb_per_s"),
    [
        ("40 GB/s", 40_000),
        ("40GB/s", 40_000),
        (" 40  GB/s ", 40_000),
        ("1.5 TB/s", 1_500_000),
        ("0.1 GB/s", 100),
        ("1 MiB/s", 2),
        ("1000 MiB/s", 1_049),
        ("1 GiB/s", 1_074),
    ],
)
def test_throughput_counts_in_millions_of_bytes_rounded_up(text: str, mb_per_s: int) -> None:
    assert Throughput.parse(text).mb_per_s == mb_per_s


@pytest.mark.parametrize(
    ("text", "gib"),
    [("500 GiB", 500), ("2.4 TiB", 2_458), ("1 TiB", 1_024), ("500 GB", 466), ("1 MB", 1), ("1 PiB", 2**20)],
)
def test_a_size_in_gib_holds_at_least_the_requested_size(text: str, gib: int) -> None:
    assert Size.parse(text).gib == gib
    assert gib * 2**30 >= Size.parse(text).amount


@pytest.mark.parametrize(("text", "seconds"), [("10 min", 600), ("30 d", 2_592_000), ("1.5 h", 5_400), ("0.5 s", 1)])
def test_a_duration_counts_in_seconds(text: str, seconds: int) -> None:
    assert Duration.parse(text).seconds == seconds


@pytest.mark.parametrize("text", ["125 MB/s/TiB", "250MB/s/TiB", "500 MB/s/TiB", "1000.0 MB/s/TiB"])
def test_a_tier_is_one_that_fsx_sells(text: str) -> None:
    assert Tier.parse(text).mb_per_s_per_tib in (125, 250, 500, 1000)


def test_thirds_do_not_drift() -> None:
    assert Throughput.parse("0.1 GB/s").amount * 3 == Throughput.parse("0.3 GB/s").amount
    assert Size.parse("999999999999999 PiB").amount == 999_999_999_999_999 * 2**50
    assert Size.parse("999999999999999.999999999 PiB").gib == 10**15 * 2**20


def test_decimal_and_binary_units_are_not_the_same() -> None:
    assert Size.parse("1 GB") != Size.parse("1 GiB")
    assert Size.parse("1000 GB") == Size.parse("1 TB")


def test_equal_amounts_of_different_kinds_are_not_equal() -> None:
    size: Quantity = Size.parse("1 MB")
    assert size != Throughput.parse("1 MB/s")


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_is_written_reads_back_as_itself(kind: type[Quantity], data: st.DataObject) -> None:
    number = data.draw(st.decimals(min_value="0.000000001", max_value=10**9, places=9))
    unit = data.draw(st.sampled_from(sorted(kind.units)))
    quantity = kind.parse(f"{number:f} {unit}")
    assert quantity.amount == Fraction(number) * kind.units[unit]
    assert re.search(kind.pattern(), f"{number:f} {unit}")
    assert kind.parse(str(quantity)) == quantity


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_whole_quantities_print_in_their_shortest_form(kind: type[Quantity], data: st.DataObject) -> None:
    number, unit = data.draw(st.integers(1, 10**6)), data.draw(st.sampled_from(sorted(kind.units)))
    quantity = kind.parse(f"{number} {unit}")
    assert kind.parse(str(quantity)) == quantity
    assert len(str(quantity).split()[0]) <= len(str(number))


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text())
def test_any_text_is_a_quantity_or_an_error_that_names_the_units(kind: type[Quantity], text: str) -> None:
    message = ""
    try:
        kind.parse(text)
    except ValueError as error:
        message = str(error)
    if message:
        assert all(unit in message for unit in kind.units)
        assert kind.example in message
        assert "\n" not in message
    else:
        assert re.search(kind.pattern(), text)


@pytest.mark.parametrize("value", [40, 40.5, 0, -1, float("nan"), float("inf"), 10**40])
@pytest.mark.parametrize("kind", KINDS)
def test_rejects_a_bare_number_with_the_known_units(kind: type[Quantity], value: object) -> None:
    with pytest.raises(ValueError, match=f"a {kind.kind} needs a unit, got the bare number") as caught:
        kind.parse(value)
    assert f"units are {', '.join(kind.units)}; write it as in {kind.example}" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "text", "hint"),
    [
        (Throughput, "40 gb/s", "did you mean GB/s?"),
        (Throughput, "40 GBps", "did you mean GB/s?"),
        (Throughput, "400 Gbps", "b is bits, of which 8 are a byte"),
        (Throughput, "400 Gb/s", "b is bits"),
        (Throughput, "400 Gbit/s", "b is bits"),
        (Size, "5 tib", "did you mean TiB?"),
        (Duration, "5 MIN", "did you mean min?"),
    ],
)
def test_rejects_a_unit_that_is_nearly_right_with_the_right_one(kind: type[Quantity], text: str, hint: str) -> None:
    with pytest.raises(ValueError, match="unknown unit") as caught:
        kind.parse(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize("text", ["40 parsecs", "40 GB", "40 m"])
def test_rejects_units_of_another_kind_without_guessing(text: str) -> None:
    with pytest.raises(ValueError, match="unknown unit") as caught:
        Throughput.parse(text)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    ["", "GB/s", "-4 GB/s", "+4 GB/s", "4e3 GB/s", "1,000 GB/s", "4 GB/s 4", "4 4 GB/s", "x", "4. GB/s", ".5 GB/s"],
)
def test_rejects_what_is_no_number_and_unit(value: str) -> None:
    with pytest.raises(ValueError, match="must be a throughput, a number and a unit"):
        Throughput.parse(value)


@pytest.mark.parametrize(
    "value", [None, True, [], {}, Decimal(3), ["40 GB/s"], b"40 GB/s", "9" * 16 + " GB/s", "\u0664 GB/s"]
)
def test_rejects_other_values_too(value: object) -> None:
    with pytest.raises(ValueError, match="must be a throughput, a number and a unit"):
        Throughput.parse(value)


@pytest.mark.parametrize("text", ["0 GB/s", "0.0 GB/s", "000 MiB/s"])
def test_rejects_an_empty_file(text: str) -> None:
    with pytest.raises(ValueError, match="must be above zero"):
        Throughput.parse(text)
    assert not re.search(Throughput.pattern(), text)


@pytest.mark.parametrize("text", ["300 MB/s/TiB", "1 MB/s/TiB", "1000.5 MB/s/TiB"])
def test_rejects_a_tier_that_fsx_does_not_sell(text: str) -> None:
    assert str(Tier.parse(text)) == text
    message = problem("throughput: 40 GB/s", f"tier: {text}, capacity: 48 TiB")
    assert "FSx supports the tiers 125, 250, 500, 1000 MB/s/TiB in use2-az1" in message
