"""Rules between the sections of a file: errors and warnings."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.clusterfile_data import GOOD, RESERVATION, bent, problem, problems, read, with_groups
from ultracluster.clusterfile import ClusterFileError, loads, warnings
from ultracluster.planning.capacity import expected_times

OWN = "existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0%s}"


def ids(text: str) -> set[str]:
    return {warning.id for warning in warnings(loads(text, "c.yaml"))}


def test_p6e_gb200_is_sold_in_ultraservers_only() -> None:
    for capacity in (
        "",
        ", capacity: spot",
        f", capacity: {RESERVATION}",
        f", capacity: {{reservation: {RESERVATION}}}",
    ):
        (message,) = problems(with_groups(f"train: {{type: p6e-gb200.36xlarge, count: 18{capacity}}}"))
        assert message.endswith(
            "nodes.train.capacity: p6e-gb200.36xlarge is available in UltraServers only; write "
            "{reservation: cr-..., kind: ultraserver}"
        )


BLOCK = f"reservation: {RESERVATION}, kind: capacity-block"


@pytest.mark.parametrize(
    ("capacity", "drain", "rule"),
    [
        (f"{{{BLOCK}}}", "1 h", "block-without-end"),
        (f"{{{BLOCK}, ends: 2026-12-24}}", "1 h", None),
        (f"{{{BLOCK}, starts: 2026-12-23, ends: 2026-12-24}}", "5 h", None),
        (f"{{{BLOCK}, starts: 2026-12-23, ends: 2026-12-24}}", "7 h", "drain-length"),
        ('{group: "arn:aws:resource-groups:us-east-2:123456789012:group/g"}', "1 h", "reservation-group-on-demand"),
        (f"{{reservation: {RESERVATION}, kind: odcr, starts: 2026-12-23}}", "1 h", "future-dated-type"),
        (RESERVATION, "1 h", None),
    ],
)
def test_capacity_ends_and_costs_what_the_file_suggests(capacity: str, drain: str, rule: str | None) -> None:
    text = with_groups(f"train: {{type: p5.48xlarge, count: 2, capacity: {capacity}}}")
    rules = {"block-without-end", "drain-length", "reservation-group-on-demand", "future-dated-type"}
    named = [row.rule for row in warnings(loads(f"{text}notifications: {{drain: {drain}}}\n", "c.yaml"))]
    assert [each for each in named if each in rules] == [each for each in [rule] if each]


def test_a_reservation_that_expires_keeps_its_nodes_and_launches_no_others() -> None:
    capacity = f"{{reservation: {RESERVATION}, kind: odcr, instances: 2, ends: 2026-12-24}}"
    cluster = loads(with_groups(f"train: {{type: p5.48xlarge, count: 2, capacity: {capacity}}}"), "c.yaml")
    (group,) = cluster.node_groups
    # Alerts still expect its nodes.
    assert expected_times(group.capacity) == (None, None)
    for today, expected in ((date(2026, 12, 9), []), (date(2026, 12, 10), [1]), (date(2027, 1, 10), [1])):
        messages = [row.message for row in warnings(cluster, today) if row.rule == "reservation-expires"]
        assert len(messages) == len(expected)
        assert all(f"{RESERVATION} expires on 2026-12-24 11:30 UTC" in message for message in messages)


def test_a_drain_begins_within_its_block() -> None:
    capacity = f"{{{BLOCK}, starts: 2026-12-23, ends: 2026-12-24}}"
    text = with_groups(f"train: {{type: p5.48xlarge, count: 2, capacity: {capacity}}}")
    assert loads(f"{text}notifications: {{drain: 23 h}}\n", "c.yaml")
    (message,) = problems(f"{text}notifications: {{drain: 24 h}}\n")
    assert "notifications.drain: train: drain must be shorter than the 23:30:00 from the start of" in message


def test_only_p6e_gb200_is_sold_in_ultraservers() -> None:
    capacity = f"{{reservation: {RESERVATION}, kind: ultraserver, instances: 18}}"
    (message,) = problems(with_groups(f"train: {{type: p5.48xlarge, count: 18, capacity: {capacity}}}"))
    way_out = "for a Capacity Block write {reservation: cr-..., kind: capacity-block}"
    assert f"p5.48xlarge is in no UltraServer; {way_out}" in message


def test_an_ultraserver_has_the_layout_that_its_cards_allow() -> None:
    group = (
        f"train: {{type: p6e-gb200.36xlarge, count: 9, capacity: {{reservation: {RESERVATION}, kind: ultraserver}}}}"
    )
    assert loads(with_groups(group), "c.yaml").node_groups[0].layout == "one-ip"


def test_what_is_in_no_capacity_block_can_not_be_bought_in_one() -> None:
    capacity = f"{{reservation: {RESERVATION}, kind: capacity-block}}"
    (message,) = problems(with_groups(f"data: {{type: c7i.8xlarge, count: 4, capacity: {capacity}}}"))
    assert "c7i.8xlarge is not available in Capacity Blocks; it is available on-demand or spot" in message


def test_groups_that_share_a_reservation_fit_in_it_together() -> None:
    capacity = f"{{reservation: {RESERVATION}, instances: 64}}"
    groups = "\n".join(
        f"{name}: {{type: p5.48xlarge, count: {count}, capacity: {capacity}}}"
        for name, count in (("one", 40), ("two", "%d"))
    )
    assert len(loads(with_groups(groups % 24), "c.yaml").node_groups) == 2
    (message,) = problems(with_groups(groups % 25))
    assert (
        "nodes.two.count: one and two share cr-0123456789abcdef0 and have 65 nodes together, more than the 64"
        in message
    )


def test_groups_that_share_a_reservation_agree_on_its_kind() -> None:
    block = f"{{reservation: {RESERVATION}, kind: capacity-block}}"
    text = with_groups(
        f"one: {{type: p5.48xlarge, count: 2, capacity: {block}}}\n"
        f"two: {{type: p5.48xlarge, count: 2, capacity: {RESERVATION}}}"
    )
    assert "can't be of several kinds: one and two share it" in problems(text)[0]


@pytest.mark.parametrize(("count", "good"), [(2_047, True), (2_048, False)])
def test_pcs_manages_2048_instances_login_nodes_included(count: int, good: bool) -> None:
    text = with_groups(f"data: {{type: m7i.8xlarge, count: {count}}}")
    if good:
        assert loads(text, "c.yaml").node_groups[0].count == count
    else:
        (message,) = problems(text)
        assert "nodes.data.count: a PCS cluster manages 1 to 2048 instances, login nodes included, got 2049" in message


@given(st.integers(1, 2_000), st.sampled_from([18, 20, 22, 24]))
def test_accepts_a_count_if_and_only_if_the_subnet_holds_it(count: int, prefix: int) -> None:
    """16 addresses a node, one login node, eight for services; the rest of the subnet is AWS's five."""
    network = f"network: {{training-subnet: 10.0.128.0/{prefix}}}"
    text = with_groups(f"train: {{type: p5en.48xlarge, count: {count}}}", network)
    room = 2 ** (32 - prefix) - 5
    if 16 * count + 1 + 8 <= room:
        assert loads(text, "c.yaml").subnets.capacity == room
    else:
        (message,) = problems(text)
        assert f"at most {(room - 9) // 16:,} such nodes fit" in message


