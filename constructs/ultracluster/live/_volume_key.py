"""Default key of volumes: services that launch nodes must be able to use it."""

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
_STATEMENTS = (
    "https://docs.aws.amazon.com/autoscaling/ec2/userguide/"
    "key-policy-requirements-EBS-encryption.html#policy-example-cmk-access"
)


def _roles(cluster: ClusterFile) -> list[str]:
    """Return the service-linked roles that launch nodes of a cluster, and a Grafana server."""
    traits = cluster.traits
    pcs = traits.capacity_service == "pcs"
    # Under HyperPod, nodes are in an account of the service, and system nodes in this one.
    scaled = (traits.has_platform and not cluster.kubernetes.existing) or cluster.grafana == "self-hosted"
    return [*([_PCS] if pcs else []), *([_AUTO_SCALING] if scaled else [])]


def _default_key(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    key = account.ask(_DEFAULT)["KmsKeyId"]
    if key.startswith("arn:") and key.split(":")[4] != account.ask(IDENTITY)["Account"]:
        names = _names(_roles(cluster))
        yield check.doubt(
            f"volumes have the key {key} of another account by default, which alone can read its policy",
            f"make sure that the policy allows this account to create grants, and create one for {names}",
        )
        return
    if key == "alias/aws/ebs" or (metadata := account.ask(KEY, KeyId=key)["KeyMetadata"])["KeyManager"] == "AWS":
        yield check.good("volumes have the key of AWS by default")
        return
    principals = allowed(account, metadata["Arn"], "kms:CreateGrant")
    prefix = f"arn:{partition_of(cluster.region)}:iam::"
    missing = [
        role
        for role in _roles(cluster)
        if not any(name == "*" or (name.startswith(prefix) and name.endswith(f"/{role}")) for name in principals)
    ]
    if missing:
        names = _names(missing)
        yield check.doubt(
            f"volumes have the customer key {metadata['Arn']} by default, and its policy does not name {names}: "
            "nodes end with Client.InvalidKMSKey.InvalidState",
            f"nothing if a grant allows it; otherwise add the two statements of {_STATEMENTS} for {names}",
        )
    else:
        yield check.good(f"the policy of {metadata['Arn']}, the default key of volumes, names who launches nodes")


def _names(roles: list[str]) -> str:
    return " and ".join(role.rpartition("/")[2] for role in roles)


CHECKS = (
    Check(
        id="live-volume-key",
        reason="Nodes do not start if the default key of volumes is a customer key that their launcher may not use.",
        run=_default_key,
        calls=(_DEFAULT, IDENTITY, KEY, KEY_POLICY),
        resources=lambda cluster: {call: [arn(cluster, "kms", "key/*")] for call in (KEY, KEY_POLICY)},
        applies=lambda cluster: bool(_roles(cluster)),
    ),
)
