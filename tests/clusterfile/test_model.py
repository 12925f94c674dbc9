"""Defaults of a short file."""

import subprocess
import sys
from ipaddress import IPv4Network
from pathlib import Path

import pydantic
import pytest

from support import EXAMPLES, ROOT
from support.clusterfile_data import GOOD, RESERVATION, bent, read, with_groups
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, interfaces
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile import ClusterFile, load, loads, warnings
from ultracluster.planning.capacity import (
    CapacityBlock,
    Image,
    OnDemand,
    ReservationGroup,
    Spot,
    TargetedReservation,
    UltraServerBlock,
)


def test_seven_lines_are_a_cluster_of_512_gpus() -> None:
    assert len(GOOD.splitlines()) == 7
    cluster = loads(GOOD, "c.yaml")
    (train,) = cluster.node_groups
    assert (train.name, train.count, train.gpus) == ("train", 64, 512)
    assert train.instance_type is INSTANCE_TYPES["p5en.48xlarge"]
    assert train.capacity == TargetedReservation(reservation_id=RESERVATION)
    assert train.layout == "all-efa"
    assert train.interfaces == interfaces("p5en.48xlarge", "all-efa")
    assert (train.addresses_per_node, train.addresses) == (16, 1_024)
    assert train.root_volume.gib == 500
    assert train.image is None
    assert (train.placement_group, train.placed) == ("auto", None)
    size = cluster.lustre_spec
    assert size is not None
    assert (size.capacity_gib, size.mb_per_s_per_tib, size.efa) == (43_200, 1000, True)
    assert cluster.storage.lustre is not None
    assert cluster.storage.lustre.mount == "/fsx"


def test_defaults_of_optional_keys() -> None:
    cluster = loads(with_groups("gpu: {type: p5.48xlarge, count: 1}"), "c.yaml")
    assert cluster.account is None
    assert cluster.encryption_key is None
    assert cluster.tags == {}
    assert cluster.lustre_spec is None
    assert cluster.storage.data_bucket is True
    assert cluster.node_groups[0].capacity == OnDemand()
    assert (cluster.slurm.version, cluster.slurm.accounting) == ("25.11", True)
    assert cluster.slurm.scale_down_idle_time.seconds == 600
    login = cluster.slurm.login
    assert (login.type, login.count, login.image) == ("c7i.2xlarge", 1, None)
    assert cluster.service_type.gpus == 0
    assert cluster.network.cidr == IPv4Network("10.0.0.0/16")
    assert (cluster.network.training_subnet, cluster.network.control_plane_zone, cluster.network.existing) == (
        None,
    ) * 3


def test_addresses_are_those_of_nodes_login_file_system_twice_and_services() -> None:
    """64 nodes of 16, one login node, ten servers with room for ten more, eight for services."""
    cluster = loads(GOOD, "c.yaml")
    assert cluster.addresses == 64 * 16 + 1 + 2 * 10 + 8
    assert cluster.subnets.needed == cluster.addresses
    assert cluster.subnets.training == IPv4Network("10.0.128.0/18")


def test_another_node_group_leaves_the_network_as_it_is() -> None:
    before = loads(GOOD, "c.yaml").subnets
    after = loads(bent("nodes:", "nodes:\n  more: {type: p5.48xlarge, count: 100}"), "c.yaml").subnets
    assert (before.training, before.public, before.services) == (after.training, after.public, after.services)


def test_node_groups_keep_the_order_of_the_file() -> None:
    names = ["zeta", "alpha", "mid", "beta"]
    text = with_groups("\n".join(f"{name}: {{type: p5.48xlarge, count: 1}}" for name in names))
    assert [group.name for group in loads(text, "c.yaml").node_groups] == names


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_every_type_of_the_catalogue_has_a_default_layout(name: str) -> None:
    capacity = f", capacity: {{reservation: {RESERVATION}, kind: ultraserver}}" if name.startswith("p6e") else ""
    count = 9 if name.startswith("p6e") else 1
    (group,) = loads(with_groups(f"some: {{type: {name}, count: {count}{capacity}}}"), "c.yaml").node_groups
    assert group.interfaces
    efa = sum(row.kind != "interface" for row in group.interfaces)
    assert (efa > 0) == group.instance_type.supports_efa
    expected = "one-ip" if name.startswith("p6e") or not group.instance_type.supports_efa else "all-efa"
    assert group.layout == expected


