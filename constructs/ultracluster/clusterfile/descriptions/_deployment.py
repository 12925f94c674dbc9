"""Minutes of the first deployment: those of its longest path, because other stacks deploy beside it."""

from ultracluster.catalogue.ec2 import ASSUMED_CREATION_MINUTES, QUICK_STACK_MINUTES, creation_minutes
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.descriptions._description import Description

_TITLES = {
    "AWS::EC2::NatGateway": "NAT gateway",
    "AWS::EKS::Cluster": "EKS control plane",
    "AWS::EKS::Nodegroup": "EKS node group",
    "AWS::FSx::FileSystem": "file system",
    "AWS::ImageBuilder::Image": "build of the image",
    "AWS::PCS::Cluster": "PCS controller",
    "AWS::PCS::ComputeNodeGroup": "PCS node group",
    "AWS::SSM::Association": "charts",
    "AWS::SageMaker::Cluster": "HyperPod cluster",
}


def deployment(cluster: ClusterFile) -> Description:
    """Describe the longest path of the first deployment: the stacks that wait for each other, and what is slow there.

    `tests/stacks/test_critical_path.py` compares the minutes with the path through the synthesized resources.
    """
    path = _path(cluster)
    minutes = sum(creation_minutes(resource) for stack in path for resource in stack)
    minutes += QUICK_STACK_MINUTES * len(path)
    slow = [resource for stack in path for resource in stack]
    parts = [
        f"{_TITLES[resource]} {creation_minutes(resource):g}{' (assumed)' * (resource in ASSUMED_CREATION_MINUTES)}"
        for resource in slow
    ]
    line = f"first deployment: about {minutes:.0f} minutes with ultracluster deploy: {', '.join(parts)}, others"
    facts = {
        "minutes": round(minutes),
        "path": [
            {
                "type": resource,
                "minutes": creation_minutes(resource),
                "assumed": resource in ASSUMED_CREATION_MINUTES,
            }
            for resource in slow
        ],
    }
    return Description(name="first_deployment", lines=[line], facts=facts)


def _path(cluster: ClusterFile) -> list[tuple[str, ...]]:
    """Return the slow resources of the stacks that wait for each other, stack by stack."""
    network, traits = cluster.network, cluster.traits
    new = cluster.control_plane.is_new
    file_system = cluster.lustre_spec is not None or cluster.home_size is not None
    parallel = [
        traits.control_plane_resources if new else (),
        ("AWS::FSx::FileSystem",) if file_system else (),
        ("AWS::ImageBuilder::Image",) if cluster.built_images else (),
    ]
    return [
        ("AWS::EC2::NatGateway",) if network.internet and network.existing is None else (),
        max(parallel, key=lambda stack: sum(map(creation_minutes, stack))),
        traits.node_resources,
        *([("AWS::SSM::Association",)] if traits.has_platform and cluster.kubernetes.applied_by_deployment else []),
    ]
