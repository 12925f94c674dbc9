"""`ultracluster check`: rule files, read by promtool."""

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def promtool_missing(cluster: "ClusterFile") -> bool:
    """Return whether the file has rule files, and there is no promtool to read them."""
    return bool(cluster.observability.rules) and shutil.which("promtool") is None


def promtool_problems(cluster: "ClusterFile") -> list[str]:
    """Return what promtool reports of the rule files of the cluster file; empty without promtool."""
    promtool = shutil.which("promtool")
    problems = []
    for path in cluster.observability.rules if promtool else ():
        done = subprocess.run(
            [str(promtool), "check", "rules", "--lint=none", path], capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = " ".join((done.stderr or done.stdout).split())
            problems.append(f"{path}: promtool: {reason}")
    return problems
