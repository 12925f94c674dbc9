"""Limits of SageMaker HyperPod that both of its modes have: groups, lifecycle scripts, and its volume."""

from collections.abc import Iterator

from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.catalogue.schedulers import hyperpod_kubernetes as facts
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._problems import Problem
from ultracluster.clusterfile.rules._rule import error, shared
from ultracluster.planning.s3 import existing_bucket_problems

_BUCKET = shared("hyperpod-bucket")
_VOLUME = error("hyperpod-volume", "HyperPod mounts a second volume of a node itself.")
_GROUPS = error("hyperpod-groups", "A cluster of HyperPod has a limited number of instance groups.")
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html (read 2026-11-26)
_BUCKET_LENGTH = 63


def check_limits(draft: Draft, *, extra: int = 0) -> Iterator[Problem]:
    """Check the number of groups, the bucket of lifecycle scripts, and mounts beside those of the service."""
    most, total = hyperpod.MOST_GROUPS - extra, len(draft.node_groups)
    if total > most:
        others = f" with the {extra} of controller and login nodes" if extra else ""
        message = f"HyperPod supports at most {hyperpod.MOST_GROUPS} groups{others}, got {total + extra}"
        yield _GROUPS(("nodes",), f"{message}; use at most {most}, each with more nodes", at_key=True)
    yield from _check_bucket(draft)
    storage = draft.storage
    mounts = {("storage", "scratch", "path"): storage.scratch.path}
    mounts |= {("storage", "lustre", "mount"): storage.lustre.mount} if storage.lustre else {}
    mounts |= {("storage", "home", "mount"): storage.home.mount} if storage.home else {}
    for path, mount in mounts.items():
        if f"{mount}/".startswith(f"{facts.NODE_VOLUME}/"):
            message = f"HyperPod has a volume of its own at {facts.NODE_VOLUME}, got {mount}; use another directory"
            yield _VOLUME(path, message)


def _check_bucket(draft: Draft) -> Iterator[Problem]:
    section = draft.hyperpod
    if section.bucket is None:
        yield from _check_own_bucket(draft)
    elif not section.bucket.startswith(hyperpod.BUCKET_PREFIX):
        message = f"must begin with {hyperpod.BUCKET_PREFIX}, for HyperPod reads no other, got {section.bucket!r}"
        yield _BUCKET(("hyperpod", "bucket"), message)
    else:
        yield from (_BUCKET(("hyperpod", "bucket"), message) for message in existing_bucket_problems(section.bucket))


def _check_own_bucket(draft: Draft) -> Iterator[Problem]:
    """Check the bucket that is named by the cluster: an account has 12 digits."""
    name = valid(lambda: draft.name) or "a"
    account = valid(lambda: draft.account)
    bucket = hyperpod.scripts_bucket_name(name, account or 12 * "0", draft.region)
    if len(bucket) > _BUCKET_LENGTH or bucket != bucket.lower():
        most = _BUCKET_LENGTH - len(bucket) + len(name)
        message = (
            f"its bucket of lifecycle scripts is {hyperpod.BUCKET_PREFIX}NAME-ACCOUNT-REGION, with at most "
            f"{_BUCKET_LENGTH} characters and no capitals, got {len(bucket)}: use a name of at most {most} lowercase "
            f"letters, digits and hyphens, or an existing bucket: hyperpod: {{bucket: {hyperpod.BUCKET_PREFIX}...}}"
        )
        yield _BUCKET(("name",), message)
