"""Arguments of another type than declared: a ValueError that names them, before anything is created."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from hypothesis import given
from hypothesis import strategies as st

from ultracluster import storage
from ultracluster.boot import EfaBundle, LocalScratch, LustreClient, Mountpoint
from ultracluster.planning import check_fields
from ultracluster.planning.home import size_openzfs
from ultracluster.planning.lustre import (
    Association,
    Checkpoint,
    LustreClients,
    LustreGoal,
    LustreOverrides,
    checkpoint_bytes,
    plan_lustre,
)

SPEC = plan_lustre(LustreGoal(throughput_mb_per_s=1000)).spec
SIZE = size_openzfs(region="us-east-2", clients=4)
FS = "fs-0123456789abcdef0"
SNAPSHOT = cdk.RemovalPolicy.SNAPSHOT
NAN = float("nan")


class Site:
    """A stack with a VPC, and each construct with what it needs."""

    def __init__(self) -> None:
        self.stack = cdk.Stack(env=cdk.Environment(account="123456789012", region="us-east-2"))
        self.vpc = ec2.Vpc(self.stack, "Vpc", max_azs=1)
        (self.subnet,) = self.vpc.private_subnets
        self.file_system = storage.LustreFileSystem(self.stack, "Own", vpc=self.vpc, subnet=self.subnet, spec=SPEC)
        self.bucket = storage.DataBucket(self.stack, "Data").bucket
        self.link = storage.DataRepositoryAssociation(
            self.stack, "Own2", file_system=self.file_system, bucket=self.bucket, path="/own", export_events=["NEW"]
        )
        self._needs: dict[str, dict[str, Any]] = {
            "LustreFileSystem": {"vpc": self.vpc, "subnet": self.subnet, "spec": SPEC},
            "OpenZfsHome": {"vpc": self.vpc, "subnet": self.subnet, "size": SIZE, "client_ranges": ["10.0.0.0/16"]},
            "EfsHome": {"vpc": self.vpc, "subnets": [self.subnet]},
            "DataRepositoryAssociation": {"file_system": FS, "bucket": self.bucket, "path": "/data"},
            "ColdDataRelease": {"associations": [self.link], "not_accessed_for_days": 7, "mount_options": "relatime"},
            "DataBucket": {},
        }

    def make(self, kind: str, **more: Any) -> None:
        getattr(storage, kind)(self.stack, "Made", **{**self._needs[kind], **more})


@pytest.fixture(scope="module")
def site() -> Site:
    return Site()


@pytest.mark.parametrize(
    ("kind", "argument", "value", "says"),
    [
        ("LustreFileSystem", "removal_policy", SNAPSHOT, "RETAIN_ON_UPDATE_OR_DELETE, RETAIN or DESTROY, got SNAPSHOT"),
        ("LustreFileSystem", "backup_days", 1.5, "backup_days must be a whole number, got 1.5"),
        ("LustreFileSystem", "backup_days", True, "backup_days must be a whole number, got True"),
        ("LustreFileSystem", "spec", None, "spec must be a LustreSpec or a string, got None"),
        ("LustreFileSystem", "spec", replace(SPEC, metadata_iops="x"), "spec.metadata_iops must be a whole number"),  # type: ignore[arg-type]
        ("LustreFileSystem", "maintenance", 5, "maintenance must be a string, got 5"),
        ("LustreFileSystem", "subnet", None, "subnet must be an ISubnet, got None"),
        ("LustreFileSystem", "key", "arn:aws:kms", "key must be an IKey"),
        ("OpenZfsHome", "removal_policy", SNAPSHOT, "got SNAPSHOT"),
        ("OpenZfsHome", "backup_days", None, "backup_days must be a whole number, got None"),
        ("OpenZfsHome", "size", None, "size must be a"),
        ("OpenZfsHome", "client_ranges", "10.0.0.0/99", "got '10.0.0.0/99'"),
        ("OpenZfsHome", "client_ranges", ["10.0.0.0/99"], "client_ranges must hold ranges such as 10.0.0.0/16"),
        ("OpenZfsHome", "client_ranges", [5], "client_ranges must be a string, got [5]"),
        ("EfsHome", "provisioned_mib_per_s", "1", "provisioned_mib_per_s must be a whole number"),
        ("EfsHome", "subnets", None, "subnets must be an ISubnet or a list, got None"),
        ("DataRepositoryAssociation", "import_events", 5, "import_events must be a string or a list, got 5"),
        ("DataRepositoryAssociation", "path", None, "path must be a string, got None"),
        ("DataRepositoryAssociation", "removal_policy", SNAPSHOT, "got SNAPSHOT"),
        ("ColdDataRelease", "not_accessed_for_days", NAN, "not_accessed_for_days must be a whole number, got nan"),
        (
            "ColdDataRelease",
            "associations",
            None,
            "associations must be a",
        ),
        ("DataBucket", "removal_policy", SNAPSHOT, "got SNAPSHOT"),
    ],
)
def test_a_wrong_argument_is_named_with_the_construct(
    site: Site, kind: str, argument: str, value: Any, says: str
) -> None:
    with pytest.raises(ValueError, match="Default/Made: ") as caught:
        site.make(kind, **{argument: value})
    assert says in str(caught.value)
    site.stack.node.try_remove_child("Made")


def test_all_wrong_arguments_are_named_at_once(site: Site) -> None:
    with pytest.raises(ValueError, match="backup_days") as caught:
        site.make("LustreFileSystem", backup_days="7", maintenance=7, removal_policy=SNAPSHOT)
    assert len(str(caught.value).splitlines()) == 3


def test_paths_and_names_of_another_type_are_refused_in_words(site: Site) -> None:
    with pytest.raises(ValueError, match="must be a directory, such as /fsx"):
        site.file_system.mount(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="name must be a string, got 5"):
        site.file_system.volume(5)  # type: ignore[arg-type]


GOALS: list[tuple[Callable[[Any], object], str]] = [
    (lambda value: plan_lustre(LustreGoal(throughput_mb_per_s=value)), "throughput_mb_per_s"),
    (lambda value: plan_lustre(LustreGoal(capacity_gib=value)), "capacity_gib"),
    (lambda value: plan_lustre(LustreGoal(throughput_mb_per_s=1, associations=value)), "associations"),
    (lambda value: plan_lustre(LustreGoal(checkpoint=value)), "checkpoint"),
    (lambda value: plan_lustre(LustreGoal(checkpoint=Checkpoint(size_bytes=value, stall_seconds=1))), "size_bytes"),
    (
        lambda value: plan_lustre(
            LustreGoal(throughput_mb_per_s=1, clients=LustreClients(instance_type="p5en.48xlarge", count=value))
        ),
        "count",
    ),
    (
        lambda value: plan_lustre(
            LustreGoal(throughput_mb_per_s=1), overrides=LustreOverrides(throughput_capacity_mb_per_s=value)
        ),
        "throughput_capacity_mb_per_s",
    ),
    (lambda value: size_openzfs(capacity_gib=value), "capacity_gib"),
    (lambda value: size_openzfs(clients=value), "clients"),
]


@pytest.mark.parametrize(("ask", "name"), GOALS)
@pytest.mark.parametrize("value", [NAN, float("inf"), "40", 1.5, True])
def test_a_figure_of_a_goal_is_a_whole_number(ask: Callable[[Any], object], name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be "):
        ask(value)


def test_a_goal_is_a_goal() -> None:
    with pytest.raises(ValueError, match="goal must be a LustreGoal, got None"):
        plan_lustre(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="parameters must be a number, got '70B'"):
        checkpoint_bytes("70B")  # type: ignore[arg-type]


@given(st.floats() | st.text() | st.none() | st.integers() | st.booleans())
def test_a_goal_ends_in_a_plan_or_in_words(value: Any) -> None:
    for ask, _ in GOALS:
        # Anything else fails the test.
        with suppress(ValueError):
            ask(value)


@given(st.integers(1, 10**6))
def test_right_types_are_right(mb_per_s: int) -> None:
    for value in (
        LustreGoal(throughput_mb_per_s=mb_per_s),
        SPEC,
        Checkpoint(size_bytes=mb_per_s, stall_seconds=60),
    ):
        check_fields(value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: LustreClient(efa_interfaces=1.5), "efa_interfaces must be a whole number, got 1.5"),  # type: ignore[arg-type]
        (lambda: EfaBundle(url=None, sha256="0" * 64), "url must be a string, got None"),  # type: ignore[arg-type]
        (lambda: Mountpoint(bucket="my-data", prefix=5), "prefix must be a string, got 5"),  # type: ignore[arg-type]
        (lambda: LocalScratch(container_store="x"), "container_store must be True or False, got 'x'"),  # type: ignore[arg-type]
        (lambda: Association(path="/a", repository=None), "repository must be a string, got None"),  # type: ignore[arg-type]
    ],
)
def test_a_value_of_another_type_is_no_value(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        make()
    assert says in str(caught.value)
