"""Home directories in the cluster file: resources and errors."""

from typing import Any

import aws_cdk as cdk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.boot_scripts import boots
from support.clusterfile_data import GOOD, NO_METRICS, bent, problem, problems, read
from support.templates import resources_of, templates
from ultracluster import clusterfile
from ultracluster.boot._nfs_boot import NFS_CLIENT_UNIT
from ultracluster.clusterfile.sections._home import Home
from ultracluster.stacks import UltraCluster

LUSTRE = "lustre: {throughput: 40 GB/s}"
EXISTING = "{existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0CIDR}}"


def with_home(home: str) -> str:
    return bent(LUSTRE, f"{LUSTRE}, home: {home}")


def described(cluster: clusterfile.ClusterFile) -> clusterfile.Description:
    (description,) = (part for part in clusterfile.describe(cluster) if part.name == "home")
    return description


def wrong(home: str) -> str:
    return problem(LUSTRE, f"{LUSTRE}, home: {home}").partition("storage.home")[2]


def resources(text: str) -> dict[str, Any]:
    (result,) = (
        template["Resources"]
        for name, template in templates(clusterfile.loads(text + NO_METRICS, "c.yaml")).items()
        if name.endswith("-Storage")
    )
    assert isinstance(result, dict)
    return result


def of_type(resources: dict[str, Any], type: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in resources.values() if resource["Type"] == type]


def test_there_is_no_home_by_default() -> None:
    cluster = clusterfile.loads(GOOD, "c.yaml")
    assert cluster.storage.home is None
    assert cluster.home_size is None


def test_an_empty_home_has_two_servers_and_allows_the_vpc() -> None:
    cluster = clusterfile.loads(with_home("{}"), "c.yaml")
    size = cluster.home_size
    assert size is not None
    assert (size.deployment_type, size.capacity_gib, size.throughput_mb_per_s) == ("SINGLE_AZ_HA_2", 256, 160)
    assert cluster.storage.home == Home()
    assert Home().mount == "/home"
    assert Home().backups.seconds == 30 * 86_400


def test_the_home_of_a_region_without_the_second_generation_is_of_the_first() -> None:
    text = bent("us-east-2\nzone: use2-az1", "eu-west-3\nzone: euw3-az1", with_home("{}"))
    text = bent(", capacity: cr-0123456789abcdef0", "", bent(f"{LUSTRE}, ", "", text))
    size = clusterfile.loads(text, "c.yaml").home_size
    assert size is not None
    assert size.deployment_type == "SINGLE_AZ_HA_1"


@given(nodes=st.integers(1, 2_000))
def test_every_node_of_the_file_can_mount_the_home(nodes: int) -> None:
    text = bent("{type: p5en.48xlarge, count: 64", f"{{type: c7i.2xlarge, count: {nodes}", with_home("{}"))
    text = bent(", capacity: cr-0123456789abcdef0", "", bent(f"{LUSTRE}, ", "", text))
    cluster = clusterfile.loads(text, "c.yaml")
    assert cluster.home_size is not None
    assert cluster.home_size.most_clients >= cluster.instances == nodes + 1


def test_the_template_has_the_values_of_the_file() -> None:
    home = "{capacity: 512 GiB, throughput: 320 MB/s, deployment: SINGLE_AZ_2, backups: 7 d, clients: [10.0.128.0/17]}"
    resources_by_id = resources(with_home(home))
    (zfs,) = (
        resource
        for resource in of_type(resources_by_id, "AWS::FSx::FileSystem")
        if resource["FileSystemType"] == "OPENZFS"
    )
    settings = zfs["OpenZFSConfiguration"]
    assert zfs["StorageCapacity"] == 512
    assert (settings["DeploymentType"], settings["ThroughputCapacity"]) == ("SINGLE_AZ_2", 320)
    assert settings["AutomaticBackupRetentionDays"] == 7
    (volume,) = of_type(resources_by_id, "AWS::FSx::Volume")
    (export,) = volume["OpenZFSConfiguration"]["NfsExports"]
    assert [configuration["Clients"] for configuration in export["ClientConfigurations"]] == ["10.0.128.0/17"]


