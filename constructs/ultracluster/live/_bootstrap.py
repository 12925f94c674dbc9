"""CDK bootstrap of the account: its version."""

import json
from collections.abc import Iterator
from pathlib import Path

from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding

_VERSION = Call(service="ssm", operation="get_parameter", action="ssm:GetParameter")
# The default qualifier of `cdk bootstrap`, the key of the context that names another one, and the version of the
# bootstrap stack that the assets of a stack need:
# https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html and aws-cdk-lib's DefaultStackSynthesizer,
# BOOTSTRAP_QUALIFIER_CONTEXT and MIN_BOOTSTRAP_STACK_VERSION (read 2026-11-27)
_DEFAULT = "hnb659fds"
_CONTEXT = "@aws-cdk/core:bootstrapQualifier"
_LEAST_VERSION = 6


def _project() -> dict[str, object] | None:
    """Return the context in `cdk.json` of the working directory, where the CDK CLI reads it; None if there is none."""
    try:
        context: dict[str, object] = json.loads(Path("cdk.json").read_text()).get("context", {})
    except (OSError, ValueError):
        return None
    return context


def _qualifier() -> str:
    return str((_project() or {}).get(_CONTEXT, _DEFAULT))


def _parameter() -> str:
    return f"/cdk-bootstrap/{_qualifier()}/version"


def _bootstrap(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    qualifier = _qualifier()
    answer = account.find(_VERSION, missing="ParameterNotFound", Name=_parameter())
    option = "" if qualifier == _DEFAULT else f"--qualifier {qualifier} "
    fix = f"npx cdk bootstrap {option}aws://{cluster.account or 'ACCOUNT'}/{account.region}"
    if answer is None:
        # Outside of a project, nothing shows the qualifier of the app.
        report = check.doubt if _project() is None else check.bad
        yield report(
            f"{account.region} has no CDK bootstrap stack with the qualifier {qualifier}",
            f"{fix}; if it has one with another qualifier (--qualifier), write it into the context of cdk.json as "
            f"{_CONTEXT}, and check in that directory",
        )
        return
    version = int(answer["Parameter"]["Value"])
    if version < _LEAST_VERSION:
        yield check.bad(f"the CDK bootstrap stack has version {version}, and {_LEAST_VERSION} is needed", fix)
        return
    yield check.good(f"the CDK bootstrap stack has version {version}")


CHECKS = (
    Check(
        id="live-bootstrap",
        reason="`cdk deploy` needs the bootstrap stack of the CDK in account and Region.",
        run=_bootstrap,
        calls=(_VERSION,),
        resources=lambda cluster: {_VERSION: [arn(cluster, "ssm", f"parameter{_parameter()}")]},
    ),
)
