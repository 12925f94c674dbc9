"""Images that a deployment builds, with the roles of Image Builder and the deletion of old images."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_imagebuilder as l1
from constructs import Construct

from ultracluster.security import acknowledge_wildcards

#: Tag of Image Builder's images; the lifecycle policy selects by it.
PIPELINE_TAG = "ultracluster:image-pipeline"
#: Tag of an AMI, with the value `true`, that the lifecycle policy must keep.
KEEP_TAG = "ultracluster:keep"
#: Days after which an image may be deleted, if no instance was launched from it for `UNUSED_DAYS`.
OLD_DAYS = 30
#: EC2 does not delete an AMI that was launched within these days: a group may have had no nodes for a while.
UNUSED_DAYS = 180
#: Newest images that stay, however old: the one in use, and the one before it for a rollback.
KEPT_IMAGES = 2

# Of the AWS managed policies AmazonSSMManagedInstanceCore and EC2InstanceProfileForImageBuilder, what the build of an
# AMI needs: the latter's version of 2026-02-12, https://docs.aws.amazon.com/aws-managed-policy/latest/reference/
# (read 2026-11-22). Left out: parameters of the account, disk images, marketplace components, KMS, container images,
# and `ec2messages`, for which the agent of the parent takes `ssmmessages`.
_SYSTEMS_MANAGER = (
    "ssm:DescribeAssociation",
    "ssm:DescribeDocument",
    "ssm:GetDocument",
    "ssm:ListAssociations",
    "ssm:ListInstanceAssociations",
    "ssm:PutInventory",
    "ssm:UpdateAssociationStatus",
    "ssm:UpdateInstanceAssociationStatus",
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
# Image Builder tags its AMIs and snapshots.
_BUILT = {"StringEquals": {"aws:ResourceTag/CreatedBy": "EC2 Image Builder"}}


def log_group_name(label: str) -> str:
    """Return the log group of a pipeline; Image Builder writes to names that begin with `/aws/imagebuilder/` only."""
    return f"/aws/imagebuilder/{label}"


def builder_role(scope: Construct, *, components: Sequence[l1.CfnComponent]) -> iam.Role:
    """Create the role of builder instances."""
    role, stack = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")), cdk.Stack.of(scope)
    logs = stack.format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group_name("*"),
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    # Image Builder downloads its own program, which runs the components.
    program = f"arn:{stack.partition}:s3:::ec2imagebuilder*"
    _allow(role, *_SYSTEMS_MANAGER, resources=["*"])
    _allow(role, "imagebuilder:GetComponent", resources=[component.attr_arn for component in components])
    _allow(role, "logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents", resources=[logs])
    _allow(role, "s3:GetObject", resources=[program])
    reason = (
        "Systems Manager's actions for an instance have no resource-level permission, AWS names the buckets of Image "
        "Builder, and Image Builder names log groups"
    )
    acknowledge_wildcards(role, ["*", program, logs], reason)
    return role


def build_at_deployment(scope: Construct, *, digest: str, recipe: str, infrastructure: str, label: str) -> l1.CfnImage:
    """Create an image, which CloudFormation builds and waits for, and the policy that deletes old ones.

    Another digest is another resource: CloudFormation builds it before it removes the old one from the stack. The old
    image is retained, because nodes run from it and launch from it until their own stack is updated.

    The output of the build is in the log group that Image Builder creates, `/aws/imagebuilder/` and the name of the
    recipe. A log group of the stack would be deleted with it when the build fails in the first deployment. See
    https://docs.aws.amazon.com/imagebuilder/latest/userguide/monitor-cwlogs.html (read 2026-11-28)
    """
    image = l1.CfnImage(
        scope,
        f"Image{digest}",
        image_recipe_arn=recipe,
        infrastructure_configuration_arn=infrastructure,
        enhanced_image_metadata_enabled=True,
        tags={PIPELINE_TAG: label},
    )
    image.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    l1.CfnLifecyclePolicy(
        scope,
        "Lifecycle",
        name=label,
        description=f"Deletes images of {label} that no node was launched from for {UNUSED_DAYS} days",
        execution_role=_lifecycle_role(scope, label).role_arn,
        resource_type="AMI_IMAGE",
        resource_selection=l1.CfnLifecyclePolicy.ResourceSelectionProperty(tag_map={PIPELINE_TAG: label}),
        policy_details=[
            l1.CfnLifecyclePolicy.PolicyDetailProperty(
                action=l1.CfnLifecyclePolicy.ActionProperty(
                    type="DELETE",
                    include_resources=l1.CfnLifecyclePolicy.IncludeResourcesProperty(amis=True, snapshots=True),
                ),
                filter=l1.CfnLifecyclePolicy.FilterProperty(
                    type="AGE", value=OLD_DAYS, unit="DAYS", retain_at_least=KEPT_IMAGES
                ),
                exclusion_rules=l1.CfnLifecyclePolicy.ExclusionRulesProperty(
                    amis=l1.CfnLifecyclePolicy.AmiExclusionRulesProperty(
                        last_launched=l1.CfnLifecyclePolicy.LastLaunchedProperty(unit="DAYS", value=UNUSED_DAYS),
                        tag_map={KEEP_TAG: "true"},
                    )
                ),
            )
        ],
    )
    return image


def _lifecycle_role(scope: Construct, label: str) -> iam.Role:
    """Create the role of a lifecycle policy: what AWS's EC2ImageBuilderLifecycleExecutionPolicy has for deletions."""
    role = iam.Role(scope, "LifecycleRole", assumed_by=iam.ServicePrincipal("imagebuilder.amazonaws.com"))
    stack = cdk.Stack.of(scope)
    amis, snapshots = (f"arn:{stack.partition}:ec2:{stack.region}::{kind}/*" for kind in ("image", "snapshot"))
    # ARNs of Image Builder have names in lower case.
    images = stack.format_arn(service="imagebuilder", resource="image", resource_name=f"{label.lower()}-*")
    _allow(role, "ec2:DeregisterImage", "ec2:DescribeImageAttribute", resources=[amis], conditions=_BUILT)
    _allow(role, "ec2:DeleteSnapshot", resources=[snapshots], conditions=_BUILT)
    _allow(role, "ec2:DescribeImages", "tag:GetResources", resources=["*"])
    _allow(role, "imagebuilder:DeleteImage", resources=[images])
    reason = "only images of Image Builder, by their tag or the name of the pipeline; ids are known after builds only"
    acknowledge_wildcards(role, ["*", amis, snapshots, images], reason)
    return role


def _allow(
    role: iam.Role, *actions: str, resources: Sequence[str], conditions: Mapping[str, object] | None = None
) -> None:
    role.add_to_principal_policy(iam.PolicyStatement(actions=list(actions), resources=resources, conditions=conditions))
