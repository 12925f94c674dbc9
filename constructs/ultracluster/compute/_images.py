"""Machine images."""

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.catalogue.ec2 import Architecture, ImageFamily, image_parameter
from ultracluster.planning import once, stack_of
from ultracluster.planning.capacity import Image
from ultracluster.rules import shared

_UNPINNED = shared("unpinned-image")


def newest_image(family: ImageFamily, architecture: Architecture, *, kubernetes: str | None = None) -> Image:
    """Return the newest image of AWS for a service: with driver, EFA and, for PCS, Lustre client.

    Use it to try a cluster. In production, pin an `ami-...`, so that a stack update never changes the image of a
    node.

    Args:
        family: Service of the image.
        architecture: CPU architecture.
        kubernetes: Version such as `1.34`, for the images of EKS.
    """
    return Image(parameter=image_parameter(family, architecture, kubernetes))


def image_id(scope: Construct, image: Image) -> str:
    """Return the id of an image, for a template.

    A parameter becomes a parameter of the stack, which CloudFormation resolves at every deployment. A parameter whose
    image changes adds the warning `ultracluster:unpinned-image`.

    Args:
        scope: Scope of the parameter. A stack has each parameter once.
        image: The image.
    """
    if image.id is not None:
        return image.id
    assert image.parameter is not None
    stack: cdk.Stack = stack_of(scope)
    ids = _ids(stack)
    if image.parameter in ids:
        return ids[image.parameter]
    if image.moves:
        cdk.Validations.of(stack).add_warning(
            _UNPINNED.warning_id,
            "each deployment uses the newest image, and replaces nodes if a newer one was released; pin one for "
            "production: image: ami-...",
        )
    ids[image.parameter] = ssm.StringParameter.value_for_typed_string_parameter_v2(
        scope, image.parameter, ssm.ParameterValueType.AWS_EC2_IMAGE_ID
    )
    return ids[image.parameter]


@once
def _ids(stack: cdk.Stack) -> dict[str, str]:
    """Return the ids of images by parameter, which all node groups of a stack share."""
    return {}
