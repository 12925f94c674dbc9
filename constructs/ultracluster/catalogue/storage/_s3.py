"""S3: names of general purpose buckets, and zones of S3 Express One Zone."""

from __future__ import annotations

import re
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_NAMING_RULES = Source(
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html", read_on="2026-11-21"
)
_EXPRESS_ENDPOINTS = Source(
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-express-Endpoints.html", read_on="2026-11-21"
)

BUCKET_NAME: Annotated[re.Pattern[str], Stated(_NAMING_RULES, columns="regular expression")] = re.compile(
    r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII
)
# Such buckets cannot be created.
NO_BUCKET_NAME: Annotated[re.Pattern[str], Stated(_NAMING_RULES, columns="regular expression")] = re.compile(
    r"\d+(\.\d+){3}\Z|xn--|sthree-|amzn-s3-demo-", re.ASCII
)

EXPRESS_ZONES: Annotated[frozenset[str], Stated(_EXPRESS_ENDPOINTS, columns="ids of zones")] = frozenset(
    {
        *("use1-az4", "use1-az5", "use1-az6"),
        *("use2-az1", "use2-az2"),
        "usw1-az1",
        *("usw2-az1", "usw2-az3", "usw2-az4"),
        *("aps1-az1", "aps1-az3"),
        "apne2-az3",
        "apse1-az1",
        "apse2-az1",
        *("apne1-az1", "apne1-az4"),
        *("euc1-az1", "euc1-az2"),
        *("euw1-az1", "euw1-az3"),
        "euw3-az1",
        *("eun1-az1", "eun1-az2", "eun1-az3"),
        "cac1-az1",
        "sae1-az1",
    }
)
