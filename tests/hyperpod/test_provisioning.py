"""The older form of Slurm's configuration on HyperPod, beside that of the API."""

import json
from typing import Any

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk.assertions import Template
from moto import mock_aws

from support.contracts import World
from support.contracts.hyperpod import cluster, groups, stack
from ultracluster import hyperpod
from ultracluster.hyperpod import _copy_handler
from ultracluster.rules import Refusal

# The example of https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
# (read 2026-11-25), with a partition more and without its blank lines.
PUBLISHED = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller-machine",
    "login_group": "login-group",
    "worker_groups": [{"instance_group_name": "gpu-compute", "partition_name": "gpu-training"}],
    "fsx_dns_name": "fs-0abc123def456789.fsx.us-west-2.amazonaws.com",
    "fsx_mountname": "abcdefgh",
}


def scripts(scope: cdk.Stack, **more: Any) -> hyperpod.HyperPodScripts:
    given: dict[str, Any] = {"controller": "controller", "compute": {"train": "dev"}, **more}
    return hyperpod.HyperPodScripts(
        scope,
        "Scripts",
        scripts={"on_create.sh": "#!/bin/bash\n"},
        bucket_name="sagemaker-llama",
        provisioning=hyperpod.HyperPodProvisioning(**given),
    )


def nodes(**more: Any) -> list[hyperpod.HyperPodInstanceGroup]:
    created = []
    for group in groups():
        created.append(
            hyperpod.HyperPodInstanceGroup(
                name=group.name,
                instance_type=group.instance_type,
                count=group.count,
                script="on_create.sh",
                on_create=True,
                **more,
            )
        )
    return created


def test_the_file_is_the_published_one() -> None:
    mount = hyperpod.HyperPodMount(
        dns_name=str(PUBLISHED["fsx_dns_name"]), path="/fsx", mount_name=str(PUBLISHED["fsx_mountname"])
    )
    written = hyperpod.HyperPodProvisioning(
        controller="controller-machine", login="login-group", compute={"gpu-compute": "gpu-training"}, lustre=mount
    )
    assert json.loads(written.render()) == PUBLISHED


def test_the_file_has_values_of_the_deployment_and_a_place_beside_the_scripts() -> None:
    parent = stack()
    name = cdk.CfnParameter(parent, "DnsName").value_as_string
    lustre = hyperpod.HyperPodMount(dns_name=name, path="/fsx", mount_name="abcdefgh")
    created = scripts(parent, lustre=lustre, settings={"slurm_shared_directory": "/fsx"})
    cluster(parent, "llama", World(parent), groups=nodes(), scripts=created)
    template = Template.from_stack(parent)
    (copy,) = template.find_resources("Custom::HyperPodScripts").values()
    ((path, text),) = copy["Properties"]["Texts"].items()
    assert path == f"{created.sha256}/provisioning_parameters.json"
    assert {"Ref": "DnsName"} in text["Fn::Join"][1]
    (resource,) = template.find_resources("AWS::SageMaker::Cluster").values()
    written = resource["Properties"]
    assert {"Orchestrator", "NodeProvisioningMode"}.isdisjoint(written), "the file has the roles"
    assert not [group for group in written["InstanceGroups"] if "SlurmConfig" in group]


@mock_aws
def test_the_function_writes_the_file() -> None:
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="sagemaker-llama")
    _copy_handler.copy(
        {"Bucket": "sagemaker-llama", "Objects": {}, "Texts": {"sum/provisioning_parameters.json": "{}"}}
    )
    assert client.get_object(Bucket="sagemaker-llama", Key="sum/provisioning_parameters.json")["Body"].read() == b"{}"


@pytest.mark.parametrize(
    ("given", "arguments", "message"),
    [
        ({"compute": {"other": "dev"}}, {}, "provisioning names the group other, which the cluster does not have"),
        ({"compute": {"other": "dev"}}, {}, "provisioning has no role for the group train"),
        ({}, {"groups": groups()}, "the group train has a node_type, and provisioning has the roles"),
        (
            {},
            {"strategy": "Merge"},
            "provisioning is Slurm's older form: leave kubernetes, strategy, accounting and volume_key out",
        ),
    ],
)
def test_refuses_both_forms_at_once(given: dict[str, Any], arguments: dict[str, Any], message: str) -> None:
    parent = stack()
    with pytest.raises(Refusal) as refusal:
        cluster(parent, "llama", World(parent), **{"groups": nodes(), "scripts": scripts(parent, **given), **arguments})
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"compute": {}}, "compute must hold at least one group, got none"),
        ({"compute": {"controller": "dev"}}, "a group has one role, got 'controller' as controller and in compute"),
        ({"login": "controller"}, "a group has one role, got 'controller' as controller and login"),
        ({"lustre": hyperpod.HyperPodMount(dns_name="a", path="/a")}, "give its mount_name"),
        ({"openzfs": hyperpod.HyperPodMount(dns_name="a", path="/a", mount_name="b")}, "leave mount_name out"),
    ],
)
def test_refuses_roles_that_no_script_reads(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        scripts(stack(), **given)
    assert message in str(refusal.value)
