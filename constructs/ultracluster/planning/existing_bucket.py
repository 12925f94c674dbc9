"""A bucket of somebody's own as data bucket: which names can be one, and what nobody looks after."""

from ultracluster.planning.arguments import shown
from ultracluster.planning.associations import bucket_problems

# Names that S3 keeps for what is no general purpose bucket, and IAM knows by another ARN. See
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html (read 2026-11-21).
_RESERVED = {
    "--x-s3": "a directory bucket of S3 Express One Zone, which takes other permissions",
    "--table-s3": "a bucket of S3 Tables",
    "-s3alias": "the alias of an access point",
    "--ol-s3": "the alias of an Object Lambda access point",
    ".mrap": "a Multi-Region Access Point",
}


def existing_bucket_problems(name: str) -> list[str]:
    """What is wrong with the name of a data bucket; nothing when it is right."""
    for ending, what in _RESERVED.items():
        if name.endswith(ending):
            return [f"{shown(name)} is the name of {what}; name a general purpose bucket"]
    return bucket_problems(name)


def existing_bucket_warning(name: str, key: str | None, region: str) -> str:
    """What this library can't do to a bucket that it did not make, and what is therefore its owner's to see to.

    Args:
        name: The bucket.
        key: ARN of the KMS key of its objects. None: not known, or S3's own encryption.
        region: Where the nodes are.
    """
    words = [
        f"{name} is yours: this library neither retains nor guards it, sets no lifecycle, no encryption and no bucket "
        "policy on it, and does not look at its notifications",
        f"it must lie in {region}, as the nodes do, no statement of its policy may deny them, and in another account "
        "the policy has to let them in",
        f"{key} must be the key of its objects, and the key's policy must leave its use to IAM, as AWS's default does"
        if key
        else "nodes get no KMS key with it: if one of yours encrypts its objects, name its ARN as the bucket's key",
    ]
    return "; ".join(words)
