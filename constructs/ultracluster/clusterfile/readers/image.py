"""How a cluster file names a machine image."""

from typing import Any

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import did_you_mean, text
from ultracluster.clusterfile.readers.nodes import architecture
from ultracluster.clusterfile.readers.values import ec2_id
from ultracluster.planning import Image
from ultracluster.planning.images import VERSION

_ARCHITECTURES = ("x86_64", "arm64")
_VERSIONS = ("driver", "cuda", "efa-installer")
_KEYS = ("id", "parameter", "architecture", *_VERSIONS)
_FORMS = (
    "ami-..., /name/of/a/parameter, or {id: ami-..., architecture: arm64, driver: 580.95.05, efa-installer: 1.44.0}"
)
_id = ec2_id("ami", "the id of an image")


def read_image(value: object) -> Image:
    """Read the `image` of a node group.

    Raises:
        ValueError: When it is none of the forms; a `FieldProblems` when parts of it are wrong.
    """
    if isinstance(value, dict):
        return _from_mapping(value)
    if not isinstance(value, str):
        raise ValueError(f"must be {_FORMS}; got {shown(value)}")
    if value.startswith("/"):
        return Image(parameter=value)
    return Image(id=_id(value))


def _from_mapping(value: dict[str, Any]) -> Image:
    problems = [
        Problem(
            path=(key,), at_key=True, message=f"unknown key; {did_you_mean(key, _KEYS)}allowed are {', '.join(_KEYS)}"
        )
        for key in value
        if key not in _KEYS
    ]
    readers: dict[str, Any] = {
        "id": _id,
        "parameter": lambda found: text(found, "the name of a parameter, /team/images/pcs"),
        "architecture": architecture,
        **dict.fromkeys(_VERSIONS, _version),
    }
    read: dict[str, Any] = {}
    for key, reader in readers.items():
        if key in value:
            try:
                read[key.replace("-", "_")] = reader(value[key])
            except ValueError as error:
                problems.append(Problem(path=(key,), message=str(error)))
    if not problems:
        try:
            return Image(**read)
        except ValueError as error:
            problems.append(Problem(path=(), message=str(error)))
    raise FieldProblems(problems)


def _version(value: object) -> str:
    # 13.0 without quotes is a number in YAML; how it was written is what is meant.
    written = getattr(value, "text", value) if isinstance(value, int | float) else value
    if isinstance(written, str) and VERSION.fullmatch(written):
        return written
    raise ValueError(f"must be a version, such as 1.44.0, got {shown(value)}")


def write_image(image: Image) -> str | dict[str, str]:
    """An image as a cluster file says it."""
    facts = {key: getattr(image, key.replace("-", "_")) for key in _KEYS}
    written = {key: value for key, value in facts.items() if value is not None}
    return next(iter(written.values())) if len(written) == 1 else written


def schema() -> dict[str, Any]:
    """The JSON schema of an `image`."""
    id = {"type": "string", "pattern": "^ami-[0-9a-f]{8}([0-9a-f]{9})?$"}
    parameter = {"type": "string", "pattern": "^/[A-Za-z0-9_./-]+$"}
    version = {"type": ["string", "number"]}
    return {
        "anyOf": [
            id,
            parameter,
            {
                "type": "object",
                "properties": {
                    "id": id,
                    "parameter": parameter,
                    "architecture": {"enum": list(_ARCHITECTURES)},
                    **dict.fromkeys(_VERSIONS, version),
                },
                "oneOf": [{"required": ["id"]}, {"required": ["parameter"]}],
                "additionalProperties": False,
            },
        ]
    }
