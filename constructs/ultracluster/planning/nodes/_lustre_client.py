"""EFA of the Lustre client of a node."""

from typing import Literal

from ultracluster.catalogue.storage import s3

#: Where a bundle may be: no character that systemd or a shell would read as its own.
BUNDLE_URL = (
    r"https://[A-Za-z0-9./_~:@?=&+-]{4,400}"
    rf"|s3://{s3.BUCKET_NAME.pattern}/[A-Za-z0-9_+=-][A-Za-z0-9._/+=-]{{0,400}}"
)
SHA256 = r"[0-9a-f]{64}"
#: What a node does where EFA cannot be set up.
LustreEfa = Literal["preferred", "required"]
