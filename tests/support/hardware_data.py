"""EC2's DescribeInstanceTypes response in moto: reference data of tests, which the library never reads."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import moto


@cache
def described() -> dict[str, dict[str, Any]]:
    """Every instance type by name; one item of the answer each."""
    path = Path(moto.__file__).parent / "ec2" / "resources" / "instance_types.json.gz"
    with gzip.open(path) as file:
        items: dict[str, dict[str, Any]] = json.load(file)
    return items


def with_efa() -> list[str]:
    """Names of the types that have EFA."""
    return sorted(name for name, item in described().items() if item["NetworkInfo"].get("EfaSupported"))
