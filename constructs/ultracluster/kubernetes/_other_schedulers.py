"""Volcano and KAI Scheduler, which replace Kueue and schedule the pods of a gang themselves."""

from ultracluster.kubernetes._availability import apart
from ultracluster.kubernetes._charts import release
from ultracluster.kubernetes._kueue import topologies
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._release import HelmRelease
from ultracluster.kubernetes._resources import node_resources, quota
from ultracluster.kubernetes._teams import Team, shares

# The capacity plugin in place of proportion: queues by resources, not by weights.
# https://github.com/volcano-sh/volcano, docs/user-guide/how_to_use_capacity_plugin.md (commit ed72c7c, read 2026-11-21)
_VOLCANO_SETTINGS = """\
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: predicates
  - name: capacity
  - name: nodeorder
  - name: binpack
"""
# Those of the chart, and the one by which a PodGroup without a queue goes to that of its namespace.
# https://github.com/volcano-sh/volcano, installer/helm/chart/volcano/values.yaml (commit ed72c7c, read 2026-11-27)
_VOLCANO_ADMISSIONS = (
    *("/jobs/mutate", "/jobs/validate", "/podgroups/mutate", "/podgroups/validate", "/queues/mutate"),
    *("/queues/validate", "/hypernodes/validate", "/cronjobs/validate"),
)
_UNLIMITED = -1
_KAI_ROOT = "all"


def volcano_release(platform: Platform) -> HelmRelease:
    """Return Volcano, with queues by resources. Its chart gives its pods the priority of the system."""
    # https://github.com/volcano-sh/volcano, installer/helm/chart/volcano, values.yaml (1.15.1, read 2026-11-27)
    settings = {
        "scheduler_config_override": _VOLCANO_SETTINGS,
        "admission_replicas": 2,
        "enabled_admissions": ",".join(_VOLCANO_ADMISSIONS),
        "admission_affinity": apart("volcano-admission", label="app"),
    }
    return release("volcano", platform.versions, {"custom": settings})


def volcano_objects(platform: Platform) -> list[Object]:
    """Return a queue for each team; it reclaims borrowed resources up to its share."""
    objects = []
    for team in platform.tenants:
        quota = _sum(platform, team)
        spec: Object = {"deserved": quota, "reclaimable": True}
        if not team.borrow:
            spec["capability"] = quota
        objects.append(make("scheduling.volcano.sh/v1beta1", "Queue", team.name, spec=spec))
    return objects


def namespace_queue(platform: Platform, name: str) -> dict[str, str]:
    """Return the annotation by which Volcano puts pods of a namespace that name no queue into that of its team.

    They would be in its queue `default`, which has no quota.

    See: https://github.com/volcano-sh/volcano, pkg/webhooks/admission/podgroups (commit ed72c7c, read 2026-11-27)
    """
    return {"scheduling.volcano.sh/queue-name": name} if platform.scheduler == "volcano" else {}


def kai_release(platform: Platform) -> HelmRelease:
    """Return KAI Scheduler."""
    return release("kai-scheduler", platform.versions, {})


def kai_objects(platform: Platform) -> list[Object]:
    """Return the topologies, and a queue for each team below a common one. Only GPUs have quotas."""
    api = "scheduling.run.ai/v2"
    total = sum(group.working * group.instance_type.gpus for group in platform.nodes)
    return [
        *topologies(platform, "kai.scheduler/v1alpha1"),
        make(api, "Queue", _KAI_ROOT, spec={"resources": _kai_resources(total, total)}),
        *(make(api, "Queue", team.name, spec=_kai_queue(platform, team)) for team in platform.tenants),
    ]


def _kai_queue(platform: Platform, team: Team) -> Object:
    quota = sum(shares(platform.tenants, group)[team.name] * group.instance_type.gpus for group in platform.nodes)
    limit = _UNLIMITED if team.borrow else quota
    resources = _kai_resources(quota, limit, weight=team.weight or 1)
    return {"displayName": team.name, "parentQueue": _KAI_ROOT, "resources": resources}


def _kai_resources(gpus: int, limit: int, *, weight: int = 1) -> Object:
    open_end = {"limit": _UNLIMITED, "overQuotaWeight": 1, "quota": _UNLIMITED}
    return {
        "cpu": open_end,
        "gpu": {"limit": limit, "overQuotaWeight": weight, "quota": gpus},
        "memory": dict(open_end),
    }


def _sum(platform: Platform, team: Team) -> dict[str, str]:
    """Return the resources of a team's nodes of all groups."""
    total: dict[str, int] = {}
    for group in platform.nodes:
        nodes = shares(platform.tenants, group)[team.name]
        for name, value in quota(node_resources(group), nodes, efa="device-plugin", gpus_claimed=False).items():
            total[name] = total.get(name, 0) + int(value.removesuffix("Mi"))
    return {name: f"{value}Mi" if name in ("memory", "hugepages-2Mi") else str(value) for name, value in total.items()}
