"""AWS's own policies and images in the accounts of moto: created once, or for the first request."""

import json
from copy import copy
from functools import cache
from threading import RLock

from moto.core.config import default_user_config
from moto.ec2.models.amis import Ami, AmiBackend
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend, ManagedPolicy

_load_images = AmiBackend._load_amis
_loading = RLock()


def install() -> None:
    """Replace how moto creates them."""
    # Roles name AWS's own policies (AmazonSSMManagedInstanceCore, ...): moto loads them only when configured to.
    default_user_config["iam"]["load_aws_managed_policies"] = True
    IAMBackend._init_aws_policies = _policies_of_aws  # type: ignore[assignment, method-assign]
    AmiBackend._load_amis = lambda _: None  # type: ignore[assignment, method-assign]
    AmiBackend.amis = property(_images, _set_images)  # type: ignore[assignment]


def _policies_of_aws(backend: IAMBackend) -> list[ManagedPolicy]:
    """Return AWS's own policies. moto reads their four megabytes again for each account, for a third of a second."""
    return [copy(policy) for policy in _policies(backend.account_id, backend.region_name)]


@cache
def _policies(account: str, region: str) -> list[AWSManagedPolicy]:
    policies = json.loads(aws_managed_policies_data)
    return [AWSManagedPolicy.from_data(name, account, region, data) for name, data in policies.items()]


def _images(backend: AmiBackend) -> dict[str, Ami]:
    """Return images by id. moto creates 1,300, each with a snapshot, for each account and region."""
    state = vars(backend)
    with _loading:
        if not state.get("_has_images"):
            state["_has_images"] = True
            _load_images(backend)
    images: dict[str, Ami] = state["amis"]
    return images


def _set_images(backend: AmiBackend, images: dict[str, Ami]) -> None:
    vars(backend)["amis"] = images
