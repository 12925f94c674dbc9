"""Names of Kubernetes objects.

See: https://kubernetes.io/docs/concepts/overview/working-with-objects/names (read 2026-11-21)
"""

import re

from ultracluster.rules import Message, shared

LONGEST_LABEL = 63
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
# A name as long as a file must not hide its message.
_LONGEST_QUOTE = 70
KUBERNETES_NAME = shared("kubernetes-name")


def check_label(what: str, name: str, longest: int = LONGEST_LABEL) -> list[Message]:
    """Return the errors of a name that must be an RFC 1123 label; empty if it is valid."""
    shown = repr(name[:_LONGEST_QUOTE])
    problems = []
    if not re.fullmatch(_LABEL, name):
        problems.append(KUBERNETES_NAME(f"{what} has lower-case letters, digits and inner hyphens, got {shown}"))
    if len(name) > longest:
        problems.append(KUBERNETES_NAME(f"{what} has at most {longest} characters, got {len(name)}: {shown}"))
    return problems
