"""Any request: an error with a remedy, or nodes that break no rule of EC2.

The rules stand here a second time, and use nothing of the library but its values. Sources: EC2's pages cr-cpg,
capacity-blocks-launch, placement-strategies and efa-acc-inst-types, and PCS's capacity-blocks-configure-cng (read
2026-11-20).
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, get_args

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from support.templates import resources_of
from ultracluster import compute
from ultracluster.catalogue.ec2 import (
    INSTANCE_TYPES,
    LAYOUTS,
    Architecture,
    InstanceType,
    Interface,
    Kind,
    Layout,
    check_interfaces,
    instance_type,
    interfaces,
)
from ultracluster.clusterfile import ClusterFile, ClusterFileError, _yaml_tree, loads, write_capacity, write_placement
from ultracluster.clusterfile.sections._capacity import Blocks
from ultracluster.clusterfile.sections._capacity import Capacity as CapacityKey
from ultracluster.clusterfile.sections._image import Image as ImageKey
from ultracluster.clusterfile.sections._image import write_image
from ultracluster.clusterfile.sections._placement import PlacementGroup
from ultracluster.planning.capacity import (
    Capacity,
    CapacityBlock,
    Image,
    InterruptibleReservation,
    NamedGroup,
    OnDemand,
    OpenReservation,
    PlacementOption,
    ReservationGroup,
    Service,
    Spot,
    Strategy,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
    check_image,
    check_sold,
    placement,
    purchase,
)
from ultracluster.slurm import PcsCluster, PcsComputeNodeGroup

Group = Strategy | NamedGroup | None
TARGET = "CapacityReservationSpecification.CapacityReservationTarget"
MARKET = "InstanceMarketOptions.MarketType"
WORDS = {"PurchaseOption", "CapacityType", "CapacityRequirements", "TrainingPlanArn"}
ULTRASERVERS = {"u-p6e-gb200x36": 9, "u-p6e-gb200x72": 18}
#: EFA devices that a node takes: https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html (read 2026-11-20).
MOST_EFA = {"p4d": 4, "p4de": 4, "p5": 32, "p5e": 32, "p5en": 16, "p6-b200": 8, "p6-b300": 16, "p6e-gb200": 16}
#: A refusal says what to do, or what there is instead.
HELP = re.compile(
    r"\b(use|write|leave|left out|accepts?|supports?|purchase|launch|build|it is available|needs|has \d+ or \d+)\b"
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request for nodes."""

    name: str
    capacity: Capacity
    service: Service
    requested: PlacementOption
    count: int
    image: Image | None
    layout: Layout | tuple[Interface, ...]

    @property
    def record(self) -> InstanceType:
        return instance_type(self.name)


