"""A part of the platform before the nodes, and charts of a repository's commit."""

import contextlib
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


@pytest.mark.parametrize("filters", [True, False])
def test_nothing_of_an_archive_is_written_beside_its_directory(
    tmp_path: Path, archive: str, filters: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python before 3.11.4 has no filters."""
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "room"))
    (tmp_path / "room").mkdir()
    assert (chart_directory(replace(RELEASE, archive=archive)) / "Chart.yaml").is_file()
    _unpacked.cache_clear()
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as writer:
        writer.add(tmp_path / "repository-0123", arcname="repository-0123")
        writer.addfile(tarfile.TarInfo("../evil"))
        link = tarfile.TarInfo("repository-0123/link")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        writer.addfile(link)
        writer.addfile(tarfile.TarInfo("repository-0123/link/evil"))
    with contextlib.suppress(ApplyError):
        chart_directory(replace(RELEASE, archive=(tmp_path / "evil.tar.gz").as_uri()))
    assert not [*tmp_path.glob("evil"), *(tmp_path / "room").glob("evil")]
