"""`make facts`: comparison of the catalogue with newer sources."""

import facts
import general_types
import pytest

from ultracluster.catalogue.ec2 import OFFERED
from ultracluster.kubernetes._charts import CHARTS


def tagged(repository: str) -> str:
    """Tags of a repository, with a candidate, and a chart's own."""
    return "".join(f"abc\trefs/tags/{tag}\n" for tag in ("v0.9.0", "v0.17.0", "v99.0.0-rc.1", "chart-100.0.0"))


def test_the_newest_release_is_no_candidate_and_no_chart() -> None:
    assert facts.newest(tagged("")) == (0, 17, 0)
    assert facts.newest("abc\trefs/tags/latest\n") is None


def test_a_chart_with_a_newer_release_is_named() -> None:
    lines = list(facts.chart_lines(lambda repository: "abc\trefs/tags/v99.0.1\n"))
    assert len(lines) == len(CHARTS)
    assert "+ kai-scheduler: v0.17.0 is pinned, and 99.0.1 is tagged in https://github.com/kai-scheduler/KAI-Sched" in (
        "".join(lines)
    )
    assert not [line for line in facts.chart_lines(tagged) if line.startswith("+ kai-scheduler")]


def test_names_what_was_not_read_without_network() -> None:
    def fails(repository: str) -> str:
        raise OSError("Could not resolve host")

    first = next(iter(CHARTS))
    assert list(facts.chart_lines(fails)) == [f"? {first} and those after it were not read: Could not resolve host"]


def test_the_catalogue_is_what_the_pinned_sources_have() -> None:
    titles = []
    for title, lines in facts.report(tagged):
        titles.append(title)
        assert title == "charts" or not [line for line in lines if line[0] in "+-"], title
    assert {"Regions of AWS PCS", "charts", *(f"zones of {name}" for name in OFFERED)} <= {*titles}


def test_a_region_more_and_one_less_are_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"us-west-1": {"AWS::PCS::Cluster"}, "us-east-2": set[str]()}
    monkeypatch.setattr(facts, "registries", lambda: known)
    (_, lines), *_ = facts.report(tagged)
    assert [line for line in lines if line[0] != "?"] == ["+ us-west-1", "- us-east-2"]


def test_the_table_of_general_types_is_the_one_that_is_written() -> None:
    assert general_types.TABLE.read_text() == general_types.table()
