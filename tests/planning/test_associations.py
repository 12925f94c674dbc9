"""Valid data repository associations of Lustre file systems, and warnings about data loss."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.planning.lustre import (
    BOTH_WAYS,
    EXPORTS_DELETIONS,
    UNVERSIONED,
    Association,
    association_warnings,
    check_associations,
    check_release,
    task_path,
)

REGION = "us-east-2"
# Directories of a small world, one name being the start of another.
NAMES = ["a", "ab", "b"]
DIRECTORIES = [parts for depth in (1, 2, 3) for parts in product(NAMES, repeat=depth)]


def link(path: str = "/data", repository: str = "s3://my-data", **more: Any) -> Association:
    return Association(path=path, repository=repository, **more)


def problems(*associations: Association, **more: Any) -> Sequence[str]:
    return check_associations(associations, region=REGION, **more)


def files_under(parts: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Every file of the small world in a directory: overlapping means that two directories share one."""
    return {directory for directory in product(NAMES, repeat=4) if directory[: len(parts)] == parts}


@given(st.sampled_from(DIRECTORIES), st.sampled_from(DIRECTORIES), st.booleans(), st.booleans())
def test_paths_overlap_exactly_when_a_file_would_lie_in_both(
    first: tuple[str, ...], other: tuple[str, ...], slash: bool, other_slash: bool
) -> None:
    errors = problems(
        link("/" + "/".join(first) + "/" * slash, "s3://my-data-1"),
        link("/" + "/".join(other) + "/" * other_slash, "s3://my-data-2"),
    )
    assert bool(errors) == bool(files_under(first) & files_under(other))


@given(
    st.sampled_from([(), *DIRECTORIES]),
    st.sampled_from([(), *DIRECTORIES]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_repositories_overlap_exactly_when_an_object_would_lie_in_both(
    first: tuple[str, ...], other: tuple[str, ...], slash: bool, other_slash: bool, same_bucket: bool
) -> None:
    errors = problems(
        link("/one", "/".join(["s3://my-data", *first]) + "/" * slash),
        link("/other", "/".join(["s3://my-data" if same_bucket else "s3://my-data-2", *other]) + "/" * other_slash),
    )
    assert bool(errors) == (same_bucket and bool(files_under(first) & files_under(other)))


@given(st.permutations(["/a", "/ab", "/a/b", "/b", "/", "/a/"]))
def test_the_order_of_the_associations_does_not_matter(paths: list[str]) -> None:
    errors = problems(*[link(path, f"s3://bucket-{sorted(paths).index(path)}") for path in paths])
    # The whole is one problem; /a, /a/b and /a/ overlap in three pairs.
    assert len(errors) == 4


@given(st.text(max_size=12), st.text(max_size=12))
def test_nothing_that_is_typed_raises(path: str, repository: str) -> None:
    assert isinstance(problems(link(path, repository), link("/b", f"s3://{repository}")), list)


def test_the_whole_file_system_is_linked_once_and_alone() -> None:
    assert problems(link("/")) == []
    (error,) = problems(link("/"), link("/b", "s3://other-data"))
    assert error.startswith("/ is the whole file system")
    assert len(problems(link("/", "s3://one-bucket"), link("/", "s3://two-bucket"))) == 1


def test_nine_associations_are_one_too_many() -> None:
    links = [link(f"/d{n}", f"s3://bucket-{n}") for n in range(9)]
    assert problems(*links[:8]) == []
    (error,) = problems(*links)
    assert "at most 8 associations, got 9" in error


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"deployment_type": "SCRATCH_1"}, "SCRATCH_1"),
        ({"storage_type": "INTELLIGENT_TIERING"}, "Intelligent-Tiering"),
        ({"lustre_version": "2.10"}, "Lustre 2.12 or 2.15, got 2.10"),
        ({"backups": True}, "does not support backups"),
    ],
)
def test_rejects_associations_of_file_systems_without_support(facts: dict[str, object], words: str) -> None:
    (error,) = problems(link(), **facts)
    assert words in error
    assert problems(**facts) == [], "without associations everything is fine"


@pytest.mark.parametrize("deployment_type", ["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"])
def test_the_other_deployment_types_take_associations(deployment_type: str) -> None:
    assert problems(link(), deployment_type=deployment_type) == []


@pytest.mark.parametrize("path", ["data", "", "/a//b", "//", "/a/../b", "/./a", "/a\nb", "/" + "a" * 4096])
def test_rejects_a_path_that_is_none(path: str) -> None:
    assert problems(link(path))


@pytest.mark.parametrize(
    "repository",
    [
        "my-data",
        "s3:/my-data",
        "s3://",
        "s3://My-Data",
        "s3://my_data",
        "s3://ab",
        "s3://" + "a" * 64,
        "s3://a..b",
        "s3://-data",
        "s3://my-data//x",
        "s3://my-data/a/../b",
        "s3://my-data--use2-az1--x-s3",
        "s3://my-data/" + "a" * 4357,
    ],
)
def test_rejects_a_repository_that_is_none(repository: str) -> None:
    assert problems(link(repository=repository))


