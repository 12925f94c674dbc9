"""The machine image of nodes."""

from typing import Annotated

from pydantic import ConfigDict, Field

from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.capacity import VERSION
from ultracluster.planning.capacity import Image as ImageValue

_FORMS = (
    "ami-..., /name/of/a/parameter, or {id: ami-..., architecture: arm64, driver: 580.95.05, efa-installer: 1.44.0}"
)
_ID = w.ec2_id("ami", "the id of an image")
_PARAMETER = w.parsed(
    lambda value: w.text(value, "the name of a parameter, /team/images/pcs"), r"^/[A-Za-z0-9_./-]+$", "/team/images/pcs"
)


def _version(value: object) -> str:
    return w.matching(w.written(value), VERSION, "a version, such as 1.44.0")


def _word(value: object) -> ImageValue:
    if not isinstance(value, str):
        raise ValueError(f"must be {_FORMS}; got {shown(value)}")
    return ImageValue(parameter=value) if value.startswith("/") else ImageValue(id=_ID.parse(value))


Version = Annotated[str, w.Word(_version, type=["string", "number"], example="1.44.0")]


class DescribedImage(Section):
    """An image, and what it contains."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [{"oneOf": [{"required": ["id"]}, {"required": ["parameter"]}]}]}
    )

    id: Annotated[str, _ID] | None = Field(default=None, description="Id of the image.")
    parameter: Annotated[str, _PARAMETER] | None = Field(
        default=None, description="Name of a parameter of Systems Manager that has the id."
    )
    architecture: t.Architecture | None = Field(default=None, description="Architecture of the image.")
    driver: Version | None = Field(default=None, description="Version of its NVIDIA driver.")
    cuda: Version | None = Field(default=None, description="Version of its CUDA.")
    efa_installer: Version | None = Field(default=None, description="Version of its EFA installer.")


def write_image(image: ImageValue) -> str | dict[str, str]:
    """Return an image as a cluster file writes it."""
    facts = {name.replace("_", "-"): getattr(image, name) for name in DescribedImage.model_fields}
    written = {key: value for key, value in facts.items() if value is not None}
    return next(iter(written.values())) if len(written) == 1 else written


Image = Annotated[
    ImageValue,
    Either(
        w.Word(_word, write_image, anyOf=[_ID.schema, _PARAMETER.schema]),
        DescribedImage,
        lambda image: ImageValue(**dict(image)),
    ),
]
