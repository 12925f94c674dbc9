"""The machine image of nodes."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.capacity import KERNEL, VERSION, BuiltImage
from ultracluster.planning.capacity import Image as ImageValue

#: An existing image, one that the deployment builds, or AWS's for the service.
ImageOption = ImageValue | BuiltImage | Literal["aws"]

_DESCRIBED = "{id: ami-..., architecture: arm64, driver: 580.95.05, efa-installer: 1.44.0}"
_FORMS = f"build, aws, ami-..., /name/of/a/parameter, {{build: {{parent: ami-...}}}}, or {_DESCRIBED}"
_ID = w.ec2_id("ami", "the id of an image")
_PARAMETER = w.parsed(
    lambda value: w.text(value, "the name of a parameter, /team/images/pcs"), r"^/[A-Za-z0-9_./-]+$", "/team/images/pcs"
)


def _version(value: object) -> str:
    return w.matching(w.written(value), VERSION, "a version, such as 1.44.0")


def _existing(value: object) -> ImageValue:
    if not isinstance(value, str):
        raise ValueError(f"must be ami-..., /name/of/a/parameter, or {_DESCRIBED}; got {shown(value)}")
    return ImageValue(parameter=value) if value.startswith("/") else ImageValue(id=_ID.parse(value))


def _word(value: object) -> ImageOption:
    if value == "aws":
        return "aws"
    if value == "build":
        return BuiltImage()
    if isinstance(value, str) and value.startswith(("/", "ami-")):
        return _existing(value)
    raise ValueError(f"must be {_FORMS}; got {shown(value)}")


Version = Annotated[str, w.Word(_version, type=["string", "number"], example="1.44.0")]
Kernel = Annotated[str, w.pattern(KERNEL, "a kernel of Ubuntu for AWS, such as 7.0.0-1014-aws", "7.0.0-1014-aws")]


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
    kernel: Kernel | None = Field(default=None, description="Its kernel; of a parent, it must have a Lustre client.")


def write_image(image: ImageOption) -> str | dict[str, object]:
    """Return an image as a cluster file writes it."""
    if image == "aws":
        return image
    if isinstance(image, BuiltImage):
        return "build" if image.parent is None else {"build": {"parent": write_image(image.parent)}}
    facts = {name.replace("_", "-"): getattr(image, name) for name in DescribedImage.model_fields}
    written = {key: value for key, value in facts.items() if value is not None}
    return next(iter(written.values())) if len(written) == 1 else written


ExistingImage = Annotated[
    ImageValue,
    Either(
        w.Word(_existing, write_image, anyOf=[_ID.schema, _PARAMETER.schema]),
        DescribedImage,
        lambda image: ImageValue(**dict(image)),
    ),
]


class Build(Section):
    """Build of an image in the deployment."""

    parent: ExistingImage | None = Field(
        default=None,
        description="Image to build from, with Ubuntu 24.04, NVIDIA driver and Lustre client: its id, or a parameter "
        "below `/imagebuilder/` or `/aws/service/`. Default: AWS's newest Deep Learning Base OSS NVIDIA Driver GPU AMI "
        "when the image is built.",
    )


class Choice(DescribedImage):
    """An image, and what it contains; or `build`, which has a parent."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [{"oneOf": [{"required": [key]} for key in ("id", "parameter", "build")]}]}
    )

    build: Build | None = Field(default=None, description="The deployment builds the image, as described here.")


def _convert(choice: Choice) -> ImageOption:
    facts = {name: getattr(choice, name) for name in DescribedImage.model_fields}
    if choice.build is None:
        return ImageValue(**facts)
    if given := sorted(name for name, value in facts.items() if value is not None):
        raise ValueError(f"build has a parent, and no {given[0].replace('_', '-')}; write it under build.parent")
    return BuiltImage(parent=choice.build.parent)


Image = Annotated[
    ImageOption,
    Either(
        w.Word(_word, write_image, anyOf=[{"enum": ["build", "aws"]}, _ID.schema, _PARAMETER.schema], example="build"),
        Choice,
        _convert,
    ),
]
