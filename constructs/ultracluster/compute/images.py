"""Machine images."""

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.hardware.images import ImageFamily, image_parameter
from ultracluster.hardware.instance_type import Architecture
from ultracluster.planning import Image

#: Id of the warning about an image that moves.
UNPINNED_IMAGE = "ultracluster:unpinned-image"


def newest_image(family: ImageFamily, architecture: Architecture, *, kubernetes: str | None = None) -> Image:
    """The newest image that AWS makes for a service: with driver, EFA and, for PCS, Lustre client.

    Fine for a first try, while production pins an `ami-...` of its own, so that an update of the stack never changes
    the image of a node.

    Args:
        family: Who the image is for.
        architecture: Of the CPU.
        kubernetes: Version such as `1.34`, for the images of EKS.
    """
    return Image(parameter=image_parameter(family, architecture, kubernetes))


def image_id(scope: Construct, image: Image) -> str:
    """The id of an image, for a template.

    A parameter becomes a parameter of the stack, which CloudFormation resolves anew at every deployment; one that names
    another image from time to time brings the warning `ultracluster:unpinned-image`.

    Args:
        scope: Where the parameter belongs. A stack gets each parameter once, however often this is called.
        image: The image.
    """
    if image.id is not None:
        return image.id
    if image.moves:
        cdk.Validations.of(cdk.Stack.of(scope)).add_warning(
            UNPINNED_IMAGE,
            "each deployment takes the newest image, and replaces nodes when it has moved; pin one for production: "
            "image: ami-...",
        )
    assert image.parameter is not None
    return ssm.StringParameter.value_for_typed_string_parameter_v2(
        scope, image.parameter, ssm.ParameterValueType.AWS_EC2_IMAGE_ID
    )