def broken(
    *,
    name: str,
    capacity: Capacity,
    service: Service,
    fields: dict[str, Any],
    group: Group,
    rows: tuple[Interface, ...],
    image: Image | None,
    count: int,
) -> list[str]:
    """The rules that nodes break."""
    block = isinstance(capacity, CapacityBlock | UltraServerBlock)
    reserved = capacity.placement_group if isinstance(capacity, OpenReservation | TargetedReservation) else None
    id = getattr(capacity, "reservation_id", None)
    arn = capacity.arn if isinstance(capacity, ReservationGroup) else None
    allowed = {MARKET, f"{TARGET}.CapacityReservationId", f"{TARGET}.CapacityReservationResourceGroupArn"}
    allowed |= {"CapacityReservationSpecification.CapacityReservationPreference", *WORDS}
    gpus, grouped = name.startswith("p"), isinstance(group, str)
    ultraserver, arm = name.startswith("p6e"), name.split(".")[0] in ("p6e-gb200", "c7g", "m7g")
    said_of_image = {(image.architecture or "") if image else "", *re.findall("x86_64|arm64", str(image))}
    rules = {
        "a field that no service has": fields.keys() <= allowed,
        "a placement group beside what AWS places": group is None or not (block or isinstance(capacity, TrainingPlan)),
        "capacity-block without a block, or a block without it": (fields.get(MARKET) == "capacity-block") == block,
        "another reservation": fields.get(f"{TARGET}.CapacityReservationId") == id,
        "another group of reservations": fields.get(f"{TARGET}.CapacityReservationResourceGroupArn") == arn,
        "spot in a template of PCS or EKS": fields.get(MARKET) != "spot" or service == "self-managed",
        "not spot": not isinstance(capacity, Spot)
        or "spot" in {str(value).lower() for value in fields.values()}
        or service == "hyperpod",
        "partition or spread for GPUs": group not in ("partition", "spread") or not gpus,
        "a group that the reservation was not made in": not grouped or isinstance(capacity, OnDemand | Spot),
        "not the reservation's own group": reserved is None or group == NamedGroup(name=reserved),
        "an UltraServer bought otherwise": not ultraserver or isinstance(capacity, UltraServerBlock | TrainingPlan),
        "half an UltraServer": not ultraserver or getattr(capacity, "instances", None) in (None, 9, 18),
        "an image of another architecture": ("x86_64" if arm else "arm64") not in said_of_image,
        "more than seven nodes in a spread group": group != "spread" or count <= 7,
        "no primary interface": any((row.card, row.device) == (0, 0) and row.kind != "efa-only" for row in rows),
        "two interfaces at one place": len({(row.card, row.device) for row in rows}) == len(rows),
        "two EFA devices on a card": max(Counter(r.card for r in rows if r.kind != "interface").values(), default=0)
        < 2,
        "EFA on card 0": not name.startswith(("p6-b300", "p6e")) or all(r.card or r.kind == "interface" for r in rows),
        "an address on an odd card": not ultraserver or all(r.card % 2 == 0 or r.kind == "efa-only" for r in rows),
        "more EFA devices than there are": name.startswith(("c", "m", "p5.4"))
        or sum(row.kind != "interface" for row in rows) <= MOST_EFA[name.split(".")[0]],
    }
    return [rule for rule, kept in rules.items() if not kept]


ids = st.text("0123456789abcdef", min_size=17, max_size=17).map("cr-{}".format)
group_names = st.sampled_from(["ours", "theirs"])
sizes = st.none() | st.sampled_from([1, 8, 9, 10, 16, 18, 64])
moments = st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
ends = st.none() | moments
accounts = st.sampled_from(["123456789012", "000000000001"])
group_arns = st.builds("arn:aws:resource-groups:us-east-2:{}:group/{}".format, accounts, group_names)
plan_arns = st.builds("arn:aws:sagemaker:us-east-2:{}:training-plan/{}".format, accounts, group_names)
blocks = st.builds(CapacityBlock, reservation_id=ids, instances=sizes, ends=ends)
ultraserver_blocks = st.builds(UltraServerBlock, reservation_id=ids, instances=sizes, ends=ends)
reserved = (
    st.builds(TargetedReservation, reservation_id=ids, instances=sizes, placement_group=st.none() | group_names)
    | st.builds(InterruptibleReservation, reservation_id=ids, instances=sizes)
    | st.builds(OpenReservation, placement_group=st.none() | group_names)
    | st.builds(ReservationGroup, arn=group_arns)
)
capacities: st.SearchStrategy[Capacity] = st.one_of(
    st.just(OnDemand()), st.just(Spot()), reserved, blocks, ultraserver_blocks, st.builds(TrainingPlan, arn=plan_arns)
)
placement_options: st.SearchStrategy[PlacementOption] = st.sampled_from(
    ["auto", None, "cluster", "partition", "spread", NamedGroup(name="ours"), NamedGroup(name="theirs")]
)
versions = st.none() | st.sampled_from(["1.24.1", "1.44.0", "13.0", "530", "580.95.05", "2.26.2-1"])
architectures: st.SearchStrategy[Architecture] = st.sampled_from(get_args(Architecture))
facts = {
    "architecture": st.none() | architectures,
    "driver": versions,
    "cuda": versions,
    "efa_installer": versions,
}
images = (
    st.builds(Image, id=st.just("ami-0123456789abcdef0"), **facts)
    | st.builds(Image, parameter=st.just("/team/images/pcs"), **facts)
    | architectures.map(
        lambda architecture: Image(parameter=f"/aws/service/pcs/ami/ubuntu/{architecture}/latest/ami-id")
    )
)
kinds: st.SearchStrategy[Kind] = st.sampled_from(get_args(Kind))
interface = st.builds(Interface, st.integers(-1, 33), st.integers(-1, 4), kinds)
types = st.sampled_from(["p5en.48xlarge", "p6-b300.48xlarge", "p6e-gb200.36xlarge", "c7i.48xlarge", *INSTANCE_TYPES])


