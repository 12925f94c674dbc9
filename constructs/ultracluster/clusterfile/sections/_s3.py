"""The data bucket of the section `storage`. Prefixes of associations are in `_lustre`."""

from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.s3 import existing_bucket_problems

_BUCKET_FORMS = "true, false, or an existing bucket as {existing: my-datasets}"


def _whether(value: object) -> bool:
    try:
        return w.flag(value)
    except ValueError as error:
        raise ValueError(str(error).replace("must be true or false", f"must be {_BUCKET_FORMS}", 1)) from None


class ExistingBucket(Section):
    """An existing bucket."""

    name: Annotated[str, t.bucket_name("existing: {name}", existing_bucket_problems)] = Field(
        alias="existing", description="Its name."
    )
    key: t.KeyArn | None = Field(
        default=None, description="ARN of the KMS key of its objects. Default: S3's own encryption."
    )


DataBucket = Annotated[
    bool | ExistingBucket,
    Either(w.Word(_whether, type="boolean", description="Whether to create one."), ExistingBucket),
]