def test_the_home_is_encrypted_with_the_key_of_the_cluster() -> None:
    text = bent(f"storage: {{{LUSTRE}}}", "storage: {data-bucket: false, home: {}}")
    result = resources(text)
    (zfs,) = of_type(result, "AWS::FSx::FileSystem")
    assert result[zfs["KmsKeyId"]["Fn::GetAtt"][0]]["Type"] == "AWS::KMS::Key"


def test_the_nodes_reach_the_home_over_nfs_alone() -> None:
    rules = of_type(resources(with_home("{}")), "AWS::EC2::SecurityGroupIngress")
    assert [rule for rule in rules if rule.get("FromPort") == 2049 == rule.get("ToPort")]


def test_every_node_mounts_it_and_waits_for_the_client() -> None:
    cluster = clusterfile.loads(with_home("{mount: /home}"), "c.yaml")
    scripts = boots(cluster)
    assert len(scripts) == 2, "the login nodes, and the group"
    for _, mounts in scripts.values():
        assert any(f"x-systemd.after={NFS_CLIENT_UNIT}" in " ".join(line) for line in mounts)
    assert "HomeFileSystemId" in templates(cluster)["llama-Storage"]["Outputs"]


def test_the_home_of_a_cluster_in_a_local_zone_is_in_the_zone_of_the_services() -> None:
    text = bent("us-east-2\nzone: use2-az1", "us-west-2\nzone: usw2-lax1-az1", with_home("{}"))
    text = bent(", capacity: cr-0123456789abcdef0", "", bent(f"{LUSTRE}, ", "", text))
    text = bent("type: p5en.48xlarge", "type: c7i.2xlarge", text) + "network: {control-plane-zone: usw2-az1}\n"
    cluster = clusterfile.loads(text, "c.yaml")
    stacks = templates(cluster)
    (zfs,) = of_type(stacks["llama-Storage"]["Resources"], "AWS::FSx::FileSystem")
    subnets = stacks["llama-Network"]["Resources"]
    (subnet,) = (id for id in subnets if subnets[id]["Type"] == "AWS::EC2::Subnet" and id in str(zfs["SubnetIds"]))
    assert subnets[subnet]["Properties"]["CidrBlock"] == str(cluster.subnets.services)


def test_the_node_groups_wait_for_rules_and_volume_of_a_home_in_their_own_stack() -> None:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "One", env=cdk.Environment(region="us-east-2"))
    UltraCluster(stack, "Cluster", cluster=clusterfile.loads(with_home("{}"), "c.yaml"))
    result = resources_of(stack)
    (volume,) = (id for id, resource in result.items() if resource["Type"] == "AWS::FSx::Volume")
    groups = [resource for resource in result.values() if resource["Type"] == "AWS::PCS::ComputeNodeGroup"]
    assert len(groups) == 2
    for group in groups:
        assert volume in group["DependsOn"]


def test_check_prints_the_chosen_size_with_reasons() -> None:
    cluster = clusterfile.loads(with_home("{}"), "c.yaml")
    first, *reasons = described(cluster).lines
    assert first == "home: FSx for OpenZFS at /home, backups of 30 d"
    assert len(reasons) == 3
    assert described(cluster).facts == {
        "deployment_type": "SINGLE_AZ_HA_2",
        "capacity_gib": 256,
        "throughput_mb_per_s": 160,
        "most_clients": 2_048,
    }
    without = clusterfile.loads(GOOD, "c.yaml")
    assert (described(without).lines, described(without).facts) == ([], None)


def test_reports_a_value_that_fsx_does_not_offer_at_its_key() -> None:
    assert wrong("{capacity: 32 GiB}").startswith(".capacity: the capacity must be 64")
    assert wrong("{throughput: 100 MB/s}").startswith(".throughput: the throughput of")


