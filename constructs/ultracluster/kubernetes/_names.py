"""Names of Kubernetes objects.

See: https://kubernetes.io/docs/concepts/overview/working-with-objects/names (read 2026-11-21)
"""

from ultracluster.boot import KUBERNETES_NAME, check_label
from ultracluster.kubernetes._objects import content_hash
from ultracluster.rules import Message, Refusal

# What JobSet and Trainer put behind it, `-node-0-` and an index, is kept free.
_LONGEST_JOB = 45
# Namespaces of Kubernetes, and those that the releases of a platform make,
# and the EKS add-on of Mountpoint.
_TAKEN = frozenset(
    (
        *("default", "gpu-operator", "karpenter", "kubeflow", "mount-s3", "mpi-operator"),
        *("nvidia-device-plugin", "nvidia-dra-driver"),
    )
)
_TAKEN_ENDINGS = ("-system",)


def job_name(kind: str, group: str) -> str:
    """Return the default name of a job on a group: two groups of one team have two jobs."""
    name = f"{kind}-{group}"
    if len(name) <= _LONGEST_JOB:
        return name
    hashed = content_hash({"name": name})
    return f"{name[: _LONGEST_JOB - len(hashed) - 1].rstrip('-')}-{hashed}"


def check_job(name: str) -> None:
    """Reject a job name that is too long for its pods' host names, `NAME-node-0-INDEX`.

    Raises:
        ValueError: If the name is not valid for a job.
    """
    problems = check_label("name", name, _LONGEST_JOB)
    if name[:1].isdigit():
        problems.append(KUBERNETES_NAME(f"name begins with a letter, got {name[:_LONGEST_JOB]!r}"))
    if problems:
        raise Refusal("job", problems)


def check_namespace(what: str, name: str) -> list[Message]:
    """Return the errors of a name that becomes a namespace."""
    problems = check_label(what, name)
    if name in _TAKEN or name.startswith("kube-") or name.endswith(_TAKEN_ENDINGS):
        message = f"{what} {name!r} is a namespace of Kubernetes or of the platform: choose another"
        problems.append(KUBERNETES_NAME(message))
    return problems
