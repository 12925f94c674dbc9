"""Keys of volumes: services that launch nodes must be able to use it."""

from collections.abc import Iterator

from ultracluster.catalogue.ec2 import partition_of
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding
from ultracluster.live._key_policy import KEY, KEY_POLICY, allowed
from ultracluster.live._place import IDENTITY

_DEFAULT = Call(service="ec2", operation="get_ebs_default_kms_key_id", action="ec2:GetEbsDefaultKmsKeyId")
# Service-linked roles that launch instances with volumes of the default key. Their policies allow no use of a customer
# managed key. https://docs.aws.amazon.com/pcs/latest/userguide/security-key-policy-for-encrypted-volumes.html and
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html (read 2026-11-27)
_PCS = "pcs.amazonaws.com/AWSServiceRoleForPCS"
_AUTO_SCALING = "autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html, keys of another
# account (read 2026-11-27)
_OPERATIONS = (
    "Encrypt",
    "Decrypt",
    "ReEncryptFrom",
    "ReEncryptTo",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "DescribeKey",
    "CreateGrant",
)
_STATEMENTS = (
    "https://docs.aws.amazon.com/autoscaling/ec2/userguide/"
    "key-policy-requirements-EBS-encryption.html#policy-example-cmk-access"
)


def launchers(cluster: ClusterFile) -> list[str]:
    """Return the service-linked roles that launch nodes of a cluster, and a Grafana server."""
    traits = cluster.traits
    pcs = traits.capacity_service == "pcs"
    # Under HyperPod, nodes are in an account of the service, and system nodes in this one.
    scaled = (traits.has_platform and not cluster.kubernetes.existing) or cluster.grafana == "self-hosted"
    return [*([_PCS] if pcs else []), *([_AUTO_SCALING] if scaled else [])]


def _default_key(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    key = account.ask(_DEFAULT)["KmsKeyId"]
    if key == "alias/aws/ebs":
        yield check.good("volumes have the key of AWS by default")
        return
    yield from key_findings(check, cluster, account, key, "the default key of volumes")


def key_findings(check: Check, cluster: ClusterFile, account: Account, key: str, title: str) -> Iterator[Finding]:
    """Yield whether the roles that launch nodes may use a key of volumes.

    Args:
        check: The check that reports it.
        cluster: Cluster file.
        account: Account of the nodes.
        key: ARN of the key; in the account, its id too.
        title: Use of the key.
    """
    here = account.ask(IDENTITY)["Account"]
    if key.startswith("arn:") and key.split(":")[4] != here:
        yield _foreign(
            check, cluster, account, key, f"{title} is {key} of another account, which alone reads its policy"
        )
        return
    metadata = account.ask(KEY, KeyId=key)["KeyMetadata"]
    if metadata["KeyManager"] == "AWS":
        yield check.good(f"{title} is one of AWS")
        return
    principals = allowed(account, metadata["Arn"], "kms:CreateGrant")
    prefix = f"{_iam(cluster)}:"
    missing = [
        role
        for role in launchers(cluster)
        if not any(name == "*" or (name.startswith(prefix) and name.endswith(f"/{role}")) for name in principals)
    ]
    if missing:
        names = _names(missing)
        yield check.doubt(
            f"{title} is the customer key {metadata['Arn']}, and its policy does not name {names}: nodes end with "
            "Client.InvalidKMSKey.InvalidState",
            f"nothing if a grant allows it; otherwise add the two statements of {_STATEMENTS} for {names}",
        )
    else:
        yield check.good(f"the policy of {metadata['Arn']}, {title}, names the roles that launch nodes")


def unread_key(check: Check, cluster: ClusterFile, account: Account, title: str) -> Finding:
    """Return the finding of volumes whose key is not shown to this account."""
    return _foreign(check, cluster, account, "KEY_ARN", f"{title}, and not shown to this account")


def _foreign(check: Check, cluster: ClusterFile, account: Account, key: str, message: str) -> Finding:
    here, roles = account.ask(IDENTITY)["Account"], launchers(cluster)
    grants = "; ".join(
        f"aws kms create-grant --region {account.region} --key-id {key} --grantee-principal "
        f"{_iam(cluster)}:{here}:role/aws-service-role/{role} --operations {' '.join(_OPERATIONS)}"
        for role in roles
    )
    return check.doubt(
        f"{message}; without a grant for {_names(roles)}, nodes end with Client.InvalidKMSKey.InvalidState",
        f"nothing if there is one; if the policy of the key allows this account to create grants: {grants}",
    )


def _iam(cluster: ClusterFile) -> str:
    return f"arn:{partition_of(cluster.region)}:iam:"


def _names(roles: list[str]) -> str:
    return " and ".join(role.rpartition("/")[2] for role in roles)


CHECKS = (
    Check(
        id="live-volume-key",
        reason="Nodes do not start if the default key of volumes is a customer key that their launcher may not use.",
        run=_default_key,
        calls=(_DEFAULT, IDENTITY, KEY, KEY_POLICY),
        resources=lambda cluster: {call: [arn(cluster, "kms", "key/*")] for call in (KEY, KEY_POLICY)},
        applies=lambda cluster: bool(launchers(cluster)),
    ),
)
