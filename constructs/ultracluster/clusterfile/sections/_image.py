"""The machine image of nodes."""

from typing import Annotated, Any

from ultracluster.clusterfile._problems import Collector, shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._common import architecture
from ultracluster.planning.capacity import VERSION
from ultracluster.planning.capacity import Image as ImageValue

_VERSIONS = ("driver", "cuda", "efa-installer")
_FORMS = (
    "ami-..., /name/of/a/parameter, or {id: ami-..., architecture: arm64, driver: 580.95.05, efa-installer: 1.44.0}"
)
_ID = w.ec2_id("ami", "the id of an image")


def read_image(value: object) -> ImageValue:
    """Parse the `image` of a node group.

    Raises:
        ValueError: If it has no known form; a `FieldProblems` if parts of it are wrong.
    """
    if isinstance(value, dict):
        return _from_mapping(value)
    if not isinstance(value, str):
        raise ValueError(f"must be {_FORMS}; got {shown(value)}")
    return ImageValue(parameter=value) if value.startswith("/") else ImageValue(id=_ID.parse(value))


def _version(value: object) -> str:
    result = w.written(value)
    if isinstance(result, str) and VERSION.fullmatch(result):
        return result
    raise ValueError(f"must be a version, such as 1.44.0, got {shown(value)}")


_PARTS = {
    "id": _ID.parse,
    "parameter": lambda value: w.text(value, "the name of a parameter, /team/images/pcs"),
    "architecture": architecture,
    **dict.fromkeys(_VERSIONS, _version),
}


def _from_mapping(value: dict[str, Any]) -> ImageValue:
    errors = Collector()
    fields = w.parts(value, _PARTS, errors)
    errors.result(fields)
    image = errors.parse((), lambda known: ImageValue(**known), {k.replace("-", "_"): v for k, v in fields.items()})
    result: ImageValue = errors.result(image)
    return result


def write_image(image: ImageValue) -> str | dict[str, str]:
    """Return an image as a cluster file writes it."""
    facts = {key: getattr(image, key.replace("-", "_")) for key in _PARTS}
    written = {key: value for key, value in facts.items() if value is not None}
    return next(iter(written.values())) if len(written) == 1 else written


def _schema() -> dict[str, Any]:
    id = {"type": "string", "pattern": "^ami-[0-9a-f]{8}([0-9a-f]{9})?$"}
    parameter = {"type": "string", "pattern": "^/[A-Za-z0-9_./-]+$"}
    mapping = {
        "type": "object",
        "properties": {
            "id": id,
            "parameter": parameter,
            "architecture": {"enum": ["x86_64", "arm64"]},
            **{key: {"type": ["string", "number"]} for key in _VERSIONS},
        },
        "oneOf": [{"required": ["id"]}, {"required": ["parameter"]}],
        "additionalProperties": False,
    }
    return {"anyOf": [id, parameter, mapping]}


Image = Annotated[ImageValue, w.Word(read_image, write_image, **_schema())]