def test_the_suggested_count_is_valid() -> None:
    network = "network: {cidr: 10.0.0.0/22}"
    (message,) = problems(with_groups("train: {type: p5.48xlarge, count: 400}", network))
    fits = int(message.partition("at most ")[2].split()[0])
    assert loads(with_groups(f"train: {{type: p5.48xlarge, count: {fits}}}", network), "c.yaml")
    assert problems(with_groups(f"train: {{type: p5.48xlarge, count: {fits + 1}}}", network))


def test_accepts_the_suggested_layout_with_one_address_per_node() -> None:
    network = "network: {cidr: 10.0.0.0/22}"
    group = "train: {type: p5.48xlarge, count: 400%s}"
    assert "layout: one-ip uses 1 address a node" in problems(with_groups(group % "", network))[0]
    assert loads(with_groups(group % ", layout: one-ip", network), "c.yaml").addresses == 409


def test_reports_a_file_system_that_fills_the_subnet() -> None:
    message = problem("40 GB/s", "900 TB/s")
    assert message.startswith("c.yaml:7:11 storage.lustre: its servers, with room to grow, need ")


@pytest.mark.parametrize("cidr", ["10.20.0.0/21", "10.20.4.0/22"])
def test_a_subnet_of_ones_own_is_checked_when_its_range_is_given(cidr: str) -> None:
    text = GOOD + f"network: {{{OWN % f', cidr: {cidr}'}}}\n"
    if cidr.endswith("/21"):
        assert "ultracluster:subnet-size" not in ids(text)
    else:
        assert "but the training subnet has 1,019; at most 61 such nodes fit" in problems(text)[0]