def test_a_given_layout_is_used() -> None:
    assert read("count: 64", "count: 64, layout: one-ip").node_groups[0].addresses == 64


@pytest.mark.parametrize(
    ("text", "capacity"),
    [
        ("on-demand", OnDemand()),
        ("spot", Spot()),
        (RESERVATION, TargetedReservation(reservation_id=RESERVATION)),
        (f"{{reservation: {RESERVATION}}}", TargetedReservation(reservation_id=RESERVATION)),
        (
            f"{{reservation: {RESERVATION}, kind: odcr, instances: 70}}",
            TargetedReservation(reservation_id=RESERVATION, instances=70),
        ),
        (f"{{reservation: {RESERVATION}, kind: capacity-block}}", CapacityBlock(reservation_id=RESERVATION)),
        (
            "{group: 'arn:aws:resource-groups:us-east-2:123456789012:group/pool'}",
            ReservationGroup(arn="arn:aws:resource-groups:us-east-2:123456789012:group/pool"),
        ),
    ],
)
def test_accepts_each_form_of_capacity(text: str, capacity: object) -> None:
    (group,) = read(f"capacity: {RESERVATION}", f"capacity: {text}").node_groups
    assert group.capacity == capacity


def test_an_ultraserver_is_bought_whole() -> None:
    capacity = f"{{reservation: {RESERVATION}, kind: ultraserver, instances: 9}}"
    text = with_groups(f"nvl: {{type: p6e-gb200.36xlarge, count: 9, capacity: {capacity}}}")
    (group,) = loads(text, "c.yaml").node_groups
    assert group.capacity == UltraServerBlock(reservation_id=RESERVATION, instances=9)


@pytest.mark.parametrize("version", [*pcs.SLURM_VERSIONS, *(f'"{version}"' for version in pcs.SLURM_VERSIONS)])
def test_a_version_of_slurm_needs_no_quotes(version: str) -> None:
    cluster = read("name: llama", f"name: llama\nslurm: {{version: {version}}}")
    assert cluster.slurm.version == version.strip('"')


@pytest.mark.parametrize("account", ['"012345678901"', "123456789012", "'123456789012'"])
def test_an_account_is_a_text_of_12_digits(account: str) -> None:
    assert read("name: llama", f"name: llama\naccount: {account}").account == account.strip("'\"")


def test_accepts_a_file_with_every_section() -> None:
    text = """\
name: tenant
region: eu-north-1
zone: eun1-az1
account: "123456789012"
orchestrator: slurm
nodes:
  train:
    type: p5e.48xlarge
    count: 8
    capacity: spot
    layout: max-ip
    image: ami-0123456789abcdef0
    root-volume: 1 TiB
    placement-group: none
slurm:
  version: 26.05
  accounting: false
  scale-down-idle-time: 1 h
  login: {type: m7i.xlarge, count: 2, image: ami-0123456789abcdef1}
network:
  cidr: 10.9.0.0/18
  training-subnet: 10.9.32.0/20
  control-plane-zone: eun1-az2
storage:
  lustre: {throughput: 2 GB/s, capacity: 9600 GiB, tier: 250 MB/s/TiB, efa: false, mount: /shared}
  data-bucket: false
encryption-key: arn:aws:kms:eu-north-1:123456789012:key/mrk-0123456789abcdef0123456789abcdef
tags: {project: tenant, "cost centre": "42"}
"""
    cluster = loads(text, "c.yaml")
    (group,) = cluster.node_groups
    assert (group.layout, group.image, group.root_volume.gib) == ("max-ip", Image(id="ami-0123456789abcdef0"), 1_024)
    assert (group.capacity, group.placement_group) == (Spot(), None)
    assert (cluster.slurm.accounting, cluster.slurm.scale_down_idle_time.seconds) == (False, 3_600)
    assert (cluster.slurm.login.count, cluster.slurm.login.image) == (2, Image(id="ami-0123456789abcdef1"))
    assert cluster.subnets.training == IPv4Network("10.9.32.0/20")
    assert cluster.network.control_plane_zone == "eun1-az2"
    size = cluster.lustre_spec
    assert size is not None
    assert (size.capacity_gib, size.mb_per_s_per_tib, size.efa) == (9_600, 250, False)
    assert cluster.storage.data_bucket is False
    assert cluster.tags == {"project": "tenant", "cost centre": "42"}