more_rows = st.lists(interface, max_size=2)
standard = st.sampled_from(LAYOUTS)
#: How long a draw takes is, for the most part, how long a new strategy takes: none is made for each case.
orders = [st.permutations(range(length)) for length in range(8)]
places = {length: st.integers(0, length - 1) for length in range(1, 99)}


@st.composite
def layouts(draw: st.DrawFn, name: str) -> Layout | tuple[Interface, ...]:
    """A layout, or one of our own: mostly a good one with a row or two added, or taken out."""
    if draw(st.booleans()):
        return draw(standard)
    rows = list(interfaces(name))
    if draw(st.booleans()):
        rows += draw(more_rows)
    if draw(st.booleans()):
        del rows[draw(places[len(rows)])]
    return tuple([rows[i] for i in draw(orders[len(rows)])] if len(rows) < 8 else rows[::-1])


named: st.SearchStrategy[Layout | tuple[Interface, ...]] = st.sampled_from(["one-ip", "all-efa"])
#: Mostly what goes with a type: capacities, by whether it is an UltraServer; placement, by whether it has GPUs.
likely: dict[bool, st.SearchStrategy[Capacity]] = {
    True: ultraserver_blocks | capacities,
    False: st.just(OnDemand()) | blocks | reserved | capacities,
}
auto: st.SearchStrategy[PlacementOption] = st.just("auto")
spread: st.SearchStrategy[PlacementOption] = st.just("spread")
requests = {True: auto | placement_options, False: spread | placement_options}
counts = st.sampled_from([1, 7, 8, 9, 18, 64, 65])
maybe_images = st.none() | images
layouts_of = {name: named | layouts(name) for name in sorted({*INSTANCE_TYPES, "c7i.48xlarge"})}


@st.composite
def cases(draw: st.DrawFn, services: st.SearchStrategy[Service]) -> Case:
    name = draw(types)
    return Case(
        name=name,
        capacity=draw(likely[name.startswith("p6e")]),
        service=draw(services),
        requested=draw(requests[name.startswith("p")]),
        count=draw(counts),
        image=draw(maybe_images),
        layout=draw(layouts_of[name]),
    )


#: Nodes that would start outside their reservation, and a spread group that is one too small for its nodes.
IN_NO_GROUP = Case(
    name="p5en.48xlarge",
    capacity=TargetedReservation(reservation_id="cr-0123456789abcdef0", placement_group="ours"),
    service="pcs",
    requested=None,
    count=8,
    image=None,
    layout="one-ip",
)
EIGHT_APART = replace(IN_NO_GROUP, name="c7i.48xlarge", capacity=OnDemand(), requested="spread")


def lay_out(case: Case) -> tuple[Interface, ...]:
    if isinstance(case.layout, str):
        return interfaces(case.record, case.layout)
    return check_interfaces(case.record, case.layout)


def plan(case: Case) -> list[str]:
    """Errors of the pure functions; otherwise the rules that their results break."""
    refusals = check_sold(case.record, case.capacity)
    refusals += check_image(case.image, case.record) if case.image else []
    answers: list[Any] = []
    for ask in (
        lambda: purchase(case.capacity, case.service),
        lambda: placement(case.requested, record=case.record, capacity=case.capacity, count=case.count),
        lambda: lay_out(case),
    ):
        try:
            answers.append(ask())
        except ValueError as error:
            refusals.append(str(error))
    if refusals:
        return refusals
    bought, group, rows = answers
    assert (
        broken(
            name=case.name,
            capacity=case.capacity,
            service=case.service,
            fields=bought.fields,
            group=group,
            rows=rows,
            image=case.image,
            count=case.count,
        )
        == []
    )
    return []