def test_a_subnet_of_ones_own_without_a_range_is_a_warning() -> None:
    assert "ultracluster:subnet-size" in ids(GOOD + f"network: {{{OWN % ''}}}\n")


@pytest.mark.parametrize("key", ["cidr: 10.1.0.0/16", "training-subnet: 10.0.128.0/18", "control-plane-zone: use2-az2"])
def test_a_network_is_made_or_given_and_not_both(key: str) -> None:
    message = problem("name: llama", f"name: llama\nnetwork: {{{key}, {OWN % ''}}}")
    assert f"network.{key.split(':')[0]}: describes a new VPC, and network.existing names an existing one" in message


def test_what_can_not_sit_in_a_local_zone_gets_a_zone_of_the_region() -> None:
    local = GOOD.replace("us-east-2", "us-east-1").replace("use2-az1", "use1-dfw2-az1")
    assert problems(local) == [
        "c.yaml:3:7 zone: use1-dfw2-az1 is a Local Zone, and a Local Zone has neither NAT gateways nor Slurm "
        "controllers; name a zone of the Region for them, such as network: {control-plane-zone: use1-az1}"
    ]
    cluster = loads(local + "network: {control-plane-zone: use1-az4}\n", "c.yaml")
    assert cluster.network.control_plane_zone == "use1-az4"
    assert "Local Zone" in problems(local + "network: {control-plane-zone: use1-dfw2-az1}\n")[0]
    assert "existing" in problems(local + f"network: {{{OWN % ''}}}\n")[0]


def test_a_local_zone_has_small_file_systems_only() -> None:
    local = GOOD.replace("us-east-2", "us-east-1").replace("use2-az1", "use1-dfw2-az1")
    local += "network: {control-plane-zone: use1-az4}\n"
    size = loads(local, "c.yaml").lustre_spec
    assert size is not None
    assert (size.efa, size.mb_per_s_per_tib) == (False, 250)
    assert "storage.lustre.efa: FSx for Lustre does not support EFA in use1-dfw2-az1" in problem(
        "40 GB/s", "40 GB/s, efa: true", local
    )
    assert (
        "storage.lustre.tier: FSx supports the tiers 125, 250 MB/s/TiB in use1-dfw2-az1, got 1000 MB/s/TiB"
        in problem("40 GB/s", "40 GB/s, tier: 1000 MB/s/TiB", local)
    )


def test_a_region_without_persistent_2_is_refused_where_a_file_system_is_asked_for() -> None:
    text = GOOD.replace("us-east-2", "me-central-1").replace("use2-az1", "mec1-az1")
    assert "AWS PCS is not available in me-central-1" in problems(text)[0]
    text += "accept: {pcs-region: sold since 2026-12}\n"
    assert problems(text) == [
        "c.yaml:7:11 storage.lustre: FSx does not offer PERSISTENT_2 here; where all may be lost, `temporary: true` "
        "creates SCRATCH_2"
    ]
    spec = loads(text.replace("{throughput: 40 GB/s}", "{throughput: 4 GB/s, temporary: true}"), "c.yaml").lustre_spec
    assert spec is not None
    assert spec.deployment_type == "SCRATCH_2"


