"""Lustre, a data bucket, metrics and alarms around existing EC2 instances."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster import observability, storage
from ultracluster.planning.lustre import LustreGoal, plan_lustre


class Workstations(cdk.Stack):
    """An instance, as it may exist already, with a file system that it mounts and a workspace that it writes to."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, env=cdk.Environment(region="us-east-2"))
        vpc = ec2.Vpc(self, "Vpc", max_azs=1)
        subnet = vpc.private_subnets[0]
        spec = plan_lustre(LustreGoal(throughput_mb_per_s=2000)).spec
        lustre = storage.LustreFileSystem(self, "Lustre", vpc=vpc, subnet=subnet, spec=spec)
        data = storage.DataBucket(self, "Data")
        storage.DataRepositoryAssociation(
            self, "Link", file_system=lustre, bucket=data, path="/data", import_events=["NEW", "CHANGED"]
        )
        metrics = observability.PrometheusWorkspace(self, "Metrics", alias="workstations")
        boot = ec2.UserData.for_linux()
        mount = f"mkdir -p /fsx && mount -t lustre -o noatime,flock {lustre.device} /fsx"
        boot.add_commands("dnf install -y lustre-client", mount)
        kind, image = ec2.InstanceType("g6e.12xlarge"), ec2.MachineImage.latest_amazon_linux2023()
        instance = ec2.Instance(self, "Gpu", vpc=vpc, instance_type=kind, machine_image=image, user_data=boot)
        lustre.allow_clients(instance)
        data.grants.read_write(instance)
        metrics.grants.write(instance.role)
        lustre.alarms.add_all(sns.Topic(self, "Alarms"), leave_out=["ExportLags", "ImportLags"])


if __name__ == "__main__":
    app = cdk.App()
    Workstations(app, "Workstations")
    app.synth()
