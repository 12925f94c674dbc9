"""Regions of the local cloud."""

import boto3

from cdk_rehearsal.rehearsal import LocalCloud


def test_the_local_cloud_has_the_regions_of_ec2() -> None:
    with LocalCloud():
        # After the start, which imports it first.
        from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

        names = [region.name for region in RegionsAndZonesBackend.regions]
    session, partitions = boto3.Session(), ("aws", "aws-us-gov", "aws-cn")
    assert names == [name for each in partitions for name in session.get_available_regions("ec2", partition_name=each)]
