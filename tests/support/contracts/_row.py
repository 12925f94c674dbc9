"""One row of the contract."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import aws_cdk as cdk
from constructs import Construct

from support.contracts._world import World


@dataclass(frozen=True)
class No:
    """A manner that does not apply.

    Args:
        reason: Why, in one sentence for the table.
    """

    reason: str


@dataclass(frozen=True, kw_only=True)
class Connects:
    """`connections` with a default port.

    Args:
        default_port: The port as the CDK prints it, such as `2049` or `988`; `ALL TRAFFIC` for all.
    """

    default_port: str


@dataclass(frozen=True, kw_only=True)
class Grants:
    """The facade `grants`.

    Args:
        methods: Names of its methods. Each takes an `iam.IGrantable` and returns an `iam.Grant`.
    """

    methods: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An imported construct.

    Args:
        make: Import it: `Construct.from_..._attributes(scope, id, ...)`.
        interface: The protocol that both keep.
        connects: Why the imported construct has no `connections`, where the created one has them.
    """

    make: Callable[[Construct, str], Any]
    interface: type
    connects: No | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A construct, and how each manner is exercised on it.

    Args:
        make: Create it in a scope, with what it needs from a `World`.
        connects: Its default port.
        grants: Its `grants`.
        principal: It is an `IGrantable`: policies can be added to it.
        tags: CloudFormation types of which every resource must carry a tag of the construct.
        default_child: CloudFormation type of `node.default_child`.
        tokens: Create it with tokens (`world.token(...)`) for every text that only a deployment may know.
        imported: The imported construct of the same interface.
        metrics: It has `metrics`, whose methods return metrics of CloudWatch.
        alarms: It has `alarms`, whose `add` takes threshold, periods and action.
        uses: What else it is accepted as: a name, and what hands it to a construct of the CDK.
    """

    make: Callable[[Construct, str, World], Any]
    connects: Connects | No
    grants: Grants | No
    principal: bool | No
    tags: Collection[str] | No
    default_child: str | No
    tokens: Callable[[Construct, str, World], Any] | No
    imported: Imported | No
    metrics: bool | No = field(
        default=No("it has no such facade: use `cloudwatch.Metric` where AWS publishes metrics of it")
    )
    alarms: bool | No = field(
        default=No("it has no such facade: a `cloudwatch.Alarm` of the CDK takes any metric that AWS publishes of it")
    )
    uses: Mapping[str, Callable[[Any, cdk.Stack, World], object]] | No = field(
        default=No("the CDK passes no such resource around")
    )
