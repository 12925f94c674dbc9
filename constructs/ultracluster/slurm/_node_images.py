"""Images of Slurm nodes, which a deployment builds."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.catalogue.ec2 import Architecture
from ultracluster.clusterfile import ClusterFile, required_software
from ultracluster.compute import ImagePipeline
from ultracluster.network import Network
from ultracluster.orchestration import Output
from ultracluster.planning import checked
from ultracluster.planning.capacity import Image, built_image_parameter

_NAMES: Mapping[Architecture, str] = {"x86_64": "X86", "arm64": "Arm"}


class NodeImages(Construct):
    """Images that a cluster file names `build`, one for each architecture, and their ids in Parameter Store.

    Builder instances run in the subnet of the services. A deployment waits for the builds that it starts; see
    `ImagePipeline.add_image` for when it starts one, and for how old images end.

    Args:
        cluster: Cluster file.
        network: Network of the builder instances.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network) -> None:
        super().__init__(scope, id)
        group = ec2.SecurityGroup(
            self,
            "Builders",
            vpc=network.vpc,
            description=f"Instances that build images of {cluster.name}",
            allow_all_outbound=False,
        )
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS, GitHub, NVIDIA")
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(80), "Packages of Ubuntu, which are signed")
        #: Pipelines, by architecture.
        self.pipelines: dict[Architecture, ImagePipeline] = {}
        images: dict[Architecture, Image] = {}
        for architecture, built in cluster.built_images.items():
            pipeline = self.pipelines[architecture] = ImagePipeline(
                self,
                _NAMES[architecture],
                architecture=architecture,
                slurm_version=cluster.slurm.version,
                subnet=network.services_subnet,
                security_groups=group,
                parent=built.parent,
                driver_below=required_software(cluster).get("driver-below") if architecture == "arm64" else None,
            )
            image = images[architecture] = pipeline.add_image()
            pipeline.node.add_dependency(*network.ready)
            assert image.id is not None
            ssm.StringParameter(
                pipeline,
                "Parameter",
                parameter_name=built_image_parameter(cluster.name, architecture),
                string_value=image.id,
                description=f"Newest image for {architecture} nodes of {cluster.name}",
            )
        #: Images, by architecture.
        self.images: Mapping[Architecture, Image] = images

    @property
    def outputs(self) -> list[Output]:
        """Outputs of the images."""
        return [
            Output(f"Image{_NAMES[architecture]}", f"Newest image for {architecture} nodes", str(image.id))
            for architecture, image in self.images.items()
        ]
