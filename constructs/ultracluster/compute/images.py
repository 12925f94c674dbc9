"""Machine images."""

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.hardware import pcs

#: Id of the warning about an image that moves.
UNPINNED_IMAGE = "ultracluster:unpinned-image"


def pcs_image(scope: Construct, architecture: str) -> str:
    """The id of the newest image that AWS makes ready for PCS: Ubuntu 24.04 with driver, EFA and Lustre client.

    It becomes a parameter of the stack, which CloudFormation resolves anew at every deployment: fine for a first try,
    while production pins an `ami-...` of its own, so that an update of the stack never changes the image of a node.
    A warning, `ultracluster:unpinned-image`, says so.

    Args:
        scope: Where the parameter belongs. A stack gets one parameter per architecture, however often this is called.
        architecture: `x86_64` or `arm64`.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/ (PCS-ready DLAMI; read 2026-11-20)
    """
    cdk.Validations.of(cdk.Stack.of(scope)).add_warning(
        UNPINNED_IMAGE,
        "each deployment takes the newest image, and replaces nodes when it has moved; pin one for production: "
        "image: ami-...",
    )
    return ssm.StringParameter.value_for_typed_string_parameter_v2(
        scope, pcs.AMI_PARAMETERS[architecture], ssm.ParameterValueType.AWS_EC2_IMAGE_ID
    )
