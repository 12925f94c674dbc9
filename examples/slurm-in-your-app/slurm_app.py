"""Slurm in an existing app: its VPC and database; nodes, file system and monitoring come from a cluster file."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_rds as rds
from constructs import Construct

from ultracluster import clusterfile, network, stacks

CLUSTER = Path(__file__).parent / "cluster.yaml"


class Research(cdk.Stack):
    """A VPC and a database, as they may exist already, and a Slurm cluster that reaches the database."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, env=cdk.Environment(region="us-east-2"))
        vpc = ec2.Vpc(self, "Vpc", max_azs=2)
        engine = rds.DatabaseInstanceEngine.postgres(version=rds.PostgresEngineVersion.VER_17)
        database = rds.DatabaseInstance(self, "Experiments", vpc=vpc, engine=engine)
        nodes = network.EfaSecurityGroup(self, "Nodes", vpc=vpc)
        # EFA does not cross zones: this subnet must be in the zone of the cluster file.
        subnet = vpc.private_subnets[0]
        place = network.Network(vpc=vpc, training_subnet=subnet, services_subnet=subnet, nodes=nodes, ready=(nodes,))
        self.cluster = stacks.UltraCluster(self, "Slurm", cluster=clusterfile.load(CLUSTER), network=place)
        database.connections.allow_default_port_from(nodes, "Jobs record their results")


if __name__ == "__main__":
    app = cdk.App()
    Research(app, "Research")
    app.synth()
