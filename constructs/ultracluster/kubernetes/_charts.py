"""Charts that a platform may install, with repository and pinned version."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ultracluster.catalogue.schedulers import eks
from ultracluster.kubernetes._release import HelmRelease, Manifest

_READ = eks.CHARTS_READ_ON.isoformat()
_EKS = "https://aws.github.io/eks-charts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Repository and pinned version of a chart."""

    chart: str
    version: str
    namespace: str
    #: Part of the image of its pods, by which another installation of it is recognized.
    image: str
    #: Where the version was seen.
    source: str
    repository: str | None = None
    #: Its pods are on the nodes of the groups, so that nothing waits for all of them.
    devices: bool = False


#: By name of the release.
CHARTS: Mapping[str, Chart] = MappingProxyType(
    {
        "aws-efa-k8s-device-plugin": Chart(
            image="eks/aws-efa-k8s-device-plugin", devices=True,
            chart="aws-efa-k8s-device-plugin", repository=_EKS, version="v0.5.30", namespace="kube-system",
            source=f"https://github.com/aws/eks-charts (commit 5239609 of 2026-08-03, read {_READ})",
        ),
        "aws-dranet": Chart(
            image="eks/dranet", devices=True,
            chart="aws-dranet", repository=_EKS, version="1.0.0", namespace="kube-system",
            source=f"https://github.com/aws/eks-charts (commit 5239609 of 2026-08-03, read {_READ})",
        ),
        "nvidia-device-plugin": Chart(
            image="nvidia/k8s-device-plugin", devices=True,
            chart="nvidia-device-plugin", repository="https://nvidia.github.io/k8s-device-plugin", version="0.20.0",
            namespace="nvidia-device-plugin",
            source=f"https://github.com/NVIDIA/k8s-device-plugin (tag v0.20.0, read {_READ})",
        ),
        "gpu-operator": Chart(
            image="nvidia/gpu-operator", devices=True,
            chart="gpu-operator", repository="https://helm.ngc.nvidia.com/nvidia", version="v26.7.0",
            namespace="gpu-operator", source=f"https://github.com/NVIDIA/gpu-operator (tag v26.7.0, read {_READ})",
        ),
        "nvidia-dra-driver": Chart(
            image="dra-driver", devices=True,
            chart="oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", version="0.4.1",
            namespace="nvidia-dra-driver",
            source=f"https://github.com/NVIDIA/k8s-dra-driver-gpu (commit 2240711 of 2026-05-15, read {_READ})",
        ),
        "kueue": Chart(
            image="kueue/kueue",
            chart="oci://registry.k8s.io/kueue/charts/kueue", version="0.19.2", namespace="kueue-system",
            source=f"https://github.com/kubernetes-sigs/kueue (commit ff69552 of 2026-08-22, read {_READ})",
        ),
        "jobset": Chart(
            image="jobset/jobset",
            chart="oci://registry.k8s.io/jobset/charts/jobset", version="0.12.0", namespace="jobset-system",
            source=f"https://github.com/kubernetes-sigs/jobset (tag v0.12.0, read {_READ})",
        ),
        "lws": Chart(
            image="lws/lws",
            chart="oci://registry.k8s.io/lws/charts/lws", version="0.10.0", namespace="lws-system",
            source=f"https://github.com/kubernetes-sigs/lws (tag v0.10.0, read {_READ})",
        ),
        "kubeflow-trainer": Chart(
            image="trainer-controller-manager",
            chart="oci://ghcr.io/kubeflow/charts/kubeflow-trainer", version="2.3.0", namespace="kubeflow-system",
            source=f"https://github.com/kubeflow/trainer (tag v2.3.0, read {_READ})",
        ),
        "volcano": Chart(
            image="volcanosh/vc-controller-manager",
            chart="volcano", repository="https://volcano-sh.github.io/helm-charts", version="1.15.1",
            namespace="volcano-system", source=f"https://github.com/volcano-sh/volcano (tag v1.15.1, read {_READ})",
        ),
        "kai-scheduler": Chart(
            image="kai-scheduler/",
            chart="oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler", version="v0.17.0",
            namespace="kai-system",
            source="https://github.com/kai-scheduler/KAI-Scheduler (tag v0.17.0 of 2026-08-03, read 2026-11-23)",
        ),
        "karpenter": Chart(
            image="karpenter/controller",
            chart="oci://public.ecr.aws/karpenter/karpenter", version="1.14.1", namespace="karpenter-system",
            source=f"https://github.com/aws/karpenter-provider-aws (tag v1.14.1, read {_READ})",
        ),
    }
)  # fmt: skip

#: The MPI operator has no chart. https://github.com/kubeflow/mpi-operator (tag v0.8.0, read 2026-11-21)
MPI_OPERATOR_VERSION = "v0.8.0"
MPI_OPERATOR_NAMESPACE = "mpi-operator"
MPI_OPERATOR_IMAGE = "mpioperator/mpi-operator"
#: Address of its manifest as a chart, in a registry of the account.
MPI_OPERATOR_CHART = "raw.githubusercontent.com/kubeflow/mpi-operator"


def release(name: str, versions: Mapping[str, str], values: Mapping[str, Any]) -> HelmRelease:
    """Return the release of a chart, at its pinned version or the given one."""
    chart = CHARTS[name]
    return HelmRelease(
        name=name,
        chart=chart.chart,
        repository=chart.repository,
        version=versions.get(name, chart.version),
        namespace=chart.namespace,
        values=values,
    )


def mpi_operator(versions: Mapping[str, str]) -> Manifest:
    """Return the MPI operator, at its pinned version or the given one."""
    version = versions.get("mpi-operator", MPI_OPERATOR_VERSION)
    url = f"https://raw.githubusercontent.com/kubeflow/mpi-operator/{version}/deploy/v2beta1/mpi-operator.yaml"
    return Manifest(name="mpi-operator", version=version, url=url)
