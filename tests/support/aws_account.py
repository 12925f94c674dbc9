"""An AWS account in the process: moto, and what moto lacks as answers that have the shape of AWS's.

boto3 validates each request, and `answer` each answer, against the service's own model. A call that the IAM policy does
not allow is refused.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator
from moto import mock_aws

ACCOUNT = "123456789012"
NOW = datetime.now(UTC)
# IAM's prefix, where it is not the name of boto3's client.
_PREFIXES = {"service-quotas": "servicequotas"}
_ACTIONS = {"s3:HeadBucket": "s3:ListBucket", "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration"}
#: Answers a call: None leaves it to moto.
Answer = Callable[[dict[str, Any]], dict[str, Any] | None]


def error(code: str, operation: str, message: str = "") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


class AwsAccount:
    """The account.

    Attributes:
        policy: IAM policy of the credentials; None allows all.
        answers: Answers by `service:Operation`, before moto's.
        calls: IAM actions of the calls so far.
    """

    def __init__(self) -> None:
        self.policy: dict[str, Any] | None = None
        self.answers: dict[str, Answer] = {}
        self.calls: list[str] = []
        # A client takes longer to create than to ask.
        self._clients: dict[tuple[str, str], Any] = {}

    def client(self, service: str, region: str) -> Any:
        """Return a client of boto3 that asks this account."""
        if (service, region) not in self._clients:
            self._clients[service, region] = self._create(service, region)
        return self._clients[service, region]

    def _create(self, service: str, region: str) -> Any:
        client = boto3.client(service, region_name=region, aws_access_key_id="a", aws_secret_access_key="b")
        params: dict[str, Any] = {}

        def keep(params: dict[str, Any], into: dict[str, Any] = params, **_: Any) -> None:
            into.clear()
            into.update(params)

        def answer(model: Any, **_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
            return self._answer(service, model, params)

        client.meta.events.register_first("provide-client-params.*.*", keep)
        client.meta.events.register_first("before-call.*.*", answer)
        return client

    def _answer(self, service: str, model: Any, params: dict[str, Any]) -> tuple[AWSResponse, dict[str, Any]] | None:
        name = f"{_PREFIXES.get(service, service)}:{model.name}"
        action = _ACTIONS.get(name, name)
        self.calls.append(action)
        if action != "sts:GetCallerIdentity" and not self._allows(action):
            raise error("AccessDenied", model.name)
        handler = self.answers.get(f"{service}:{model.name}")
        result = None if handler is None else handler(params)
        if result is None:
            return None
        report = ParamValidator().validate(result, model.output_shape)
        assert not report.has_errors(), report.generate_report()
        return AWSResponse("", 200, {}, None), result

    def _allows(self, action: str) -> bool:
        if self.policy is None:
            return True
        return any(
            any(fnmatchcase(action, allowed) for allowed in statement["Action"])
            for statement in self.policy["Statement"]
        )


@contextmanager
def aws_account() -> Iterator[AwsAccount]:
    """Yield an empty account."""
    with mock_aws():
        yield AwsAccount()


def reservation(**fields: Any) -> dict[str, Any]:
    """Return an active On-Demand Capacity Reservation, all of it free."""
    return {
        "CapacityReservationId": "cr-0123456789abcdef0",
        "InstanceType": "p5en.48xlarge",
        "AvailabilityZoneId": "use2-az1",
        "InstancePlatform": "Linux/UNIX",
        "Tenancy": "default",
        "TotalInstanceCount": 64,
        "AvailableInstanceCount": 64,
        "State": "active",
        "InstanceMatchCriteria": "targeted",
        "ReservationType": "default",
        "StartDate": NOW - timedelta(days=1),
        **fields,
    }


def quota(code: str, value: float, **fields: Any) -> dict[str, Any]:
    return {"Quota": {"QuotaCode": code, "QuotaName": f"quota {code}", "Value": value, **fields}}
