"""CDK bootstrap of the account: its version, and the key of its bucket."""

import json
from collections.abc import Iterator
from pathlib import Path

from ultracluster.catalogue.ec2 import partition_of, via_service
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding
from ultracluster.live._key_policy import KEY, KEY_POLICY, allowed
from ultracluster.live._place import IDENTITY

_VERSION = Call(service="ssm", operation="get_parameter", action="ssm:GetParameter")
_ENCRYPTION = Call(service="s3", operation="get_bucket_encryption", action="s3:GetEncryptionConfiguration")
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


def _bucket(owner: str, region: str) -> str:
    return f"cdk-{_qualifier()}-assets-{owner}-{region}"


def _bucket_key(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    owner = account.ask(IDENTITY)["Account"]
    bucket = _bucket(owner, account.region)
    # Without it, live-bootstrap fails; a bootstrap with another name of the bucket is not read.
    answer = account.find(_ENCRYPTION, missing="NoSuchBucket", Bucket=bucket)
    if answer is None:
        return
    (rule, *_) = answer["ServerSideEncryptionConfiguration"]["Rules"]
    key = rule["ApplyServerSideEncryptionByDefault"].get("KMSMasterKeyID")
    if key is None or (metadata := account.ask(KEY, KeyId=key)["KeyMetadata"])["KeyManager"] == "AWS":
        yield check.good(f"{bucket} has a key of AWS")
        return
    statement = json.dumps(_statement(owner, cluster.region))
    message = f"{bucket} has the customer key {metadata['Arn']}, and "
    if metadata["AWSAccountId"] != owner:
        yield check.doubt(
            f"{message}its account alone can read its policy: nodes read their boot scripts with the key",
            f"make sure that its policy has this statement: {statement}",
        )
        return
    principals = allowed(account, metadata["Arn"], "kms:Decrypt")
    if "*" in principals:
        yield check.good(f"the policy of {metadata['Arn']}, the key of {bucket}, allows to decrypt through S3")
        return
    # The policy may name roles of a deployed cluster.
    report = check.doubt if any(":role/" in name for name in principals) else check.bad
    yield report(
        f"{message}its policy allows no other role of the account to decrypt: nodes cannot read their boot scripts",
        f"add this statement to the policy of the key: {statement}",
    )


def _statement(owner: str, region: str) -> dict[str, object]:
    """Return the statement of the policy of a key that `cdk bootstrap` creates, for reading.

    Source: FileAssetsBucketEncryptionKey in `bootstrap-template.yaml` of the CDK CLI 2.1148.1 (read 2026-11-27).
    """
    through = {"kms:CallerAccount": owner, "kms:ViaService": via_service("s3", region)}
    return {
        "Effect": "Allow",
        "Principal": {"AWS": "*"},
        "Action": ["kms:Decrypt", "kms:DescribeKey"],
        "Resource": "*",
        "Condition": {"StringEquals": through},
    }


CHECKS = (
    Check(
        id="live-bootstrap",
        reason="`cdk deploy` needs the bootstrap stack of the CDK in account and Region.",
        run=_bootstrap,
        calls=(_VERSION,),
        resources=lambda cluster: {_VERSION: [arn(cluster, "ssm", f"parameter{_parameter()}")]},
    ),
    Check(
        id="live-bootstrap-key",
        reason="Nodes read boot scripts in the bucket of `cdk bootstrap`; the policy of a customer key must allow it.",
        run=_bucket_key,
        calls=(IDENTITY, _ENCRYPTION, KEY, KEY_POLICY),
        resources=lambda cluster: {
            _ENCRYPTION: [f"arn:{partition_of(cluster.region)}:s3:::{_bucket(cluster.account or '*', cluster.region)}"],
            **{call: [arn(cluster, "kms", "key/*")] for call in (KEY, KEY_POLICY)},
        },
    ),
)
