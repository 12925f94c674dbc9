"""Links between Lustre and S3 in the cluster file: what they become, and what is refused before anything is made."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from boot_scripts import boots
from clusterfile_data import bent, problems
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from stacks.cluster_stacks import ClusterStacks
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFile, loads

EXAMPLE = ROOT / "examples" / "slurm-linked-data.yaml"
ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
FS = "{existing: {id: fs-0123456789abcdef0, mount-name: fsx}, "
STORAGE = "storage: {lustre: {throughput: 40 GB/s}}"


def linked(links: str, more: str = "", *, lustre: str = "{throughput: 4 GB/s, ", storage: str = "") -> str:
    """A file with links; `more` are other keys of `lustre`, `storage` others of `storage`."""
    return bent(STORAGE, f"storage: {{{storage}lustre: {lustre}{more}links: {{{links}}}}}}}")


def read(links: str, more: str = "", **given: Any) -> ClusterFile:
    return loads(linked(links, more, **given), "c.yaml")


def wrong(links: str, more: str = "", **given: Any) -> list[str]:
    """What is wrong, without places."""
    return [line.partition(" ")[2].removeprefix("storage.lustre.") for line in problems(linked(links, more, **given))]


def warned(cluster: ClusterFile) -> dict[str, str]:
    found = {warning.id.removeprefix("ultracluster:"): warning.message for warning in clusterfile.warnings(cluster)}
    return {id: message for id, message in found.items() if id.startswith("association")}


def synth(cluster: ClusterFile) -> cdk.cx_api.CloudAssembly:
    app = cdk.App(analytics_reporting=False)
    ClusterStacks(app, cluster=cluster, account="123456789012")
    return app.synth()


def storage_of(cluster: ClusterFile) -> dict[str, Any]:
    template: dict[str, Any] = synth(cluster).get_stack_by_name(f"{cluster.name}-Storage").template
    return template


def of_type(template: dict[str, Any], type: str) -> list[dict[str, Any]]:
    return [one for one in template["Resources"].values() if one["Type"] == type]


def properties(cluster: ClusterFile) -> list[dict[str, Any]]:
    return [one["Properties"] for one in of_type(storage_of(cluster), ASSOCIATION)]


# What they become


def test_the_example_links_both_ways_and_frees_what_is_in_s3() -> None:
    assembly = synth(clusterfile.load(EXAMPLE))
    template = assembly.get_stack_by_name("linked-Storage").template
    data, checkpoints = (one["Properties"] for one in of_type(template, ASSOCIATION))
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
    kept = loads(EXAMPLE.read_text().replace("    release: {after: 14 d}\n", ""), "c.yaml")
    for cluster, option, other in ((released, "relatime", "noatime"), (kept, "noatime", "relatime")):
        texts = {
            "storage": json.dumps(synth(cluster).get_stack_by_name("linked-Storage").template),
            **{group: str(mounts) for group, (_, mounts) in boots(cluster).items()},
        }
        for where, text in texts.items():
            assert option in text, where
            assert other not in text, where


def test_a_link_without_events_moves_nothing() -> None:
    (made,) = properties(read("/data: {bucket: my-datasets}"))
    assert "S3" not in made
    assert made["DataRepositoryPath"] == "s3://my-datasets"


def test_an_empty_prefix_is_the_whole_data_bucket() -> None:
    (made,) = properties(read("/data: {prefix: ''}"))
    assert made["DataRepositoryPath"]["Fn::Join"][1][0] == "s3://"
    assert len(made["DataRepositoryPath"]["Fn::Join"][1]) == 2
    (root,) = properties(read("/: {}"))
    assert root["DataRepositoryPath"] == made["DataRepositoryPath"]


def test_a_file_system_of_yours_is_linked_by_its_id() -> None:
    cluster = read("/data: {export: [NEW]}", "release: {after: 7 d, schedule: rate(1 day)}, ", lustre=FS)
    template = storage_of(cluster)
    (made,) = of_type(template, ASSOCIATION)
    assert made["Properties"]["FileSystemId"] == "fs-0123456789abcdef0"
    (schedule,) = of_type(template, "AWS::Scheduler::Schedule")
    assert schedule["Properties"]["ScheduleExpression"] == "rate(1 day)"


def test_links_are_known_by_their_path_alone() -> None:
    """A link that comes or goes leaves the ids of the others alone, and no two paths share one."""
    paths = ["/a/b", "/a-b", "/a--b", "/a.b", "/A-B"]
    entries = [f"{path}: {{bucket: bucket{index}}}" for index, path in enumerate(paths)]

    def ids(links: list[str]) -> dict[str, str]:
        resources = storage_of(read(", ".join(links)))["Resources"]
        found = {id: one["Properties"] for id, one in resources.items() if one["Type"] == ASSOCIATION}
        return {one["FileSystemPath"]: id for id, one in found.items()}

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
    assert wrong(links) == ["links: a file system has at most 8 links, got 9; link a common parent of some of them"]


def test_all_that_is_wrong_is_told_at_once() -> None:
    links = "/data: {bucket: one, export: [NEW]}, /data/more: {bucket: one, prefix: x}, /own: {}"
    found = wrong(links, "backups: 7 d, release: {after: 36 h}, ", storage="data-bucket: false, ")
    assert [line.partition(": ")[0] for line in found] == [
        "backups",
        "release.after",
        "links./data/more",
        "links./data/more",
        "links./own",
    ]


@pytest.mark.parametrize(
    ("links", "more", "said"),
    [
        ("data: {}", "", "links.data: must be a directory of the file system"),
        ("/data/: {}", "", "links./data/: must be a directory of the file system"),
        ("/a/../b: {}", "", "links./a/../b: must be a directory of the file system"),
        ("/data: {bucket: s3://my-datasets/tokens}", "", "write bucket: my-datasets and prefix: tokens"),
        ("/data: {bucket: My_Data}", "", "links./data.bucket: 'My_Data' is no name of a bucket"),
        ("/data: {bucket: a--use2-az1--x-s3}", "", "S3 Express One Zone has no associations"),
        ("/data: {prefix: a//b}", "", "links./data: 's3://DATA-BUCKET/a//b': a prefix becomes a directory"),
        ("/data: {import: NEW}", "", "links./data.import: must be a list of NEW, CHANGED, DELETED"),
        ("/data: {import: [new]}", "", "links./data.import[0]: an event is one of NEW, CHANGED, DELETED, got 'new'"),
        ("/data: {export: [NEW, NEW]}", "", "links./data.export[1]: NEW is there twice; remove one"),
        ("/data: {exports: [NEW]}", "", "links./data.exports: unknown key; did you mean export? allowed are bucket,"),
        ("/data: {import_: [NEW]}", "", "unknown key; did you mean import?"),
        ("/data: {}", "backups: 7 d, ", "backups: a file system with associations takes no backups"),
        ("/data: {}", "storage-type: INTELLIGENT_TIERING, ", "storage-type: an Intelligent-Tiering file system takes"),
        ("/data: {}", "throughput-capacity: 4 GB/s, ", "throughput-capacity: an Intelligent-Tiering file system takes"),
        ("/: {bucket: one}, /data: {bucket: two}", "", "links./data: / links the whole file system"),
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
        ("/data: {export: [NEW]}", "release: {after: 12 h}, ", "release.after: is counted in whole days"),
        ("/data: {export: [NEW]}", "release: {}, ", "release.after: is missing; write for example after: 14 d"),
        ("/data: {import: [NEW]}", "release: {after: 7 d}, ", "release: no link exports"),
        ("", "release: {after: 7 d}, ", "release: no link exports"),
        ("/d: {export: [NEW]}", "release: {after: 7 d, schedule: nightly}, ", "release.schedule: must be a schedule"),
        ("/d: {export: [NEW]}", "release: {after: 7 d, schedule: cron(0 3 * * *)}, ", "cron has six fields"),
    ],
)
def test_each_mistake_is_told_once_where_it_stands(links: str, more: str, said: str) -> None:
    (found,) = wrong(links, more)
    assert said in found


def test_a_link_to_the_data_bucket_needs_one() -> None:
    (found,) = wrong("/data: {}", storage="data-bucket: false, ")
    assert found.startswith("links./data: names no bucket, which means the data bucket, and data-bucket: false")
    assert read("/data: {bucket: my-datasets}", storage="data-bucket: false, ")


def test_a_link_stands_beside_the_mistakes_of_its_file_system() -> None:
    found = wrong("/a: {bucket: one}, /a/b: {bucket: two}", "tier: 125 MB/s/TiB, efa: false, capacity: 7 GiB, ")
    assert any(line.startswith("links./a/b: the paths") for line in found)
    assert any(line.startswith("capacity: ") for line in found)


def test_a_file_of_thousands_of_links_is_refused_quickly() -> None:
    links = ", ".join(f"/d{number}: {{bucket: bucket{number}}}" for number in range(5_000))
    assert len(wrong(links)) == 1


PARTS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3)


SEVERAL = st.lists(PARTS, min_size=2, max_size=4, unique_by=tuple)


def overlap(found: list[list[str]]) -> bool:
    return any(one != other and other[: len(one)] == one for one in found for other in found)


def refusals(links: str) -> list[str]:
    try:
        read(links)
    except clusterfile.ClusterFileError as error:
        return [problem.message for problem in error.problems]
    return []


@given(SEVERAL)
def test_no_link_lies_inside_another(directories: list[list[str]]) -> None:
    found = refusals(", ".join(f"/{'/'.join(parts)}: {{bucket: bucket{n}}}" for n, parts in enumerate(directories)))
    assert bool(found) == overlap(directories)
    assert all("overlap" in message for message in found)


@given(SEVERAL)
def test_no_two_links_show_the_same_object(prefixes: list[list[str]]) -> None:
    found = refusals(", ".join(f"/d{n}: {{prefix: {'/'.join(parts)}}}" for n, parts in enumerate(prefixes)))
    assert bool(found) == overlap(prefixes)
    assert all("overlap" in message for message in found)


# What is warned of


def test_what_can_lose_data_is_warned_of() -> None:
    assert warned(read("/data: {import: [NEW, CHANGED, DELETED]}, /own: {export: [NEW, CHANGED]}")) == {}
    found = warned(read("/own: {import: [NEW], export: [NEW]}, /theirs: {bucket: theirs, export: [NEW, DELETED]}"))
    assert set(found) == {
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
    assert found["association-both-ways"].startswith("/own and s3://DATA-BUCKET/own follow each other")
    assert "/theirs is exported over the objects in s3://theirs" in found["association-unversioned"]
    assert "/own" not in found["association-unversioned"]


def test_warnings_of_links_are_said_once_and_can_be_acknowledged() -> None:
    text = linked("/own: {import: [NEW], export: [NEW]}, /theirs: {bucket: theirs, export: [DELETED]}", lustre=FS)
    shown = [id for id in said(loads(text, "c.yaml")) if "association" in id]
    # Each link of a file system of yours has a word for it.
    assert sorted(shown) == [
        "ultracluster:association-both-ways",
        "ultracluster:association-exports-deletions",
        "ultracluster:association-foreign-bucket",
        "ultracluster:association-foreign-file-system",
        "ultracluster:association-foreign-file-system",
        "ultracluster:association-unversioned",
    ]
    known = text + f"acknowledge: {{{', '.join(f'{id}: known' for id in dict.fromkeys(shown))}}}\n"
    assert [id for id in said(loads(known, "c.yaml")) if "association" in id] == []


def test_a_bucket_of_yours_that_is_imported_from_must_be_in_the_region() -> None:
    """Nobody can see from here where it is."""
    found = warned(read("/data: {bucket: theirs, import: [NEW]}"))["association-foreign-bucket"]
    assert "FSx imports by itself from buckets in us-east-2 only" in found
    assert "imports" not in warned(read("/data: {bucket: theirs}"))["association-foreign-bucket"]


def said(cluster: ClusterFile) -> list[str]:
    """Ids of the warnings that synthesis shows, one for each place."""
    found = [message for stack in synth(cluster).stacks for message in stack.messages]
    words = [str(message.entry.data) for message in found if "warn" in str(message.level).lower()]
    return [word.rpartition("[ack: ")[2].rstrip("]").removeprefix("Annotation::") for word in words]


def test_the_schema_takes_the_example_and_no_other_names() -> None:
    lustre = clusterfile.schema()["$defs"]["Lustre"]["properties"]
    assert lustre["links"]["additionalProperties"] is False
    assert set(clusterfile.schema()["$defs"]["Link"]["properties"]) == {"bucket", "prefix", "import", "export"}


def test_the_data_bucket_of_the_cluster_is_one_that_survives_a_link() -> None:
    """Synthesis looks at lifecycle, policy and notifications of the bucket; it is silent about ours."""
    template = storage_of(read("/: {import: [NEW, CHANGED, DELETED], export: [NEW, CHANGED, DELETED]}"))
    (made,) = of_type(template, ASSOCIATION)
    assert made["DeletionPolicy"] == "RetainExceptOnCreate"
