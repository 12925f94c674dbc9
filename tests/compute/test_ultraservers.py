"""UltraServers: bought whole, one reservation each; and capacity that people get wrong."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from hypothesis import given, settings
from hypothesis import strategies as st

from support.clusterfile_data import problems
from support.templates import template_of
from ultracluster import compute
from ultracluster.catalogue.ec2 import ULTRASERVERS, Interface, check_interfaces, instance_type, interfaces, ultraserver
from ultracluster.clusterfile import NodeGroup, loads
from ultracluster.planning.capacity import domains_for, segment

ONE, TWO, THREE = (f"cr-0123456789abcdef{digit}" for digit in "012")
SMALL, LARGE = "u-p6e-gb200x36", "u-p6e-gb200x72"
AMI = "ami-0123456789abcdef0"
PLAN = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/mine"
HEAD = """name: nvl72
region: us-east-1
zone: use1-dfw2-az1
orchestrator: slurm
slurm: {login: {type: m7g.2xlarge}}
network: {control-plane-zone: use1-az4}
"""
#: A type that this release does not know, in UltraServers of its own.
NEXT = "types: {p6e-gb300.36xlarge: {like: p6e-gb200.36xlarge, ultraservers: {u-p6e-gb300x72: 18}}}\n"
OWN_NETWORK = """name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
network: {existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, subnets: {%s}}}
nodes:
  one: {type: p5en.48xlarge, count: 1, zone: use2-az2}
  two: {type: p5en.48xlarge, count: 1, zone: use2-az3}
