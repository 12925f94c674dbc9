"""Resources through moto's own service models, so that the AWS CLI sees them too.

A model of moto is used for making and deleting. For changing only where its own update keeps the resource: many
models of moto answer an update with a new resource, which CloudFormation would not do.
"""

import copy
import inspect
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from moto.core.common_models import CloudFormationModel

from cdk_rehearsal.rehearsal import _moto_deletes as moto_deletes
from cdk_rehearsal.rehearsal import _moto_existing as moto_existing
from cdk_rehearsal.rehearsal import _moto_zones as moto_zones
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Maker
from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._journal import Journal
from cdk_rehearsal.rehearsal._state import Resource
from cdk_rehearsal.rehearsal._values import Values

# The types that are created through moto. It has models for about eighty more, but those refuse valid templates (they
# raise KeyError for optional properties) or give ids of another form, as a trial of each showed on 2026-11-21; their
# registry schemas do better.
TYPES = frozenset(
    {
        "AWS::EC2::EIP",
        "AWS::EC2::FlowLog",
        "AWS::EC2::InternetGateway",
        "AWS::EC2::LaunchTemplate",
        "AWS::EC2::NatGateway",
        "AWS::EC2::Route",
        "AWS::EC2::RouteTable",
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::Subnet",
        "AWS::EC2::VPC",
        "AWS::EC2::VPCEndpoint",
        "AWS::EC2::VPCGatewayAttachment",
        "AWS::ECR::Repository",
        "AWS::IAM::InstanceProfile",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::KMS::Alias",
        "AWS::KMS::Key",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SSM::Parameter",
    }
)
# Those whose moto update (5.2.5, read line by line) changes the resource in place and keeps its physical id. All
# others keep what they were made with in moto; the rehearsal's own record carries the change.
_UPDATED_BY_MOTO = frozenset(
    {
        "AWS::EC2::LaunchTemplate",
        "AWS::ECR::Repository",
        "AWS::IAM::Policy",
        "AWS::KMS::Alias",
        "AWS::SSM::Parameter",
    }
)
# Optional properties that moto's model cannot do without; lacking them, the resource is made from its schema.
_NEEDED = {
    "AWS::EC2::NatGateway": "SubnetId",
    "AWS::EC2::Subnet": "CidrBlock",
    "AWS::EC2::VPC": "CidrBlock",
}
# Longest names that the schema lacks: https://docs.aws.amazon.com/IAM/latest/UserGuide/
# reference_iam-quotas.html, https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html,
# read 2026-11-21.
_NAME_LIMITS = {"IAM": 64, "S3": 63}


