"""Files that nodes fetch from S3."""

import atexit
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from ultracluster.planning import checked, checked_method, known, once, stack_of, text_problem
from ultracluster.rules import TOKEN, Refusal

_SUFFIX = re.compile(r"[A-Za-z0-9]{1,10}", re.ASCII)

# Bytes. kubectl and helm have 36 MB, and an app of several clusters has them several times.
_LARGE = 1_000_000

# Characters of the objects in a policy. IAM accepts 10,240 in all inline policies of a role, and 6,144 in a managed
# policy: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html (read 2026-11-27).
_INLINE, _MANAGED = 2_500, 5_500
# Most characters of the ARN of an asset, with the longest name of a bucket.
_ASSET = 160


class ScriptAssetGrants:
    """Grants of a script."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to fetch the script."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=["s3:GetObject"], resource_arns=[self._arn])


class ScriptAsset(Construct):
    """A script in the bucket of `cdk bootstrap`, under its own checksum.

    `cdk deploy` uploads it. Its key is derived from `sha256`, so that it never changes, and a node verifies
    `sha256` after fetching it.

    Args:
        text: The script; bytes are uploaded as they are.
        suffix: Suffix of the object, for an archive of texts instead of a script. Default: `sh`.

    Raises:
        Refusal: If the text holds a token, as its checksum must be known at synthesis, or the suffix is not a suffix.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, text: str | bytes, suffix: str = "sh") -> None:
        super().__init__(scope, id)
        content = text.encode() if isinstance(text, str) else text
        if isinstance(text, str) and not known(text):
            raise Refusal(self, TOKEN("text must be known at synthesis, got a token; pass such values as arguments"))
        if problems := list(text_problem("suffix", suffix, _SUFFIX, "letters and digits such as tar")):
            raise Refusal(self, problems)
        #: Checksum of the script, 64 hexadecimal digits.
        self.sha256 = _checksum(content)
        # Not by `Stack.synthesizer`: of a synthesizer that several stacks share, Python gets the one without a stack.
        path = _file(content, f"{self.sha256}.{suffix}")
        if len(content) > _LARGE:
            _link(self, path, self.sha256)
        asset = s3_assets.Asset(self, "Asset", path=str(path), asset_hash=self.sha256)
        bucket, key = asset.s3_bucket_name, asset.s3_object_key
        #: Location: `s3://BUCKET/KEY`.
        self.url = f"s3://{bucket}/{key}"
        #: ARN of the object.
        self.arn = f"arn:{_partition(stack_of(scope))}:s3:::{bucket}/{key}"
        #: Grants for principals that fetch the script.
        self.grants = ScriptAssetGrants(self.arn)


class ScriptReads:
    """Scripts that roles may read, each once: in a policy, and beyond its share of the quota in managed ones.

    Args:
        place: Scope of the scripts, and of the policies after the first.
        policy: Returns the first policy, once there is a script to read: IAM has no empty policies.
        roles: Roles of the policies.
    """

    def __init__(
        self, place: Construct, policy: Callable[[], iam.Policy | iam.ManagedPolicy], roles: Sequence[iam.IRole]
    ) -> None:
        self._policy, self._roles = policy, roles
        #: All policies.
        self.policies: list[iam.Policy | iam.ManagedPolicy] = []
        self._place = place
        self._assets: dict[str, ScriptAsset] = {}
        self._objects: set[str] = set()
        self._reads: list[iam.PolicyStatement] = []
        self._room = 0

    def publish(self, text: bytes) -> ScriptAsset:
        """Return the asset of a script, and create it if it does not exist."""
        sha256 = _checksum(text)
        if sha256 not in self._assets:
            self._assets[sha256] = ScriptAsset(self._place, f"Script{sha256[:8]}", text=text)
            self.allow(self._assets[sha256])
        return self._assets[sha256]

    def allow(self, script: ScriptAsset | str) -> None:
        """Allow to read a script, or a file in S3 by its URL. Any other URL needs no permission."""
        if isinstance(script, ScriptAsset):
            arn, size = script.arn, _ASSET
        elif script.startswith("s3://"):
            arn = f"arn:{_partition(stack_of(self._place))}:s3:::{script.removeprefix('s3://')}"
            size = 30 + len(script)
        else:
            return
        if arn in self._objects:
            return
        self._objects.add(arn)
        if size > self._room:
            self._add_statement()
        self._room -= size
        self._reads[-1].add_resources(arn)

    def _add_statement(self) -> None:
        read = iam.PolicyStatement(actions=["s3:GetObject"])
        self._reads.append(read)
        if len(self._reads) == 1:
            policy = self._policy()
            self._room = _INLINE if isinstance(policy, iam.Policy) else _MANAGED
            policy.add_statements(read)
            self.policies.append(policy)
            return
        self._room = _MANAGED
        id = f"{self.policies[0].node.id}{len(self._reads)}"
        self.policies.append(iam.ManagedPolicy(self._place, id, roles=[*self._roles], statements=[read]))


@once
def _partition(stack: cdk.Stack) -> str:
    return stack.partition


# Many constructs of an app have the same script.
@lru_cache
def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def _folder() -> TemporaryDirectory[str]:
    """Return a directory that is there until the process ends: without staging, the assembly refers to its files."""
    folder = TemporaryDirectory(prefix="ultracluster-")
    atexit.register(folder.cleanup)
    return folder


def _file(content: bytes, name: str) -> Path:
    path = Path(_folder().name) / name
    if not path.exists():
        path.write_bytes(content)
    return path


def _link(scope: Construct, path: Path, asset_hash: str) -> None:
    """Link a large file into the assembly, under the name that the CDK would copy it to, unless it is there."""
    stage = cdk.Stage.of(scope)
    assert stage is not None
    name = f"asset.{_checksum(asset_hash.encode())}{path.suffix}"
    with suppress(OSError):  # It is there, or on another file system: then the CDK copies it.
        os.link(path, Path(stage.asset_outdir, name))