def test_block_and_flow_style_quotes_and_comments_mean_the_same() -> None:
    long = f"""\
"name": 'llama'   # ours
region: us-east-2
zone: use2-az1
orchestrator: >-
  slurm
nodes:
    train:
        count: 64
        capacity: "{RESERVATION}"
        type: p5en.48xlarge
storage:
  lustre:
    throughput: 40GB/s
"""
    assert loads(long, "c.yaml") == loads(GOOD, "c.yaml")


def test_a_cluster_never_changes() -> None:
    cluster = loads(GOOD, "c.yaml")
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        cluster.name = "other"
    with pytest.raises(AttributeError):
        cluster.node_groups[0].count = 1  # type: ignore[misc]


def test_the_same_file_is_the_same_cluster() -> None:
    first, second = loads(GOOD, "c.yaml"), loads(GOOD, "other.yaml")
    assert first.lustre_spec == second.lustre_spec
    assert first == second
    assert first != loads(bent("64", "63"), "c.yaml")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_loads_by_path_or_name(file: Path) -> None:
    cluster = load(file)
    assert isinstance(cluster, ClusterFile)
    assert cluster == load(str(file))
    orchestrators = {"slurm": ["slurm"], "eks": ["kubernetes"], "hyperpod": ["hyperpod-slurm", "hyperpod-kubernetes"]}
    assert cluster.orchestrator in orchestrators[file.stem.partition("-")[0]]
    assert all(warning.id.startswith("ultracluster:") for warning in warnings(cluster))


def test_the_main_example_is_the_design_with_a_comment() -> None:
    text = (ROOT / "examples" / "slurm-512-gpus.yaml").read_text()
    assert "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#")) == GOOD


def test_the_import_loads_nothing_that_reads_files() -> None:
    code = (
        "import sys; from ultracluster.clusterfile import ClusterFile, build, load; "
        "ours = ('ultracluster.boot', 'ultracluster.clusterfile.rules._listing'); "
        "sys.exit(any(m in sys.modules for m in ('ruamel.yaml', 'typer', 'jinja2', 'jsii', 'rich', *ours)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_first_file_of_a_process_may_accept_each_rule() -> None:
    """Rules are imported with the first file, those of warnings too."""
    code = (
        "import sys; from ultracluster.clusterfile import loads; "
        "cluster = loads(sys.argv[1] + 'accept: {capacity-ended: tested, unknown-region: tested}', 'cluster.yaml'); "
        "from ultracluster import clusterfile; sys.exit(not callable(clusterfile.rules))"
    )
    assert subprocess.run([sys.executable, "-c", code, GOOD]).returncode == 0


def test_reading_a_file_loads_no_cdk() -> None:
    code = (
        "import sys; from ultracluster import clusterfile; clusterfile.load(sys.argv[1]); "
        "sys.exit(any(m in sys.modules for m in ('jsii', 'aws_cdk', 'constructs', 'rich')))"
    )
    file = ROOT / "examples" / "slurm-512-gpus.yaml"
    assert subprocess.run([sys.executable, "-c", code, str(file)]).returncode == 0
