"""Forms of names, ids and ARNs, and tokens of the CDK: a text that is known at deployment only is accepted."""

import re
from collections.abc import Iterator, Mapping

from ultracluster.catalogue.ec2 import partition_problem
from ultracluster.rules import TOKEN, Message

_ARN = r"arn:aws[a-z-]*:(?P<service>[a-z]+):(?P<region>[a-z0-9-]+):(?P<account>\d{12}):(?P<rest>.+)"
# Ids by their prefix, each with what AWS's API accepts after it.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html: 17 hexadecimal digits, and 8 for old resources.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_Volume.html: 17 digits.
# https://docs.aws.amazon.com/pcs/latest/APIReference/API_GetCluster.html: letters and digits.
# The same as the patterns of the models of the APIs in botocore 1.44.5 (read 2026-11-22).
_IDS: Mapping[str, tuple[str, str]] = {
    "cr-": (r"cr-[0-9a-f]{17}", "17 hexadecimal digits"),
    "fs-": (r"fs-([0-9a-f]{8}|[0-9a-f]{17,40})", "17 hexadecimal digits"),
    "fsvol-": (r"fsvol-[0-9a-f]{17}", "17 hexadecimal digits"),
    "lt-": (r"lt-[0-9a-f]{17}", "17 hexadecimal digits"),
    "pcs_": (r"pcs_[a-zA-Z0-9]+", "letters and digits"),
    "sg-": (r"sg-([0-9a-f]{8}|[0-9a-f]{17})", "17 hexadecimal digits"),
}


#: A host name or an IPv4 address, as they are before the colon of a device.
NFS_SERVER = r"(?=.{1,180}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*"
#: A path on an NFS server, as it is after the colon of a device.
NFS_EXPORT = r"(?=.{1,120}$)(/[A-Za-z0-9_][A-Za-z0-9._-]*)+|/"
#: A label of a domain name.
DOMAIN = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
#: An address as people have them: RFC 5322 also allows quotes and comments, which mail servers may treat in any way.
EMAIL = rf"(?=.{{1,254}}$)[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~.-]{{1,64}}@({DOMAIN}\.)+{DOMAIN}"


# The CDK writes a token into a text as `${Token[...]}`; a list of unknown length is a list of one `#{Token[...]}`.
_TEXT, _LIST = "${Token[", "#{Token["
#: Arguments that are a list in the template as well, so that a list of unknown length is as good.
_LISTS = frozenset({"public_access_cidrs", "route_table_ids"})
_ONE = "cdk.Fn.select(0, ...) returns one value of a list token"
_SEVERAL = f"{_ONE}, and cdk.Fn.split(',', ..., 2) a list of two"
# Look-ups of the CDK return these until the CDK CLI has read the value in the account, and synthesizes again. Those of
# images are in `compute/_arguments.py`. aws-cdk-lib 2.275.0: aws-ec2/lib/vpc.js, aws-ssm/lib/parameter.js,
# core/lib/stack.js (read 2026-11-27)
_PLACEHOLDER = re.compile(r".*dummy-value-for-.*|1\.2\.3\.4/5|dummy1[a-z]|vpc-12345", re.DOTALL)


def is_utf8(text: str) -> bool:
    """Return whether UTF-8 can encode a text: it has no halves of characters."""
    return text.isascii() or not re.search("[\\ud800-\\udfff]", text)


def known(value: str) -> bool:
    """Return whether a text is known at synthesis: no token, and no placeholder for a value that is looked up."""
    return _TEXT not in value and not _PLACEHOLDER.fullmatch(value)


def text_problem(what: str, value: str, pattern: re.Pattern[str] | str, form: str) -> Iterator[str]:
    """Yield the problem of a text that a pattern does not match.

    Args:
        what: Name of the argument.
        value: The text.
        pattern: Must match the whole text.
        form: Description of a valid text.
    """
    if known(value) and not re.fullmatch(pattern, value):
        yield f"{what} must be {form}, got {value[:120]!r}"


def email_problem(what: str, value: str | None) -> Iterator[str]:
    """Yield the problem of a mail address; None is no address."""
    if value is not None:
        yield from text_problem(what, value, EMAIL, "a mail address, as in oncall@example.com")


def id_problem(what: str, value: str, prefix: str) -> Iterator[str]:
    """Yield the problem of the id of a resource.

    Args:
        what: Name of the argument.
        value: The id.
        prefix: `cr-`, `fs-`, `fsvol-`, `lt-`, `pcs_` or `sg-`.
    """
    pattern, rest = _IDS[prefix]
    yield from text_problem(what, value, re.compile(pattern, re.ASCII), f"{prefix} and {rest}")


def arn_problem(what: str, arn: str, form: str) -> Iterator[str]:
    """Yield the problem of an ARN: service, resource or partition.

    Args:
        what: Name of the argument.
        arn: The ARN.
        form: As people write it: `arn:aws:aps:REGION:ACCOUNT:workspace/ws-...`.
    """
    if not known(arn):
        return
    match = re.fullmatch(_ARN, arn, re.ASCII)
    _, _, service, _, _, rest = form.split(":", 5)
    kind = rest.partition("/")[0] + "/" if "/" in rest else ""
    if match is None or match["service"] != service or not match["rest"].startswith(kind):
        yield f"{what} must be an ARN such as {form}, got {arn[:120]!r}"
    elif wrong := partition_problem(arn):
        yield f"{what} {wrong}"


def token_errors(values: Mapping[str, object]) -> list[Message]:
    """Return a sentence for each text that is a token, where its value decides what is created."""
    tokens = [name for name, value in values.items() if isinstance(value, str) and _TEXT in value]
    return [TOKEN(f"{name} must be known at synthesis, got a token") for name in tokens]


def list_token_errors(values: Mapping[str, object]) -> Iterator[Message]:
    """Yield a sentence for each argument with a list token, whose length decides what is created."""
    for name, value in values.items():
        if isinstance(value, str) and _LIST in value:
            yield TOKEN(f"{name} must be one value, got a list token: {_ONE}")
        elif isinstance(value, list | tuple) and name not in _LISTS and any(_LIST in each for each in _texts(value)):
            yield TOKEN(f"{name} must be a list whose length is known at synthesis, got a list token: {_SEVERAL}")


def _texts(values: list[object] | tuple[object, ...]) -> Iterator[str]:
    return (each for each in values if isinstance(each, str))
