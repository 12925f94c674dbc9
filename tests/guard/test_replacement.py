"""Effects of an update beyond the schemas: the documented facts, and what the service refuses."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_rehearsal.registry import anywhere
from cdk_rehearsal.registry._replacement import ONLY_GROWS, REPLACES, UNAVAILABLE, UNCHANGEABLE, UpdateFact
from ultracluster.catalogue.storage import lustre, lustre_metadata
from ultracluster.planning.lustre import update_effects
from ultracluster.testing import UPDATE_RULES

TABLES = (REPLACES, UNCHANGEABLE, UNAVAILABLE, ONLY_GROWS)
FACTS = [(kind, fact) for table in TABLES for kind, facts in table.items() for fact in facts]
LUSTRE = "AWS::FSx::FileSystem"


def refused(old: dict[str, Any], new: dict[str, Any], kind: str = LUSTRE) -> dict[str, str]:
    known = anywhere(kind)
    assert known is not None
    return known.rejected(known.normal(old), known.normal(new), UPDATE_RULES)


def file_system(capacity: Any, tier: Any = 1000, *, efa: Any = True, **more: Any) -> dict[str, Any]:
    config = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": tier, "EfaEnabled": efa}
    given = {"FileSystemType": "LUSTRE", "StorageType": "SSD", "StorageCapacity": capacity}
    return {**given, "LustreConfiguration": {**config, **more}}


@pytest.mark.parametrize(("kind", "fact"), FACTS, ids=[f"{kind} {fact.path}" for kind, fact in FACTS])
def test_every_fact_is_about_a_property_that_exists_and_has_a_source_and_a_day(kind: str, fact: UpdateFact) -> None:
    known = anywhere(kind)
    assert known is not None
    for path in (fact.path, *fact.only_if):
        assert known.subschema(path.split(".")) is not None, path
    assert fact.source.startswith("https://docs.aws.amazon.com/")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", fact.read_on)


@pytest.mark.parametrize(("kind", "fact"), FACTS, ids=[f"{kind} {fact.path}" for kind, fact in FACTS])
def test_no_fact_repeats_the_schema(kind: str, fact: UpdateFact) -> None:
    known = anywhere(kind)
    assert known is not None
    assert f"/properties/{fact.path.replace('.', '/')}" not in known.body.get("createOnlyProperties", [])


@given(st.sampled_from(lustre.TIERS), st.integers(1, 20), st.integers(1, 20))
def test_a_file_system_with_efa_grows_by_whole_servers_and_never_shrinks(tier: Any, before: int, after: int) -> None:
    step = tier.efa_step_gib
    old, new = (file_system(count * step, tier.mb_per_s_per_tib) for count in (before, after))
    assert bool(refused(old, new)) == (after < before)
    if after >= before:
        half = file_system(after * step + step // 2, tier.mb_per_s_per_tib)
        assert f"grows in steps of {step:,} GiB" in refused(old, half)["StorageCapacity"]


def test_without_efa_the_tier_may_change_and_the_grid_is_2400_gib() -> None:
    old = file_system(2400, 125, efa=False)
    assert refused(old, file_system(4800, 1000, efa=False)) == {}
    assert refused(old, file_system(4800, 125)).keys() == {"LustreConfiguration.EfaEnabled", "StorageCapacity"}
    assert "2,400 GiB" in refused(old, file_system(3600, 125, efa=False))["StorageCapacity"]
    assert lustre.growth_step_gib(storage_type="HDD", mb_per_s_per_tib=12, efa=False) == 6_000


@pytest.mark.parametrize(
    ("planned", "remedy"),
    [
        # More capacity, for which a lower tier is cheaper; and more throughput, for which a higher one is.
        (
            (115_200, 125),
            "`tier: 250 MB/s/TiB, capacity: 96000 GiB, efa: true`, or 115200 GiB for what this edit plans",
        ),
        ((67_200, 500), "`tier: 250 MB/s/TiB, capacity: 96000 GiB, efa: true`, or 134400 GiB for what this edit plans"),
    ],
)
def test_a_plan_with_another_tier_names_what_keeps_the_tier(planned: tuple[int, int], remedy: str) -> None:
    old = file_system(76_800, 250)
    reason = refused(old, file_system(*planned))["LustreConfiguration.PerUnitStorageThroughput"]
    assert reason.startswith("with EFA the throughput tier is fixed")
    assert remedy in reason
    for size in (int(word) for word in re.findall(r"(\d+) GiB", remedy)):
        assert refused(old, file_system(size, 250)) == {}


@pytest.mark.parametrize(
    ("planned", "capacity"),
    [((12_000, 500), 24_000), ((4_800, 500), 9_600), ((9_600, 125), 9_600), ((5_000, 500), 12_000)],
)
def test_without_efa_another_tier_is_accepted_and_the_size_that_keeps_it_is_named(
    planned: tuple[int, int], capacity: int
) -> None:
    old, new = file_system(4800, 250, efa=False), file_system(*planned, efa=False)
    effects = update_effects(old, new)
    assert effects == {
        "LustreConfiguration.PerUnitStorageThroughput": "to grow it without this, keep its tier: write in "
        f"storage.lustre `tier: 250 MB/s/TiB, capacity: {capacity} GiB`"
    }
    assert update_effects(old, file_system(capacity, 250, efa=False)) == {}
    assert refused(old, file_system(capacity, 250, efa=False)) == {}
    assert update_effects(file_system(4800, 250), file_system(4800, 500)) == {}, "refused, with its remedy"


def cached(size: int | None, mode: str = "USER_PROVISIONED", rate: int = 4000) -> dict[str, Any]:
    cache = {"SizingMode": mode} | ({"SizeGiB": size} if size else {})
    config = {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": rate, "DataReadCacheConfiguration": cache}
    given = {"FileSystemType": "LUSTRE", "StorageType": "INTELLIGENT_TIERING"}
    return {**given, "LustreConfiguration": config}


@pytest.mark.parametrize(
    ("size", "fits"), [(10_240, True), (10_500, False), (9_217, False), (11_263, False), (9_216, True), (11_264, True)]
)
def test_a_read_cache_changes_by_a_tenth_at_least(size: int, fits: bool) -> None:
    problems = refused(cached(10_240), cached(size))
    if fits:
        assert problems == {}
        return
    (reason,) = problems.values()
    assert "to 9,216 GiB at most, or to 11,264 GiB at least" in reason


def test_another_read_cache_loses_its_contents() -> None:
    none = cached(None, "NO_CACHE")
    for new in (cached(20_480), none):
        assert refused(cached(10_240), new) == {}
        assert (
            "its contents are erased"
            in update_effects(cached(10_240), new)["LustreConfiguration.DataReadCacheConfiguration"]
        )
    assert update_effects(none, none) == {}


@pytest.mark.parametrize(
    ("before", "after", "remedy"),
    [
        ((1000, 4000), (1000, 8000), "write `read-cache: 2000 GiB` in storage.lustre"),
        ((1000, 4000), (None, 8000), "write `read-cache: 2000 GiB` in storage.lustre"),
        ((1000, 4000), (2000, 8000), None),
        # Less than the tenth of a change of the cache alone.
        ((40_000, 80_000), (42_000, 84_000), None),
        ((1000, 12_000), (1333, 16_000), "first deploy a read cache of a multiple of 3 GiB with the old throughput"),
    ],
)
def test_a_read_cache_grows_with_the_throughput_and_keeps_its_contents(
    before: tuple[int, int], after: tuple[int | None, int], remedy: str | None
) -> None:
    old, new = (
        cached(before[0], rate=before[1]),
        cached(after[0], "USER_PROVISIONED" if after[0] else "NO_CACHE", after[1]),
    )
    problems = refused(old, new)
    if remedy is None:
        assert problems == update_effects(old, new) == {}
    else:
        assert problems["LustreConfiguration.DataReadCacheConfiguration.SizeGiB"].endswith(remedy)


@pytest.mark.parametrize("efa", [True, False])
def test_a_plan_with_another_efa_names_what_keeps_it(efa: bool) -> None:
    reason = refused(file_system(4800, efa=efa), file_system(4800, efa=not efa))["LustreConfiguration.EfaEnabled"]
    assert reason.endswith(f"to keep the file system, write `efa: {str(efa).lower()}` in storage.lustre")


def test_with_efa_the_tier_cannot_change() -> None:
    assert refused(file_system(43200), file_system(43200, 500)).keys() == {
        "LustreConfiguration.PerUnitStorageThroughput"
    }
    # CloudFormation takes text for booleans.
    assert refused(file_system(43200, efa="true"), file_system(43200, 500, efa="True"))


def test_metadata_grows_and_cannot_be_added() -> None:
    def made(iops: int) -> dict[str, Any]:
        return file_system(43200, MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": iops})

    assert refused(made(6000), made(12000)) == {}
    assert refused(made(12000), made(6000)).keys() == {"LustreConfiguration.MetadataConfiguration.Iops"}
    assert refused(file_system(43200), made(12000)).keys() == {"LustreConfiguration.MetadataConfiguration"}


METADATA = "LustreConfiguration.MetadataConfiguration"


def with_metadata(capacity: int, iops: Any = None, **more: Any) -> dict[str, Any]:
    """AUTOMATIC, or as many IOPS as one says."""
    config = {"Mode": "AUTOMATIC"} if iops is None else {"Mode": "USER_PROVISIONED", "Iops": iops}
    return file_system(capacity, MetadataConfiguration={**config, **more})


@given(st.integers(1, 20).map(lambda steps: steps * 4800), st.sampled_from(lustre_metadata.SSD_IOPS))
def test_what_is_provisioned_instead_of_automatic_must_be_as_many_iops(capacity: int, iops: int) -> None:
    to_fewer = refused(with_metadata(capacity), with_metadata(capacity, iops))
    assert to_fewer.keys() == ({f"{METADATA}.Iops"} if iops < lustre_metadata.included_iops(capacity) else set())
    back = refused(with_metadata(capacity, iops), with_metadata(capacity))
    assert back.keys() == ({f"{METADATA}.Mode"} if iops > lustre_metadata.included_iops(capacity) else set())


def test_a_metadata_configuration_cannot_be_taken_away() -> None:
    for old in (with_metadata(43200), with_metadata(43200, 24000)):
        assert refused(old, file_system(43200)) == {
            METADATA: "a metadata configuration cannot be removed after creation"
        }


def test_rejects_metadata_iops_that_are_invalid_or_unknown() -> None:
    assert "multiple of 12,000" in refused(with_metadata(43200), with_metadata(43200, 18000))[f"{METADATA}.Iops"]
    assert (
        "does not accept a number"
        in refused(with_metadata(43200), with_metadata(43200, Iops=12000))[f"{METADATA}.Iops"]
    )
    assert "does not show" in refused(with_metadata(43200), with_metadata(43200, {"Ref": "Iops"}))[f"{METADATA}.Iops"]
    unknown = refused(file_system({"Ref": "Size"}, MetadataConfiguration={"Mode": "AUTOMATIC"}), with_metadata(1, 6000))
    assert "does not show" in unknown[f"{METADATA}.Iops"]
    requested = file_system(43200, MetadataConfiguration={"Ref": "Metadata"})
    assert "does not show" in refused(requested, with_metadata(43200))[METADATA]
    decided = file_system(43200, MetadataConfiguration={"Mode": {"Ref": "Mode"}})
    assert "does not show" in refused(with_metadata(43200), decided)[METADATA]


def test_metadata_iops_and_capacity_do_not_grow_at_once() -> None:
    both = refused(with_metadata(43200, 12000), with_metadata(48000, 24000))
    assert "the IOPS first" in both[f"{METADATA}.Iops"]
    assert refused(with_metadata(43200), with_metadata(48000)) == {}


def test_intelligent_tiering_knows_no_automatic_metadata() -> None:
    def made(**config: Any) -> dict[str, Any]:
        tiered = {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 4000, "MetadataConfiguration": config}
        return {"FileSystemType": "LUSTRE", "StorageType": "INTELLIGENT_TIERING", "LustreConfiguration": tiered}

    six = made(Mode="USER_PROVISIONED", Iops=6000)
    assert refused(six, made(Mode="USER_PROVISIONED", Iops=12000)) == {}
    assert refused(six, made(Mode="USER_PROVISIONED", Iops=24000)).keys() == {f"{METADATA}.Iops"}
    assert refused(six, made(Mode="AUTOMATIC")).keys() == {f"{METADATA}.Mode"}


def test_lustre_versions_move_up_by_their_parts() -> None:
    def made(version: str) -> dict[str, Any]:
        return {"FileSystemType": "LUSTRE", "FileSystemTypeVersion": version}

    assert refused(made("2.10"), made("2.12")) == {}
    assert "2.15" in refused(made("2.15"), made("2.12"))["FileSystemTypeVersion"]
    # 2.9 is older than 2.10, though the number is greater.
    assert refused(made("2.10"), made("2.9"))


def test_other_file_systems_have_other_rules() -> None:
    def made(kind: str, capacity: int, storage: str = "SSD") -> dict[str, Any]:
        return {"FileSystemType": kind, "StorageCapacity": capacity, "StorageType": storage}

    assert refused(made("ONTAP", 2048), made("ONTAP", 1024)) == {}
    assert refused(made("WINDOWS", 2048), made("WINDOWS", 1024)).keys() == {"StorageCapacity"}
    assert refused(made("WINDOWS", 2000, "HDD"), made("WINDOWS", 2000)) == {}
    assert refused(made("LUSTRE", 1200), made("LUSTRE", 2400))["StorageCapacity"].startswith("a SCRATCH_1")


def test_volumes_and_keys_refuse_what_would_lose_them() -> None:
    assert refused({"Size": 100}, {"Size": 50}, "AWS::EC2::Volume").keys() == {"Size"}
    assert refused({"Size": "100"}, {"Size": 200}, "AWS::EC2::Volume") == {}
    assert refused({"Encrypted": False}, {"Encrypted": True}, "AWS::EC2::Volume").keys() == {"Encrypted"}
    assert refused({}, {"MultiRegion": True}, "AWS::KMS::Key").keys() == {"MultiRegion"}


def openzfs(capacity: int, **more: Any) -> dict[str, Any]:
    return {"FileSystemType": "OPENZFS", "StorageType": "SSD", "StorageCapacity": capacity, **more}


@given(st.integers(64, 100_000), st.integers(64, 100_000))
def test_a_home_on_openzfs_grows_by_a_tenth_or_more_and_never_shrinks(before: int, after: int) -> None:
    allowed = after == before or after * 100 >= before * 110
    assert (refused(openzfs(before), openzfs(after)) == {}) == allowed


def test_rejects_too_small_a_step_of_openzfs_with_the_smallest_step() -> None:
    assert refused(openzfs(256), openzfs(281))["StorageCapacity"].endswith("from 256 to 282 GiB at least")
    assert refused(openzfs(256), openzfs(128))["StorageCapacity"].startswith("storage capacity only grows")
    assert refused(openzfs(256), openzfs(256, StorageType="INTELLIGENT_TIERING")).keys() == {"StorageType"}


def test_what_replaces_a_home_and_what_does_not() -> None:
    def replaced(kind: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        known = anywhere(kind)
        assert known is not None
        return known.replaced_by(known.normal(old), known.normal(new))

    def zfs(**config: Any) -> dict[str, Any]:
        return {**openzfs(256), "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_HA_2", **config}}

    root: dict[str, Any] = {"RootVolumeConfiguration": {"NfsExports": [{"ClientConfigurations": []}]}}
    assert replaced(LUSTRE, zfs(), zfs(DeploymentType="MULTI_AZ_1")) == ["OpenZFSConfiguration.DeploymentType"]
    assert replaced(LUSTRE, zfs(), zfs(**root)) == ["OpenZFSConfiguration.RootVolumeConfiguration"]
    assert replaced(LUSTRE, zfs(ThroughputCapacity=160), zfs(ThroughputCapacity=320)) == []
    assert replaced(LUSTRE, zfs(AutomaticBackupRetentionDays=30), zfs(AutomaticBackupRetentionDays=7)) == []

    def volume(**config: Any) -> dict[str, Any]:
        return {"Name": "home", "OpenZFSConfiguration": {"ParentVolumeId": "fsvol-1", **config}}

    exports = [{"ClientConfigurations": [{"Clients": "10.1.0.0/16", "Options": ["rw"]}]}]
    assert replaced("AWS::FSx::Volume", volume(), volume(NfsExports=exports)) == []
    assert replaced("AWS::FSx::Volume", volume(), volume(ParentVolumeId="fsvol-2"))
    for name in ("AvailabilityZoneName", "Encrypted", "KmsKeyId", "PerformanceMode"):
        assert replaced("AWS::EFS::FileSystem", {name: "a"}, {name: "b"}) == [name]
    assert replaced("AWS::EFS::FileSystem", {"ThroughputMode": "elastic"}, {"ThroughputMode": "bursting"}) == []
    for name in ("Bucket", "Prefix", "RoleArn", "KmsKeyId"):
        assert replaced("AWS::S3Files::FileSystem", {name: "a"}, {name: "b"}) == [name]


def test_karpenter_of_hyperpod_is_turned_off_before_it_leaves() -> None:
    scaled = {"ClusterName": "lyra", "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}
    off = {"ClusterName": "lyra", "AutoScaling": {"Mode": "Disable"}}
    reason = refused(scaled, {"ClusterName": "lyra"}, "AWS::SageMaker::Cluster")["AutoScaling"]
    assert "`aws sagemaker update-cluster --cluster-name lyra --auto-scaling Mode=Disable`" in reason
    assert not refused(scaled, off, "AWS::SageMaker::Cluster")
    assert not refused(off, {"ClusterName": "lyra"}, "AWS::SageMaker::Cluster")


def test_another_file_system_is_for_new_instances_of_hyperpod() -> None:
    def cluster(*storage: dict[str, Any]) -> dict[str, Any]:
        return {"InstanceGroups": [{"InstanceGroupName": "train", "InstanceStorageConfigs": [*storage]}]}

    known = anywhere("AWS::SageMaker::Cluster")
    assert known is not None
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": "500"}}
    here, there = ({"FsxLustreConfig": {"DnsName": "a", "MountPath": path}} for path in ("/fsx", "/data"))
    other = {"FsxLustreConfig": {"DnsName": "b", "MountPath": "/fsx"}}
    larger = {"EbsVolumeConfig": {"VolumeSizeInGB": "900"}}
    assert not known.undocumented(cluster(volume, here), cluster(volume, other))
    assert not known.undocumented(cluster(here), cluster(here, there))
    # Job files name the new path on all instances at once, and those that run do not have it.
    for after in (cluster(volume, there), cluster(volume), cluster(larger, here)):
        assert [*known.undocumented(cluster(volume, here), after)] == ["InstanceGroups.train.InstanceStorageConfigs"]


def test_checkpoints_in_memory_are_turned_off_before_they_leave() -> None:
    known = anywhere("AWS::SageMaker::Cluster")
    assert known is not None
    on, off = ({"ClusterName": "lyra", "TieredStorageConfig": {"Mode": mode}} for mode in ("Enable", "Disable"))
    reason = known.undocumented(on, {"ClusterName": "lyra"})["TieredStorageConfig"]
    assert "--cluster-name lyra --tiered-storage-config Mode=Disable`" in reason
    assert not known.undocumented(on, off)
    assert not known.undocumented(off, {"ClusterName": "lyra"})


def test_an_instance_group_of_hyperpod_keeps_its_execution_role() -> None:
    def cluster(role: Any) -> dict[str, Any]:
        return {"InstanceGroups": [{"InstanceGroupName": "controller", "InstanceType": "ml.m5.xlarge", **role}]}

    nodes, other = ({"ExecutionRole": f"arn:aws:iam::123456789012:role/{name}"} for name in ("nodes", "controller"))
    reasons = refused(cluster(nodes), cluster(other), "AWS::SageMaker::Cluster")
    assert "AWS asks to keep the role of a group" in reasons["InstanceGroups.controller.ExecutionRole"]
    assert not refused(cluster(nodes), cluster(nodes), "AWS::SageMaker::Cluster")


def test_a_cluster_of_hyperpod_does_not_return_to_the_database_of_its_controller() -> None:
    database = {"Endpoint": "a.b", "SecretArn": "arn:aws:secretsmanager:us-east-2:123456789012:secret:slurm"}
    internal, external = ({"Orchestrator": {"Slurm": slurm}} for slurm in ({}, {"AccountingDatabase": database}))
    path = "Orchestrator.Slurm.AccountingDatabase"
    assert "does not return to that of its controller" in refused(external, internal, "AWS::SageMaker::Cluster")[path]
    assert not refused(internal, external, "AWS::SageMaker::Cluster")
    moved = {"Orchestrator": {"Slurm": {"AccountingDatabase": {**database, "Endpoint": "c.d"}}}}
    assert not refused(external, moved, "AWS::SageMaker::Cluster")


def test_a_cluster_of_hyperpod_with_continuous_provisioning_gets_no_strategy() -> None:
    managed = {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}}
    merge = {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}}
    path = "Orchestrator.Slurm.SlurmConfigStrategy"
    assert path in refused({"NodeProvisioningMode": "Continuous"}, managed, "AWS::SageMaker::Cluster")
    assert not refused(merge, managed, "AWS::SageMaker::Cluster")


def test_what_becomes_of_jobs_in_a_renamed_partition_of_hyperpod_is_not_known() -> None:
    def cluster(*partitions: str) -> dict[str, Any]:
        slurm = {"NodeType": "Compute", "PartitionNames": [*partitions]}
        return {"InstanceGroups": [{"InstanceGroupName": "train", "InstanceCount": "4", "SlurmConfig": slurm}]}

    known = anywhere("AWS::SageMaker::Cluster")
    assert known is not None
    reasons = known.undocumented(cluster("train"), cluster("large"))
    assert "jobs of a partition" in reasons["InstanceGroups.train.SlurmConfig.PartitionNames"]
    assert not known.undocumented(cluster("train"), cluster("train"))
