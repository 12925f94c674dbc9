"""Two replicas of a controller on two nodes: without one of them, webhooks that fail closed refuse jobs.

The charts of Kueue 0.19.2, JobSet 0.12.0, Kubeflow Trainer 2.3.0 and LeaderWorkerSet 0.10.0 label their pods with
`app.kubernetes.io/name`, and that of Volcano 1.15.1 with `app`, as `helm template` renders them (2026-11-27).
"""

from ultracluster.kubernetes._objects import Object

#: https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods (read 2026-11-27)
SYSTEM_PRIORITY = "system-cluster-critical"
_HOST = "kubernetes.io/hostname"
_NAME = "app.kubernetes.io/name"


def spread(name: str) -> Object:
    """Return the constraint that puts pods of a name on different nodes, where there are several."""
    # Not required: in an update with two nodes, the third pod would have none.
    return {
        "labelSelector": {"matchLabels": {_NAME: name}},
        "maxSkew": 1,
        "topologyKey": _HOST,
        "whenUnsatisfiable": "ScheduleAnyway",
    }


def apart(name: str, *, label: str = _NAME) -> Object:
    """Return the same as an affinity, for charts without such constraints."""
    term = {"labelSelector": {"matchLabels": {label: name}}, "topologyKey": _HOST}
    preferred = [{"podAffinityTerm": term, "weight": 100}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
