"""An existing bucket as data bucket: its name, and the warning about it."""

from ultracluster.planning import shown
from ultracluster.planning.lustre import bucket_problems
from ultracluster.rules import Message, error

_NAME = error("bucket-name", "The name is that of a general purpose bucket.")

# Names that S3 reserves for resources that are not general purpose buckets and have other ARNs. See
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html (read 2026-11-21).
_RESERVED = {
    "--x-s3": "a directory bucket of S3 Express One Zone, which needs other permissions",
    "--table-s3": "a bucket of S3 Tables",
    "-s3alias": "the alias of an access point",
    "--ol-s3": "the alias of an Object Lambda access point",
    ".mrap": "a Multi-Region Access Point",
}


def existing_bucket_problems(name: str) -> list[Message]:
    """Return the errors of the name of a data bucket."""
    for ending, what in _RESERVED.items():
        if name.endswith(ending):
            return [_NAME(f"{shown(name)} is the name of {what}; name a general purpose bucket")]
    return [*map(_NAME, bucket_problems(name))]


def existing_bucket_warning(name: str, key: str | None, region: str) -> str:
    """Return the warning about an existing bucket: what its owner must check.

    Args:
        name: The bucket.
        key: ARN of the KMS key of its objects, or None for S3's own encryption or an unknown key.
        region: Region of the nodes.
    """
    words = [
        f"{name} is an existing bucket: this library neither retains nor guards it, sets no lifecycle, no encryption "
        "and no bucket policy on it, and does not look at its notifications",
        f"it must lie in {region}, as the nodes do, no statement of its policy may deny them, and in another account "
        "the policy has to let them in",
        f"{key} must be the key of its objects, and the key's policy must leave its use to IAM, as AWS's default does"
        if key
        else "no KMS key is granted to the nodes: if a key encrypts its objects, set its ARN as the bucket's key",
    ]
    return "; ".join(words)
