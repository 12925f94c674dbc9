"""Minutes that services take to create a resource, as published; where none are, an assumption, named as one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.ec2._image_builds import BUILD_MINUTES
from ultracluster.catalogue.provenance import Source, Stated

# AWS writes "several minutes". Terraform prints how long each resource took, and people publish these lines.
_LOGS = Source(
    'lines "Creation complete after" of Terraform in public repositories: medians of ten aws_eks_cluster (8m23s to '
    "11m23s), nine aws_eks_node_group (1m28s to 3m21s), eight aws_nat_gateway (1m25s to 2m05s); one awscc_pcs_cluster",
    read_on="2026-11-24",
    verify="open public repositories that have these lines",
)
_LUSTRE = Source(
    "https://github.com/go-to-k/cdkd, tests/integration/fsx-lustre: 5 to 10 minutes",
    read_on="2026-11-24",
)
_ASSUMED = Source(
    "assumption: no time is published",
    read_on="2026-11-24",
    verify="aws cloudformation describe-stack-events --stack-name NAME-Compute",
)

#: By type of CloudFormation.
CREATION_MINUTES: Annotated[Mapping[str, float], Stated(_LOGS, columns="type of CloudFormation: min")] = (
    MappingProxyType(
        {
            "AWS::EKS::Cluster": 10.3,
            "AWS::EKS::Nodegroup": 2.0,
            "AWS::EC2::NatGateway": 1.8,
            "AWS::PCS::Cluster": 7.8,
            "AWS::ImageBuilder::Image": BUILD_MINUTES,
        }
    )
)
#: The longer of the published times.
LUSTRE_CREATION_MINUTES: Annotated[int, Stated(_LUSTRE, "min")] = 10
#: Types whose creation takes minutes, as far as known without a published time: nodes of PCS like those of EKS, the
#: boot and the charts of an admin host, a HyperPod cluster with the checks of its nodes.
ASSUMED_CREATION_MINUTES: Annotated[Mapping[str, float], Stated(_ASSUMED, columns="type of CloudFormation: min")] = (
    MappingProxyType(
        {
            "AWS::PCS::ComputeNodeGroup": 2.0,
            "AWS::SSM::Association": 5.0,
            "AWS::SageMaker::Cluster": 15.0,
        }
    )
)
#: Any other resource, and the resources of a stack before and after its slow ones.
QUICK_CREATION_MINUTES: Annotated[float, Stated(_ASSUMED, "min")] = 0.25
QUICK_STACK_MINUTES: Annotated[float, Stated(_ASSUMED, "min")] = 0.75


def creation_minutes(resource_type: str) -> float:
    """Return the minutes in which a resource of this type of CloudFormation is created."""
    if resource_type == "AWS::FSx::FileSystem":
        return LUSTRE_CREATION_MINUTES
    published = CREATION_MINUTES.get(resource_type)
    return published or ASSUMED_CREATION_MINUTES.get(resource_type, QUICK_CREATION_MINUTES)
