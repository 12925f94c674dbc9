"""Servers, names, certificates and filters of a directory of users."""

import re

#: A server: LDAP over TLS only, as the bind password and those of the users are sent.
LDAPS_URI = r"ldaps://[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(:[0-9]{1,5})?"
#: A distinguished name on one line, without what sssd.conf would read as its own.
DN = r"[A-Za-z][A-Za-z0-9-]*=[^=\r\n;#\[\]]+(,[ ]?[A-Za-z][A-Za-z0-9-]*=[^=\r\n;#\[\]]+)*"
#: One certificate or several, as PEM.
CERTIFICATES = r"(-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=]{1,76}\n)+-----END CERTIFICATE-----\n?){1,20}"
# A comparison, and what joins them: RFC 4515. Parentheses in a value are written \28 and \29.
_COMPARISON = r"\([A-Za-z0-9][A-Za-z0-9.;:-]*[~<>]?=[^()\x00-\x1f]*\)"
_JOINED = r"\(([&|]\0+|!\0)\)"
# A line of sssd.conf that a reader can still check; the RFC has no limit.
_LONGEST_FILTER = 1_024


def is_ldap_filter(text: str) -> bool:
    """Return True if a text is an LDAP filter on one line, with all its parentheses.

    See: https://www.rfc-editor.org/rfc/rfc4515 (read 2026-11-27)
    """
    if len(text) > _LONGEST_FILTER or "\0" in text:
        return False
    rest, before = re.sub(_COMPARISON, "\0", text), ""
    while rest != before:
        before, rest = rest, re.sub(_JOINED, "\0", rest)
    return rest == "\0"
