"""Notices of Capacity Blocks that start and end, from a cluster file."""

from collections.abc import Sequence

from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import CapacityNotices
from ultracluster.planning.capacity import CapacityBlock, UltraServerBlock


def capacity_notices(
    scope: Construct, cluster: ClusterFile, blocks: Sequence[CapacityBlock | UltraServerBlock]
) -> CapacityNotices:
    """Create the notices of Capacity Blocks, for the topic and the address of a cluster file."""
    section = cluster.notifications
    return CapacityNotices(
        scope,
        "CapacityNotices",
        reservation_ids=[block.reservation_id for block in blocks],
        topic=None if section.topic is None else sns.Topic.from_topic_arn(scope, "NoticesTopic", section.topic),
        email=section.email,
    )
