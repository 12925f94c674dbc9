"""Data repository associations in the cluster file: resources, errors and warnings."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import ROOT
from support.boot_scripts import boots
from support.clusterfile_data import NO_METRICS, bent, problems
from support.templates import of_type, storage_of, synth, warning_ids
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFile, loads

EXAMPLE = ROOT / "examples" / "slurm-linked-data.yaml"
ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
FS = "{existing: {id: fs-0123456789abcdef0, mount-name: fsx}, "
STORAGE = "storage: {lustre: {throughput: 40 GB/s}}"


def linked(links: str, more: str = "", *, lustre: str = "{throughput: 4 GB/s, ", storage: str = "") -> str:
    """A file with links; `more` are other keys of `lustre`, `storage` others of `storage`."""
    return bent(STORAGE, f"storage: {{{storage}lustre: {lustre}{more}data-repository-associations: {{{links}}}}}}}")


def read(links: str, more: str = "", **given: Any) -> ClusterFile:
    return loads(linked(links, more, **given) + NO_METRICS, "c.yaml")


def wrong(links: str, more: str = "", **given: Any) -> list[str]:
    """Errors, without places, and with a shortened path of the key."""
    lines = [line.partition(" ")[2].removeprefix("storage.lustre.") for line in problems(linked(links, more, **given))]
    return [line.replace("data-repository-associations", "links", 1) for line in lines]


def warned(cluster: ClusterFile) -> dict[str, str]:
    messages = {warning.id.removeprefix("ultracluster:"): warning.message for warning in clusterfile.warnings(cluster)}
    return {id: message for id, message in messages.items() if id.startswith("association")}


def properties(cluster: ClusterFile) -> list[dict[str, Any]]:
    return [association["Properties"] for association in of_type(storage_of(cluster), ASSOCIATION)]


# What they become


def test_the_example_links_both_ways_and_frees_what_is_in_s3() -> None:
    assembly = synth(clusterfile.load(EXAMPLE))
    template = assembly.get_stack_by_name("linked-Storage").template
    data, checkpoints = (association["Properties"] for association in of_type(template, ASSOCIATION))
    first, second = (id for id, each in template["Resources"].items() if each["Type"] == ASSOCIATION)
    assert first in template["Resources"][second]["DependsOn"], "FSx fails some of several at once"
    assert data["FileSystemPath"] == "/data"
    assert data["DataRepositoryPath"] == "s3://my-datasets/tokens"
    assert data["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}
    assert checkpoints["FileSystemPath"] == "/checkpoints"
    _, (scheme, bucket, prefix) = checkpoints["DataRepositoryPath"]["Fn::Join"]
    assert (scheme, prefix) == ("s3://", "/checkpoints")
    assert bucket["Ref"].startswith("DataBucket")
    assert checkpoints["S3"] == {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    (schedule,) = of_type(template, "AWS::Scheduler::Schedule")
    task = json.dumps(schedule["Properties"]["Target"]["Input"])
    assert "checkpoints" in task
    assert "data" not in task
    assert '\\"Value\\":14' in task.replace('\\\\"', '\\"')
    assert schedule["Properties"]["ScheduleExpression"] == "cron(0 3 * * ? *)"


def test_nodes_of_a_file_system_that_is_released_from_count_reading_as_access() -> None:
    """Under noatime, what is read every day would be dropped every night."""
    released = clusterfile.load(EXAMPLE)
    kept = loads(EXAMPLE.read_text().replace("    release-task: {after: 14 d}\n", ""), "c.yaml")
    for cluster, option, other in ((released, "relatime", "noatime"), (kept, "noatime", "relatime")):
        texts = {
            "storage": json.dumps(synth(cluster).get_stack_by_name("linked-Storage").template),
            **{group: str(mounts) for group, (_, mounts) in boots(cluster).items()},
        }
        for where, text in texts.items():
            assert option in text, where
            assert other not in text, where


def test_a_link_without_events_moves_nothing() -> None:
    (association,) = properties(read("/data: {bucket: my-datasets}"))
    assert "S3" not in association
    assert association["DataRepositoryPath"] == "s3://my-datasets"


def test_an_empty_prefix_is_the_whole_data_bucket() -> None:
    (association,) = properties(read("/data: {prefix: ''}"))
    assert association["DataRepositoryPath"]["Fn::Join"][1][0] == "s3://"
    assert len(association["DataRepositoryPath"]["Fn::Join"][1]) == 2
    (root,) = properties(read("/: {}"))
    assert root["DataRepositoryPath"] == association["DataRepositoryPath"]


def test_an_existing_file_system_is_associated_by_its_id() -> None:
    cluster = read("/data: {export: [NEW]}", "release-task: {after: 7 d, schedule: rate(1 day)}, ", lustre=FS)
    template = storage_of(cluster)
    (association,) = of_type(template, ASSOCIATION)
    assert association["Properties"]["FileSystemId"] == "fs-0123456789abcdef0"
    (schedule,) = of_type(template, "AWS::Scheduler::Schedule")
    assert schedule["Properties"]["ScheduleExpression"] == "rate(1 day)"


def test_links_are_known_by_their_path_alone() -> None:
    """A link that comes or goes leaves the ids of the others alone, and no two paths share one."""
    paths = ["/a/b", "/a-b", "/a--b", "/a.b", "/A-B"]
    entries = [f"{path}: {{bucket: bucket{index}}}" for index, path in enumerate(paths)]

    def ids(links: list[str]) -> dict[str, str]:
        resources = storage_of(read(", ".join(links)))["Resources"]
        associations = {
            id: resource["Properties"] for id, resource in resources.items() if resource["Type"] == ASSOCIATION
        }
        return {association["FileSystemPath"]: id for id, association in associations.items()}

    everything = ids(entries)
    assert set(everything) == set(paths)
    assert len(set(everything.values())) == len(paths)
    for path, id in ids(entries[:0:-1]).items():
        assert everything[path] == id


def test_links_keep_a_cold_file_system_off_intelligent_tiering() -> None:
    cold = "{capacity: 500 TiB, working-set: 50 TiB, "
    spec = read("", lustre=cold).lustre_spec
    assert spec is not None
    assert spec.storage_type == "INTELLIGENT_TIERING"
    with_link = read("/data: {bucket: my-datasets}", lustre=cold).lustre_spec
    assert with_link is not None
    assert with_link.storage_type == "SSD"


def test_eight_links_are_taken() -> None:
    assert len(properties(read(", ".join(f"/d{number}: {{bucket: bucket{number}}}" for number in range(8))))) == 8


# What is refused


def test_the_ninth_link_is_refused() -> None:
    links = ", ".join(f"/d{number}: {{bucket: bucket{number}}}" for number in range(9))
    assert wrong(links) == [
        "links: a file system supports at most 8 data repository associations, got 9; name a common parent of some "
        "of them"
    ]


def test_reports_all_errors_at_once() -> None:
    links = "/data: {bucket: one, export: [NEW]}, /data/more: {bucket: one, prefix: x}, /own: {}"
    errors = wrong(links, "backups: 7 d, release-task: {after: 36 h}, ", storage="data-bucket: false, ")
    assert [line.partition(": ")[0] for line in errors] == [
        "backups",
        "release-task.after",
        "links./data/more",
        "links./data/more",
        "links./own",
    ]


@pytest.mark.parametrize(
    ("links", "more", "message"),
    [
        ("data: {}", "", "links.data: must be a directory of the file system"),
        ("/data/: {}", "", "links./data/: must be a directory of the file system"),
        ("/a/../b: {}", "", "links./a/../b: must be a directory of the file system"),
        ("/data: {bucket: s3://my-datasets/tokens}", "", "write bucket: my-datasets and prefix: tokens"),
        ("/data: {bucket: My_Data}", "", "links./data.bucket: 'My_Data' is no name of a bucket"),
        ("/data: {bucket: a--use2-az1--x-s3}", "", "FSx does not support directory buckets of S3 Express One Zone"),
        ("/data: {prefix: a//b}", "", "links./data: /data, prefix 'a//b': a prefix becomes a directory"),
        ("/data: {import: NEW}", "", "links./data.import: must be a list, got 'NEW'; write for example import: [NEW]"),
        ("/data: {import: [new]}", "", "links./data.import[0]: an event is one of NEW, CHANGED, DELETED, got 'new'"),
        ("/data: {export: [NEW, NEW]}", "", "links./data.export[1]: names 'NEW' twice; remove one"),
        ("/data: {exports: [NEW]}", "", "links./data.exports: unknown key; did you mean export? allowed are bucket,"),
        ("/data: {import_: [NEW]}", "", "unknown key; did you mean import?"),
        ("/data: {}", "backups: 7 d, ", "backups: a file system with associations does not support backups"),
        (
            "/data: {}",
            "storage-type: INTELLIGENT_TIERING, ",
            "storage-type: an Intelligent-Tiering file system does not",
        ),
        (
            "/data: {}",
            "throughput-capacity: 4 GB/s, ",
            "throughput-capacity: an Intelligent-Tiering file system does not",
        ),
        ("/: {bucket: one}, /data: {bucket: two}", "", "links./data: / is the whole file system"),
        ("/a: {bucket: one}, /a/b: {bucket: two}", "", "links./a/b: the paths /a and /a/b overlap"),
        (
            "/a: {bucket: one, prefix: x}, /b: {bucket: one, prefix: x/y}",
            "",
            "links./b: the repositories s3://one/x and s3://one/x/y overlap",
        ),
        (
            "/a: {prefix: x}, /b: {prefix: x}",
            "",
            "links./b: the repositories s3://DATA-BUCKET/x and s3://DATA-BUCKET/x overlap",
        ),
        ("/data: {export: [NEW]}", "release-task: {after: 12 h}, ", "release-task.after: is counted in whole days"),
        ("/data: {export: [NEW]}", "release-task: {after: 1 d}, ", "release-task.after: is counted in whole days, 2 d"),
        (
            "/data: {export: [DELETED]}",
            "release-task: {after: 7 d}, ",
            "release-task: no data repository association exports files",
        ),
        (
            "/data: {bucket: 192.168.1.1}",
            "",
            "'192.168.1.1' is no name of a bucket: S3 allows none like an IPv4 address",
        ),
        ("/data: {bucket: sthree-data}", "", "'sthree-data' is no name of a bucket"),
        (
            "/data: {export: [NEW]}",
            "release-task: {}, ",
            "release-task.after: is missing; write for example after: 14 d",
        ),
        (
            "/data: {import: [NEW]}",
            "release-task: {after: 7 d}, ",
            "release-task: no data repository association exports",
        ),
        ("", "release-task: {after: 7 d}, ", "release-task: no data repository association exports"),
        (
            "/d: {export: [NEW]}",
            "release-task: {after: 7 d, schedule: nightly}, ",
            "release-task.schedule: must be a",
        ),
        ("/d: {export: [NEW]}", "release-task: {after: 7 d, schedule: cron(0 3 * * *)}, ", "cron has six fields"),
        ("/d: {export: [NEW]}", "release-task: {after: 7 d, schedule: rate(1 minute)}, ", "once an hour at most"),
    ],
)
def test_reports_each_error_once_at_its_place(links: str, more: str, message: str) -> None:
    (error,) = wrong(links, more)
    assert message in error


def test_a_link_to_the_data_bucket_needs_one() -> None:
    (error,) = wrong("/data: {}", storage="data-bucket: false, ")
    assert error.startswith("links./data: names no bucket, which means the data bucket, and data-bucket: false")
    assert read("/data: {bucket: my-datasets}", storage="data-bucket: false, ")


def test_reports_errors_of_an_association_and_of_its_file_system() -> None:
    errors = wrong("/a: {bucket: one}, /a/b: {bucket: two}", "tier: 125 MB/s/TiB, efa: false, capacity: 7 GiB, ")
    assert any(line.startswith("links./a/b: the paths") for line in errors)
    assert any(line.startswith("capacity: ") for line in errors)


def test_a_file_of_thousands_of_links_is_refused_quickly() -> None:
    links = ", ".join(f"/d{number}: {{bucket: bucket{number}}}" for number in range(5_000))
    assert len(wrong(links)) == 1


PARTS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3)


SEVERAL = st.lists(PARTS, min_size=2, max_size=4, unique_by=tuple)


def overlap(directories: list[list[str]]) -> bool:
    return any(first != other and other[: len(first)] == first for first in directories for other in directories)


def refusals(links: str) -> list[str]:
    try:
        read(links)
    except clusterfile.ClusterFileError as error:
        return [problem.message for problem in error.problems]
    return []


@given(SEVERAL)
def test_rejects_an_association_inside_another(directories: list[list[str]]) -> None:
    errors = refusals(", ".join(f"/{'/'.join(parts)}: {{bucket: bucket{n}}}" for n, parts in enumerate(directories)))
    assert bool(errors) == overlap(directories)
    assert all("overlap" in message for message in errors)


@given(SEVERAL)
def test_no_two_links_show_the_same_object(prefixes: list[list[str]]) -> None:
    errors = refusals(", ".join(f"/d{n}: {{prefix: {'/'.join(parts)}}}" for n, parts in enumerate(prefixes)))
    assert bool(errors) == overlap(prefixes)
    assert all("overlap" in message for message in errors)


# What is warned of


def test_what_can_lose_data_is_warned_of() -> None:
    assert warned(read("/data: {import: [NEW, CHANGED, DELETED]}, /own: {export: [NEW, CHANGED]}")) == {}
    warnings = warned(read("/own: {import: [NEW], export: [NEW]}, /theirs: {bucket: theirs, export: [NEW, DELETED]}"))
    assert set(warnings) == {
        "association-both-ways",
        "association-exports-deletions",
        "association-foreign-bucket",
        "association-unversioned",
    }
    assert set(warned(read("/data: {}", lustre=FS))) == {
        "association-foreign-file-system",
        "association-moves-nothing",
    }
    assert "/data: without import" in warned(read("/data: {}, /own: {export: [NEW]}"))["association-moves-nothing"]
    assert warnings["association-both-ways"].startswith("/own and s3://DATA-BUCKET/own follow each other")
    assert "/theirs is exported over the objects in s3://theirs" in warnings["association-unversioned"]
    assert "/own" not in warnings["association-unversioned"]


def test_warns_once_of_associations_and_can_be_acknowledged() -> None:
    text = linked("/own: {import: [NEW], export: [NEW]}, /theirs: {bucket: theirs, export: [DELETED]}", lustre=FS)
    shown = [id for id in warning_ids(loads(text, "c.yaml")) if "association" in id]
    # Each association of an existing file system has a key for it.
    assert sorted(shown) == [
        "ultracluster:association-both-ways",
        "ultracluster:association-exports-deletions",
        "ultracluster:association-foreign-bucket",
        "ultracluster:association-foreign-file-system",
        "ultracluster:association-foreign-file-system",
        "ultracluster:association-unversioned",
    ]
    ids = dict.fromkeys(id.removeprefix("ultracluster:") for id in shown)
    known = text + f"accept: {{{', '.join(f'{id}: known' for id in ids)}}}\n"
    assert [id for id in warning_ids(loads(known, "c.yaml")) if "association" in id] == []


def test_an_existing_bucket_with_imports_must_be_in_the_region() -> None:
    """Nobody can see from here where it is."""
    warning = warned(read("/data: {bucket: theirs, import: [NEW]}"))["association-foreign-bucket"]
    assert "FSx imports by itself from buckets in us-east-2 only" in warning
    assert "imports" not in warned(read("/data: {bucket: theirs}"))["association-foreign-bucket"]


@pytest.mark.parametrize("path", ["/", "/jobs", "/containers", "/jobs/current/python"])
def test_users_cannot_import_over_what_others_run(path: str) -> None:
    (message,) = wrong(f"{path}: {{import: [NEW]}}")
    assert message.startswith(f"links.{path}: every user may write the data bucket")
    assert "association-foreign-programs" not in warned(read(f"{path}: {{export: [NEW]}}"))
    foreign = warned(read(f"{path}: {{bucket: theirs, import: [NEW]}}"))
    assert f"{path}: FSx imports an object" in foreign["association-foreign-programs"]


def test_data_is_imported_beside_programs_and_on_kubernetes_anywhere() -> None:
    read("/jobs-of-ada: {import: [NEW]}")
    assert "association-foreign-programs" not in warned(read("/data: {bucket: theirs, import: [NEW]}"))
    loads(linked("/: {import: [NEW]}").replace("orchestrator: slurm", "orchestrator: kubernetes"), "c.yaml")


def test_the_schema_checks_paths_and_keys_of_associations() -> None:
    lustre = clusterfile.schema()["$defs"]["Lustre"]["properties"]
    assert lustre["data-repository-associations"]["propertyNames"]["pattern"].startswith("^(?:")
    assert set(clusterfile.schema()["$defs"]["Link"]["properties"]) == {"bucket", "prefix", "import", "export"}


def test_the_data_bucket_of_the_cluster_is_one_that_survives_a_link() -> None:
    """Synthesis looks at lifecycle, policy and notifications of the bucket; it is silent about ours."""
    template = storage_of(read("/data: {import: [NEW, CHANGED, DELETED], export: [NEW, CHANGED, DELETED]}"))
    (association,) = of_type(template, ASSOCIATION)
    assert association["DeletionPolicy"] == "RetainExceptOnCreate"