def test_a_bucket_that_only_a_deployment_knows_is_taken_as_it_is() -> None:
    token = "s3://${Token[TOKEN.12]}"
    assert problems(link(repository=f"{token}/a"), link("/b", f"{token}/b")) == []
    assert len(problems(link(repository=token), link("/b", f"{token}/b"))) == 1


@pytest.mark.parametrize("chunk", [0, -1, 512_001])
def test_rejects_a_chunk_off_the_scale(chunk: int) -> None:
    (error,) = problems(link(imported_file_chunk_mib=chunk))
    assert "between 1 and 512,000" in error


@pytest.mark.parametrize("chunk", [1, 1024, 512_000])
def test_the_ends_of_the_scale_are_on_it(chunk: int) -> None:
    assert problems(link(imported_file_chunk_mib=chunk)) == []


@pytest.mark.parametrize("name", ["import_events", "export_events"])
def test_rejects_an_event_that_fsx_does_not_know(name: str) -> None:
    unknown: dict[str, Any] = {name: ("NEW", "RENAMED", "new")}
    (error,) = problems(link(**unknown))
    assert error == f"/data: {name} are any of NEW, CHANGED, DELETED, got RENAMED, new"
    repeated: dict[str, Any] = {name: ("NEW", "NEW")}
    (twice,) = problems(link(**repeated))
    assert "NEW twice" in twice


def test_import_stays_in_the_region_and_export_crosses_it() -> None:
    regions = {"my-data": "eu-west-1"}
    (error,) = problems(link(import_events=("NEW",)), bucket_regions=regions)
    assert "us-east-2" in error
    assert "eu-west-1" in error
    assert problems(link(export_events=("NEW",)), bucket_regions=regions) == []
    assert problems(link(), bucket_regions=regions) == [], "names are imported from another region too"


def test_all_problems_come_at_once() -> None:
    errors = problems(
        link("data", "my-data", import_events=("OLD",), imported_file_chunk_mib=0),
        link("/a", "s3://my-data"),
        link("/a/b", "s3://my-data/x", import_events=("NEW",)),
        backups=True,
        deployment_type="SCRATCH_1",
        bucket_regions={"my-data": "eu-west-1"},
    )
    assert len(errors) >= 9


EVENTS = st.sets(st.sampled_from(["NEW", "CHANGED", "DELETED"])).map(lambda events: tuple(sorted(events)))


@given(EVENTS, EVENTS, st.booleans())
def test_every_choice_of_events_is_allowed_and_warned_of_where_it_can_lose_data(
    imports: tuple[str, ...], exports: tuple[str, ...], versioned: bool
) -> None:
    association = link(import_events=imports, export_events=exports)
    assert problems(association) == []
    warnings = {
        message.rule
        for message in association_warnings([association], versioned_buckets=["my-data"] if versioned else [])
    }
    expected = {
        BOTH_WAYS: bool(imports and exports),
        EXPORTS_DELETIONS: "DELETED" in exports,
        UNVERSIONED: bool(exports) and not versioned,
    }
    assert warnings == {id for id, holds in expected.items() if holds}


def release(*paths: str, days: int = 7, options: str = "relatime,flock", links: list[Association]) -> Sequence[str]:
    return check_release(paths, links, not_accessed_for_days=days, mount_options=options)


EXPORTED = link("/checkpoints", export_events=("NEW", "CHANGED"))


def test_only_what_is_exported_is_released() -> None:
    links = [EXPORTED, link("/data", "s3://other-data", import_events=("NEW",))]
    assert release("/checkpoints", "/checkpoints/old", links=links) == []
    for path in ("/data", "/checkpoints-2", "/", "/other"):
        (error,) = release(path, links=links)
        assert error.startswith(f"{path} lies under no association that exports")
    assert release("/checkpoints/../data", links=links)


def test_a_mount_that_hides_reads_makes_hot_data_look_cold() -> None:
    (error,) = release("/checkpoints", options="defaults,noatime,flock", links=[EXPORTED])
    assert "relatime" in error


@pytest.mark.parametrize("days", [0, -1])
def test_rejects_a_release_of_what_is_in_use(days: int) -> None:
    (error,) = release("/checkpoints", days=days, links=[EXPORTED])
    assert "must be 2 or more" in error


def test_a_release_names_one_to_a_hundred_paths() -> None:
    paths = [f"/checkpoints/{n}" for n in range(101)]
    assert release(*paths[:100], links=[EXPORTED]) == []
    assert len(release(*paths, links=[EXPORTED])) == 1
    assert len(release(links=[EXPORTED])) == 1


@pytest.mark.parametrize(("path", "taken"), [("/a/b", "a/b"), ("/a/", "a"), ("/", "/")])
def test_a_task_takes_paths_relative_to_the_mount_point(path: str, taken: str) -> None:
    assert task_path(path) == taken


def test_a_long_path_is_shortened_in_the_message() -> None:
    (problem,) = check_associations([Association(path="/" + "a" * 5000, repository="s3://my-data")], region="us-east-2")
    assert len(problem) < 300
