"""A pipeline that makes images for AWS PCS."""

import hashlib
import json
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_imagebuilder as l1
from constructs import Construct

from ultracluster import scripts
from ultracluster.hardware import image_software as software
from ultracluster.hardware.images import architecture_of, image_parameter
from ultracluster.hardware.instance_type import Architecture
from ultracluster.planning import Image

# What builds: the newest general type of each architecture with 16 vCPUs, for Slurm is compiled.
_BUILDERS: dict[Architecture, str] = {"x86_64": "c7i.4xlarge", "arm64": "c7g.4xlarge"}
# Components and recipes never change: another content is another name, so that an update makes a new one. See
# https://docs.aws.amazon.com/imagebuilder/latest/userguide/what-is-image-builder.html (read 2026-11-21)
_VERSION = "1.0.0"
_POLICIES = ("EC2InstanceProfileForImageBuilder", "AmazonSSMManagedInstanceCore")


class ImagePipeline(Construct):
    """EC2 Image Builder, set up to make an image for AWS PCS: by hand, or as often as a schedule says.

    The image has what AWS's Deep Learning AMI brings (NVIDIA driver, CUDA, Lustre client), and on top, in the versions
    of `hardware.image_software`: EFA, PCS agent, Slurm, Enroot, Pyxis for that Slurm, DCGM, what collects metrics; on
    arm64 IMEX too. An image that lacks one of them fails its check, and is not made. Without a pipeline the image that
    AWS provides works: it has neither Enroot nor Pyxis, and perhaps nothing that collects metrics.

        aws imagebuilder start-image-pipeline-execution --image-pipeline-arn ARN

    Nobody takes a new image by itself: name its id in the cluster file, `image: ami-...`, and in the next deployment.

    Args:
        architecture: Of the CPU; `arm64` for UltraServers.
        slurm_version: Release of Slurm that the cluster runs; Pyxis is built for it alone. Default: 25.11.
        subnet: Where images are built: private, with a way out to AWS, GitHub and, for Enroot's musl, to
            git.musl-libc.org on port 9418.
        security_groups: Groups of the instances that build; they need no rule that lets anybody in.
        parent: What the image is made of, of the same architecture. Default: the newest Deep Learning Base OSS NVIDIA
            Driver GPU AMI for Ubuntu 24.04, each time one is built.
        schedule: When one is built, such as `cron(0 0 ? * sun *)` in UTC. Default: when somebody asks for it.
        root_volume_gib: Size of the image's volume in GiB. Default: 100.

    Raises:
        ValueError: When AWS gives no installer for the release of Slurm, or the parent is of another architecture.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        architecture: Architecture,
        subnet: ec2.ISubnet,
        security_groups: Sequence[ec2.ISecurityGroup],
        slurm_version: str = "25.11",
        parent: Image | None = None,
        schedule: str | None = None,
        root_volume_gib: int = 100,
    ) -> None:
        super().__init__(scope, id)
        if slurm_version not in software.SLURM:
            known = ", ".join(software.SLURM)
            raise ValueError(f"{self.node.path}: AWS gives installers for Slurm {known}, got {slurm_version!r}")
        parent = parent or Image(parameter=image_parameter("dlami", architecture))
        said = parent.architecture or architecture_of(parent.parameter or "")
        if said not in (None, architecture):
            raise ValueError(f"{self.node.path}: the parent is for {said}, not for {architecture}")
        self._label = f"{cdk.Names.unique_resource_name(self, max_length=60, separator='-')}-{architecture}"
        region = cdk.Stack.of(self).region
        components = [
            self._component("Build", "build", "image-build.sh", [region, slurm_version]),
            self._component("Check", "test", "image-check.sh", [slurm_version]),
        ]
        recipe_parts = [parent.id or f"ssm:{parent.parameter}", root_volume_gib, *(one.name for one in components)]
        recipe = l1.CfnImageRecipe(
            self,
            "Recipe",
            name=f"{self._label}-{_digest(recipe_parts)}",
            version=_VERSION,
            parent_image=str(recipe_parts[0]),
            components=[
                l1.CfnImageRecipe.ComponentConfigurationProperty(component_arn=one.attr_arn) for one in components
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
        infrastructure = l1.CfnInfrastructureConfiguration(
            self,
            "Infrastructure",
            name=self._label,
            instance_profile_name=self._profile().instance_profile_name,
            instance_types=[_BUILDERS[architecture]],
            subnet_id=subnet.subnet_id,
            security_group_ids=[group.security_group_id for group in security_groups],
            terminate_instance_on_failure=True,
            instance_metadata_options=l1.CfnInfrastructureConfiguration.InstanceMetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
        )
        pipeline = l1.CfnImagePipeline(
            self,
            "Resource",
            name=self._label,
            image_recipe_arn=recipe.attr_arn,
            infrastructure_configuration_arn=infrastructure.attr_arn,
            enhanced_image_metadata_enabled=True,
            status="ENABLED",
            schedule=None
            if schedule is None
            else l1.CfnImagePipeline.ScheduleProperty(
                schedule_expression=schedule,
                pipeline_execution_start_condition="EXPRESSION_MATCH_ONLY",
            ),
        )
        #: What `aws imagebuilder start-image-pipeline-execution` takes.
        self.pipeline_arn: str = pipeline.attr_arn

    def _component(self, id: str, phase: str, script: str, arguments: list[str]) -> l1.CfnComponent:
        versions = _versions(arguments[-1])
        exports = "".join(f"export {name}='{value}'\n" for name, value in versions.items())
        command = f"{exports}set -- {' '.join(arguments)}\n{scripts.text(script)}"
        step = {"name": id, "action": "ExecuteBash", "inputs": {"commands": [command]}}
        document = {"schemaVersion": 1.0, "phases": [{"name": phase, "steps": [step]}]}
        return l1.CfnComponent(
            self,
            id,
            # The region is left out: a token says nothing.
            name=f"{self._label}-{id}-{_digest([versions, scripts.text(script)])}",
            version=_VERSION,
            platform="Linux",
            data=cdk.Stack.of(self).to_json_string(document),
        )

    def _profile(self) -> iam.InstanceProfile:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in _POLICIES],
        )
        for name in _POLICIES:
            cdk.Validations.of(role).acknowledge(
                cdk.Acknowledgment(
                    id=f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]",
                    reason="Image Builder's guide asks for this policy of AWS on every instance that builds an image "
                    "(set-up, IAM); it is on no node of a cluster",
                )
            )
        return iam.InstanceProfile(self, "InstanceProfile", role=role)


def _versions(slurm_version: str) -> dict[str, str]:
    slurm = software.SLURM[slurm_version]
    return {
        "AGENT_SHA256": software.PCS_AGENT.sha256,
        "AGENT_VERSION": software.PCS_AGENT.version,
        "DCGM_VERSION": software.DCGM,
        "EXPORTER_VERSION": software.DCGM_EXPORTER,
        "DRIVER": str(software.DRIVER),
        "EFA_SHA256": software.EFA.sha256,
        "EFA_VERSION": software.EFA.version,
        "ENROOT_COMMIT": software.ENROOT.commit,
        "ENROOT_REPOSITORY": software.ENROOT.repository,
        "ENROOT_VERSION": software.ENROOT.version,
        "PYXIS_COMMIT": software.PYXIS.commit,
        "PYXIS_REPOSITORY": software.PYXIS.repository,
        "SLURM_SHA256": slurm.sha256,
        "SLURM_VERSION": slurm.version,
    }


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]
