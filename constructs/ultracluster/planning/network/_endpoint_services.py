"""AWS services that nodes call, as in the names of their interface endpoints after the region."""

# Services that EKS nodes and pods call: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html; Session
# Manager's two and the AMP workspace's are the last: https://docs.aws.amazon.com/systems-manager/latest/userguide/
# setup-create-vpc.html and https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html. FSx is
# for its CSI driver: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fsx-vpc-endpoints.html (all read 2026-11-21).
# S3 has a gateway endpoint, which costs nothing.
EKS_SERVICES = (
    "ec2",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "sts",
    "logs",
    "elasticloadbalancing",
    "autoscaling",
    "fsx",
    "ssm",
    "ssmmessages",
    "aps-workspaces",
)
# Services that Slurm nodes call: their registration, https://docs.aws.amazon.com/pcs/latest/userguide/
# vpc-interface-endpoints.html; Session Manager, State Manager and parameters; logs and metrics; containers; roles of
# jobs. Not ec2messages: the role of the nodes does not allow it, because the agent of Systems Manager uses ssmmessages
# alone from 3.3.40.0 on, https://github.com/aws/amazon-ssm-agent/releases/tag/3.3.40.0 (all read 2026-11-22)
PCS_SERVICES = (
    "pcs",
    # The network nodes of the instance, for the metrics of the topology.
    "ec2",
    "ssm",
    "ssmmessages",
    "logs",
    "monitoring",
    "aps-workspaces",
    "ecr.api",
    "ecr.dkr",
    "sts",
    "fsx",
)
# What calls Publish of the topic of the alerts: a node that terminates itself, and what applies the platform.
# https://docs.aws.amazon.com/sns/latest/dg/sns-internetwork-traffic-privacy.html (read 2026-11-22)
NOTICE_SERVICES = ("sns",)
# Where nodes read the password with which they search a directory of users:
# https://docs.aws.amazon.com/secretsmanager/latest/userguide/vpc-endpoint-overview.html (read 2026-11-23)
DIRECTORY_SERVICES = ("secretsmanager",)
