"""Checks of a cluster file against an AWS account: read-only, with the credentials of the user."""

from collections.abc import Callable, Iterator
from typing import Any

from ultracluster.clusterfile import ClusterFile
from ultracluster.live import (
    _admins,
    _bootstrap,
    _existing,
    _images,
    _place,
    _prices,
    _quotas,
    _reservations,
    _routes,
    _sagemaker,
    _storage,
    _versions,
    _volume_key,
)
from ultracluster.live._account import Account, NotAllowedError
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding

__all__ = ["CHECKS", "Finding", "check_account", "policy"]

#: All checks, in the order in which they run.
CHECKS: tuple[Check, ...] = (
    *_place.CHECKS,
    *_bootstrap.CHECKS,
    *_reservations.CHECKS,
    *_quotas.CHECKS,
    *_sagemaker.CHECKS,
    *_existing.CHECKS,
    *_routes.CHECKS,
    *_storage.CHECKS,
    *_volume_key.CHECKS,
    *_admins.CHECKS,
    *_images.CHECKS,
    *_versions.CHECKS,
    *_prices.CHECKS,
)


def check_account(cluster: ClusterFile, client: Callable[[str, str], Any]) -> Iterator[Finding]:
    """Yield what an account has and lacks for a cluster file.

    Nothing is created or changed. A call that the credentials may not make, or that AWS refuses, is a warning that
    names it: the other checks go on. After credentials of another account nothing else is checked.

    Args:
        cluster: Cluster file.
        client: Creates boto3's client of a service in a region.

    Raises:
        botocore.exceptions.BotoCoreError: If there are no credentials, or AWS is out of reach.
        botocore.exceptions.ClientError: If the credentials are not valid, such as after they expired.
    """
    from botocore.exceptions import ClientError
    from botocore.parsers import ResponseParserError

    account = Account(client, cluster.region)
    for check in CHECKS:
        if not check.applies(cluster):
            continue
        failed = False
        try:
            for finding in check.run(check, cluster, account):
                failed = failed or finding.status == "fail"
                yield finding
        except NotAllowedError as error:
            yield check.doubt(
                f"not checked: the credentials may not call {error.action}",
                "ultracluster check FILE --live --policy prints the IAM policy",
            )
        except (ClientError, ResponseParserError) as error:
            if check.id == "live-account":
                # AWS allows this call to all credentials that are valid: the other checks would be refused, too.
                raise
            if isinstance(error, ResponseParserError):
                # A page of a proxy, for example: its text has many lines.
                yield check.doubt("not checked: what answered is not AWS", "look at the proxy, and at AWS_ENDPOINT_URL")
                continue
            yield check.doubt(f"not checked: {error}", "run the check again")
        if failed and check.id == "live-account":
            return


def policy(cluster: ClusterFile) -> dict[str, Any]:
    """Return the IAM policy that the checks of a cluster file need, and nothing beside it."""
    resources: dict[str, set[str]] = {}
    for check in CHECKS:
        if not check.applies(cluster):
            continue
        named = check.resources(cluster)
        for call in check.calls:
            if call.action:
                resources.setdefault(call.action, set()).update(named.get(call, ("*",)))
    actions: dict[tuple[str, ...], list[str]] = {}
    for action, arns in resources.items():
        actions.setdefault(tuple(sorted(arns)), []).append(action)
    statements = [
        {"Effect": "Allow", "Action": sorted(names), "Resource": arns[0] if len(arns) == 1 else list(arns)}
        for arns, names in sorted(actions.items())
    ]
    return {"Version": "2012-10-17", "Statement": statements}
