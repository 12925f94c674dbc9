"""Warning for Capacity Blocks of a type that is not known to be sold in its Region."""

import pytest

from ultracluster.clusterfile import loads, warnings

FILE = """\
name: llama
region: {region}
zone: {zone}
orchestrator: kubernetes
nodes:
  train:
    type: {type}
    count: 2
    capacity: {{reservation: cr-0123456789abcdef0, kind: capacity-block}}
"""


def warned(type: str, region: str, zone: str) -> dict[str, str]:
    text = FILE.format(type=type, region=region, zone=zone)
    return {warning.rule: warning.message for warning in warnings(loads(text, "c.yaml"))}


def test_warns_of_a_block_in_a_region_that_does_not_sell_it() -> None:
    result = warned("p4d.24xlarge", "eu-central-1", "euc1-az1")
    assert "not-offered" not in result
    assert result["capacity-block-not-sold"] == (
        "not known to be available as a Capacity Block: p4d.24xlarge in eu-central-1 (but in us-east-1, us-east-2, "
        "us-west-2); AWS lists its offerings: aws ec2 describe-capacity-block-offerings"
    )


@pytest.mark.parametrize(
    ("type", "region", "zone"),
    [
        ("p4d.24xlarge", "us-east-2", "use2-az1"),
        ("p6-b200.48xlarge", "us-gov-west-1", "usgw1-az1"),
        ("p6-b300.48xlarge", "us-gov-east-1", "usge1-az2"),
    ],
)
def test_does_not_warn_where_the_table_has_it(type: str, region: str, zone: str) -> None:
    assert not {"not-offered", "capacity-block-not-sold"} & warned(type, region, zone).keys()


def test_govcloud_warns_of_what_it_does_not_sell() -> None:
    result = warned("p5.48xlarge", "us-gov-west-1", "usgw1-az1")
    assert {"not-offered", "capacity-block-not-sold"} <= result.keys()


@pytest.mark.parametrize(("system", "warns"), [("", False), ("m7i.4xlarge", True), ("m6i.4xlarge", False)])
def test_a_system_node_that_the_region_lacks_is_named(system: str, warns: bool) -> None:
    text = "\n".join(
        [
            *("name: north", "region: cn-north-1", "zone: cnn1-az1", "orchestrator: kubernetes"),
            f"kubernetes: {{system: {{{f'type: {system}' if system else ''}}}}}",
            "nodes: {train: {type: p4d.24xlarge, count: 2, capacity: on-demand}}",
            "observability: {profile: none}",
        ]
    )
    messages = {item.rule: item.message for item in warnings(loads(text, "c.yaml"))}
    assert ("m7i.4xlarge in cn-north-1 (but m6i.4xlarge)" in messages.get("not-offered", "")) == warns