@pytest.mark.parametrize(("services", "good"), [("use2-az3", True), ("use1-az3", False)])
def test_the_zone_of_services_is_in_the_region_too(services: str, good: bool) -> None:
    text = bent("name: llama", f"name: llama\nnetwork: {{control-plane-zone: {services}}}")
    if good:
        assert loads(text, "c.yaml").network.control_plane_zone == services
    else:
        assert "network.control-plane-zone: use1-az3 is in us-east-1, and the Region is us-east-2" in problems(text)[0]


def test_a_region_that_is_not_known_yet_may_have_zones_that_are_not_known_yet() -> None:
    assert read("us-east-2", "ap-southeast-9", bent("use2-az1", "apse9-az1")).region == "ap-southeast-9"


@pytest.mark.parametrize(
    ("lustre", "message"),
    [
        (
            "{throughput: 40 GB/s, capacity: 50000 GiB, tier: 1000 MB/s/TiB}",
            "FSx does not support 50,000 GiB at 1000 MB/s/TiB with EFA: capacity comes in steps of 4,800 GiB; the "
            "next sizes are 48,000 GiB and 52,800 GiB",
        ),
        (
            "{throughput: 4 GB/s, capacity: 5000 GiB, tier: 1000 MB/s/TiB}",
            "FSx does not support 5,000 GiB at 1000 MB/s/TiB without EFA: capacity comes in steps of 2,400 GiB; "
            "the next "
            "sizes are 4,800 GiB and 7,200 GiB",
        ),
        (
            "{throughput: 40 GB/s, capacity: 4800 GiB, tier: 1000 MB/s/TiB}",
            "4,800 GiB at 1000 MB/s/TiB give 4,687 MB/s, and 40,000 are requested; 43,200 GiB at 1000 MB/s/TiB "
            "would do",
        ),
    ],
)
def test_a_capacity_and_a_tier_together_are_exactly_what_is_bought(lustre: str, message: str) -> None:
    assert f"storage.lustre.capacity: {message}" in problem("{throughput: 40 GB/s}", lustre)


def test_a_capacity_alone_is_what_it_must_hold() -> None:
    size = read("40 GB/s", "40 GB/s, capacity: 50000 GiB").lustre_spec
    assert size is not None
    assert (size.capacity_gib or 0) >= 50_000


def test_rejects_more_nodes_than_efa_connections_and_accepts_tcp() -> None:
    one_ip = bent("count: 64", "count: 1025, layout: one-ip")
    assert (
        "storage.lustre.efa: a file system supports 1,024 EFA connections, and 1,025 nodes need at least one each"
        in (problems(one_ip)[0])
    )
    assert read("40 GB/s", "40 GB/s, efa: false", one_ip).lustre_spec
    assert read("1025", "1024", one_ip).lustre_spec


def test_reports_only_the_first_limit_on_the_number_of_nodes() -> None:
    assert "2048 instances" in problem("count: 64", "count: 3000")


def test_a_key_is_in_the_region_of_the_cluster() -> None:
    arn = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    assert "encryption-key: is in us-west-2, and must be in the cluster's Region, us-east-2" in problem(
        "name: llama", f"name: llama\nencryption-key: {arn}"
    )


@pytest.mark.parametrize(("size", "good"), [("299 GiB", False), ("300 GiB", True), ("64 TiB", True), ("65 TiB", False)])
def test_a_root_volume_holds_container_images_and_is_sold(size: str, good: bool) -> None:
    text = bent("count: 64", f"count: 64, root-volume: {size}")
    if good:
        assert loads(text, "c.yaml").node_groups[0].root_volume.gib in (300, 65_536)
    else:
        assert "must be 300 GiB (container images are large) to 65,536 GiB" in problems(text)[0]


def test_checks_go_on_beside_fields_that_can_not_be_read() -> None:
    text = bent("name: llama", "name: 7", bent("use2-az1", "use1-az1", bent("count: 64", "count: 3000")))
    assert [line.split(": ")[0].split()[1] for line in problems(text)] == ["name", "zone", "nodes.train.count"]


