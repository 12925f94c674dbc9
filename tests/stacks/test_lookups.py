"""Look-ups of the CDK: the first synthesis has placeholders, the second what the CDK CLI has read in the account."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ssm as ssm

from ultracluster import clusterfile, compute, eks, network, stacks, storage
from ultracluster.rules import Refusal

ENVIRONMENT = cdk.Environment(account="111122223333", region="us-east-2")
FILE = """
name: llama
region: us-east-2
zone: use2-az1
orchestrator: {orchestrator}
nodes: {{train: {{type: p5en.48xlarge, count: 2, capacity: cr-0123456789abcdef0}}}}
storage: {{lustre: {{throughput: 40 GB/s}}, home: {{}}}}
"""
ADMINS = "kubernetes: {admins: ['arn:aws:iam::111122223333:role/Admin']}\n"


def looked_up(stack: cdk.Stack, id: str = "Vpc") -> ec2.IVpc:
    return ec2.Vpc.from_lookup(stack, id, vpc_id="vpc-0123456789abcdef0")


def efa_storage(stack: cdk.Stack) -> None:
    vpc = looked_up(stack)
    nodes = network.EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    lustre = storage.LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=vpc.private_subnets[0], spec="40 GB/s")
    lustre.allow_clients(nodes, subnets=[vpc.private_subnets[0]])
    storage.EfsHome(stack, "Home", vpc=vpc, subnets=vpc.private_subnets)


def existing_storage(stack: cdk.Stack) -> None:
    vpc = looked_up(stack)
    existing = storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack,
        "Lustre",
        file_system_id="fs-0123456789abcdef0",
        mount_name="abcdefgh",
        efa=True,
        zone="us-east-2a",
        cidr="10.0.0.0/18",
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0"),
    )
    existing.allow_clients(network.EfaSecurityGroup(stack, "Nodes", vpc=vpc), subnets=[vpc.private_subnets[0]])


def zones_of_a_new_vpc(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    existing = storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack,
        "Lustre",
        file_system_id="fs-0123456789abcdef0",
        mount_name="abcdefgh",
        efa=True,
        zone="us-east-2a",
        cidr="10.0.0.0/18",
    )
    existing.allow_clients(network.EfaSecurityGroup(stack, "Nodes", vpc=vpc), subnets=[vpc.private_subnets[0]])


def images(stack: cdk.Stack) -> None:
    vpc = looked_up(stack)
    values: dict[str, ec2.IMachineImage | str] = {
        "Lookup": ec2.MachineImage.lookup(name="ultracluster-*"),
        "Cached": ec2.MachineImage.latest_amazon_linux2023(cached_in_context=True),
        "Parameter": ssm.StringParameter.value_from_lookup(stack, "/team/image"),
    }
    for id, image in values.items():
        compute.AutoScalingNodeGroup(
            stack,
            id,
            instance_type="p5en.48xlarge",
            count=1,
            vpc=vpc,
            subnet=vpc.private_subnets[0],
            image=image,
            capacity=ssm.StringParameter.value_from_lookup(stack, "/team/reservation"),
        )


def names(stack: cdk.Stack) -> None:
    vpc = looked_up(stack)
    name = ssm.StringParameter.value_from_lookup(stack, "/team/name")
    storage.ExpressBucket.from_express_bucket_attributes(stack, "Express", bucket_name=name)
    storage.EfsHome.from_efs_home_attributes(stack, "Home", file_system_id=name)
    storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Lustre", file_system_id=name, mount_name=name, efa=True, zone=name, cidr=vpc.vpc_cidr_block
    ).allow_clients(network.EfaSecurityGroup(stack, "Nodes", vpc=vpc), subnets=vpc.private_subnets)
    eks.EksCluster(stack, "Control", name=name, version="1.35", vpc=vpc, subnets=vpc.private_subnets, admins=[name])


def cluster(orchestrator: str) -> Callable[[cdk.Stack], None]:
    text = FILE.format(orchestrator=orchestrator) + (ADMINS if orchestrator == "kubernetes" else "")

    def create(stack: cdk.Stack) -> None:
        vpc = looked_up(stack)
        existing = network.ClusterNetwork.from_cluster_network_attributes(
            stack,
            "Network",
            zone="use2-az1",
            vpc=vpc,
            training_subnet=vpc.private_subnets[0],
            zone_subnets={"use2-az2": vpc.private_subnets[1]},
        )
        stacks.UltraCluster(stack, "Llama", cluster=clusterfile.loads(text, "llama.yaml"), network=existing)

    return create


def synthesize(create: Callable[[cdk.Stack], None], context: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return what the CDK CLI looks up after a synthesis, as it reads it in the manifest."""
    app = cdk.App(context=context, tree_metadata=False, analytics_reporting=False)
    create(cdk.Stack(app, "Training", env=ENVIRONMENT))
    manifest = Path(app.synth().directory, "manifest.json").read_text()
    missing: list[dict[str, Any]] = json.loads(manifest).get("missing", [])
    return missing


