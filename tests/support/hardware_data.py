"""EC2's DescribeInstanceTypes response in moto: reference data of tests, which the library never reads."""

from functools import cache

import general_types

described = cache(general_types.described)


def with_efa() -> list[str]:
    """Names of the types that have EFA."""
    return sorted(name for name, item in described().items() if item["NetworkInfo"].get("EfaSupported"))
