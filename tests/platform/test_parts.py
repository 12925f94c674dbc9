"""A part of the platform before the nodes, and charts of a repository's commit."""

import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.platform_runs import Run, bundle
from ultracluster.platform import ApplyError, Bundle, Options, apply
from ultracluster.platform._archives import _unpacked, chart_directory
from ultracluster.platform._bundle import Release

RELEASE = Release(
    name="agent",
    phase="controllers",
    version="0.1.0",
    namespace="kube-system",
    image="agent",
    chart="charts/agent",
    values={},
)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[str]:
    chart = tmp_path / "repository-0123" / "charts" / "agent"
    chart.mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: agent\nversion: 0.1.0\n")
    file = tmp_path / "a.tar.gz"
    with tarfile.open(file, "w:gz") as writer:
        writer.add(tmp_path / "repository-0123", arcname="repository-0123")
    yield file.as_uri()
    _unpacked.cache_clear()


def part(*releases: Release) -> Bundle:
    return replace(bundle(), releases=releases, objects=(), groups=(), partial=True)


def test_a_part_installs_its_releases_and_removes_nothing_of_the_others(archive: str) -> None:
    run = Run()
    assert run.apply(bundle())
    before = {*run.cluster.state["releases"]}, set(run.cluster.objects)
    assert apply(run.cluster, part(replace(RELEASE, archive=archive)), Options(seconds=0, report=run.lines.append))
    assert {*run.cluster.state["releases"]} == {*before[0], "agent"}
    assert before[1] <= set(run.cluster.objects)


def test_a_part_waits_for_no_node(archive: str) -> None:
    run = Run()
    run.lines.clear()
    assert apply(run.cluster, part(replace(RELEASE, archive=archive)), Options(seconds=0, report=run.lines.append))
    assert not any(line.startswith("gate") for line in run.lines)


def test_a_chart_is_the_directory_in_the_archive(archive: str) -> None:
    assert (chart_directory(replace(RELEASE, archive=archive)) / "Chart.yaml").is_file()


@pytest.mark.parametrize(
    ("chart", "url", "message"),
    [
        ("charts/other", None, "has no chart in charts/other"),
        ("charts/agent", "file:///nowhere.tar.gz", "check that this host reaches github.com"),
    ],
)
def test_an_archive_that_lacks_the_chart_ends_the_apply(
    archive: str, chart: str, url: str | None, message: str
) -> None:
    with pytest.raises(ApplyError) as error:
        chart_directory(replace(RELEASE, chart=chart, archive=url or archive))
    assert message in str(error.value)
