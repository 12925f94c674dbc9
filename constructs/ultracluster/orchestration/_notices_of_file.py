"""Notices of Capacity Blocks that start and end, from a cluster file."""

from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import CapacityNotices
from ultracluster.planning.capacity import Block


def capacity_notices(scope: Construct, cluster: ClusterFile) -> CapacityNotices | None:
    """Create the notices of the Capacity Blocks of a cluster file, for its topic and address; None without blocks."""
    section = cluster.notifications
    blocks = [group.capacity.reservation_id for group in cluster.node_groups if isinstance(group.capacity, Block)]
    if not blocks:
        return None
    return CapacityNotices(
        scope,
        "CapacityNotices",
        reservation_ids=blocks,
        topic=None if section.topic is None else sns.Topic.from_topic_arn(scope, "NoticesTopic", section.topic),
        email=section.email,
    )