def test_reports_all_values_that_fsx_does_not_offer_at_once() -> None:
    home = "{capacity: 1 GiB, throughput: 300 MB/s, deployment: SINGLE_AZ_1}"
    messages = problems(bent(LUSTRE, f"{LUSTRE}, home: {home}"))
    assert [text.partition("storage.home")[2] for text in messages] == [
        ".capacity: the capacity must be 64 to 524,288 GiB, got 1",
        ".throughput: the throughput of SINGLE_AZ_1 must be one of 64, 128, 256, 512, 1,024, 2,048, 3,072, 4,096 MB/s, "
        "got 300",
    ]


def test_a_deployment_that_the_region_does_not_sell_names_those_it_does() -> None:
    assert wrong("{deployment: SINGLE_AZ_HA_1}") == (
        ": SINGLE_AZ_HA_1 is not available in us-east-2; use one of SINGLE_AZ_1, SINGLE_AZ_2, SINGLE_AZ_HA_2"
    )


def test_rejects_a_home_in_two_zones() -> None:
    assert wrong("{deployment: MULTI_AZ_1}") == (
        ".deployment: a deployment of FSx for OpenZFS in one zone is one of SINGLE_AZ_1, SINGLE_AZ_HA_1, SINGLE_AZ_2, "
        "SINGLE_AZ_HA_2, got 'MULTI_AZ_1'"
    )


def test_a_server_that_is_too_small_for_the_nodes_names_one_that_is_not() -> None:
    text = bent("{type: p5en.48xlarge, count: 64", "{type: c7i.2xlarge, count: 1100", with_home("HOME"))
    text = bent(", capacity: cr-0123456789abcdef0", "", bent(f"{LUSTRE}, ", "", text))
    (line,) = problems(bent("HOME", "{throughput: 64 MB/s, deployment: SINGLE_AZ_1}", text))
    assert "a server of 64 MB/s supports 4,096 connections" in line
    assert line.endswith("so 1,024 clients, got 1,101; use 128 MB/s")


@pytest.mark.parametrize("span", ["36 h", "91 d"])
def test_backups_are_kept_for_whole_days_and_90_at_most(span: str) -> None:
    assert wrong(f"{{backups: {span}}}") == (
        f".backups: daily backups are kept for whole days, 1 d to 90 d, got {span}"
    )


def test_home_may_be_hidden_and_no_other_directory_of_the_system() -> None:
    for path in ("/home", "/home/people", "/shared"):
        assert read(LUSTRE, f"{LUSTRE}, home: {{mount: {path}}}").storage.home == Home(mount=path)
    for path in ("/etc", "/opt", "/tmp"):
        assert wrong(f"{{mount: {path}}}") == (
            f".mount: '{path}' is a directory of the system, which a mount would hide; use one like /home"
        )
    assert "must be a directory, such as /home" in wrong("{mount: home}")
    assert "/home' is a directory of the system" in problem(LUSTRE, "lustre: {throughput: 40 GB/s, mount: /home}")


@pytest.mark.parametrize(
    ("lustre", "home"), [("/fsx", "/fsx"), ("/home/fsx", "/home"), ("/data", "/data/home"), ("/home/a", "/home/a/b")]
)
def test_reports_a_mount_that_hides_another_at_both_keys(lustre: str, home: str) -> None:
    errors = problems(bent(LUSTRE, f"lustre: {{throughput: 40 GB/s, mount: {lustre}}}, home: {{mount: {home}}}"))
    rest = "one would hide the other; use two directories that do not contain each other"
    assert [line.partition(" ")[2] for line in errors] == [
        f"storage.lustre.mount: is {lustre}, and storage.home.mount is {home}: {rest}",
        f"storage.home.mount: is {home}, and storage.lustre.mount is {lustre}: {rest}",
    ]


def test_a_path_that_only_begins_like_another_is_no_collision() -> None:
    cluster = read(LUSTRE, "lustre: {throughput: 40 GB/s, mount: /home2}, home: {}")
    assert cluster.storage.lustre is not None