def test_requests_are_rejected_with_a_remedy_or_break_no_rule() -> None:
    seen: Counter[bool] = Counter()

    @settings(max_examples=2000, deadline=None)
    @given(cases(st.sampled_from(get_args(Service))))
    @example(IN_NO_GROUP)
    @example(EIGHT_APART)
    def run(case: Case) -> None:
        refusals = plan(case)
        seen[bool(refusals)] += 1
        for refusal in refusals:
            assert "can't have these interfaces" in refusal or HELP.search(refusal), refusal
            assert 20 < len(refusal) < 1000

    run()
    assert min(seen.values()) > 150, seen


PATHS = re.compile(r"S/(Template|Group): \S")


def test_constructs_break_no_rule_or_report_the_place() -> None:
    seen: Counter[bool] = Counter()

    @settings(max_examples=300, deadline=None)
    @given(cases(st.sampled_from(["pcs", "pcs", "eks-managed", "self-managed"])))
    @example(IN_NO_GROUP)
    @example(EIGHT_APART)
    def run(case: Case) -> None:
        stack = cdk.Stack(cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False), "S")
        try:
            make(stack, case)
        except ValueError as error:
            seen[True] += 1
            for line in str(error).splitlines():
                assert PATHS.match(line), line
            return
        seen[False] += 1
        resources = resources_of(stack)
        assert broken_in(resources, case) == []

    run()
    assert min(seen.values()) > 20, seen


def make(stack: cdk.Stack, case: Case) -> None:
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    nodes = ec2.SecurityGroup.from_security_group_id(stack, "Nodes", "sg-0123456789abcdef0")
    template = compute.NodeGroupTemplate(
        stack,
        "Template",
        instance_type=case.name,
        security_groups=[nodes],
        service=case.service,
        capacity=case.capacity,
        layout=case.layout,
        placement_group=case.requested,
        subnet=None if case.service == "eks-managed" else subnet,
        image=case.image or Image(id="ami-0123456789abcdef0"),
    )
    if case.service == "pcs":
        slurm = PcsCluster(stack, "Slurm", name="llama", max_instances=64, subnet=subnet, security_groups=[nodes])
        PcsComputeNodeGroup(stack, "Group", cluster=slurm, name="train", template=template, count=case.count)


def broken_in(resources: dict[str, Any], case: Case) -> list[str]:
    """The rules that a template breaks."""

    def of(kind: str) -> list[dict[str, Any]]:
        return [body["Properties"] for body in resources.values() if body["Type"] == kind]

    (data,) = (template["LaunchTemplateData"] for template in of("AWS::EC2::LaunchTemplate"))
    fields = flat({key: data[key] for key in ("InstanceMarketOptions", TARGET.split(".")[0]) if key in data})
    # Only PCS's node group has a count; an Auto Scaling group's is not in what is made here.
    count, rules = 1, []
    for nodes in of("AWS::PCS::ComputeNodeGroup"):
        fields["PurchaseOption"] = nodes["PurchaseOption"]
        count = nodes["ScalingConfiguration"]["MaxInstanceCount"]
        held = getattr(case.capacity, "instances", None) or (64 if isinstance(case.capacity, CapacityBlock) else count)
        rules += ["more nodes than are held"] if count > held else []
        rules += ["half an UltraServer"] if case.name.startswith("p6e") and count not in (9, 18) else []
    if case.service == "eks-managed" and isinstance(case.capacity, Spot):
        fields["CapacityType"] = "SPOT"  # The node group says so, which is the user's own here.
    strategies = [group["Strategy"] for group in of("AWS::EC2::PlacementGroup")]
    group: Group = None
    if "Placement" in data:
        name = data["Placement"]["GroupName"]
        group = NamedGroup(name=name) if isinstance(name, str) else strategies[0]
    rows = tuple(
        Interface(row["NetworkCardIndex"], row["DeviceIndex"], row["InterfaceType"])
        for row in data["NetworkInterfaces"]
    )
    rules += ["a group that nobody is in"] if len(strategies) != isinstance(group, str) else []
    rules += ["another type"] if data["InstanceType"] != case.name else []
    return rules + broken(
        name=case.name,
        capacity=case.capacity,
        service=case.service,
        fields=fields,
        group=group,
        rows=rows,
        image=case.image,
        count=count,
    )


