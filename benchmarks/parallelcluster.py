"""Build the template of a cluster of 64 p5.48xlarge with AWS ParallelCluster, for `synth.py --parallelcluster PYTHON`.

`scripts/install-benchmark` installs both into `.venv-bench`. With `--harness`, only what stands in for AWS starts, so
that its time is not counted as that of ParallelCluster.
"""

import json
import os
import sys
from unittest import mock

import boto3
import yaml  # type: ignore[import-untyped]  # no stubs
from moto import mock_aws

_IMAGE = "ami-0123456789abcdef0"


def configuration(subnet: str) -> str:
    """Return a queue with EFA and a placement group, a head node, and Lustre of 43,200 GiB."""
    compute = {"Name": "p5", "InstanceType": "p5.48xlarge", "MinCount": 64, "MaxCount": 64, "Efa": {"Enabled": True}}
    queue = {
        "Name": "train",
        "ComputeResources": [compute],
        "Networking": {"SubnetIds": [subnet], "PlacementGroup": {"Enabled": True}},
    }
    lustre = {"StorageCapacity": 43200, "DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 1000}
    storage = {"MountDir": "/fsx", "Name": "fsx", "StorageType": "FsxLustre", "FsxLustreSettings": lustre}
    return json.dumps(
        {
            "Region": "us-east-2",
            "Image": {"Os": "ubuntu2204", "CustomAmi": _IMAGE},
            "HeadNode": {"InstanceType": "c7i.2xlarge", "Networking": {"SubnetId": subnet}},
            "Scheduling": {"Scheduler": "slurm", "SlurmQueues": [queue]},
            "SharedStorage": [storage],
        }
    )


def build(text: str) -> int:
    """Build the template, and return its number of resources."""
    from pcluster.aws.aws_api import AWSApi
    from pcluster.aws.aws_resources import ImageInfo
    from pcluster.schemas.cluster_schema import ClusterSchema
    from pcluster.templates.cdk_builder import CDKTemplateBuilder

    disk = {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 40}}
    image = {"ImageId": _IMAGE, "RootDeviceName": "/dev/sda1", "BlockDeviceMappings": [disk], "Tags": []}
    image |= {"Architecture": "x86_64", "State": "available"}
    bucket = mock.MagicMock(artifact_directory="directory")
    bucket.name = "bucket"
    with mock.patch.object(type(AWSApi.instance().ec2), "describe_image", return_value=ImageInfo(image)):
        cluster = ClusterSchema(cluster_name="bench").load(yaml.safe_load(text))
        built = CDKTemplateBuilder().build_cluster_template(cluster_config=cluster, bucket=bucket, stack_name="bench")
    template = built[0] if isinstance(built, tuple) else built
    return len(template["Resources"])


def main() -> None:
    """Start the stand-in for AWS, and build the template unless only the harness is measured."""
    os.environ.update(AWS_DEFAULT_REGION="us-east-2", AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none")
    with mock_aws():
        ec2 = boto3.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        place = {"CidrBlock": "10.0.0.0/17", "AvailabilityZone": "us-east-2a"}
        subnet = ec2.create_subnet(VpcId=vpc, **place)["Subnet"]["SubnetId"]
        resources = 0 if "--harness" in sys.argv else build(configuration(subnet))
    print(json.dumps([resources, 0, []]))


if __name__ == "__main__":
    main()
