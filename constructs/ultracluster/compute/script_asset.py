"""A script that nodes fetch from S3."""

import hashlib
from pathlib import Path

import aws_cdk as cdk
from constructs import Construct


class ScriptAsset(Construct):
    """A script in the bucket that `cdk bootstrap` made, under its own checksum.

    `cdk deploy` puts it there. Its name is its content: it never changes, and what a node fetches is checked against
    `sha256`.

    Args:
        text: The script.
    """

    def __init__(self, scope: Construct, id: str, *, text: str) -> None:
        super().__init__(scope, id)
        #: Checksum of the script, 64 hexadecimal digits.
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        stage = cdk.Stage.of(self)
        assert stage is not None
        name = f"asset.{self.sha256}.sh"
        (Path(stage.outdir) / name).write_text(text, encoding="utf-8", newline="\n")
        found = cdk.Stack.of(self).synthesizer.add_file_asset(
            source_hash=self.sha256, file_name=name, packaging=cdk.FileAssetPackaging.FILE
        )
        #: Where it is: `s3://BUCKET/KEY`.
        self.url = f"s3://{found.bucket_name}/{found.object_key}"
        #: ARN of the object.
        self.arn = cdk.Stack.of(self).format_arn(
            service="s3", region="", account="", resource=found.bucket_name, resource_name=found.object_key
        )
