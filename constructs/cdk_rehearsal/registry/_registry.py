"""The CloudFormation resource types of a region, from cfn-lint."""

import json
from functools import cache, lru_cache
from pathlib import Path

import cfnlint  # no py.typed
from cfnlint.schema import Schema

from cdk_rehearsal.registry._schema import ResourceType, did_you_mean

SCHEMAS = Path(cfnlint.__file__).parent / "data" / "schemas"
# Types that cfn-lint 1.58 lacks in regions of another type, where AWS documents both (us-east-2, us-west-2):
# https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_sagemaker.CfnComputeQuota.html (2.277.0, read 2026-11-24)
_ALSO_WITH = {
    "AWS::SageMaker::ClusterSchedulerConfig": "AWS::SageMaker::Cluster",
    "AWS::SageMaker::ComputeQuota": "AWS::SageMaker::Cluster",
}


class UnknownRegionError(ValueError):
    """cfn-lint has no schemas for that region."""


class Registry:
    """The resource types that CloudFormation has in one region, if cfn-lint has its schemas."""

    def __init__(self, region: str) -> None:
        index = SCHEMAS / "providers" / f"{region}.json"
        if not index.exists():
            known = ", ".join(sorted(path.stem for path in index.parent.glob("*-*.json")))
            raise UnknownRegionError(f"no registry schemas for the Region {region}; cfn-lint has them for {known}")
        self.region = region
        self._files: dict[str, str] = json.loads(index.read_text(encoding="utf-8"))

    @property
    def types(self) -> list[str]:
        return sorted(self._files)

    def find(self, name: str) -> ResourceType | None:
        """Return the type of that name, or None where the region has no such type."""
        if name.startswith("Custom::"):
            name = "AWS::CloudFormation::CustomResource"
        if file := self._files.get(name):
            return _load(file)
        return anywhere(name) if _ALSO_WITH.get(name) in self._files else None

    def suggest(self, name: str) -> str:
        """Return "; did you mean X?" for a misspelt type, empty when nothing is near."""
        return did_you_mean(name, self._files, cutoff=0.8)


@cache
def anywhere(name: str) -> ResourceType | None:
    """Return the type of that name as some region has it, us-east-1 first, or None."""
    others = sorted(path.stem for path in (SCHEMAS / "providers").glob("*-*.json"))
    return next((kind for region in ("us-east-1", *others) if (kind := registry(region).find(name))), None)


@lru_cache
def registry(region: str) -> Registry:
    """Return the registry of a region, read once."""
    return Registry(region)


@cache
def _load(file: str) -> ResourceType:
    return ResourceType(Schema(json.loads((SCHEMAS / "resources" / f"{file}.json").read_text(encoding="utf-8"))))
