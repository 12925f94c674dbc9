"""Arguments that constructs take in several types: L2 constructs, records and the strings of the cluster file."""

from collections.abc import Callable, Sequence
from typing import TypeVar, get_args

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.planning import known, shown
from ultracluster.planning.capacity import Capacity, Image, OnDemand, Spot, TargetedReservation
from ultracluster.rules import ARGUMENT, TOKEN, Refusal, Rule, shared

_T = TypeVar("_T")
IMAGE = shared("image")
PURCHASE = shared("purchase-option")
UNKNOWN_TYPE = shared("unknown-instance-type")
# Id of every `ec2.MachineImage.lookup` until the CDK CLI has looked it up.
_LOOKED_UP = "ami-1234"


class Errors:
    """Collects the errors of a constructor, so that all are raised at once."""

    def __init__(self, messages: Sequence[str] = ()) -> None:
        self.messages = list(messages)

    def take(self, create: Callable[[], _T], otherwise: _T, rule: Rule = ARGUMENT) -> _T:
        """Return what `create` returns; if it raises a ValueError, collect its messages and return `otherwise`."""
        try:
            return create()
        except Refusal as refusal:
            self.messages += refusal.messages
        except ValueError as problem:
            self.messages.append(rule(str(problem)))
        return otherwise

    def check(self, place: object) -> None:
        """Raise a Refusal with every message, each behind the path of the construct."""
        if self.messages:
            raise Refusal(place, self.messages)


def read_instance_type(value: InstanceType | ec2.InstanceType | str) -> InstanceType:
    """Return the record of an instance type.

    The CDK's own `InstanceType` is read by its text only: its parser does not support P6 (aws-cdk-lib 2.275.0).
    """
    if isinstance(value, InstanceType):
        return value
    name = value.to_string() if isinstance(value, ec2.InstanceType) else value
    if not isinstance(name, str):
        raise Refusal(
            "",
            "instance_type must be a name such as p5.48xlarge, an ec2.InstanceType or a record of the catalogue, got "
            f"{shown(value)}",
        )
    if cdk.Token.is_unresolved(name):
        raise Refusal("", TOKEN("instance_type must be known at synthesis, such as p5.48xlarge, got a token"))
    return look_up(name)


def read_capacity(value: object) -> Capacity:
    """Return a purchase option, of a purchase option, a reservation or a word of the cluster file."""
    reserved = getattr(value, "capacity", None)
    for option in (value, reserved):
        if isinstance(option, get_args(Capacity)):
            return option  # type: ignore[no-any-return]
    match value:
        case None | "on-demand":
            return OnDemand()
        case "spot":
            return Spot()
        case str() if value.startswith("cr-") or not known(value):
            return TargetedReservation(reservation_id=value)
    raise Refusal(
        "",
        "capacity must be on-demand, spot, cr-..., a CapacityReservation, or an option such as "
        f"compute.CapacityBlock(reservation_id='cr-...'), got {shown(value)}",
    )


def read_image(scope: Construct, value: object, argument: str = "image") -> Image | None:
    """Return an image, of an image, its id, or a machine image of the CDK."""
    if value is None or isinstance(value, Image):
        return value
    if isinstance(value, str):
        try:
            return Image(id=value)
        except ValueError as problem:
            raise Refusal("", f"{argument}: {problem}") from problem
    if isinstance(value, type) or not hasattr(value, "get_image"):
        raise Refusal("", f"{argument} must be ami-..., a compute.Image or an ec2.IMachineImage, got {shown(value)}")
    config: ec2.MachineImageConfig = value.get_image(scope)
    if config.os_type == ec2.OperatingSystemType.WINDOWS:
        raise Refusal("", IMAGE(f"{argument} must be of Linux, got one of Windows"))
    # A token, because only a machine image of the CDK may have the placeholder.
    id = config.image_id
    return Image(id=cdk.Fn.join("", [id]) if id == _LOOKED_UP else id)


def check_user_data(user_data: ec2.UserData | str | None) -> list[str]:
    """Return the error of user data for Windows, whose first line is a tag."""
    text = user_data.render() if isinstance(user_data, ec2.UserData) else user_data or ""
    if text.lstrip().lower().startswith(("<powershell>", "<script>")):
        return ["user_data must be for Linux, for example ec2.UserData.for_linux(), got commands for Windows"]
    return []