def test_the_main_job_warns_of_what_the_file_leaves_open() -> None:
    assert ids(GOOD) == {
        "ultracluster:unpinned-image",
        "ultracluster:reservation-size",
        "ultracluster:alerts-without-subscription",
    }


def test_a_complete_file_has_no_warnings() -> None:
    text = bent("count: 64", "count: 64, image: ami-0123456789abcdef0")
    text = bent(f"capacity: {RESERVATION}", f"capacity: {{reservation: {RESERVATION}, instances: 64}}", text)
    text += "slurm: {login: {image: ami-0123456789abcdef0}}\n"
    assert ids(text + "observability: {alerts: {email: oncall@example.com}}\n") == set()


@pytest.mark.parametrize(("count", "warned"), [(312, False), (313, True)])
def test_nodes_use_up_the_quota_of_network_interfaces(count: int, warned: bool) -> None:
    text = with_groups(f"train: {{type: p5en.48xlarge, count: {count}}}")
    assert ("ultracluster:interface-quota" in ids(text)) == warned


@pytest.mark.parametrize(("count", "warned"), [(673, False), (674, True)])
def test_nodes_use_up_the_network_address_usage_of_a_vpc(count: int, warned: bool) -> None:
    """32 addresses, 31 further interfaces, and 32 of EFA, which may count too: 95 units."""
    text = with_groups(f"train: {{type: p5.48xlarge, count: {count}, layout: all-efa}}")
    assert ("ultracluster:network-address-usage" in ids(text)) == warned


def test_a_prefix_of_pods_is_one_unit_of_network_address_usage() -> None:
    group = "train: {type: p5en.48xlarge, count: 1900, pods: 14}"
    text = with_groups(
        group, f"network: {{{OWN % ', cidr: 100.64.0.0/16, subnets: {use2-az2: subnet-0123456789abcdef1}'}}}"
    )
    text = text.replace("orchestrator: slurm", "orchestrator: kubernetes")
    (message,) = (
        each.message for each in warnings(loads(text, "c.yaml")) if each.id == "ultracluster:network-address-usage"
    )
    # An address, two prefixes, 16 further interfaces; and 16 of EFA.
    assert "the nodes use 36,100 to 66,500 units" in message
    assert "in its peers, counts too" in message


@pytest.mark.parametrize(("throughput", "warned"), [(98, False), (99, True)])
def test_a_file_system_uses_up_the_quota_of_fsx(throughput: int, warned: bool) -> None:
    assert ("ultracluster:lustre-quota" in ids(bent("40 GB/s", f"{throughput} GB/s"))) == warned


@pytest.mark.parametrize(("count", "warned"), [(128, False), (129, True)])
def test_warns_if_nodes_open_more_efa_connections_than_a_file_system_takes(count: int, warned: bool) -> None:
    text = bent("count: 64", f"count: {count}")
    assert ("ultracluster:lustre-efa-connections" in ids(text)) == warned
    assert "ultracluster:lustre-efa-connections" not in ids(bent("40 GB/s", "40 GB/s, efa: false", text))


@pytest.mark.parametrize(("cidr", "warned"), [("172.17.0.0/16", True), ("172.16.0.0/16", False)])
def test_docker_has_a_range_of_its_own(cidr: str, warned: bool) -> None:
    assert ("ultracluster:docker-range" in ids(GOOD + f"network: {{cidr: {cidr}}}\n")) == warned
    addresses = OWN % f", cidr: {cidr.replace('/16', '/18')}"
    assert ("ultracluster:docker-range" in ids(GOOD + f"network: {{{addresses}}}\n")) == warned


