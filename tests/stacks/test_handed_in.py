"""Network and storage that are handed to `UltraCluster`: wired, or refused with a sentence for each reason."""

import re
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from support import ROOT
from ultracluster import clusterfile, network, storage
from ultracluster.planning.lustre import LustreGoal, plan_lustre
from ultracluster.rules import Refusal
from ultracluster.stacks import ClusterStacks, UltraCluster, main
from ultracluster.stacks._names_in_use import mark, name_problems

FILE = ROOT / "examples" / "slurm-minimal.yaml"
HEAD = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes: {train: {type: p5en.48xlarge, count: 2}}
"""


def cluster(rest: str = "", *, name: str = "llama") -> clusterfile.ClusterFile:
    return clusterfile.loads(HEAD.replace("llama", name) + rest, "c.yaml")


def a_vpc(stack: cdk.Stack, id: str = "Vpc") -> ec2.Vpc:
    return ec2.Vpc(stack, id, max_azs=2)


def a_network(stack: cdk.Stack, vpc: ec2.Vpc, **given: Any) -> network.Network:
    subnet = vpc.private_subnets[0]
    return network.Network(
        **{
            "vpc": vpc,
            "training_subnet": subnet,
            "services_subnet": subnet,
            "nodes": given.pop("nodes", None) or network.EfaSecurityGroup(stack, "Nodes", vpc=vpc),
            **given,
        }
    )


def a_lustre(stack: cdk.Stack, vpc: ec2.Vpc, mb_per_s: int = 2_000, zone: int = 0) -> storage.LustreFileSystem:
    spec = plan_lustre(LustreGoal(throughput_mb_per_s=mb_per_s)).spec
    return storage.LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=vpc.private_subnets[zone], spec=spec)


def refusal(stack: cdk.Stack, file: Any, **given: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        UltraCluster(stack, "Cluster", cluster=file, **given)
    return caught.value


def ids(refused: Refusal) -> list[str]:
    return [message.rule.id for message in refused.messages]


def test_rejects_a_file_system_of_another_vpc(stack: cdk.Stack) -> None:
    here, other = a_vpc(stack), a_vpc(stack, "Other")
    given = storage.Storage(lustre=a_lustre(stack, other))
    refused = refusal(stack, cluster(), network=a_network(stack, here), storage=given)
    assert ids(refused) == ["other-vpc"]
    assert "storage.lustre must be in the VPC Stack/Vpc/Resource of network.vpc" in str(refused)


def test_rejects_a_file_system_beside_a_new_vpc(stack: cdk.Stack) -> None:
    refused = refusal(stack, cluster(), storage=storage.Storage(lustre=a_lustre(stack, a_vpc(stack))))
    assert ids(refused) == ["storage-new-vpc"]
    assert "pass network=Network(...)" in str(refused)


def test_rejects_an_efa_file_system_in_another_zone_whose_name_only_a_deployment_knows() -> None:
    stack = cdk.Stack()
    vpc = a_vpc(stack)
    given = storage.Storage(lustre=a_lustre(stack, vpc, 40_000, zone=1))
    refused = refusal(stack, cluster(), network=a_network(stack, vpc), storage=given)
    assert ids(refused) == ["lustre-efa-reach"]


def test_rejects_keys_that_contradict_the_file_system(stack: cdk.Stack) -> None:
    vpc = a_vpc(stack)
    file = cluster("storage: {lustre: {throughput: 400 GB/s, efa: true, backups: 7 d, mount: /data}}\n")
    given = storage.Storage(lustre=a_lustre(stack, vpc))
    refused = refusal(stack, file, network=a_network(stack, vpc), storage=given)
    assert ids(refused) == ["storage-contradicts", "storage-unused", "storage-contradicts"]
    efa, backups, throughput = refused.messages
    assert "storage.lustre.efa of the cluster file requires EFA on, and the file system" in efa
    assert "storage.lustre.backups of the cluster file has no effect" in backups
    assert "storage.lustre.throughput of the cluster file requires 400,000 MB/s" in throughput


def test_takes_a_file_system_that_fits_the_keys(stack: cdk.Stack) -> None:
    vpc = a_vpc(stack)
    file = cluster("storage: {lustre: {throughput: 1.5 GB/s, mount: /data}}\n")
    given = storage.Storage(lustre=a_lustre(stack, vpc))
    created = UltraCluster(stack, "Cluster", cluster=file, network=a_network(stack, vpc), storage=given)
    assert [mount.path for mount in created.storage.mounts] == ["/data"]


def test_rejects_keys_that_have_no_effect_on_a_home_or_a_bucket(stack: cdk.Stack) -> None:
    vpc = a_vpc(stack)
    home = storage.EfsHome(stack, "Home", vpc=vpc, subnets=vpc.private_subnets)
    bucket = storage.DataBucket(stack, "Data")
    file = cluster("storage: {home: {capacity: 1 TiB, mount: /home}, data-bucket: {existing: my-datasets}}\n")
    given = storage.Storage(home=home, data_bucket=bucket)
    refused = refusal(stack, file, network=a_network(stack, vpc), storage=given)
    assert ids(refused) == ["storage-unused", "storage-unused"]
    refused = refusal(
        cdk.Stack(), cluster("storage: {data-bucket: false}\n"), storage=storage.Storage(data_bucket=bucket)
    )
    assert ids(refused) == ["storage-contradicts"]


@pytest.mark.parametrize("key", ["cidr: 10.9.0.0/16", "training-subnet: 10.0.128.0/18"])
def test_rejects_keys_of_a_network_that_is_handed_in(stack: cdk.Stack, key: str) -> None:
    network = a_network(stack, a_vpc(stack))
    private = cluster("network: {internet: false}\naccept: {private-image: a mirror}\n")
    assert network.problems(private) == []
    refused = refusal(stack, cluster(f"network: {{{key}}}\n"), network=network)
    assert ids(refused) == ["network-unused"]
    assert f"network.{key.split(':')[0]} of the cluster file has no effect" in str(refused)


def test_rejects_a_security_group_without_the_rules_of_efa(stack: cdk.Stack) -> None:
    vpc = a_vpc(stack)
    group = ec2.SecurityGroup(stack, "Nodes", vpc=vpc)
    refused = refusal(stack, cluster(), network=a_network(stack, vpc, nodes=group))
    assert ids(refused) == ["efa-rules"]
    assert "network.nodes must allow all traffic from and to itself" in str(refused)


def test_rejects_a_public_subnet(stack: cdk.Stack) -> None:
    vpc = a_vpc(stack)
    refused = refusal(stack, cluster(), network=a_network(stack, vpc, training_subnet=vpc.public_subnets[0]))
    assert ids(refused) == ["public-subnet"]


def test_takes_a_cluster_network(stack: cdk.Stack) -> None:
    ranges = {"cidr": "10.0.0.0/16", "training_cidr": "10.0.128.0/18", "public_cidr": "10.0.0.0/24"}
    parsed: dict[str, Any] = {name: IPv4Network(range) for name, range in ranges.items()}
    given = network.ClusterNetwork(stack, "Network", zone="use2-az1", **parsed)
    created = UltraCluster(stack, "Cluster", cluster=cluster(), network=given)
    assert created.network.training_subnet is given.training_subnet
    far = network.ClusterNetwork(stack, "Far", zone="use2-az2", **parsed)
    with pytest.raises(Refusal, match=r"network must be in use2-az1, the zone of the cluster file, got use2-az2"):
        UltraCluster(stack, "Other", cluster=cluster(name="other"), network=far)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": {}}, "network must be a Network or an IClusterNetwork, got {}"),
        ({"storage": []}, r"storage must be a Storage, got \[\]"),
        ({"cluster": "c.yaml"}, r"cluster must be a ClusterFile, got 'c.yaml': pass clusterfile.load\('c.yaml'\)"),
        ({"cluster": {"name": "x"}}, "cluster must be a ClusterFile, got {'name': 'x'}"),
    ],
)
def test_rejects_other_types(stack: cdk.Stack, given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=f"Stack/Cluster: {message}"):
        UltraCluster(stack, "Cluster", **{"cluster": cluster(), **given})


def test_rejects_a_vpc_as_network(stack: cdk.Stack) -> None:
    vpc: Any = a_vpc(stack)
    with pytest.raises(Refusal, match=r"network must be a Network or an IClusterNetwork, got Vpc Stack/Vpc \["):
        UltraCluster(stack, "Cluster", cluster=cluster(), network=vpc)


def test_rejects_two_clusters_of_one_name_in_one_region() -> None:
    app = cdk.App()
    env = cdk.Environment(account="123456789012", region="us-east-2")
    UltraCluster(cdk.Stack(app, "A", env=env), "Cluster", cluster=cluster())
    refused = refusal(cdk.Stack(app, "B", env=env), cluster())
    assert ids(refused) == ["cluster-name-in-use"]
    elsewhere = cdk.Environment(account="210987654321", region="us-east-2")
    UltraCluster(cdk.Stack(app, "C", env=elsewhere), "Cluster", cluster=cluster())
    # The accounts of two stages are not known, and may differ.
    for stage in ("Dev", "Prod"):
        UltraCluster(cdk.Stack(cdk.Stage(app, stage), "Stack"), "Cluster", cluster=cluster())


def test_the_stacks_of_a_cluster_need_a_name_of_their_own() -> None:
    app = cdk.App()
    ClusterStacks(app, cluster=cluster(), account="123456789012")
    UltraCluster(cdk.Stack(app, "Unknown"), "Cluster", cluster=cluster())
    west = clusterfile.variant(cluster(), {"region": "us-west-2", "zone": "usw2-az1"})
    for stage, file, account in (
        (app, cluster(), "123456789012"),
        (cdk.Stage(app, "Same"), cluster(), "123456789012"),
        (app, west, "123456789012"),
    ):
        with pytest.raises(Refusal) as caught:
            ClusterStacks(stage, cluster=file, account=account)
        assert ids(caught.value) == ["cluster-name-in-use"]
    ClusterStacks(cdk.Stage(app, "Other"), cluster=cluster(), account="210987654321")


def test_two_clusters_of_an_app_cannot_share_collectors_or_dashboards() -> None:
    """EKS has one association for a service account: https://github.com/eksctl-io/eksctl/issues/7753."""
    guest = (ROOT / "examples" / "eks-own-cluster.yaml").read_text()
    grafana = "observability: {grafana: {kind: managed, workspace: g-0123456789}}\n"
    other = guest.replace("name: guest", "name: other")
    for first, second, rules in (
        (guest, other, ["collectors-in-use"]),
        (guest, other.replace("name: platform", "name: another"), []),
        (guest, other + "observability: {profile: none}\n", []),
        (HEAD + grafana, HEAD.replace("llama", "other") + grafana, ["grafana-in-use"]),
        (HEAD + grafana, HEAD.replace("llama", "other") + grafana.replace("89}", "80}"), []),
    ):
        app, env = cdk.App(), cdk.Environment(account="123456789012", region="us-east-2")
        mark(cdk.Stack(app, "First", env=env), clusterfile.loads(first, "first.yaml"))
        problems = name_problems(app, clusterfile.loads(second, "second.yaml"), env.account)
        assert [problem.rule.id for problem in problems] == rules


