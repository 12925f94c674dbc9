"""Platforms that the tests of Kubernetes share."""

from collections.abc import Iterator
from typing import Any

from ultracluster.boot import Mountpoint, Volume
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, instance_type, ultraserver
from ultracluster.kubernetes import KarpenterNodes, Object, Platform, PlatformNodes, Team, platform
from ultracluster.planning.capacity import Spot, TargetedReservation
from ultracluster.workloads._kubernetes_jobs import job_objects

LUSTRE = Volume(
    name="lustre",
    driver="fsx.csi.aws.com",
    handle="fs-0123456789abcdef0",
    attributes={"dnsname": "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com", "mountname": "abcdefgh"},
    mount_options=("noatime", "flock"),
)
HOME = Volume(name="home", driver="efs.csi.aws.com", handle="fs-0fedcba9876543210")
KARPENTER = KarpenterNodes(
    role="nodes",
    subnets=("subnet-0123456789abcdef0",),
    security_groups=("sg-0123456789abcdef0", "sg-0fedcba9876543210"),
    image="al2023@v20261101",
    queue="interruptions",
)
LAUNCH = {
    "further_labels": {"purpose": "serving"},
    "tags": {"team": "a"},
    "root_volume_gib": 1000,
    "pods": 60,
    "placement_group": "training",
}
RESERVED = TargetedReservation(reservation_id="cr-0123456789abcdef0")


def nodes(type: str = "p5en.48xlarge", count: int = 64, name: str = "train", **more: Any) -> PlatformNodes:
    return PlatformNodes(name=name, instance_type=instance_type(type), count=count, **more)


def gb200(count: int = 18, **more: Any) -> PlatformNodes:
    return nodes("p6e-gb200.36xlarge", count, ultraserver=ultraserver("u-p6e-gb200x72"), **more)


def cluster(*groups: PlatformNodes, **more: Any) -> Platform:
    given: dict[str, Any] = {
        "cluster": "llama",
        "region": "us-east-2",
        "kubernetes": "1.35",
        "nodes": groups or (nodes(),),
        "volumes": {"/fsx": LUSTRE, "/home": HOME},
    }
    return Platform(**{**given, **more})


#: Types with GPUs that are bought one by one.
GPU_TYPES = [name for name, item in INSTANCE_TYPES.items() if item.gpus and not item.ultraservers]

#: Every way of a platform, by what it is.
PLATFORMS: dict[str, Platform] = {
    "512 GPUs": cluster(),
    "every GPU type": cluster(*(nodes(name, 4, name=name.replace(".", "-")) for name in GPU_TYPES)),
    "teams": cluster(
        nodes(spare=2),
        nodes("m7i.8xlarge", 4, "data"),
        teams=(
            Team(name="pretraining", nodes={"train": 40}),
            Team(name="research", nodes={"train": 8}, borrow=False),
            Team(name="guests", nodes={}),
        ),
        volumes={"/fsx": LUSTRE, "/data": Mountpoint(bucket="data").volume("data")},
    ),
    "DRA": cluster(nodes(), efa="dranet", gpu="dra-driver"),
    "GPU operator": cluster(nodes("p6-b300.48xlarge"), gpu="gpu-operator"),
    "GB200": cluster(gb200(128)),
    "elastic": cluster(
        nodes(),
        nodes("p5.48xlarge", 8, "spill", elastic=True, capacity=RESERVED, **LAUNCH),
        nodes("p5.4xlarge", 6, "burst", elastic=True, capacity=Spot(), image="ami-0123456789abcdef0"),
        nodes("c7i.8xlarge", 8, "prepare", elastic=True, os="bottlerocket", image="bottlerocket@v1.63.0"),
        karpenter=KARPENTER,
    ),
    "volcano": cluster(scheduler="volcano", teams=(Team(name="a"), Team(name="b", borrow=False))),
    "kai": cluster(scheduler="kai", teams=(Team(name="a"), Team(name="b", borrow=False))),
    "inference": cluster(nodes("p5.48xlarge", 4, "serve"), nodes("p6-b200.48xlarge", 8)),
}


def jobs(of: Platform) -> Iterator[Object]:
    """Every kind of job on every group that can run it."""
    for _, _, objects in job_objects(of):
        yield from objects


def everything(of: Platform) -> list[Object]:
    """All objects of a platform and its jobs."""
    return [*platform(of).objects, *jobs(of)]
