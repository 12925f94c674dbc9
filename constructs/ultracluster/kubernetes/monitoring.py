"""What EKS's node monitoring agent must be told to watch these nodes.

As it comes, its DCGM agent tolerates no taint and wants amd64: it runs neither on tainted GPU nodes nor on GB200.
https://github.com/aws/eks-node-monitoring-agent, charts/eks-node-monitoring-agent/values.yaml (v1.7.0, read 2026-11-21)
"""

from typing import Any

from ultracluster.kubernetes.objects import by_type
from ultracluster.kubernetes.platform import Platform


def node_monitoring_values(platform: Platform) -> dict[str, Any]:
    """Configuration values of the add-on `eks-node-monitoring-agent`: DCGM on every GPU node, and there only."""
    types = sorted({group.instance_type.name for group in platform.gpu_groups})
    if not types:
        return {}
    return {"dcgmAgent": {"affinity": by_type(types), "tolerations": [{"operator": "Exists"}]}}