"""


def file(train: str, more: str = "", head: str = HEAD) -> str:
    return f"{head}nodes:\n  train: {{{train}}}\n{more}"


def bought(*ids: str, instances: int | None = None) -> str:
    named = f"reservation: {ids[0]}" if len(ids) == 1 else f"reservations: [{', '.join(ids)}]"
    size = "" if instances is None else f", instances: {instances}"
    return f"capacity: {{{named}, kind: ultraserver{size}}}"


def groups(text: str) -> tuple[NodeGroup, ...]:
    return loads(text, "c.yaml").node_groups


def the_problem(text: str) -> str:
    errors = problems(text)
    assert len(errors) == 1, "\n".join(errors)
    return errors[0]


@pytest.mark.parametrize(("kind", "count", "instances", "gpus"), [(LARGE, 8, 144, 576), (SMALL, 15, 135, 540)])
def test_512_gpus_are_so_many_whole_ultraservers(kind: str, count: int, instances: int, gpus: int) -> None:
    domains = domains_for(512, ultraserver(kind))
    assert (domains.count, domains.instances, domains.gpus) == (count, instances, gpus)


@given(st.integers(1, 100_000), st.sampled_from(sorted(ULTRASERVERS)))
def test_the_fewest_ultraservers_hold_the_gpus_and_one_fewer_does_not(gpus: int, kind: str) -> None:
    domains = domains_for(gpus, ultraserver(kind))
    each = {SMALL: 36, LARGE: 72}[kind]
    assert (domains.count - 1) * each < gpus <= domains.count * each == domains.gpus
    assert domains.instances * 4 == domains.gpus


@pytest.mark.parametrize("gpus", [0, -512])
def test_no_gpu_needs_no_ultraserver(gpus: int) -> None:
    with pytest.raises(ValueError, match=f"gpus must be at least 1, got {gpus}"):
        domains_for(gpus, ultraserver(LARGE))


@pytest.mark.parametrize(
    ("kind", "count", "instances"),
    [(SMALL, 1, 9), (LARGE, 1, 18), ("p6e-gb200.36xlarge", 9, 9), ("p6e-gb200.36xlarge", 18, 18)],
)
def test_count_counts_ultraservers_where_the_type_is_one_and_instances_where_it_is_not(
    kind: str, count: int, instances: int
) -> None:
    (group,) = groups(file(f"type: {kind}, count: {count}, {bought(ONE)}"))
    assert group.count == instances
    assert group.ultraserver == ultraserver({9: SMALL, 18: LARGE}[instances])
    assert group.nvlink_domain == group.gpus == 4 * instances


@pytest.mark.parametrize("count", [1, 8, 10, 17, 19, 27])
def test_a_part_of_an_ultraserver_is_refused_with_what_makes_a_whole(count: int) -> None:
    message = the_problem(file(f"type: p6e-gb200.36xlarge, count: {count}, {bought(ONE)}"))
    assert message.startswith(
        "c.yaml:8:44 nodes.train.count: p6e-gb200.36xlarge is reserved in whole UltraServers, which"
    )
    assert f"have 9 ({SMALL}) or 18 ({LARGE}) instances, got {count}; write that, or count UltraServers" in message


@pytest.mark.parametrize(("held", "count"), [(9, 18), (18, 9)])
def test_a_part_of_a_reservation_is_refused_when_its_size_is_known(held: int, count: int) -> None:
    message = the_problem(file(f"type: p6e-gb200.36xlarge, count: {count}, {bought(ONE, instances=held)}"))
    assert f"have {held} (u-p6e-gb200x{4 * held}) instances, got {count}; write that" in message


@pytest.mark.parametrize(("kind", "held", "other"), [(SMALL, 18, 9), (LARGE, 9, 18)])
def test_an_ultraserver_and_its_reservation_agree_on_the_size(kind: str, held: int, other: int) -> None:
    message = the_problem(file(f"type: {kind}, count: 1, {bought(ONE, instances=held)}"))
    assert f"a {kind} has {other} instances, and the reservation has {held}; correct one" in message


@pytest.mark.parametrize(("count", "ids"), [(2, [ONE]), (3, [ONE, TWO]), (10, [ONE])])
def test_each_ultraserver_has_a_reservation_of_its_own(count: int, ids: list[str]) -> None:
    assert "nodes.train.count: " in the_problem(file(f"type: {SMALL}, count: {count}, {bought(*ids)}"))


def test_an_ultraserver_is_shared_by_no_two_node_groups() -> None:
    """A node group is a whole one, and a reservation holds one."""
    group = f"type: {SMALL}, count: 1, {bought(ONE)}"
    message = the_problem(file(group, f"  tune: {{{group}}}\n"))
    assert "nodes.tune." in message
    assert ONE in message


def test_an_ultraserver_has_no_spare_node() -> None:
    assert "nodes.train.spare: an UltraServer is reserved whole" in the_problem(
        file(f"type: {SMALL}, count: 1, spare: 1, {bought(ONE)}")
    )


@pytest.mark.parametrize("declared", [False, True])
def test_two_reservations_give_two_node_groups_in_one_queue(declared: bool) -> None:
    kind, head = ("u-p6e-gb300x72", HEAD + NEXT) if declared else (LARGE, HEAD)
    text = file(f"type: {kind}, count: 2, {bought(ONE, TWO)}, image: {{id: {AMI}, architecture: arm64}}", head=head)
    result = groups(text)
    assert [(group.name, group.section, group.count) for group in result] == [
        ("train-bcdef0", "train", 18),
        ("train-bcdef1", "train", 18),
    ]
    resources = template(text)
    nodes = {id: body for id, body in resources.items() if body["Type"] == "AWS::PCS::ComputeNodeGroup"}
    queues = [body["Properties"] for body in resources.values() if body["Type"] == "AWS::PCS::Queue"]
    (queue,) = queues
    handed_out = [row["ComputeNodeGroupId"]["Fn::GetAtt"][0] for row in queue["ComputeNodeGroupConfigurations"]]
    assert sorted(nodes[id]["Properties"]["Name"] for id in handed_out) == ["train-bcdef0", "train-bcdef1"]
    for id in handed_out:
        scaling = nodes[id]["Properties"]["ScalingConfiguration"]
        assert scaling == {"MinInstanceCount": 18, "MaxInstanceCount": 18}


def test_the_nodes_of_a_reservation_are_not_touched_when_another_goes() -> None:
    def made(*ids: str) -> dict[str, Any]:
        capacity = f"capacity: {{reservations: [{', '.join(ids)}], kind: ultraserver}}"
        return template(file(f"type: {SMALL}, count: {len(ids)}, {capacity}"))

    before, after = made(ONE, TWO, THREE), made(TWO, THREE)
    kept = [
        id for id, body in after.items() if body["Type"] in ("AWS::EC2::LaunchTemplate", "AWS::PCS::ComputeNodeGroup")
    ]
    assert len(kept) == 2 * (2 + 1)
    assert {id: before[id] for id in kept} == {id: after[id] for id in kept}


IDS = st.text("0123456789abcdef", min_size=17, max_size=17).map("cr-{}".format)


@settings(deadline=None)
@given(st.lists(IDS, min_size=2, max_size=6, unique_by=lambda id: id[-6:]), st.data())
def test_the_name_of_a_node_group_depends_only_on_its_reservation(ids: list[str], data: st.DataObject) -> None:
    def names(listed: list[str]) -> dict[str, str]:
        capacity = f"capacity: {{reservations: [{', '.join(listed)}], kind: ultraserver}}"
        result = groups(file(f"type: {SMALL}, count: {len(listed)}, {capacity}"))
        return {getattr(group.capacity, "reservation_id", ""): group.name for group in result}

    fewer = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    every = names(ids)
    assert len(set(every.values())) == len(ids)
    assert names(fewer) == {id: every[id] for id in fewer}


def test_a_declared_type_is_bought_in_its_own_ultraservers_whole() -> None:
    head = HEAD + NEXT
    (group,) = groups(file(f"type: u-p6e-gb300x72, count: 1, {bought(ONE, instances=18)}", head=head))
    assert (group.count, group.gpus, group.nvlink_domain) == (18, 72, 72)
    assert group.instance_type.name == "p6e-gb300.36xlarge"
    assert group.features == ["u-p6e-gb300x72"]
    (same,) = groups(file(f"type: p6e-gb300.36xlarge, count: 18, {bought(ONE)}", head=head))
    assert same.ultraserver == group.ultraserver
    half = the_problem(file(f"type: p6e-gb300.36xlarge, count: 9, {bought(ONE)}", head=head))
    assert "which have 18 (u-p6e-gb300x72) instances, got 9; write that" in half
    wrong = the_problem(file(f"type: u-p6e-gb300x72, count: 1, {bought(ONE, instances=9)}", head=head))
    assert "an UltraServer has 18 instances, got 9" in wrong


def test_rejects_a_declaration_of_a_known_ultraserver() -> None:
    declared = f"types: {{p6e-gb300.36xlarge: {{like: p6e-gb200.36xlarge, ultraservers: {{{LARGE}: 10}}}}}}\n"
    assert LARGE in the_problem(file(f"type: {SMALL}, count: 1, {bought(ONE)}", head=HEAD + declared))


BLOCK = f"capacity: {{reservation: {ONE}, kind: capacity-block"
GPUS = "type: p5en.48xlarge, zone: use1-az6"


@pytest.mark.parametrize(
    ("train", "more", "place", "why"),
    [
        pytest.param(
            f"{GPUS}, count: 8, placement-group: cluster, {BLOCK}}}",
            "",
            "placement-group",
            "a placement group must be left out with {reservation: cr-0123456789abcdef0, kind: capacity-block}",
            id="a-placement-group-with-a-capacity-block",
        ),
        pytest.param(
            f"{GPUS}, count: 8, placement-group: {{name: ours}}, {BLOCK}}}",
            "",
            "placement-group",
            "a placement group must be left out with",
            id="a-placement-group-of-ours-with-a-capacity-block",
        ),
        pytest.param(
            f"type: {SMALL}, count: 1, placement-group: spread, {bought(ONE)}",
            "",
            "placement-group",
            "a placement group must be left out with",
            id="a-placement-group-with-an-ultraserver",
        ),
        pytest.param(
            f"type: {SMALL}, count: 10, {bought(ONE)}",
            "",
            "count",
            "count requests 10 UltraServers, each of which has a reservation of its own, and capacity names 1; list",
            id="ten-instances-of-an-ultraserver-of-nine",
        ),
        pytest.param(
            f"type: {SMALL}, count: 1, image: {{id: {AMI}, architecture: x86_64}}, {bought(ONE)}",
            "",
            "image",
            "p6e-gb200.36xlarge is arm64, and the image is for x86_64; use one for it",
            id="an-x86-image-by-what-is-said",
        ),
        pytest.param(
            f"type: {SMALL}, count: 1, image: /aws/service/pcs/ami/dlami-base-ubuntu2404/x86_64/latest/ami-id, "
            f"{bought(ONE)}",
            "",
            "image",
            "p6e-gb200.36xlarge is arm64, and the image is for x86_64; use one for it",
            id="an-x86-image-by-its-parameter",
        ),
        pytest.param(
            f"{GPUS}, count: 8, capacity: cr-0123456789abcdefg",
            "",
            "capacity",
            "a reservation's id is cr- and 17 hexadecimal digits",
            id="an-id-that-is-none",
        ),
        pytest.param(
            f"{GPUS}, count: 8, capacity: {{reservations: [{ONE}, subnet-0123456789abcdef0], kind: capacity-block}}",
            "",
            "capacity.reservations[1]",
            "a reservation's id is cr- and 17 hexadecimal digits",
            id="an-id-in-a-list-that-is-none",
        ),
        pytest.param(
            f"{GPUS}, count: 8, capacity: {{reservation: {ONE}, kind: spot}}",
            "",
            "capacity.kind",
            "spot has no reservation; write capacity: spot, or the kind of the reservation",
            id="spot-with-a-reservation",
        ),
        pytest.param(
            f"{GPUS}, count: 8, capacity: {{training-plan: '{PLAN}'}}",
            "",
            "capacity",
            "a training plan is for HyperPod instances, and AWS PCS launches EC2 ones; for those purchase a "
            "Capacity Block",
            id="a-training-plan-outside-hyperpod",
        ),
        pytest.param(
            f"{GPUS}, count: 17, {BLOCK}, instances: 16}}",
            "",
            "count",
            "17 nodes are more than the 16 that {reservation: cr-0123456789abcdef0, kind: capacity-block} holds",
            id="more-nodes-than-the-block-holds",
        ),
        pytest.param(
            f"{GPUS}, count: 16, spare: 1, {BLOCK}, instances: 16}}",
            "",
            "count",
            "17 nodes are more than the 16 that",
            id="more-nodes-than-the-block-holds-with-the-spare-one",
        ),
        pytest.param(
            f"{GPUS}, count: 65, {BLOCK}}}",
            "",
            "count",
            "65 nodes are more than the 64 that",
            id="more-nodes-than-any-block-holds",
        ),
        pytest.param(
            f"{GPUS}, count: 9, {BLOCK}, instances: 16}}",
            f"  tune: {{{GPUS}, count: 8, {BLOCK}, instances: 16}}}}\n",
            "count",
            f"train and tune share {ONE} and have 17 nodes together, more than the 16",
            id="more-nodes-of-two-groups-than-the-block-holds",
        ),
    ],
)
def test_capacity_that_people_get_wrong(train: str, more: str, place: str, why: str) -> None:
    assert f".{place}: {why}" in the_problem(file(train, more))


@pytest.mark.parametrize("order", [1, -1], ids=["x86-first", "arm-first"])
@pytest.mark.parametrize(
    ("x86", "arm"),
    [
        (AMI, AMI),
        (AMI, f"{{id: {AMI}, architecture: arm64}}"),
        (f"{{id: {AMI}, architecture: x86_64}}", AMI),
        (f"{{id: {AMI}, architecture: x86_64}}", f"{{id: {AMI}, architecture: arm64}}"),
    ],
    ids=["nothing-said", "arm-said", "x86-said", "both-said"],
)
def test_one_image_is_not_for_two_architectures(x86: str, arm: str, order: int) -> None:
    sections = [
        f"  prepare: {{type: c7i.48xlarge, count: 1, zone: use1-az6, image: {x86}}}",
        f"  train: {{type: {SMALL}, count: 1, image: {arm}, {bought(ONE)}}}",
    ]
    message = the_problem(HEAD + "nodes:\n" + "\n".join(sections[::order]) + "\n")
    assert ".image: " in message
    assert AMI in message or "the image is for" in message


def test_one_image_is_for_every_group_of_its_architecture() -> None:
    more = f"  prepare: {{type: c7g.8xlarge, count: 1, zone: use1-az6, image: {AMI}}}\n"
    assert len(groups(file(f"type: {SMALL}, count: 1, image: {AMI}, {bought(ONE)}", more))) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{{reservation: {ONE}, placement-group: mine}}", f"{{reservation: {ONE}, placement-group: other}}"),
        (f"{{reservation: {ONE}, instances: 8}}", f"{{reservation: {ONE}, instances: 16}}"),
        (
            f"{{reservation: {ONE}, kind: capacity-block, ends: 2026-12-24}}",
            f"{{reservation: {ONE}, kind: capacity-block, ends: 2026-12-25}}",
        ),
        (f"{{reservation: {ONE}, kind: odcr}}", f"{{reservation: {ONE}, kind: capacity-block}}"),
    ],
    ids=["group", "size", "end", "kind"],
)
def test_two_groups_must_agree_on_the_reservation_that_they_share(first: str, second: str) -> None:
    message = the_problem(
        file(f"{GPUS}, count: 1, capacity: {first}", f"  tune: {{{GPUS}, count: 1, capacity: {second}}}\n")
    )
    assert "nodes.tune.capacity" in message
    assert ONE in message


def test_spare_nodes_are_counted_once_over_several_blocks() -> None:
    capacity = f"capacity: {{reservations: [{ONE}, {TWO}], kind: capacity-block, instances: 8}}"
    result = groups(file(f"{GPUS}, count: 14, spare: 2, {capacity}"))
    assert [group.count for group in result] == [8, 8]
    assert sum(group.spare for group in result) == 2


@pytest.mark.parametrize(
    ("subnets", "place", "why"),
    [
        (
            "use2-az2: subnet-0123456789abcdef2",
            "nodes.two.zone",
            "these nodes are in use2-az3; name the existing subnet",
        ),
        (
            "use2-az2: subnet-0123456789abcdef2, use2-az3: subnet-0123456789abcdef0",
            "network.existing.subnets.use2-az3",
            "subnet-0123456789abcdef0 is in one zone, and the file puts it into use2-az1 and use2-az3; correct one",
        ),
        (
            "use2-az2: subnet-0123456789abcdef2, use2-az3: subnet-0123456789abcdef2",
            "network.existing.subnets.use2-az3",
            "subnet-0123456789abcdef2",
        ),
        (
            "use2-az1: subnet-01234567, use2-az2: subnet-0123456789abcdef2, use2-az3: subnet-0123456789abcdef3",
            "network.existing.subnets.use2-az1",
            "use2-az1 is the cluster's own zone",
        ),
    ],
    ids=["no-subnet-in-the-zone", "the-cluster's-own-subnet", "one-subnet-for-two-zones", "the-own-zone-named-again"],
)
def test_zone_and_subnet_agree(subnets: str, place: str, why: str) -> None:
    message = the_problem(OWN_NETWORK % subnets)
    assert f" {place}: " in message
    assert why in message


def test_a_subnet_for_each_zone_is_right() -> None:
    text = OWN_NETWORK % "use2-az2: subnet-0123456789abcdef2, use2-az3: subnet-0123456789abcdef3"
    assert [group.zone for group in groups(text)] == ["use2-az2", "use2-az3"]


@pytest.mark.parametrize("kind", ["p6-b300.48xlarge", "p6e-gb200.36xlarge"])
def test_card_0_of_the_newest_types_takes_no_efa(kind: str, stack: cdk.Stack) -> None:
    interfaces_of_group = [Interface(0, 0, "efa"), *interfaces(kind)[1:]]
    why = f"{kind} can't have these interfaces: card 0 offers interface, not efa"
    with pytest.raises(ValueError, match=why):
        check_interfaces(kind, interfaces_of_group)
    with pytest.raises(ValueError, match=f"^Stack/Train: {why}"):
        compute.NodeGroupTemplate(
            stack,
            "Train",
            instance_type=kind,
            layout=interfaces_of_group,
            capacity=compute.UltraServerBlock(reservation_id=ONE) if instance_type(kind).ultraservers else None,
            security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "Nodes", "sg-0123456789abcdef0")],
        )
    with pytest.raises(ValueError, match="card 0 offers interface, not efa-only"):
        check_interfaces(kind, [*interfaces(kind), Interface(0, 1, "efa-only")])


def template(text: str) -> dict[str, Any]:
    """The resources of the stack that holds the nodes."""
    return dict(template_of(loads(text, "c.yaml"), "Compute")["Resources"])


@pytest.mark.parametrize(("instances", "together"), [(18, 16), (9, 8), (16, 16), (1, 1)])
def test_a_segment_leaves_a_spare_in_an_ultraserver(instances: int, together: int) -> None:
    assert segment(instances) == together


def test_no_nodes_have_no_segment() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        segment(0)
