"""Network layers of instances, by which schedulers place pods."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

# Of the types that EC2 describes, those for which the cloud controller of EKS requires an answer. After an empty answer
# for one of the others, such as G6e or G7e, nodes of that type join without labels:
# https://github.com/kubernetes/cloud-provider-aws, pkg/providers/v1/topology.go (commit 63ec440, read 2026-11-26).
_PREREQUISITES = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-topology-prerequisites.html "
    "https://docs.aws.amazon.com/eks/latest/userguide/ml-workload-topology.html",
    read_on="2026-11-26",
)
NETWORK_LAYERS: Annotated[Mapping[str, int], Stated(_PREREQUISITES, columns="instance type: layers")] = (
    MappingProxyType(
        {
            "p4d.24xlarge": 3,
            "p4de.24xlarge": 3,
            "p5.48xlarge": 3,
            "p5e.48xlarge": 3,
            "p5en.48xlarge": 3,
            "p6-b200.48xlarge": 4,
            "p6-b300.48xlarge": 4,
            "p6e-gb200.36xlarge": 3,
        }
    )
)
#: Regions in which EC2 describes them.
TOPOLOGY_REGIONS: Annotated[frozenset[str], Stated(_PREREQUISITES, columns="Region")] = frozenset(
    {
        *(f"us-{side}-{number}" for side in ("east", "west") for number in (1, 2)),
        *("af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2"),
        *("ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ca-central-1", "eu-central-1"),
        *("eu-central-2", "eu-north-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "eusc-de-east-1"),
        *("il-central-1", "me-central-1", "me-south-1", "sa-east-1", "us-gov-west-1"),
    }
)


def network_layers(instance_type: str, region: str) -> int:
    """Return the network layers that nodes have as labels, or 0 if they have none."""
    return NETWORK_LAYERS.get(instance_type, 0) if region in TOPOLOGY_REGIONS else 0
