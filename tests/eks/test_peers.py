"""The same nodes as others make them: the rules of their launch templates, and where ours differ.

Their rules, restated from the text of these files (read 2026-11-21); none of the three is run here:

- terraform-aws-eks, modules/eks-managed-node-group/main.tf, `efa_network_interfaces`, with `enable_efa_only` at its
  default of true (bef29c4 of 2026-04-27): an interface on each of `maximum_network_cards` cards, `efa` and device 0 on
  card 0, `efa-only` and device 1 elsewhere; a placement group with EFA, whatever the capacity.
- eksctl, pkg/cfn/builder/network_interfaces.go, `buildNetworkInterfaces` (99984ad of 2026-08-21): the same cards and
  devices, `efa` on each; in managed_launch_template.go no placement group beside a reservation.
- Karpenter, pkg/apis/v1/ec2nodeclass.go, the rules of `NetworkInterfaces` (1d92708 of 2026-08-21): the user's
  interfaces, of the kinds `interface` and `efa-only`, the primary one `interface`, one `efa-only` a card at most.
"""

import pytest

from ultracluster.catalogue.ec2 import Interface, check_interfaces, instance_type, interfaces

NODES = ("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge")
PEERS = ("terraform-aws-eks", "eksctl")


def interfaces_of(peer: str, name: str) -> list[Interface]:
    cards = range(len(instance_type(name).cards))
    if peer == "eksctl":
        return [Interface(card, min(card, 1), "efa") for card in cards]
    return [Interface(card, min(card, 1), "efa-only" if card else "efa") for card in cards]


def efa_devices(rows: list[Interface]) -> int:
    return sum(row.kind != "interface" for row in rows)


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", [name for name in NODES if name != "p6-b300.48xlarge"])
def test_a_node_has_as_many_efa_devices_here_as_with_others(name: str, peer: str) -> None:
    here, other = list(interfaces(name, "one-ip")), interfaces_of(peer, name)
    assert efa_devices(here) == efa_devices(other) == instance_type(name).max_efa
    assert {row.card for row in here} == {row.card for row in other}


@pytest.mark.parametrize("peer", PEERS)
def test_others_ask_p6_b300_for_an_efa_device_that_card_0_does_not_take(peer: str) -> None:
    with pytest.raises(ValueError, match="card 0 offers interface, not efa"):
        check_interfaces("p6-b300.48xlarge", interfaces_of(peer, "p6-b300.48xlarge"))
    assert efa_devices(list(interfaces("p6-b300.48xlarge", "one-ip"))) == 16


@pytest.mark.parametrize("name", NODES)
def test_our_interfaces_are_those_that_karpenter_takes(name: str) -> None:
    first, *rest = interfaces(name, "one-ip")
    assert (first.card, first.device, first.kind) == (0, 0, "interface")
    assert {row.kind for row in rest} == {"efa-only"}
    assert len({row.card for row in rest}) == len(rest)


def test_a_node_of_eksctl_takes_an_address_for_each_device_and_this_library_one() -> None:
    here, other = interfaces("p5.48xlarge", "one-ip"), interfaces_of("eksctl", "p5.48xlarge")
    assert sum(row.kind != "efa-only" for row in here) == 1
    assert sum(row.kind != "efa-only" for row in other) == 32
