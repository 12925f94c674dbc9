"""The app of a cluster file. Only it reads context and environment."""

import os
import sys

import aws_cdk as cdk

from ultracluster import clusterfile
from ultracluster.stacks._cluster_stacks import ClusterStacks


def main(*files: str) -> None:
    """Build and synthesise the stacks of cluster files, and exit with their errors if they have any.

    Args:
        files: Cluster files. `-c cluster=FILE` takes the place of them all.
    """
    app = cdk.App()
    context = app.node.try_get_context("cluster")
    names = [str(context)] if context else list(files)
    if not names:
        sys.exit("name a cluster file: -c cluster=FILE")
    try:
        clusters = [clusterfile.load(name) for name in names]
    except clusterfile.ClusterFileError as error:
        sys.exit(str(error))
    seen: dict[str, str] = {}
    for file, cluster in zip(names, clusters, strict=True):
        if cluster.name in seen:
            sys.exit(f"{file}: name must differ from that of {seen[cluster.name]} in one app, got {cluster.name!r}")
        seen[cluster.name] = file
    for cluster in clusters:
        ClusterStacks(app, cluster=cluster, account=cluster.account or os.environ.get("CDK_DEFAULT_ACCOUNT"))
    app.synth()
