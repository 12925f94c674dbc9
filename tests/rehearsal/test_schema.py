"""Every resource type of the registry can be created: its id and its read-only properties fit its own schema."""

import re
from typing import Any

import pytest
from cfnlint.jsonschema import StandardValidator  # no py.typed

from cdk_rehearsal.registry import Registry, registry
from cdk_rehearsal.registry._registry import UnknownRegionError
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Environment
from cdk_rehearsal.rehearsal._values import Values

REGISTRY = registry("us-east-1")
# Of about 8,000: contradictory schemas (a pattern that the length forbids), or alternatives without a type.
MISFITS_ALLOWED = 12


def values(name: str, **properties: Any) -> Values:
    known = REGISTRY.find(name)
    assert known is not None
    blueprint = Blueprint(
        stack_name="llama-Storage",
        stack_id="",
        logical_id="Made",
        type=known,
        type_name=name,
        properties=properties,
        environment=Environment(account="123456789012", region="us-east-1"),
    )
    return Values(blueprint, 0)


def test_ids_and_read_only_properties_of_all_types_fit_their_schemas() -> None:
    checked, misfits = 0, []
    for name in REGISTRY.types:
        generated = values(name)
        assert generated.physical_id, name
        for path in (*generated.blueprint.type.read_only, *generated.blueprint.type.identifiers):
            schema = generated.blueprint.type.subschema(path)
            if schema is None:
                continue
            checked += 1
            validator = StandardValidator(generated.blueprint.type.body).evolve(schema=schema)
            if list(validator.iter_errors(generated.make(path, schema))):
                misfits.append((name, path))
    assert checked > 7_500
    assert len(misfits) <= MISFITS_ALLOWED, misfits


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("AWS::FSx::FileSystem", r"fs-[0-9a-f]{17}"),
        ("AWS::FSx::DataRepositoryAssociation", r"dra-[0-9a-f]{17}"),
        ("AWS::EC2::LaunchTemplate", r"lt-[0-9a-f]{17}"),
        ("AWS::EC2::CapacityReservation", r"cr-[0-9a-f]{17}"),
        ("AWS::EC2::PlacementGroup", r"llama-Storage-Made-[0-9A-Z]{12}"),
        ("AWS::PCS::Cluster", r"arn:aws:pcs:us-east-1:123456789012:cluster/pcs_[a-z0-9]{10}"),
        ("AWS::SageMaker::Cluster", r"arn:aws:sagemaker:us-east-1:123456789012:cluster/[a-z0-9]{12}"),
        ("AWS::Grafana::Workspace", r"g-[0-9a-f]{10}"),
    ],
)
def test_ids_look_as_on_aws(name: str, pattern: str) -> None:
    assert re.fullmatch(pattern, values(name).physical_id)


def test_a_name_in_the_template_is_the_id() -> None:
    assert values("AWS::EKS::Cluster", Name="mine").physical_id == "mine"
    assert values("AWS::EKS::Cluster", Name="mine").at(["Arn"]).endswith(":cluster/mine")


def test_an_arn_and_an_id_of_one_resource_agree() -> None:
    cluster = values("AWS::PCS::Cluster")
    assert cluster.at(["Arn"]).endswith(f"/{cluster.at(['Id'])}")


def test_the_endpoint_of_a_prometheus_workspace_has_its_id_and_ends_with_a_slash() -> None:
    workspace = values("AWS::APS::Workspace")
    id = workspace.at(["WorkspaceId"])
    assert re.fullmatch(r"ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", id)
    assert workspace.at(["Arn"]).endswith(f":workspace/{id}")
    assert workspace.at(["PrometheusEndpoint"]) == f"https://aps-workspaces.us-east-1.amazonaws.com/workspaces/{id}/"


def test_attributes_are_those_of_the_schema_and_no_others() -> None:
    lustre = REGISTRY.find("AWS::FSx::FileSystem")
    assert lustre is not None
    assert lustre.attributes == ["DNSName", "Id", "LustreMountName", "ResourceARN", "RootVolumeId"]
    assert lustre.attribute("LustreMountName") is not None
    assert lustre.attribute("MountName") is None
    database = REGISTRY.find("AWS::RDS::DBInstance")
    assert database is not None
    assert (database.attribute("Endpoint.Address") or {})["type"] == "string"


def test_text_is_taken_for_numbers_and_booleans_as_cloudformation_does() -> None:
    volume = {"DeviceName": "/dev/sda1", "Ebs": {"Encrypted": "true", "VolumeSize": "200"}}
    template = REGISTRY.find("AWS::EC2::LaunchTemplate")
    assert template is not None
    assert template.problems({"LaunchTemplateData": {"BlockDeviceMappings": [volume]}}) == []


def test_a_launch_template_of_32_interfaces_is_valid() -> None:
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "InterfaceType": "efa",
            "Groups": ["sg-0123456789abcdef0"],
        }
        for card in range(32)
    ]
    template = REGISTRY.find("AWS::EC2::LaunchTemplate")
    assert template is not None
    assert template.problems({"LaunchTemplateData": {"NetworkInterfaces": interfaces}}) == []


def test_all_problems_come_at_once() -> None:
    lustre = REGISTRY.find("AWS::FSx::FileSystem")
    assert lustre is not None
    assert len(lustre.problems({"Nonsense": 1, "StorageCapacity": "x", "DNSName": "y"})) == 5


def test_a_type_is_a_type_of_its_region() -> None:
    assert REGISTRY.find("AWS::PCS::Cluster") is not None
    assert registry("mx-central-1").find("AWS::PCS::Cluster") is None


def test_rejects_a_region_without_schemas() -> None:
    with pytest.raises(UnknownRegionError, match=r"no registry schemas for the Region mars-north-1; .* us-east-1"):
        Registry("mars-north-1")


def test_problems_are_where_cfn_lint_has_them() -> None:
    known = REGISTRY.find("AWS::EC2::LaunchTemplate")
    assert known is not None
    interfaces = [{"DeviceIndex": 0}, {"DeviceIndex": "first", "Ipv6Addresses": [{"Ipv6Address": []}]}]
    properties = {
        "LaunchTemplateData": {"NetworkInterfaces": interfaces, "CpuOptions": {"CoreCount": 1, "Threads": 2}},
        "TagSpecifications": [{"Tags": [{"Key": "a"}]}],
        "Colour": "red",
    }
    expected = {"/".join(map(str, error.path)) for error in StandardValidator(known.body).iter_errors(properties)}
    assert "LaunchTemplateData/NetworkInterfaces/1/Ipv6Addresses/0/Ipv6Address" in expected
    assert {problem.partition(": ")[0].removeprefix("#/") for problem in known.problems(properties)} == expected
