"""Warnings about what is right on the first day, and not later: blocks that end, a cluster that is deployed again."""

from support.clusterfile_data import GOOD, RESERVATION, bent
from ultracluster.clusterfile import loads, warnings

OTHER = "cr-0fedcba9876543210"
BLOCKS = "{reservations: [%s], kind: capacity-block, instances: 64, ends: 2026-12-24}"
ADOPT = "adopt: {id: fs-0123456789abcdef0, mount-name: abcdefgh, security-group: sg-0123456789abcdef0}"
NETWORK = "network: {existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}}\n"


def warned(text: str) -> dict[str, str]:
    return {warning.rule: warning.message for warning in warnings(loads(text, "c.yaml"))}


def test_blocks_of_a_list_have_one_end() -> None:
    single, pair = (bent(RESERVATION, BLOCKS % ids) for ids in (RESERVATION, f"{RESERVATION}, {OTHER}"))
    pair = bent("count: 64", "count: 128", pair)
    assert "blocks-share-end" not in warned(single)
    message = warned(pair)["blocks-share-end"]
    assert message.startswith(f"train: {RESERVATION}, {OTHER} have one end, 2026-12-24 11:30 UTC")
    assert "a block that ends at another time needs a section of its own" in message
    assert "blocks-share-end" not in warned(bent(", ends: 2026-12-24", "", pair))


def test_notices_stay_when_the_last_block_has_left_the_file() -> None:
    notices = "notifications: {email: oncall@example.com}\n"
    assert "confirm its subscription again" in warned(GOOD + notices)["notifications-unused"]
    assert "notifications-unused" not in warned(GOOD)
    assert "notifications-unused" not in warned(bent(RESERVATION, BLOCKS % RESERVATION) + notices)


def test_an_adopted_file_system_beside_new_homes() -> None:
    new = bent("40 GB/s}", f"40 GB/s, {ADOPT}}}, home: {{}}")
    assert "storage: {home: {existing: ...}}" in warned(new)["adopt-new-home"]
    existing = "home: {existing: {id: fs-0fedcba9876543210, volume: fsvol-0fedcba9876543210}}"
    for text in (bent("home: {}", existing, new), bent(", home: {}", "", new), bent(f", {ADOPT}", "", new)):
        assert "adopt-new-home" not in warned(text)


def test_an_endpoint_with_private_dns_in_an_existing_vpc() -> None:
    endpoint = "observability: {vpc-endpoint: true}\n"
    message = warned(GOOD + NETWORK + endpoint)["vpc-endpoint-shared"]
    assert message.startswith("the endpoint of Prometheus answers for all of vpc-0123456789abcdef0")
    assert "vpc-endpoint-shared" not in warned(GOOD + endpoint) | warned(GOOD + NETWORK)