class MotoDriver:
    """Creates, updates and deletes resources through moto's models."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def can_make(self, blueprint: Blueprint) -> bool:
        """Check that moto can make what a blueprint describes."""
        needed = _NEEDED.get(blueprint.type_name)
        return blueprint.type_name in TYPES and (needed is None or needed in blueprint.properties)

    def create(self, blueprint: Blueprint, generation: int) -> Resource:
        model_class = _model(blueprint.type_name)
        body = _body(blueprint)
        name = _give_name(body["Properties"], model_class, blueprint, _name(blueprint, generation))
        e = blueprint.environment
        for known in moto_existing.stand_in(blueprint):
            self._journal.stand_in(known)
        if zone := moto_zones.name_zone(blueprint.type_name, body["Properties"], e.region):
            self._journal.stand_in(zone)
        model = model_class.create_from_cloudformation_json(
            name,
            body,
            e.account,
            e.region,
            LogicalId=blueprint.logical_id,
            StackId=blueprint.stack_id,
            ResourceType=blueprint.type_name,
        )
        physical_id = getattr(model, "physical_resource_id", None)
        if not physical_id:
            raise ResourceError(f"moto made no {blueprint.type_name}")
        return Resource(
            blueprint=blueprint,
            physical_id=str(physical_id),
            maker=Maker.MOTO,
            generation=generation,
            model=model,
        )

    def update(self, old: Resource, blueprint: Blueprint) -> Resource:
        if blueprint.type_name not in _UPDATED_BY_MOTO:
            return replace(old, blueprint=blueprint)
        model_class = _model(blueprint.type_name)
        e = blueprint.environment
        body = _body(blueprint)
        _give_name(body["Properties"], model_class, blueprint, old.physical_id)
        model = model_class.update_from_cloudformation_json(
            original_resource=old.model,
            new_resource_name=old.physical_id,
            cloudformation_json=body,
            account_id=e.account,
            region_name=e.region,
        )
        if str(getattr(model, "physical_resource_id", "")) != old.physical_id:
            raise ResourceError(f"moto's update of {blueprint.type_name} gave another resource than {old.physical_id}")
        return replace(old, blueprint=blueprint, model=model)

    def delete(self, resource: Resource) -> None:
        if moto_deletes.delete(resource):
            return
        e = resource.blueprint.environment
        method = getattr(resource.model, "delete", None)
        if method is not None and _takes_place(method):
            method(e.account, e.region)
            return
        _model(resource.blueprint.type_name).delete_from_cloudformation_json(
            resource.physical_id, _body(resource.blueprint), e.account, e.region
        )

    def attribute(self, resource: Resource, name: str) -> Any:
        """Value that moto has for `Fn::GetAtt`, or None where moto lacks the attribute."""
        if zone := moto_zones.zone_attribute(resource.model, resource.blueprint.type_name, name):
            return zone
        try:
            return resource.model.get_cfn_attribute(name)
        except Exception as error:
            # Imported on use, as moto does: it imports the models of every service.
            from moto.cloudformation.exceptions import UnformattedGetAttTemplateException

            if isinstance(error, UnformattedGetAttTemplateException | NotImplementedError):
                return None
            raise


@cache
def _model(type_name: str) -> Any:
    """Return the model of a type. moto's own list imports every service, which takes a second."""
    import_module(f"moto.{type_name.split('::')[1].lower()}.models")
    return next(model for model in CloudFormationModel.__subclasses__() if model.cloudformation_type() == type_name)


def _body(blueprint: Blueprint) -> dict[str, Any]:
    # moto's models write into what they are given.
    properties = copy.deepcopy(blueprint.properties)
    match blueprint.type_name:
        case "AWS::EC2::NatGateway":
            properties.setdefault("AllocationId", None)
        case "AWS::EC2::VPCEndpoint":
            properties.setdefault("VpcEndpointType", "Gateway")
        case "AWS::KMS::Key":
            properties.setdefault("KeyPolicy", None)
            tags = properties.get("Tags", [])
            properties["Tags"] = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in tags]
        case "AWS::Logs::LogGroup":
            # The model takes the values of each tag in their order.
            properties["Tags"] = [{"Key": tag["Key"], "Value": tag["Value"]} for tag in properties.get("Tags", [])]
        case "AWS::EC2::SecurityGroup":
            # A rule for all traffic needs no ports; the model requires them.
            for rule in [*properties.get("SecurityGroupIngress", []), *properties.get("SecurityGroupEgress", [])]:
                rule.setdefault("FromPort", -1)
                rule.setdefault("ToPort", -1)
        case "AWS::SSM::Parameter":
            properties["Tags"] = [{"Key": key, "Value": value} for key, value in properties.get("Tags", {}).items()]
    return {"Type": blueprint.type_name, "Properties": properties}


def _give_name(properties: dict[str, Any], model_class: Any, blueprint: Blueprint, name: str) -> str:
    """Return the resource's name: the template's own, or `name`, which then is put into the properties too."""
    key = model_class.cloudformation_name_type() or ""
    if key in blueprint.type.property_names:
        properties.setdefault(key, name)
    return str(properties.get(key, name))


def _name(blueprint: Blueprint, generation: int) -> str:
    service = blueprint.type_name.split("::")[1]
    name = Values(blueprint, generation).name_of(_NAME_LIMITS.get(service, 128))
    return name.lower() if service in ("S3", "ECR") else name


def _takes_place(method: Any) -> bool:
    """Check that a model's `delete` takes account and region, as moto's own engine calls it."""
    try:
        parameters = list(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return False
    return len(parameters) == 2 and parameters[0].startswith("account") and parameters[1].startswith("region")
