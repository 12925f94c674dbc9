"""The app: reads one cluster file and builds its stacks. The only place that reads context and environment."""

import os
import sys

import aws_cdk as cdk

from stacks.cluster_stacks import ClusterStacks
from ultracluster import clusterfile, kubernetes

DEFAULT_CLUSTER = "examples/slurm-512-gpus.yaml"


def main() -> None:
    """Build the stacks of the cluster file that `-c cluster=FILE` names."""
    app = cdk.App()
    try:
        name = app.node.try_get_context("cluster") or DEFAULT_CLUSTER
        cluster = clusterfile.load(name, further=kubernetes.file_problems)
    except clusterfile.ClusterFileError as error:
        sys.exit(str(error))
    ClusterStacks(app, cluster=cluster, account=cluster.account or os.environ.get("CDK_DEFAULT_ACCOUNT"))
    app.synth()


if __name__ == "__main__":
    main()