def flat(node: dict[str, Any], at: str = "") -> dict[str, str]:
    flattened: dict[str, str] = {}
    for key, value in node.items():
        flattened |= flat(value, f"{at}{key}.") if isinstance(value, dict) else {f"{at}{key}": value}
    return flattened


file_ids = st.sampled_from([f"cr-0123456789abcdef{digit}" for digit in "0123"])
one_in_ten = st.integers(0, 9)
some_ids = st.lists(file_ids, min_size=1, max_size=3)
ids_of = {count: st.lists(file_ids, min_size=count, max_size=count, unique=True) for count in range(1, 5)}
reservation_kinds = st.sampled_from(["odcr", "capacity-block", "interruptible"])
reserved_sizes = st.sampled_from([9, 18, 16, 64])
other_capacities = ["on-demand", "spot", "cr-0123456789abcdef0", {"reservation": "open"}, {"kind": "odcr"}]
capacity_forms = st.sampled_from([*other_capacities, *["one", "listed"] * 5])


@st.composite
def capacity_values(draw: st.DrawFn, ultraserver: bool, count: int) -> object:
    """A capacity as a file says it; mostly one that goes with the type and the count."""
    kind = "ultraserver" if ultraserver else draw(reservation_kinds)
    size = {} if draw(st.booleans()) else {"instances": draw(reserved_sizes)}
    end = {"ends": "2026-12-24"} if kind in ("capacity-block", "ultraserver") and draw(st.booleans()) else {}
    if ultraserver and draw(one_in_ten):
        listed = draw(ids_of[count]) if count <= 4 else [draw(file_ids)]
        return {"reservations": listed, "kind": kind, **end}
    form = draw(capacity_forms)
    if form == "one":
        return {"reservation": draw(file_ids), "kind": kind, **size, **end}
    if form == "listed":
        return {"reservations": draw(some_ids), "kind": kind, **size}
    return form


file_types = st.sampled_from(
    ["p5en.48xlarge", "p5.4xlarge", "p6-b300.48xlarge", "c7i.48xlarge", "p6e-gb200.36xlarge", *ULTRASERVERS]
)
few, counts_of_nodes = st.integers(1, 4), st.sampled_from([1, 2, 7, 8, 9, 18, 36, 64, 200])
more_keys: dict[str, st.SearchStrategy[object]] = {
    "spare": st.integers(0, 4),
    "zone": st.sampled_from(["use1-az4", "use1-az6"]),
    "layout": st.sampled_from(LAYOUTS),
    "placement-group": st.sampled_from(["auto", "none", "cluster", "partition", "spread", {"name": "ours"}]),
    "image": st.sampled_from(["ami-0123456789abcdef0", {"id": "ami-0123456789abcdef0", "architecture": "arm64"}]),
}


@st.composite
def sections(draw: st.DrawFn) -> dict[str, object]:
    """A node group of a file."""
    kind = draw(file_types)
    count = draw(few if kind.startswith("u-") else counts_of_nodes)
    section: dict[str, object] = {"type": kind, "count": count}
    if kind.startswith(("p6e", "u-")) or draw(st.booleans()):
        section["capacity"] = draw(capacity_values(kind.startswith(("p6e", "u-")), count))
    return section | {key: draw(values) for key, values in more_keys.items() if draw(one_in_ten) == 0}


group_sections = st.dictionaries(
    st.sampled_from(["train", "tune", "train-bcdef0", "a-name-of-18-letters", "one", "a-name-of-19-letterss"]),
    sections(),
    min_size=1,
    max_size=3,
)
networks = st.sampled_from(["10.0.0.0/16", "10.0.0.0/22", "10.0.0.0/25"])


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """A cluster file. JSON is YAML."""
    document: dict[str, Any] = {
        "name": "llama",
        "region": "us-east-1",
        "zone": "use1-az6",
        "orchestrator": "slurm",
        "nodes": draw(group_sections),
    }
    if draw(st.booleans()):
        document["network"] = {"cidr": draw(networks)}
    return document


