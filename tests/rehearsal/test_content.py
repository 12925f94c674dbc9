"""Policies and images of AWS in the local cloud."""

from typing import Any

from cdk_rehearsal.rehearsal import LocalCloud
from cdk_rehearsal.rehearsal._cloud import ACCOUNT
from support.rehearsal_tools import REGION

POLICY = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def test_a_new_local_cloud_has_what_each_account_has_and_nothing_of_an_earlier_one() -> None:
    for _ in range(2):
        with LocalCloud():
            # The start imports them. The answer to a request for all images takes a second.
            from moto.ec2.models import ec2_backends
            from moto.iam.models import iam_backends

            iam: Any = iam_backends[ACCOUNT]["aws"]
            ec2: Any = ec2_backends[ACCOUNT][REGION]
            assert iam.get_policy(POLICY).attachment_count == 0
            iam.create_role("node", "{}", "/", None, "", [], "3600")
            iam.attach_role_policy(POLICY, "node")
            assert iam.get_policy(POLICY).attachment_count == 1
            image, *others = ec2.describe_images(owners=["amazon"])
            assert len(others) > 1000
            ec2.deregister_image(image.id)
            assert ec2.describe_images(owners=["amazon"]) == others