def test_main_names_two_files_of_one_name(tmp_path: Path) -> None:
    for name in ("dev", "prod"):
        (tmp_path / f"{name}.yaml").write_text(HEAD)
    with pytest.raises(SystemExit, match=re.escape("prod.yaml: name must differ from that of")):
        main(str(tmp_path / "dev.yaml"), str(tmp_path / "prod.yaml"))


def exports(stack: cdk.Stack) -> list[Any]:
    (volume,) = Template.from_stack(stack).find_resources("AWS::FSx::Volume").values()
    (export,) = volume["Properties"]["OpenZFSConfiguration"]["NfsExports"]
    return [client["Clients"] for client in export["ClientConfigurations"]]


def test_the_home_is_exported_to_the_range_of_the_given_vpc(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1, ip_addresses=ec2.IpAddresses.cidr("172.16.0.0/16"))
    UltraCluster(stack, "Cluster", cluster=cluster("storage: {home: {}}"), network=a_network(stack, vpc))
    assert exports(stack) == [{"Fn::GetAtt": [stack.get_logical_id(vpc.node.default_child), "CidrBlock"]}]  # type: ignore[arg-type]


def test_the_home_needs_the_range_of_an_imported_vpc(stack: cdk.Stack) -> None:
    attributes = {"vpc_id": "vpc-0123456789abcdef0", "availability_zones": ["us-east-2a"]}
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", private_subnet_ids=["subnet-1"], **attributes)  # type: ignore[arg-type]
    refused = refusal(stack, cluster("storage: {home: {}}"), network=a_network(stack, vpc))  # type: ignore[arg-type]
    assert ids(refused) == ["home-clients"]
    assert "vpc_cidr_block" in str(refused)
