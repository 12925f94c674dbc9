"""A pipeline that builds images for AWS PCS."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Protocol, get_args

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_imagebuilder as l1
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from ultracluster.boot import SoftwareItem, install_program, scripts
from ultracluster.catalogue.ec2 import BUILDERS, Architecture, image_parameter
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.compute._arguments import IMAGE, Errors, read_image
from ultracluster.compute._image_builds import build_at_deployment, builder_role, log_group_name
from ultracluster.compute._template_checks import check_groups
from ultracluster.planning import arn_problem, as_list, checked, checked_except, checked_method, text_problem
from ultracluster.planning.capacity import VERSION, Image, check_parent_name
from ultracluster.rules import TOKEN, Refusal, error

# Components and recipes are immutable: new content has a new name, so that an update creates a new one. See
# https://docs.aws.amazon.com/imagebuilder/latest/userguide/what-is-image-builder.html (read 2026-11-21)
_COMPONENT_VERSION = "1.0.0"
_ARN_FORM = "arn:aws:imagebuilder:REGION:ACCOUNT:image-pipeline/NAME"
# Seconds for the installation of software, which compiles and may replace DCGM.
_SOFTWARE_LIMIT = 1800
# https://docs.aws.amazon.com/imagebuilder/latest/userguide/image-builder-cron.html (read 2026-11-23)
_SCHEDULE = re.compile(r"cron\([-A-Za-z0-9*?/,#L ]{9,}\)|rate\([0-9]+ [a-z]+\)", re.ASCII)
_SLURM = error("image-pipeline-slurm", "AWS has installers for some Slurm releases only.")


class ImagePipelineGrants:
    """Grants of a pipeline."""

    def __init__(self, pipeline_arn: str) -> None:
        self._arn = pipeline_arn

    @checked_method
    def start_execution(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to start a build."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["imagebuilder:StartImagePipelineExecution"], resource_arns=[self._arn]
        )


class IImagePipeline(IConstruct, Protocol):
    """Image pipeline, created by `ImagePipeline` or existing."""

    @property
    def pipeline_arn(self) -> str:
        """ARN of the pipeline."""

    @property
    def grants(self) -> ImagePipelineGrants:
        """Grants for principals that start builds."""


class _Base(cdk.Resource):
    #: ARN of the pipeline, for `aws imagebuilder start-image-pipeline-execution`.
    pipeline_arn: str

    @property
    def grants(self) -> ImagePipelineGrants:
        """Grants for principals that start builds."""
        return ImagePipelineGrants(self.pipeline_arn)


class ImagePipeline(_Base):
    """An EC2 Image Builder pipeline for images of AWS PCS, started by hand, by a schedule or by a deployment.

    The image has what AWS's Deep Learning AMI has (NVIDIA driver, CUDA, Lustre client), and in the versions of
    `catalogue.ec2`: EFA, PCS agent, Slurm, Enroot, Pyxis for that Slurm, DCGM and metrics collectors; on arm64 IMEX
    too. The build fails if one of them is missing. AWS's own image has neither Enroot nor Pyxis, and may lack metrics
    collectors.

        aws imagebuilder start-image-pipeline-execution --image-pipeline-arn ARN

    Nodes do not use an image of a pipeline by themselves: write its id into the cluster file, `image: ami-...`, and
    deploy. `add_image` builds one in the deployment, for node groups of the same app.

    Args:
        architecture: CPU architecture; `arm64` for UltraServers.
        slurm_version: Slurm release of the cluster; Pyxis is built for it alone. Default: 25.11.
        subnet: Subnet of the builds: private, with access over HTTPS to AWS, GitHub, NVIDIA's and Ubuntu's packages.
        security_groups: One group, or several, of the builder instances; they need no inbound rule.
        parent: Parent image of the same architecture: its id, or a parameter below `/imagebuilder/` or `/aws/service/`,
            but no token. Default: the newest Deep Learning Base OSS NVIDIA Driver GPU AMI for Ubuntu 24.04 at each
            build.
        schedule: Schedule of builds, such as `cron(0 0 ? * sun *)` in UTC. Default: none.
        root_volume_gib: Size of the image's volume in GiB. Default: 100.
        driver_below: Driver from which on an image is refused, such as `595` for GB200 nodes that communicate over EFA.
            Default: none.

    Raises:
        ValueError: If an argument has a wrong type, AWS has no installer for the Slurm release, the parent is of
            another architecture or cannot be read, or subnet and security groups are in different VPCs.
    """

    @checked_except("parent")
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        architecture: Architecture,
        subnet: ec2.ISubnet,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup],
        slurm_version: str = "25.11",
        parent: Image | str | None = None,
        schedule: str | None = None,
        root_volume_gib: int = 100,
        driver_below: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        errors = Errors()
        if architecture not in BUILDERS:
            errors.messages.append(f"architecture must be {' or '.join(BUILDERS)}, got {architecture!r}")
        if slurm_version not in software.SLURM:
            known = f"{', '.join(software.SLURM)}, for which AWS has installers"
            errors.messages.append(_SLURM(f"slurm_version must be {known}, got {slurm_version!r}"))
        errors.check(self)
        groups = as_list(security_groups)
        errors.messages += check_groups(groups, subnet)
        default = Image(parameter=image_parameter("dlami", architecture))
        base = errors.take(lambda: read_image(self, parent, "parent"), None) or default
        if schedule is not None:
            errors.messages += text_problem("schedule", schedule, _SCHEDULE, "such as cron(0 0 ? * sun *)")
        if driver_below is not None:
            errors.messages += text_problem("driver_below", driver_below, VERSION, "a version such as 595")
        if base.known_architecture not in (None, architecture):
            errors.messages.append(IMAGE(f"parent must be for {architecture}, got one for {base.known_architecture}"))
        errors.messages += map(IMAGE, check_parent_name(base))
        # A part of names that have a hash of it: a token has another text at each synthesis.
        if not _is_known(base.id or ""):
            errors.messages.append(TOKEN("parent must be known at synthesis, such as ami-..., got a token"))
        errors.check(self)
        self._architecture = architecture
        self._label = f"{cdk.Names.unique_resource_name(self, max_length=60, separator='-')}-{architecture}"
        region = cdk.Stack.of(self).region
        versions = _versions(slurm_version, driver_below)
        components = [
            self._component("Build", "build", scripts.text("image-build.sh"), [region, slurm_version], versions),
            self._component(
                "Software",
                "build",
                install_program(architecture),
                ["--slurm", slurm_version, *get_args(SoftwareItem)],
                {"ULTRACLUSTER_SOFTWARE_LIMIT": str(_SOFTWARE_LIMIT)},
            ),
            self._component("Check", "test", scripts.text("image-check.sh"), [slurm_version], versions),
        ]
        recipe_parts = [
            base.id or f"ssm:{base.parameter}",
            root_volume_gib,
            *(component.name for component in components),
        ]
        self._content = _digest(recipe_parts)
        self._recipe = l1.CfnImageRecipe(
            self,
            "Recipe",
            name=f"{self._label}-{self._content}",
            version=_COMPONENT_VERSION,
            parent_image=str(recipe_parts[0]),
            components=[
                l1.CfnImageRecipe.ComponentConfigurationProperty(component_arn=component.attr_arn)
                for component in components
            ],
            block_device_mappings=[
                l1.CfnImageRecipe.InstanceBlockDeviceMappingProperty(
                    device_name="/dev/sda1",
                    ebs=l1.CfnImageRecipe.EbsInstanceBlockDeviceSpecificationProperty(
                        delete_on_termination=True, encrypted=True, volume_size=root_volume_gib, volume_type="gp3"
                    ),
                )
            ],
        )
        #: Logs of the builds that are started by hand or by the schedule.
        self.log_group: logs.ILogGroup = logs.LogGroup(
            self,
            "LogGroup",
            log_group_name=log_group_name(self._label),
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        role = builder_role(self, components=components)
        self._infrastructure = l1.CfnInfrastructureConfiguration(
            self,
            "Infrastructure",
            name=self._label,
            instance_profile_name=iam.InstanceProfile(self, "InstanceProfile", role=role).instance_profile_name,
            instance_types=[BUILDERS[architecture].type],
            subnet_id=subnet.subnet_id,
            security_group_ids=[group.security_group_id for group in groups],
            terminate_instance_on_failure=True,
            instance_metadata_options=l1.CfnInfrastructureConfiguration.InstanceMetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
        )
        pipeline = l1.CfnImagePipeline(
            self,
            "Resource",
            name=self._label,
            image_recipe_arn=self._recipe.attr_arn,
            infrastructure_configuration_arn=self._infrastructure.attr_arn,
            logging_configuration=l1.CfnImagePipeline.PipelineLoggingConfigurationProperty(
                image_log_group_name=self.log_group.log_group_name,
                pipeline_log_group_name=self.log_group.log_group_name,
            ),
            enhanced_image_metadata_enabled=True,
            status="ENABLED",
            schedule=None
            if schedule is None
            else l1.CfnImagePipeline.ScheduleProperty(
                schedule_expression=schedule,
                pipeline_execution_start_condition="EXPRESSION_MATCH_ONLY",
            ),
        )
        self.pipeline_arn = pipeline.attr_arn

    def add_image(self) -> Image:
        """Build an image at deployment, and return it.

        The deployment waits for the build. The same content of the recipe never builds again; a changed one builds
        another image, and the image before it stays until a lifecycle policy deletes it: after 30 days, if no
        instance was launched from it for 180 days, and it is not one of the two newest, nor tagged
        `ultracluster:keep: true`. Deleting the stack keeps the images.
        """
        image = build_at_deployment(
            self,
            digest=self._content,
            recipe=self._recipe.attr_arn,
            infrastructure=self._infrastructure.attr_arn,
            label=self._label,
        )
        # The role must have its permissions, or the builder instance does not register.
        image.node.add_dependency(self.node.find_child("Role"))
        return Image(id=image.attr_image_id, architecture=self._architecture)

    @staticmethod
    @checked
    def from_image_pipeline_arn(scope: Construct, id: str, pipeline_arn: str) -> IImagePipeline:
        """Import an existing pipeline by its ARN, or a token of one.

        Raises:
            Refusal: If it is not the ARN of a pipeline.
        """
        if problems := list(arn_problem("pipeline_arn", pipeline_arn, _ARN_FORM)):
            raise Refusal(f"{scope.node.path}/{id}", problems)
        imported = _Base(scope, id, environment_from_arn=pipeline_arn)
        imported.pipeline_arn = pipeline_arn
        return imported

    def _component(
        self, id: str, phase: str, script: str, arguments: list[str], versions: dict[str, str]
    ) -> l1.CfnComponent:
        exports = "".join(f"export {name}='{value}'\n" for name, value in versions.items())
        command = f"{exports}set -- {' '.join(arguments)}\n{script}"
        step = {"name": id, "action": "ExecuteBash", "inputs": {"commands": [command]}}
        document = {"schemaVersion": 1.0, "phases": [{"name": phase, "steps": [step]}]}
        return l1.CfnComponent(
            self,
            id,
            # Not of the region, which is a token.
            name=f"{self._label}-{id}-{_digest([versions, script, *filter(_is_known, arguments)])}",
            version=_COMPONENT_VERSION,
            platform="Linux",
            data=cdk.Stack.of(self).to_json_string(document),
        )


def _versions(slurm_version: str, driver_below: str | None = None) -> dict[str, str]:
    slurm = software.SLURM[slurm_version]
    return {
        "AGENT_SHA256": software.PCS_AGENT.sha256,
        "AGENT_VERSION": software.PCS_AGENT.version,
        "DCGM_PAIRS": " ".join(f"{dcgm}={exporter}" for dcgm, exporter in software.DCGM_EXPORTERS.items()),
        "DRIVER": str(software.DRIVER),
        "DRIVER_BELOW": driver_below or "",
        "EFA_SHA256": software.EFA.sha256,
        "EFA_VERSION": software.EFA.version,
        "ENROOT_VERSION": software.ENROOT.version,
        "SLURM_SHA256": slurm.sha256,
        "SLURM_VERSION": slurm.version,
    }


def _is_known(argument: str) -> bool:
    return not cdk.Token.is_unresolved(argument)


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]