@pytest.mark.parametrize(
    ("cidr", "clients", "public"),
    [
        ("10.0.0.0/16", "10.0.0.0/8", []),
        ("100.64.0.0/16", "100.64.0.0/10, 172.16.0.0/12", []),
        ("10.0.0.0/16", "0.0.0.0/0", ["storage.home.clients has public addresses, 0.0.0.0/0"]),
        ("10.0.0.0/16", "10.0.0.0/16, 203.0.113.0/24", ["storage.home.clients has public addresses, 203.0.113.0/24"]),
        # The addresses of the VPC itself are said once.
        ("203.0.0.0/16", "203.0.0.0/16", ["network.cidr 203.0.0.0/16 is not a range of private addresses"]),
    ],
)
def test_warns_of_public_addresses_where_only_private_ones_are_useful(
    cidr: str, clients: str, public: list[str]
) -> None:
    text = bent("storage: {", f"storage: {{home: {{clients: [{clients}]}}, ") + f"network: {{cidr: {cidr}}}\n"
    messages = [item.message for item in warnings(loads(text, "c.yaml")) if item.rule == "public-range"]
    assert len(messages) == len(public)
    assert all(message.startswith(words) for message, words in zip(messages, public, strict=True))


def test_warns_of_spot_and_of_many_node_groups() -> None:
    groups = "\n".join(f"  g-{i:02}: {{type: p5.48xlarge, count: 1, capacity: spot}}" for i in range(10))
    text = f"name: many\nregion: us-east-2\nzone: use2-az1\norchestrator: slurm\nnodes:\n{groups}\n"
    assert {"ultracluster:spot-role", "ultracluster:node-group-quota"} <= ids(text)
    assert "ultracluster:node-group-quota" not in ids(text.replace(groups.splitlines()[-1] + "\n", ""))


def test_warns_of_users_without_a_shared_home() -> None:
    text = f"{GOOD}slurm: {{users: {{ada: {{uid: 2001}}}}}}\n"
    assert "ultracluster:users-without-home" in ids(text)
    assert "ultracluster:users-without-home" not in ids(text.replace("storage: {", "storage: {home: {}, "))


def test_a_controller_may_be_larger_than_it_must_and_never_smaller() -> None:
    assert loads(GOOD + "slurm: {size: LARGE}\n", "c.yaml").slurm.size == "LARGE"
    with pytest.raises(ClusterFileError, match=r"slurm\.size: a SMALL controller manages 32 instances.*use a larger"):
        loads(GOOD + "slurm: {size: SMALL}\n", "c.yaml")
    with pytest.raises(ClusterFileError, match=r"slurm\.size: .*SMALL, MEDIUM, LARGE.*did you mean LARGE"):
        loads(GOOD + "slurm: {size: LARG}\n", "c.yaml")


def test_a_warning_names_the_remedy() -> None:
    texts = [w.message for w in warnings(loads(bent("count: 64", "count: 1000"), "c.yaml"))]
    assert any(
        "train, login: each deployment uses the newest image" in text and "run ultracluster image pin FILE" in text
        for text in texts
    )
    assert any("16,000 network interfaces" in text and "L-DF5E4CA3" in text for text in texts)
    assert any("8,000 connections" in text and "a node uses 1 EFA interface for it" in text for text in texts)


@pytest.mark.parametrize("paths", [("/scratch", "/scratch"), ("/data", "/data/scratch"), ("/data/fsx", "/data")])
def test_rejects_mounts_that_hide_each_other(paths: tuple[str, str]) -> None:
    mount, scratch = paths
    text = bent(
        "{lustre: {throughput: 40 GB/s}}",
        f"{{lustre: {{throughput: 4 GB/s, mount: {mount}}}, scratch: {{path: {scratch}}}}}",
    )
    errors = problems(text)
    assert len(errors) == 2
    assert all("one would hide the other" in error for error in errors)


@pytest.mark.parametrize(
    ("lustre", "key"),
    [
        ("throughput: 4 GB/s, metadata-iops: 7000", "metadata-iops: SSD does not support 7,000 metadata IOPS"),
        (
            "capacity: 50 TiB, storage-type: INTELLIGENT_TIERING, throughput-capacity: 5 GB/s",
            "throughput-capacity: the throughput capacity comes in steps of 4,000 MB/s",
        ),
    ],
)
def test_reports_values_that_fsx_does_not_offer_at_their_key(lustre: str, key: str) -> None:
    assert f"storage.lustre.{key}" in problem("throughput: 40 GB/s", lustre)
