"""Outputs of a cluster, the same in one stack and in several."""

from collections.abc import Iterable

import aws_cdk as cdk
from constructs import Construct

from ultracluster.network import Network
from ultracluster.observability import Observability
from ultracluster.orchestration import Output
from ultracluster.storage import OpenZfsHome, Storage, access_times


def write_outputs(scope: Construct, outputs: Iterable[Output]) -> dict[str, cdk.CfnOutput]:
    """Create CloudFormation outputs, and return them by id."""
    return {
        output.id: cdk.CfnOutput(scope, output.id, description=output.description, value=output.value)
        for output in outputs
    }


def network_outputs(network: Network) -> list[Output]:
    """Return the outputs of a network."""
    return [
        Output("VpcId", "VPC of the cluster", network.vpc.vpc_id),
        Output("TrainingSubnetId", "Subnet of the nodes and the file system", network.training_subnet.subnet_id),
        Output("NodesSecurityGroupId", "Security group of the nodes, for EFA", network.nodes.security_group_id),
    ]


def storage_outputs(storage: Storage) -> list[Output]:
    """Return the outputs of a storage."""
    outputs = []
    paths = {id(file_system): path for path, file_system in storage.file_systems.items()}
    if (lustre := storage.lustre) is not None:
        options = f"{access_times(lustre.relatime)},flock"
        command = f"sudo mount -t lustre -o {options} {lustre.device} {paths[id(lustre)]}"
        outputs += [
            Output("FileSystemId", "FSx for Lustre file system", lustre.file_system_id),
            Output("LustreDnsName", "DNS name of the file system", lustre.dns_name),
            Output("LustreMountName", "Mount name of the file system", lustre.mount_name),
            Output("MountCommand", "How another machine in the VPC mounts the file system", command),
        ]
        for group in lustre.connections.security_groups[:1]:
            text = "Security group of the file system"
            outputs.append(Output("LustreSecurityGroupId", text, group.security_group_id))
    if (home := storage.home) is not None:
        outputs += [
            Output("HomeFileSystemId", "File system of the home directories", home.file_system_id),
            # `diff` and `deploy` compare it, as they do the path in the command above.
            Output("HomeDirectory", "Where nodes mount the home directories", paths[id(home)]),
        ]
    if isinstance(home, OpenZfsHome):
        outputs += [
            # Volumes of Kubernetes name both.
            Output("HomeVolumeId", "Volume of the home directories", home.volume_id),
            Output("HomeDnsName", "DNS name of the home directories", home.dns_name),
        ]
    if (bucket := storage.data_bucket) is not None:
        outputs.append(Output("DataBucketName", "Bucket for datasets and checkpoints", bucket.bucket.bucket_name))
    return outputs


def observability_outputs(observability: Observability) -> list[Output]:
    """Return the outputs of the monitoring."""
    workspace = observability.workspace
    outputs = [
        Output("PrometheusWorkspaceId", "Workspace of the metrics", workspace.workspace_id),
        # `ultracluster render --kubernetes --outputs` writes it into objects.
        Output("RemoteWriteUrl", "URL that collectors write metrics to", workspace.remote_write_url),
        Output("AlertTopicArn", "Topic of alerts and alarms", observability.topic.topic_arn),
    ]
    if observability.dashboards is not None:
        description = "How to open the dashboards: an address, or a command and then http://localhost:3000"
        outputs.append(Output("Dashboards", description, observability.dashboards))
    return outputs