def test_an_existing_network_requires_clients() -> None:
    text = with_home("HOME") + f"network: {EXISTING}\n"
    (line,) = problems(bent("HOME", "{}", bent("CIDR", "", text)))
    assert line.endswith(
        "storage.home: the ranges of vpc-0123456789abcdef0 are not known here, and NFS allows clients by address; "
        "write those that nodes are in, for example clients: [10.0.0.0/16]"
    )
    (line,) = problems(bent("HOME", "{}", bent("CIDR", ", cidr: 10.9.0.0/18", text)))
    assert line.endswith("clients: [10.9.0.0/18]")
    named = bent("HOME", "{clients: [10.9.0.0/16, 100.64.0.0/16]}", bent("CIDR", ", cidr: 10.9.0.0/18", text))
    home = clusterfile.loads(named, "c.yaml").storage.home
    assert home is not None
    assert home.clients is not None
    assert len(home.clients) == 2


def test_clients_without_the_nodes_are_refused() -> None:
    assert wrong("{clients: [10.1.0.0/16]}") == (
        ".clients: holds no address of the VPC, 10.0.0.0/16, so no node could mount it; add 10.0.0.0/16"
    )


# The public subnet, where no node is; half of the training subnet.
@pytest.mark.parametrize("clients", ["10.0.0.0/24", "10.0.128.0/19"])
def test_clients_that_leave_nodes_out_are_refused(clients: str) -> None:
    assert wrong(f"{{clients: [{clients}]}}") == (
        ".clients: does not hold all addresses of the training subnet, 10.0.128.0/18, so nodes there could not mount "
        "it; add 10.0.128.0/18"
    )


@pytest.mark.parametrize("clients", ["10.0.128.0/19, 10.0.160.0/19", "10.0.0.0/16"])
def test_clients_cover_the_subnet_of_nodes_together(clients: str) -> None:
    assert clusterfile.loads(with_home(f"{{clients: [{clients}]}}"), "c.yaml").storage.home


def test_clients_cover_the_subnet_of_another_zone_and_an_existing_one() -> None:
    other = "nodes:\n  far: {type: c7i.large, count: 1, zone: use2-az3}\n"
    (line,) = problems(bent("nodes:\n", other, with_home("{clients: [10.0.128.0/18]}")))
    assert "does not hold all addresses of the subnet in use2-az3, 10.0." in line
    existing = f"network: {EXISTING}\n".replace("CIDR", ", cidr: 10.1.0.0/20")
    (line,) = problems(with_home("{clients: [10.1.0.0/24]}") + existing)
    assert "addresses of subnet-0123456789abcdef0, 10.1.0.0/20, so nodes" in line


def test_clients_cover_the_login_nodes_in_the_zone_of_the_controller() -> None:
    text = with_home("{clients: [10.0.128.0/17]}") + "network: {control-plane-zone: use2-az2}\n"
    (line,) = problems(text)
    assert "of the subnet in use2-az2, 10.0.1.0/24, so" in line
    accepted = text + "accept: {home-clients-subnet: the app hands its network in}\n"
    assert clusterfile.loads(accepted, "c.yaml").storage.home


def test_clients_are_1_to_25_ranges() -> None:
    assert wrong("{clients: []}") == ".clients: must hold 1 to 25 ranges of addresses, got 0"
    many = ", ".join(f"10.0.{number}.0/24" for number in range(26))
    assert wrong(f"{{clients: [{many}]}}") == ".clients: must hold 1 to 25 ranges of addresses, got 26"
    assert (
        wrong("{clients: 10.0.0.0/16}")
        == ".clients: must be a list, got '10.0.0.0/16'; write for example clients: [10.0.0.0/16]"
    )
    assert "did you mean 10.0.0.0/16?" in wrong("{clients: [10.0.0.1/16]}")


def test_reports_a_misspelt_key_and_a_home_without_a_value_with_the_remedy() -> None:
    assert "unknown key; did you mean capacity?" in wrong("{capcity: 100 GiB}")
    assert "write for example home: {}" in problem(LUSTRE, "home: ")
    assert "must be a mapping, got true; its keys are type, capacity" in wrong("true")
