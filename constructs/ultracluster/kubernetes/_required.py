"""Releases that the service of the nodes requires: the charts of SageMaker HyperPod.

HyperPod refuses an EKS cluster without them, or runs no health checks and restarts no job there. They are not in a
registry; each is a chart of the parent chart `HyperPodHelmChart`, without those that this library installs itself:
device plugins and the MPI operator. See:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html, and
https://github.com/aws/sagemaker-hyperpod-cli, helm_chart/readme.md (commit 011ca92 of 2026-06-22; read 2026-11-23)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultracluster.kubernetes._release import HelmRelease

_REPOSITORY = "https://github.com/aws/sagemaker-hyperpod-cli"
_COMMIT = "011ca927123e02b35a399935bbb3ab1905fe33c7"
_CHARTS = "helm_chart/HyperPodHelmChart/charts"
# All of them have 0.1.0; the commit is what pins them.
_VERSION = f"0.1.0+{_COMMIT[:7]}"
_NAMESPACE = "kube-system"


@dataclass(frozen=True, kw_only=True, slots=True)
class RequiredChart:
    """A chart that a service requires.

    Args:
        image: Part of the image of its pods, by which another installation of it is recognized.
        images: Images of its pods. Those of the health monitoring agent are in an account of AWS for each Region.
        regional: The Region is a value of the chart.
    """

    image: str
    images: tuple[str, ...] = ()
    regional: bool = False


#: By name of release and chart, in the order of their installation: the first creates the namespace `aws-hyperpod`.
REQUIRED: Mapping[str, RequiredChart] = MappingProxyType(
    {
        "deep-health-check": RequiredChart(image="aws-hyperpod/deep-health-check"),
        "health-monitoring-agent": RequiredChart(image="hyperpod-health-monitoring-agent", regional=True),
        "job-auto-restart": RequiredChart(image="aws-hyperpod/job-auto-restart"),
        "hyperpod-patching": RequiredChart(image="aws-hyperpod/hyperpod-patching"),
        "training-operators": RequiredChart(
            image="kubeflow/training-operator", images=("docker.io/kubeflow/training-operator:v1-855e096",)
        ),
    }
)


def required_releases(names: Iterable[str], *, region: str) -> tuple[HelmRelease, ...]:
    """Return releases by their names."""
    return tuple(
        HelmRelease(
            name=name,
            chart=f"{_CHARTS}/{name}",
            version=_VERSION,
            namespace=_NAMESPACE,
            repository=_REPOSITORY,
            commit=_COMMIT,
            values={"region": region} if REQUIRED[name].regional else {},
        )
        for name in names
    )


def required_image(name: str) -> str | None:
    """Return the part of an image by which another installation of a required release is recognized, or None."""
    return REQUIRED[name].image if name in REQUIRED else None