def test_files_are_rejected_with_the_place_or_break_no_rule() -> None:
    seen: Counter[bool] = Counter()

    @settings(max_examples=600, deadline=None)
    @given(files())
    def run(written: dict[str, Any]) -> None:
        try:
            cluster = loads(json.dumps(written, indent=1), "c.yaml")
        except ClusterFileError as error:
            seen[True] += 1
            for line in str(error).splitlines():
                assert re.match(r"c\.yaml:\d+:\d+ (nodes|network|zone|slurm)[\w.\[\]-]*: \S.{15,}", line), line
            return
        seen[False] += 1
        assert broken_by(cluster, written) == []

    run()
    assert min(seen.values()) > 60, seen


def broken_by(cluster: ClusterFile, written: dict[str, Any]) -> list[str]:
    """The rules that the node groups of a file break."""
    groups = cluster.node_groups
    rules: list[str] = []
    for name, section in written["nodes"].items():
        counts = [group.count for group in groups if group.section == name]
        wanted = section["count"] * ULTRASERVERS.get(section["type"], 1) + section.get("spare", 0)
        rules += [f"{name}: {counts} are not {wanted}"] if sum(counts) != wanted else []
        if section["type"].startswith(("p6e", "u-")) and not set(counts) <= {9, 18}:
            rules.append(f"{name}: {counts} are not whole")
    names = [group.name for group in groups]
    rules += ["two groups of one name"] if len(set(names)) < len(names) else []
    rules += [f"{name} is too long, or too short" for name in names if not 3 <= len(name) <= 25]
    for group in groups:
        rules += broken(
            name=group.instance_type.name,
            capacity=group.capacity,
            service="pcs",
            fields=purchase(group.capacity, "pcs").fields,
            group=group.placed,
            rows=group.interfaces,
            image=group.image,
            count=group.count,
        )
        sharers = [other for other in groups if reservation(other.capacity) == reservation(group.capacity) is not None]
        held = getattr(group.capacity, "instances", None) or (
            64 if isinstance(group.capacity, CapacityBlock) else 10**6
        )
        rules += [f"{group.name}: more than are held"] if sum(sharer.count for sharer in sharers) > held else []
        whole = isinstance(group.capacity, UltraServerBlock)
        rules += [f"{group.name}: an UltraServer for two"] if whole and len(sharers) > 1 else []
    for zone in {group.zone for group in groups}:
        subnet = cluster.subnets.training if zone == cluster.zone else cluster.zone_subnets[zone]
        taken = sum(
            group.count * sum(row.kind != "efa-only" for row in group.interfaces)
            for group in groups
            if group.zone == zone
        )
        # EC2 keeps five addresses of a subnet; the login node and the controller take one each.
        beside = 2 if zone == cluster.zone else 0
        rules += [f"{zone}: {taken} do not fit {subnet}"] if taken + beside > subnet.num_addresses - 5 else []
    return rules


def reservation(capacity: Capacity) -> str | None:
    return getattr(capacity, "reservation_id", None)


lists_of_blocks = st.one_of(
    [
        st.builds(
            lambda reservation_ids, kind, ends, size: Blocks(
                blocks=tuple(kind(reservation_id=id, ends=ends, instances=size) for id in reservation_ids)
            ),
            st.lists(ids, min_size=1, max_size=4, unique=True),
            st.just(kind),
            ends,
            sizes,
        )
        for kind in (CapacityBlock, UltraServerBlock)
    ]
)


def through_a_file(value: object) -> Any:
    tree, problems = _yaml_tree.parse(json.dumps({"key": value}))
    assert problems == []
    return tree.plain()["key"]


@given(capacities | lists_of_blocks)
def test_a_capacity_that_is_written_reads_the_same_again(capacity: Capacity | Blocks) -> None:
    assert TypeAdapter(CapacityKey).validate_python(through_a_file(write_capacity(capacity))) == capacity


@given(
    placement_options
    | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,254}", fullmatch=True).map(lambda n: NamedGroup(name=n))
)
def test_a_placement_that_is_written_reads_the_same_again(requested: PlacementOption) -> None:
    assert TypeAdapter(PlacementGroup).validate_python(through_a_file(write_placement(requested))) == requested


@given(images)
def test_an_image_that_is_written_reads_the_same_again(image: Image) -> None:
    assert TypeAdapter(ImageKey).validate_python(through_a_file(write_image(image))) == image
