"""The values of the section on metrics, alerts and dashboards, one reader each."""

import re

from ultracluster.clusterfile.problems import shown
from ultracluster.clusterfile.readers.basic import text
from ultracluster.planning.series import SERIES_PER_NODE

PROFILES = (*SERIES_PER_NODE, "none")
GRAFANA_KINDS = ("self-hosted", "managed", "none")
PROMETHEUS_ARN = re.compile(
    r"arn:aws[a-z-]*:aps:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):workspace/"
    r"ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.ASCII,
)
SECRET_ARN = re.compile(
    r"arn:aws[a-z-]*:secretsmanager:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):secret:[A-Za-z0-9/_+=.@-]{1,519}",
    re.ASCII,
)
GRAFANA_ID = re.compile(r"g-[0-9a-f]{10}", re.ASCII)
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# A host, perhaps a port and a path; no name and password, which would stand in the template.
HTTPS = re.compile(rf"https://{_LABEL}(\.{_LABEL})*(:[0-9]{{1,5}})?([/?][A-Za-z0-9./_~:@?=&%+-]{{0,1500}})?", re.ASCII)
# The name of a page is put behind it: so no slash at the end, and nothing that only stands there.
RUNBOOKS = re.compile(rf"https://{_LABEL}(\.{_LABEL})*(:[0-9]{{1,5}})?(/[A-Za-z0-9._~@%+-]{{1,200}}){{0,20}}", re.ASCII)
SAML_TEXT = re.compile(r"[^\s\"'\\<>]([^\"'\\<>\r\n\t]{0,254}[^\s\"'\\<>])?")


def prometheus_arn(value: object) -> str:
    """The ARN of a workspace of Prometheus."""
    return _matching(value, PROMETHEUS_ARN, "the ARN of a workspace, arn:aws:aps:REGION:ACCOUNT:workspace/ws-...")


def secret_arn(value: object) -> str:
    """The ARN of a secret."""
    return _matching(
        value,
        SECRET_ARN,
        "the ARN of a secret, arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME, and not what is in it",
    )


def grafana_id(value: object) -> str:
    """The id of a workspace of Grafana."""
    return _matching(value, GRAFANA_ID, "the id of a workspace of Amazon Managed Grafana, such as g-0123456789")


def https_url(value: object) -> str:
    """An address."""
    return _matching(value, HTTPS, "an address that begins with https:// and a host")


def runbooks_url(value: object) -> str:
    """Where runbooks stand."""
    what = "an address that begins with https:// and has no slash, question mark or hash at the end: pages follow it"
    return _matching(value, RUNBOOKS, what)


def saml_text(value: object) -> str:
    """The name of an attribute or of a role."""
    return _matching(value, SAML_TEXT, "a name as the identity provider writes it, at most 256 characters")


def _matching(value: object, pattern: re.Pattern[str], what: str) -> str:
    found = text(value, what)
    if pattern.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")
