"""How a cluster file says which bucket holds datasets and checkpoints."""

from dataclasses import dataclass
from typing import Any

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import did_you_mean, flag, text
from ultracluster.clusterfile.readers.values import KEY_ARN, key_arn
from ultracluster.planning.existing_bucket import existing_bucket_problems

_KEYS = ("existing", "key")
_FORMS = "true, false, or a bucket of yours as {existing: my-datasets}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingBucket:
    """A bucket of yours.

    Args:
        name: Its name.
        key: ARN of the KMS key of its objects. None: S3's own encryption.
    """

    name: str
    key: str | None = None


def read_data_bucket(value: object) -> bool | ExistingBucket:
    """Read `data-bucket`.

    Raises:
        ValueError: When it is none of the forms; a `FieldProblems` when parts of it are wrong.
    """
    if isinstance(value, dict):
        return _from_mapping(value)
    try:
        return flag(value)
    except ValueError as error:
        raise ValueError(str(error).replace("must be true or false", f"must be {_FORMS}", 1)) from None


def _from_mapping(value: dict[str, Any]) -> ExistingBucket:
    problems = [
        Problem(
            path=(key,), at_key=True, message=f"unknown key; {did_you_mean(key, _KEYS)}allowed are {', '.join(_KEYS)}"
        )
        for key in value
        if key not in _KEYS
    ]
    if "existing" not in value:
        problems.append(Problem(path=("existing",), message="is missing; write for example existing: my-datasets"))
    read: dict[str, str] = {}
    for key, reader in (("existing", _name), ("key", key_arn)):
        if key in value:
            try:
                read[key] = reader(value[key])
            except ValueError as error:
                problems.append(Problem(path=(key,), message=str(error)))
    if problems:
        raise FieldProblems(problems)
    return ExistingBucket(name=read["existing"], key=read.get("key"))


def _name(value: object) -> str:
    found = text(value, "the name of a bucket, such as my-datasets")
    name = found.removeprefix("s3://").partition("/")[0]
    if name != found:
        raise ValueError(f"must be the name of a bucket alone, got {shown(found)}; write existing: {name}"[:300])
    if problems := existing_bucket_problems(found[:80]):
        raise ValueError(problems[0])
    return found


def write_data_bucket(bucket: bool | ExistingBucket) -> bool | dict[str, str]:
    """A data bucket as a cluster file says it."""
    if not isinstance(bucket, ExistingBucket):
        return bucket
    return {"existing": bucket.name, **({"key": bucket.key} if bucket.key else {})}


def schema() -> dict[str, Any]:
    """The JSON schema of `data-bucket`."""
    # Groups with names are Python's.
    key = KEY_ARN.pattern.replace("?P<region>", "").replace("?P<account>", "")
    return {
        "anyOf": [
            {"type": "boolean", "description": "Whether to make one."},
            {
                "type": "object",
                "description": "A bucket of yours.",
                "properties": {
                    "existing": {
                        "type": "string",
                        "pattern": "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
                        "description": "Its name.",
                    },
                    "key": {
                        "type": "string",
                        "pattern": f"^{key}$",
                        "description": "ARN of the KMS key of its objects. Default: S3's own encryption.",
                    },
                },
                "required": ["existing"],
                "additionalProperties": False,
            },
        ]
    }
