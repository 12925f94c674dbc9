"""Existing Lustre file systems in the cluster file: EFA within their network, and warnings."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from support.clusterfile_data import bent, problems
from support.templates import warning_ids
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFile, loads
from ultracluster.storage import LustreFileSystem

STORAGE = "storage: {lustre: {throughput: 40 GB/s}}"
OWN_NETWORK = "network: {existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, cidr: 10.1.0.0/18}}\n"
ELSEWHERE = "network: {existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, subnets: {%s: %s}}}\n"


def existing(more: str = "", *, lustre: str = "", network: str = OWN_NETWORK) -> str:
    """A file with an existing file system; `more` are further keys of `existing`, `lustre` of the file system."""
    body = f"existing: {{id: fs-0123456789abcdef0, mount-name: fsx{more}}}{lustre}"
    return bent(STORAGE, f"storage: {{lustre: {{{body}}}}}") + network


def warned(cluster: ClusterFile) -> dict[str, str]:
    return {warning.id.removeprefix("ultracluster:"): warning.message for warning in clusterfile.warnings(cluster)}


@pytest.mark.parametrize("cidr", ["10.1.64.0/24", "10.1.0.0/16"])
def test_efa_reaches_a_file_system_of_the_same_zone_and_16(cidr: str) -> None:
    cluster = loads(existing(f", efa: true, zone: use2-az1, cidr: {cidr}"), "c.yaml")
    assert cluster.lustre_efa
    assert "own /16" not in warned(cluster)["existing-lustre"]


def test_efa_does_not_reach_another_16() -> None:
    (message,) = problems(existing(", efa: true, cidr: 10.2.0.0/24"))
    assert "storage.lustre.existing.cidr: nodes in subnet-0123456789abcdef0, 10.1.0.0/18, can't use EFA" in message
    assert "existing.efa: false" in message
    assert not loads(existing(", cidr: 10.2.0.0/24"), "c.yaml").lustre_efa


def test_efa_does_not_leave_a_vpc() -> None:
    (message,) = problems(existing(", efa: true", network=""))
    assert "existing.efa: the cluster makes a VPC of its own, and EFA does not leave a VPC" in message
    assert "write adopt instead of existing" in message
    assert "another VPC" in warned(loads(existing(network=""), "c.yaml"))["existing-lustre"]


def test_nodes_in_the_zone_of_the_file_system_use_efa_and_others_tcp() -> None:
    network = ELSEWHERE % ("use2-az2", "subnet-0123456789abcdef1")
    text = existing(", efa: true, zone: use2-az2", network=network)
    two = text.replace(
        "nodes:\n", "nodes:\n  near: {type: p5en.48xlarge, count: 2, zone: use2-az2, image: ami-0123456789abcdef0}\n"
    )
    cluster = loads(two, "c.yaml")
    assert [(kind.name, count) for kind, count in cluster.efa_clients] == [("p5en.48xlarge", 2)]
    assert warned(cluster)["lustre-other-zone"].startswith("train: the file system is in use2-az2")
    far = loads(existing(", efa: true, zone: use2-az2"), "c.yaml")
    assert "existing.efa: false" in warned(far)["lustre-efa-unused"]


def test_the_zone_of_a_file_system_is_in_the_region() -> None:
    (message,) = problems(existing(", zone: use1-az1"))
    assert "storage.lustre.existing.zone: use1-az1 is in us-east-1" in message


def test_reports_all_errors_of_clients_at_once_with_the_keys_of_the_file() -> None:
    (without,) = problems(existing(lustre=", client: {efa-interfaces: 2}"))
    assert "write existing.efa: true, or remove this" in without
    text = existing(", efa: true, cidr: 10.2.0.0/24", lustre=", client: {efa-interfaces: 32, gpudirect-storage: true}")
    many = text.replace("p5en.48xlarge, count: 64", "c7i.48xlarge, count: 2000")
    words = "\n".join(problems(many))
    for key in ("existing.cidr", "client.gpudirect-storage", "existing.efa: a file system supports 1,024"):
        assert key in words, key


def test_reports_too_many_interfaces_and_too_many_addresses() -> None:
    text = bent("40 GB/s}", "40 GB/s, client: {efa-interfaces: 8}}").replace("count: 64", "count: 600")
    text += "network: {cidr: 10.0.0.0/22}\n"
    words = "\n".join(problems(text))
    assert "client.efa-interfaces: 600 nodes with at most 8 each open 4,800" in words
    assert "nodes.train.count" in words


def test_warns_once_of_an_existing_file_system_and_can_be_acknowledged() -> None:
    text = existing()
    assert warning_ids(loads(text, "c.yaml")).count("ultracluster:existing-lustre") == 1
    known = text + "accept: {existing-lustre: it has a team of its own}\n"
    assert "ultracluster:existing-lustre" not in warning_ids(loads(known, "c.yaml"))


def test_check_warns_of_an_existing_key_and_can_be_acknowledged() -> None:
    key = "encryption-key: arn:aws:kms:us-east-2:123456789012:key/0123abcd-0123-0123-0123-0123456789ab\n"
    text = bent("40 GB/s}", "40 GB/s, data-repository-associations: {/data: {export: [NEW]}}}") + key
    id = "ultracluster:association-foreign-key"
    assert "association-foreign-key" in warned(loads(text, "c.yaml"))
    assert warning_ids(loads(text, "c.yaml")).count(id) == 1
    assert id not in warning_ids(
        loads(text + f"accept: {{{id.removeprefix('ultracluster:')}: its policy has the statement}}\n", "c.yaml")
    )
    assert "association-foreign-key" not in warned(
        loads(text.replace("/data: {", "/data: {bucket: theirs, "), "c.yaml")
    )


@pytest.mark.parametrize(
    ("path", "mount", "written"), [("/fsx/data", "/fsx", "/data"), ("/fsx", "/fsx", "/"), ("/a/b/c", "/a/b", "/c")]
)
def test_a_link_is_not_called_by_its_path_on_the_nodes(path: str, mount: str, written: str) -> None:
    text = bent("40 GB/s}", f"40 GB/s, mount: {mount}, data-repository-associations: {{{path}: {{bucket: theirs}}}}}}")
    (message,) = problems(text)
    assert (
        f"storage.lustre.data-repository-associations.{path}: an association is named by its path on the file "
        f"system itself" in message
    )
    assert f"write {written}, which they see at {mount}" in message
    loads(
        text.replace(f"data-repository-associations: {{{path}:", f"data-repository-associations: {{{mount}2:"), "c.yaml"
    )


def test_the_construct_refuses_efa_clients_in_another_zone_or_16() -> None:
    stack = cdk.Stack(env=cdk.Environment(account="123456789012", region="us-east-2"))
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    (subnet,) = vpc.private_subnets
    file_system = LustreFileSystem.from_lustre_file_system_attributes(
        stack,
        "Far",
        file_system_id="fs-0123456789abcdef0",
        mount_name="fsx",
        efa=True,
        zone="use2-az9",
        cidr="10.9.0.0/24",
    )
    with pytest.raises(ValueError, match="both must be in one /16"):
        file_system.allow_clients(ec2.SecurityGroup(stack, "Nodes", vpc=vpc), subnets=[subnet])
    with pytest.raises(ValueError, match="cidr must be the range of its subnet"):
        LustreFileSystem.from_lustre_file_system_attributes(
            stack, "Bad", file_system_id="fs-0123456789abcdef0", mount_name="fsx", cidr="10.9.0.1/24"
        )


def test_reports_unchecked_settings() -> None:
    unknown = OWN_NETWORK.replace(", cidr: 10.1.0.0/18", "")
    cluster = loads(existing(", efa: true, cidr: 10.9.0.0/24", network=unknown), "c.yaml")
    assert "network.existing.cidr" in warned(cluster)["existing-lustre"]
    (message,) = problems(existing(", efa: true, cidr: 10.0.0.0/8"))
    assert "existing.cidr: a subnet has a range of /16 to /28, got 10.0.0.0/8" in message


@pytest.mark.parametrize("given", ["throughput: 40 GB/s", "existing: {id: fs-0123456789abcdef0, mount-name: fsx}"])
def test_reports_more_interfaces_than_any_type_has_at_their_key(given: str) -> None:
    text = bent("throughput: 40 GB/s", f"{given}, client: {{efa-interfaces: 999}}")
    (message,) = problems(text)
    assert "storage.lustre.client.efa-interfaces: must be 1 to 99, got 999" in message


def test_intelligent_tiering_has_no_tier() -> None:
    text = bent("throughput: 40 GB/s", "capacity: 500 TiB, storage-type: INTELLIGENT_TIERING, tier: 250 MB/s/TiB")
    (message,) = problems(text)
    assert "storage.lustre.tier: Intelligent-Tiering has no tier" in message
