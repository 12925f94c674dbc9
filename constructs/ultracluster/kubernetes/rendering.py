"""A platform, rendered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ultracluster.kubernetes.checks import check_platform
from ultracluster.kubernetes.devices import claim_templates, compute_domains, device_releases
from ultracluster.kubernetes.health_access import health_access
from ultracluster.kubernetes.karpenter import karpenter_objects, karpenter_release
from ultracluster.kubernetes.kueue import kueue_objects, kueue_release
from ultracluster.kubernetes.network_policies import team_policies
from ultracluster.kubernetes.objects import Object, make
from ultracluster.kubernetes.other_schedulers import kai_objects, kai_release, volcano_objects, volcano_release
from ultracluster.kubernetes.platform import Platform, Scheduler
from ultracluster.kubernetes.release import HelmRelease, Manifest
from ultracluster.kubernetes.runtimes import runtimes
from ultracluster.kubernetes.training import training_releases
from ultracluster.kubernetes.volumes import volume_objects


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """Everything that a platform puts on its cluster, in the order of its installation.

    Args:
        releases: Helm releases, and manifests of projects without a chart.
        objects: Objects, after the releases that bring their definitions.
    """

    releases: tuple[HelmRelease | Manifest, ...]
    objects: tuple[Object, ...]


def platform(of: Platform) -> Rendered:
    """Render a platform.

    Raises:
        ValueError: When its parts exclude each other, with every problem.
    """
    check_platform(of)
    elastic = of.karpenter
    return Rendered(
        releases=(
            *device_releases(of),
            *((karpenter_release(of, elastic),) if elastic else ()),
            *training_releases(of),
            _SCHEDULERS[of.scheduler][0](of),
        ),
        objects=tuple(
            [
                *(karpenter_objects(of, elastic) if elastic else ()),
                *(made for team in of.tenants for made in _team(of, team.name)),
                *volume_objects(of),
                *_SCHEDULERS[of.scheduler][1](of),
                *runtimes(of),
                *health_access(),
            ]
        ),
    )


_SCHEDULERS: Mapping[Scheduler, tuple[Callable[[Platform], HelmRelease], Callable[[Platform], list[Object]]]] = {
    "kueue": (kueue_release, kueue_objects),
    "volcano": (volcano_release, volcano_objects),
    "kai": (kai_release, kai_objects),
}


def _team(of: Platform, name: str) -> list[Object]:
    return [make("v1", "Namespace", name), *team_policies(name), *claim_templates(of, name), *compute_domains(of, name)]
