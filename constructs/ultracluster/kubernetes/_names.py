"""Names of Kubernetes objects.

See: https://kubernetes.io/docs/concepts/overview/working-with-objects/names (read 2026-11-21)
"""

import re

LONGEST_LABEL = 63
# What JobSet and Trainer put behind it, `-node-0-` and an index, is kept free.
_LONGEST_JOB = 45
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
# A name as long as a file must not drown its message.
_LONGEST_QUOTE = 70
# Namespaces of Kubernetes, and those that the releases of a platform make,
# and the EKS add-on of Mountpoint.
_TAKEN = frozenset(
    (
        *("default", "gpu-operator", "karpenter", "kubeflow", "mount-s3", "mpi-operator"),
        *("nvidia-device-plugin", "nvidia-dra-driver"),
    )
)
_TAKEN_ENDINGS = ("-system",)


def check_label(what: str, name: str, longest: int = LONGEST_LABEL) -> list[str]:
    """Return the errors of a name that must be an RFC 1123 label; empty if it is valid."""
    shown = repr(name[:_LONGEST_QUOTE])
    problems = []
    if not _LABEL.fullmatch(name):
        problems.append(f"{what} has lower-case letters, digits and inner hyphens, got {shown}")
    if len(name) > longest:
        problems.append(f"{what} has at most {longest} characters, got {len(name)}: {shown}")
    return problems


def check_job(name: str) -> None:
    """Reject a job name that is too long for its pods' host names, `NAME-node-0-INDEX`.

    Raises:
        ValueError: If the name is not valid for a job.
    """
    problems = check_label("name", name, _LONGEST_JOB)
    if name[:1].isdigit():
        problems.append(f"name begins with a letter, got {name[:_LONGEST_QUOTE]!r}")
    if problems:
        raise ValueError(f"job: {'; '.join(problems)}")


def check_namespace(what: str, name: str, longest: int = LONGEST_LABEL) -> list[str]:
    """Return the errors of a name that becomes a namespace."""
    problems = check_label(what, name, longest)
    if name in _TAKEN or name.startswith("kube-") or name.endswith(_TAKEN_ENDINGS):
        problems.append(f"{what} {name!r} is a namespace of Kubernetes or of the platform: choose another")
    return problems