def answers(missing: list[dict[str, Any]], *, zone: str = "us-east-2a") -> dict[str, Any]:
    """Return the context that the CDK CLI adds: a VPC with subnets in two zones, and a value for each other look-up."""
    groups = [
        {
            "name": kind,
            "type": kind,
            "subnets": [
                {
                    "subnetId": f"subnet-0123456789abcd{group}{index}",
                    "cidr": f"10.0.{64 * index + 32 * group}.0/19",
                    "availabilityZone": zone,
                    "routeTableId": f"rtb-0123456789abcd{group}{index}",
                }
                for index, zone in enumerate((zone, "us-east-2c"))
            ],
        }
        for group, kind in enumerate(("Private", "Public"))
    ]
    vpc = {"vpcId": "vpc-0123456789abcdef0", "vpcCidrBlock": "10.0.0.0/16", "availabilityZones": []}
    values: dict[str, Any] = {
        "vpc-provider": {**vpc, "subnetGroups": groups},
        "availability-zones": [zone, "us-east-2c"],
        "ssm:account=111122223333:parameterName=/team/reservation": "cr-0123456789abcdef0",
    }
    return {
        entry["key"]: next(
            (value for name, value in values.items() if entry["key"].startswith(name)), "ami-0123456789abcdef0"
        )
        for entry in missing
    }


CASES: dict[str, Callable[[cdk.Stack], None]] = {
    "efa": efa_storage,
    "existing": existing_storage,
    "zones": zones_of_a_new_vpc,
    "images": images,
    "names": names,
}


@pytest.mark.parametrize("case", [*CASES, "slurm", "kubernetes"])
def test_the_first_synthesis_succeeds_and_names_what_is_missing(case: str) -> None:
    missing = synthesize(CASES.get(case) or cluster(case))
    assert missing
    if case != "names":  # No name fits a bucket, a file system and a cluster.
        assert synthesize(CASES.get(case) or cluster(case), answers(missing)) == []


@pytest.mark.parametrize("create", [existing_storage, zones_of_a_new_vpc])
def test_the_second_synthesis_checks_what_was_looked_up(create: Callable[[cdk.Stack], None]) -> None:
    missing = synthesize(create)
    with pytest.raises(Refusal, match="clients in us-east-2b can't use EFA to a file system in us-east-2a"):
        synthesize(create, answers(missing, zone="us-east-2b"))


def test_an_id_as_text_is_no_placeholder(stack: cdk.Stack) -> None:
    nodes = network.EfaSecurityGroup(stack, "Group", vpc=ec2.Vpc(stack, "Vpc", max_azs=1))
    with pytest.raises(Refusal, match="the id of an image is ami- and 17 hexadecimal digits, got 'ami-1234'"):
        compute.NodeGroupTemplate(
            stack, "Nodes", instance_type="p5en.48xlarge", security_groups=nodes, image="ami-1234"
        )
