"""Validation of arguments. A value that is known at deployment only is accepted."""

import re
from collections.abc import Iterator

from ultracluster.planning import text_problem

# https://docs.aws.amazon.com/grafana/latest/APIReference/API_CreateWorkspace.html (read 2026-11-21)
GRAFANA_NAME = re.compile(r"[a-zA-Z0-9._~-]{1,255}", re.ASCII)
GRAFANA_ID = re.compile(r"g-[0-9a-f]{10}", re.ASCII)
WORKSPACE_ID = re.compile(r"ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d", re.ASCII)
HTTPS_URL = re.compile(r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?(/[\x21-\x7e]*)?", re.ASCII)


def region_problem(what: str, region: str | None) -> Iterator[str]:
    """Yield the problem of the name of a region, if there is one."""
    if region is not None:
        yield from text_problem(what, region, _REGION, "a Region such as us-east-2")
