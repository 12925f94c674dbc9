"""ParallelCluster's own schema and validators, run in `.venv-parallelcluster`, which has nothing else of the tests.

Reads {"types": {NAME: DescribeInstanceTypes record}, "files": {NAME: {"cluster": NAME, "region": ..., "text": YAML}}},
and prints what pcluster reports of each file. Of AWS there are the given records, and a zone for each subnet: every
other call is refused, as without an account, and validators that need one are listed under `refused`.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]  # no stubs
from marshmallow import ValidationError
from pcluster.aws.aws_api import AWSApi
from pcluster.aws.aws_resources import InstanceTypeInfo
from pcluster.aws.common import AWSClientError
from pcluster.config.common import Resource
from pcluster.schemas.cluster_schema import ClusterSchema

# What validators report that catch the error of a call.
NO_ACCOUNT = re.compile("no account|Unable to locate credentials")


class Account:
    """An account that refuses every call but two: the descriptions of instance types and of subnets."""

    def __init__(self, types: dict[str, Any]) -> None:
        self._types = types

    def __getattr__(self, name: str) -> "Account":
        return self

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise AWSClientError("AnyCall", "no account")

    def get_instance_type_info(self, name: str) -> Any:
        if name not in self._types:
            raise AWSClientError("DescribeInstanceTypes", f"{name} is not in the dump")
        return InstanceTypeInfo(self._types[name])

    def get_subnets_az_mapping(self, subnets: list[str]) -> dict[str, str]:
        return {subnet: f"zone of {subnet}" for subnet in subnets}


def resources(resource: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of a configuration that have validators, each with its place."""
    yield path, resource
    for name, value in list(vars(resource).items()):
        for number, inner in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(inner, Resource):
                yield from resources(inner, f"{path}.{name}[{number}]" if isinstance(value, list) else f"{path}.{name}")


def answers(resource: Any, path: str, result: dict[str, Any]) -> None:
    """Run the validators of one part."""
    resource._validators = []
    # The first call of AWS ends a registration, so those of storage are registered by themselves too.
    for registration in ("_register_validators", "_register_storage_validators", "_validate_mount_dirs"):
        try:
            getattr(resource, registration, lambda *_: None)(*[None] * (registration == "_register_validators"))
        except AWSClientError:
            result["refused"].append(f"{path}: {registration}")
    for validator, arguments in resource._validators:
        try:
            failures = validator().execute(**arguments)
        except AWSClientError:
            result["refused"].append(f"{path}: {validator.__name__}")
            continue
        if any(NO_ACCOUNT.search(failure.message) for failure in failures):
            result["refused"].append(f"{path}: {validator.__name__}")
            continue
        result["run"].append(validator.__name__)
        for failure in failures:
            result[failure.level.name.lower()].append(f"{path}: {failure.message}")


def main() -> None:
    given = json.load(sys.stdin)
    account = Account(given["types"])
    AWSApi.instance = staticmethod(lambda: account)
    results = {}
    for name, file in given["files"].items():
        os.environ["AWS_DEFAULT_REGION"] = file["region"]
        result: dict[str, Any] = {"error": [], "warning": [], "info": [], "run": [], "refused": []}
        results[name] = result
        try:
            cluster = ClusterSchema(cluster_name=file["cluster"]).load(yaml.safe_load(file["text"]))
        except ValidationError as error:
            result["error"].append(f"schema: {error.messages}")
            continue
        for path, resource in resources(cluster):
            answers(resource, path, result)
    print(json.dumps(results))


if __name__ == "__main__":
    logging.disable()
    main()
