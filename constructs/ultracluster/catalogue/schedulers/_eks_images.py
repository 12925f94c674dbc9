"""AWS's images of managed node groups."""

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.schedulers._eks import NodeOs


def ami_type(os: NodeOs, record: InstanceType) -> str:
    """Return the `AmiType` of a managed node group.

    See: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html (read 2026-11-21)
    """
    arm = record.architecture == "arm64"
    if os == "bottlerocket":
        return f"BOTTLEROCKET_{'ARM_64' if arm else 'x86_64'}{'_NVIDIA' if record.gpus else ''}"
    if not record.gpus:
        return "AL2023_ARM_64_STANDARD" if arm else "AL2023_x86_64_STANDARD"
    return "AL2023_ARM_64_NVIDIA" if arm else "AL2023_x86_64_NVIDIA"


def release_parameter(version: str, os: NodeOs, record: InstanceType) -> str:
    """Return the public parameter of Systems Manager with the newest release of AWS's image of a managed node group.

    See: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html and
    https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html (read 2026-11-26)
    """
    if os == "bottlerocket":
        variant = f"aws-k8s-{version}{'-nvidia' if record.gpus else ''}"
        return f"/aws/service/bottlerocket/{variant}/{record.architecture}/latest/image_version"
    variant = f"{record.architecture}/{'nvidia' if record.gpus else 'standard'}"
    return f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{variant}/recommended/release_version"
