"""A file that nodes fetch from S3."""

import hashlib
import re
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.planning import checked, known, text_problem
from ultracluster.rules import TOKEN, Refusal

_SUFFIX = re.compile(r"[A-Za-z0-9]{1,10}", re.ASCII)


class ScriptAssetGrants:
    """Grants of a script.

    Args:
        arn: ARN of the object.
    """

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to fetch the script."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=["s3:GetObject"], resource_arns=[self._arn])


class ScriptAsset(Construct):
    """A script in the bucket of `cdk bootstrap`, under its own checksum.

    `cdk deploy` uploads it. Its key is derived from its content, so it never changes, and a node verifies `sha256`
    after fetching it.

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
        self.sha256 = hashlib.sha256(content).hexdigest()
        stage = cdk.Stage.of(self)
        assert stage is not None
        name = f"asset.{self.sha256}.{suffix}"
        (Path(stage.outdir) / name).write_bytes(content)
        stack = cdk.Stack.of(self)
        location = stack.synthesizer.add_file_asset(
            source_hash=self.sha256, file_name=name, packaging=cdk.FileAssetPackaging.FILE
        )
        #: Location: `s3://BUCKET/KEY`.
        self.url = f"s3://{location.bucket_name}/{location.object_key}"
        #: ARN of the object.
        self.arn = stack.format_arn(
            service="s3", region="", account="", resource=location.bucket_name, resource_name=location.object_key
        )
        #: Grants for principals that fetch the script.
        self.grants = ScriptAssetGrants(self.arn)
