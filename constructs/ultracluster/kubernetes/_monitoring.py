"""Settings of EKS's node monitoring agent for these nodes.

By default, its DCGM agent tolerates no taint and requires amd64: it runs neither on tainted GPU nodes nor on GB200.
https://github.com/aws/eks-node-monitoring-agent, charts/eks-node-monitoring-agent/values.yaml (v1.7.0, read 2026-11-21)
"""

from typing import Any

from ultracluster.kubernetes._objects import by_type
from ultracluster.kubernetes._platform import Platform


def node_monitoring_values(platform: Platform) -> dict[str, Any]:
    """Return the configuration values of the add-on `eks-node-monitoring-agent`: DCGM on GPU nodes only."""
    types = sorted({group.instance_type.name for group in platform.gpu_groups})
    if not types:
        return {}
    return {"dcgmAgent": {"affinity": by_type(types), "tolerations": [{"operator": "Exists"}]}}
