"""Explicit settings of the Lustre file system: applied, or rejected at their key with the reason of FSx."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.clusterfile_data import GOOD, NO_METRICS, bent, problems, read
from support.templates import of_type, storage_of
from ultracluster.clusterfile import ClusterFileError, loads, warnings
from ultracluster.clusterfile._quantities import Size
from ultracluster.planning.lustre import LustreOverrides, LustreSpec, check_lustre

GOAL = "throughput: 40 GB/s"
SMALL = "throughput: 4 GB/s, "


def spec(more: str) -> LustreSpec:
    spec = read(GOAL, more).lustre_spec
    assert spec is not None
    return spec


def wrong(lustre: str) -> list[str]:
    """Errors, without places."""
    return [line.partition(" ")[2].removeprefix("storage.lustre.") for line in problems(bent(GOAL, lustre))]


def file_system(more: str) -> dict[str, Any]:
    (resource,) = of_type(storage_of(loads(bent(GOAL, more) + NO_METRICS, "c.yaml")), "AWS::FSx::FileSystem")
    properties: dict[str, Any] = resource["Properties"]
    return properties


@pytest.mark.parametrize(
    ("cache", "mode", "gib"),
    [
        ("10 TiB", "USER_PROVISIONED", 10_240),
        ("NO_CACHE", "NO_CACHE", None),
        ("PROPORTIONAL_TO_THROUGHPUT_CAPACITY", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", None),
    ],
)
def test_a_read_cache_selects_intelligent_tiering_and_keeps_its_size(cache: str, mode: str, gib: int | None) -> None:
    for goal in (SMALL, "capacity: 500 TiB, working-set: 50 TiB, "):
        decided = spec(f"{goal}read-cache: {cache}")
        assert decided.storage_type == "INTELLIGENT_TIERING"
        assert (decided.read_cache_mode, decided.read_cache_gib) == (mode, gib)


def test_a_deployment_type_is_taken_whatever_would_fit_better() -> None:
    assert spec(f"{SMALL}deployment-type: SCRATCH_2").deployment_type == "SCRATCH_2"
    assert spec(f"{SMALL}deployment-type: PERSISTENT_2, temporary: true").deployment_type == "PERSISTENT_2"


@pytest.mark.parametrize("version", ["2.12", "'2.12'"])
def test_a_version_of_lustre_reaches_fsx_quotes_or_not(version: str) -> None:
    properties = file_system(f"{SMALL}deployment-type: SCRATCH_2, lustre-version: {version}")
    assert properties["FileSystemTypeVersion"] == "2.12"
    assert properties["LustreConfiguration"]["DeploymentType"] == "SCRATCH_2"


def test_a_read_cache_reaches_fsx() -> None:
    configuration = file_system(f"{SMALL}read-cache: 10 TiB")["LustreConfiguration"]
    assert configuration["DataReadCacheConfiguration"] == {"SizingMode": "USER_PROVISIONED", "SizeGiB": 10_240}


def test_without_them_the_file_system_is_the_same_as_with_what_was_chosen() -> None:
    assert spec(SMALL) == spec(f"{SMALL}deployment-type: PERSISTENT_2, lustre-version: 2.15, storage-type: SSD")


@pytest.mark.parametrize(
    ("lustre", "message"),
    [
        ("deployment-type: PERSISTENT_1", "deployment-type: PERSISTENT_1 supports neither EFA nor a metadata config"),
        ("deployment-type: SCRATCH_1", "deployment-type: the deployment type must be one of PERSISTENT_2, SCRATCH_2"),
        (
            "deployment-type: PERSISTANT_2",
            "deployment-type: a deployment type of FSx for Lustre is one of PERSISTENT_2",
        ),
        (
            "deployment-type: SCRATCH_2, efa: true",
            "efa: SCRATCH_2 does not support EFA; use PERSISTENT_2, or leave EFA out",
        ),
        ("deployment-type: SCRATCH_2, tier: 250 MB/s/TiB", "tier: SCRATCH_2 has one tier and accepts no other"),
        ("deployment-type: SCRATCH_2, backups: 7 d", "deployment-type: SCRATCH_2 does not support backups"),
        (
            "deployment-type: SCRATCH_2, metadata-iops: 1500",
            "metadata-iops: SCRATCH_2 does not support a metadata configuration",
        ),
        ("deployment-type: SCRATCH_2, read-cache: 1 TiB", "read-cache: SCRATCH_2 is offered on SSD only"),
        ("storage-type: HDD", "storage-type: HDD is offered as PERSISTENT_1 only, which does not support EFA"),
        ("storage-type: SSD, read-cache: NO_CACHE", "read-cache: SSD has no read cache; leave it out"),
        ("tier: 250 MB/s/TiB, read-cache: 1 TiB", "tier: Intelligent-Tiering has a throughput capacity and no tier"),
        (
            "data-repository-associations: {/data: {}}, read-cache: 1 TiB",
            "read-cache: Intelligent-Tiering does not support data repository assoc",
        ),
        (
            "read-cache: 16 GiB, throughput-capacity: 4 GB/s",
            "read-cache: the read cache must have 32 to 131,072 GiB at",
        ),
        ("read-cache: 900 PB", "read-cache: the read cache must have 32 to"),
        ("read-cache: 10", "read-cache: a size needs a unit, got the bare number 10"),
        ("read-cache: true", "read-cache: must be a size, such as 10 TiB, NO_CACHE or PROPORTIONAL_TO_THROUGHPUT_CAP"),
        ("read-cache: USER_PROVISIONED", "read-cache: must be a size, such as 10 TiB, NO_CACHE or PROPORTIONAL_TO_THR"),
        ("read-cache: NOCACHE", "got 'NOCACHE'; did you mean NO_CACHE?"),
        (
            "lustre-version: 2.12",
            "lustre-version: PERSISTENT_2 with a metadata configuration requires Lustre 2.15",
        ),
        (
            "lustre-version: 2.10",
            "lustre-version: clients of AL2023 and Ubuntu 24.04 can't mount Lustre 2.10; use 2.15",
        ),
        (
            "lustre-version: 2.14",
            "lustre-version: a version of Lustre that FSx runs is one of 2.10, 2.12, 2.15, got '2.14'",
        ),
    ],
)
def test_reports_values_that_fsx_rejects_at_their_key(lustre: str, message: str) -> None:
    (error,) = wrong(f"{SMALL}{lustre}")
    assert message in error


def test_reports_a_cache_that_is_too_small_for_the_goal_at_its_key() -> None:
    (error,) = wrong(f"{GOAL}, read-cache: 40 GiB")
    assert error == "read-cache: the read cache must have 320 to 1,310,720 GiB at 40,000 MB/s, got 40"


def test_efa_on_persistent_1_is_refused_at_both_keys_with_the_reason() -> None:
    assert wrong(f"{SMALL}deployment-type: PERSISTENT_1, efa: true") == [
        "deployment-type: PERSISTENT_1 supports neither EFA nor a metadata configuration, and the deployment type "
        "cannot change; use PERSISTENT_2",
        "efa: PERSISTENT_1 does not support EFA; use PERSISTENT_2, or leave EFA out",
    ]


def test_reports_values_that_a_zone_does_not_offer_at_their_key() -> None:
    far = {"us-east-2": "us-east-1", "use2-az1": "use1-dfw2-az1"}
    text = bent(GOAL, f"{SMALL}deployment-type: SCRATCH_2, lustre-version: 2.12, efa: false")
    for old, new in far.items():
        text = text.replace(old, new)
    errors = problems(text + "network: {control-plane-zone: use1-az4}\n")
    assert [line.split()[1:6] for line in errors] == [
        ["storage.lustre.deployment-type:", "FSx", "does", "not", "offer"],
    ]


def test_reports_all_invalid_choices_at_once() -> None:
    errors = wrong("capacity: 5 TiB, tier: 250 MB/s/TiB, metadata-iops: 7000, lustre-version: 2.12")
    assert [line.partition(":")[0] for line in errors] == ["capacity", "metadata-iops", "lustre-version"]
    assert errors[0].endswith("; without `tier` any size will do")


def test_a_size_with_a_tier_does_not_remove_efa_without_a_word() -> None:
    tier = ", tier: 1000 MB/s/TiB, capacity: 45600 GiB"
    (error,) = wrong(GOAL + tier)
    assert error.startswith("capacity: ")
    assert error.endswith("AWS recommends EFA above 10 GB/s: write efa: false for a file system without it")
    assert not spec(f"{GOAL}{tier}, efa: false").efa
    # Below 10 GB/s, or with nodes that have no EFA for it, nothing is lost.
    assert not spec("throughput: 9 GB/s" + tier).efa


def test_rejects_choices_for_an_existing_file_system() -> None:
    existing = "existing: {id: fs-0123456789abcdef0, mount-name: fsx}"
    errors = wrong(f"{existing}, read-cache: 1 TiB, lustre-version: 2.12, deployment-type: SCRATCH_2")
    assert [line.partition(":")[0] for line in errors] == ["read-cache", "lustre-version", "deployment-type"]
    assert all("describes a new file system" in line for line in errors)


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "deployment-type": st.sampled_from(["PERSISTENT_2", "SCRATCH_2", "PERSISTENT_1"]),
        "storage-type": st.sampled_from(["SSD", "INTELLIGENT_TIERING", "HDD"]),
        "read-cache": st.sampled_from(["NO_CACHE", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", "1 TiB", "16 GiB"]),
        "lustre-version": st.sampled_from(["2.10", "2.12", "2.15"]),
        "tier": st.sampled_from(["125 MB/s/TiB", "1000 MB/s/TiB"]),
        "metadata-iops": st.sampled_from(["1500", "7000", "12000"]),
        "throughput-capacity": st.sampled_from(["4 GB/s", "5 GB/s"]),
        "efa": st.sampled_from(["true", "false"]),
        "temporary": st.sampled_from(["true", "false"]),
        "backups": st.just("7 d"),
    },
)


def bought(text: str) -> tuple[LustreSpec | None, set[str]]:
    """The file system, or the keys at which it is refused."""
    try:
        return loads(text, "c.yaml").lustre_spec, set()
    except ClusterFileError as error:
        return None, {problem.field for problem in error.problems}


@given(CHOICES)
def test_choices_are_applied_unchanged_or_rejected(choices: dict[str, str]) -> None:
    text = bent(GOAL, SMALL + ", ".join(f"{key}: {value}" for key, value in choices.items()))
    lustre, refused = bought(text)
    assert refused <= {"storage.lustre", *(f"storage.lustre.{key}" for key in choices)}
    assert (lustre is None) == bool(refused)
    if lustre is None:
        return
    assert check_lustre(LustreOverrides(**asdict(lustre)), backups="backups" in choices) == []
    values = {
        "deployment-type": lustre.deployment_type,
        "storage-type": lustre.storage_type,
        "lustre-version": lustre.lustre_version,
        "efa": str(lustre.efa).lower(),
        "read-cache": lustre.read_cache_mode if lustre.read_cache_gib is None else "1 TiB",
    }
    assert {key: values[key] for key in choices if key in values} == {
        key: value for key, value in choices.items() if key in values
    }


def test_a_file_writes_its_choices_as_they_were_read() -> None:
    cluster = read(GOAL, f"{SMALL}read-cache: 10 TiB, deployment-type: PERSISTENT_2, lustre-version: 2.15")
    assert cluster.storage.lustre is not None
    written = cluster.storage.lustre.model_dump(by_alias=True)
    assert written["read-cache"] == "10 TiB"
    assert Size.parse(written["read-cache"]) == cluster.storage.lustre.read_cache
    assert (written["deployment-type"], written["lustre-version"]) == ("PERSISTENT_2", "2.15")
    assert read(GOAL, f"{SMALL}read-cache: NO_CACHE").storage.model_dump(by_alias=True)["lustre"]["read-cache"] == (
        "NO_CACHE"
    )


def test_rejects_required_efa_for_gpu_nodes_that_mount_over_tcp() -> None:
    text = (
        "name: llama\nregion: us-east-2\nzone: use2-az1\norchestrator: slurm\n"
        "nodes:\n  train: {type: p4d.24xlarge, count: 4}\n"
        "storage: {lustre: {throughput: 20 GB/s, efa: true, client: {efa: required}}}\n"
    )
    (line,) = problems(text)
    assert "storage.lustre.client.efa: train (p4d.24xlarge, use2-az1) mount over TCP" in line
    assert not any("mount over TCP: FSx" in line for line in problems(text.replace("p4d.24xlarge", "p5en.48xlarge")))


# p4d.24xlarge is of Nitro v3, which FSx for Lustre does not support over EFA.
WITHOUT_EFA = bent("p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0", "p4d.24xlarge, count: 4")
P5 = "nodes:\n  more: {type: p5en.48xlarge, count: 4}"


def test_efa_that_no_node_can_use_is_a_choice_with_the_figures_of_both() -> None:
    (error,) = problems(WITHOUT_EFA)
    assert error.startswith("c.yaml:7:11 storage.lustre: AWS recommends EFA for this throughput, no GPU node")
    for efa in ("false", "true"):
        chosen = loads(bent("40 GB/s", f"40 GB/s, efa: {efa}", WITHOUT_EFA), "c.yaml").lustre_spec
        assert chosen is not None
        assert f"Write efa: {efa} for {chosen.words}, ${chosen.usd_per_month:,.0f} a month, " in error


@pytest.mark.parametrize(
    "text",
    [
        # No EFA is planned, no node has GPUs, a node uses it, or FSx may support it on a declared type.
        bent("40 GB/s", "8 GB/s", WITHOUT_EFA),
        bent("p4d.24xlarge", "c7i.8xlarge", WITHOUT_EFA),
        bent("nodes:", P5, WITHOUT_EFA),
        bent("p4d.24xlarge", "p9.48xlarge", WITHOUT_EFA)
        + "types: {p9.48xlarge: {architecture: x86_64, vcpus: 192, gpus: 8, memory: 2048 GiB, "
        "addresses-per-interface: 50, network-cards: [{count: 8, kinds: [interface, efa], interfaces: 2}]}}\n",
        WITHOUT_EFA + 'accept: {lustre-efa-choice: "it stands"}\n',
    ],
)
def test_other_files_need_no_choice(text: str) -> None:
    assert loads(text, "c.yaml").lustre_spec is not None


def test_nodes_do_not_change_a_file_system() -> None:
    for efa in ("false", "true"):
        old = bent("40 GB/s", f"40 GB/s, efa: {efa}", WITHOUT_EFA)
        assert loads(old, "c.yaml").lustre_spec == loads(bent("nodes:", P5, old), "c.yaml").lustre_spec


def test_the_warning_of_a_doubtful_client_has_the_throughput_over_tcp() -> None:
    text = bent("orchestrator: slurm", "orchestrator: kubernetes", GOOD)
    (warned,) = (w.message for w in warnings(loads(text, "c.yaml")) if w.rule == "lustre-efa-client")
    assert "over TCP, with 45 Gbit/s for a node in place of 700" in warned
