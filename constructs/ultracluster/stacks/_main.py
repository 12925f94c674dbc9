"""The app of a cluster file. Only it reads context, environment and clock."""

import gc
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ultracluster import clusterfile
from ultracluster.startup import uncollected


def main(*files: str) -> None:
    """Build and synthesize the stacks of cluster files, and exit with their errors if they have any.

    The files are read and validated before the CDK is imported, so that a bad one is refused within half a second.

    Args:
        files: Cluster files. `-c cluster=FILE` takes the place of them all.
    """
    context = _context().get("cluster")
    names = [str(context)] if context else list(files)
    if not names:
        sys.exit("name a cluster file: -c cluster=FILE")
    try:
        now = datetime.now(UTC)
        clusters = [clusterfile.as_of(clusterfile.load(name), now) for name in names]
    except clusterfile.ClusterFileError as error:
        sys.exit(str(error))
    seen: dict[str, str] = {}
    for file, cluster in zip(names, clusters, strict=True):
        if cluster.name in seen:
            sys.exit(f"{file}: name must differ from that of {seen[cluster.name]} in one app, got {cluster.name!r}")
        seen[cluster.name] = file
    with uncollected():
        import aws_cdk as cdk

        from ultracluster.stacks._cluster_stacks import ClusterStacks
    app = cdk.App()
    for cluster in clusters:
        ClusterStacks(app, cluster=cluster, account=cluster.account or os.environ.get("CDK_DEFAULT_ACCOUNT"))
    app.synth()
    # Else Python visits all objects twice more at its end.
    gc.freeze()


def _context() -> dict[str, Any]:
    """Return the context of the CDK CLI, from the two places where `cdk.App` reads it: a variable, and a file of it.

    Source: `App.loadContext` of aws-cdk-lib 2.275.0, `core/lib/app.ts`, read 2026-11-24.
    """
    context: dict[str, Any] = json.loads(os.environ.get("CDK_CONTEXT_JSON") or "{}")
    overflow = os.environ.get("CONTEXT_OVERFLOW_LOCATION_ENV")
    return context | (json.loads(Path(overflow).read_text()) if overflow else {})
