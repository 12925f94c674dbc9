"""Images of the releases at their pinned versions, and the values of the charts that name their registries.

A cluster with a registry of its own gets `REGISTRY/` before each of these values, so that tags stay those of the chart.
Some operators create further pods from images that their custom resource names, so `helm template` does not show all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ultracluster.kubernetes._charts import MPI_OPERATOR_IMAGE, MPI_OPERATOR_VERSION

_READ = "2026-11-23"
# https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html (read 2026-11-21)
_EKS = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks"
_NVCR = "nvcr.io/nvidia"
_KAI = "ghcr.io/kai-scheduler/kai-scheduler"
_NFD = "registry.k8s.io/nfd/node-feature-discovery"
#: Image of node feature discovery in the charts of NVIDIA: 0.19.0 is the dependency of both.
_NFD_IMAGE = f"{_NFD}:v0.19.0"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseImages:
    """Images of a release.

    Args:
        values: Registry or repository in the chart, by the dotted path of its value.
        images: Images that its pods have with the values of this library, at the pinned version.
        feature_discovery: Image of node feature discovery, if the values enable it.
        source: Files that they were read from.
    """

    values: Mapping[str, str]
    images: tuple[str, ...]
    source: str
    feature_discovery: tuple[str, ...] = field(default=())


def _at(repository: str, tag: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{repository}/{name}:{tag}" for name in names)


#: By name of the release.
RELEASE_IMAGES: Mapping[str, ReleaseImages] = MappingProxyType(
    {
        "aws-efa-k8s-device-plugin": ReleaseImages(
            values={"image.repository": f"{_EKS}/aws-efa-k8s-device-plugin"},
            images=(f"{_EKS}/aws-efa-k8s-device-plugin:v0.5.20",),
            source=f"https://github.com/aws/eks-charts, values.yaml of the chart (commit 5239609, read {_READ})",
        ),
        "aws-dranet": ReleaseImages(
            values={"image.repository": f"{_EKS}/dranet"},
            images=(f"{_EKS}/dranet:v1.2.0-eksbuild.2",),
            source=f"https://github.com/aws/eks-charts, values.yaml of the chart (commit 5239609, read {_READ})",
        ),
        "nvidia-device-plugin": ReleaseImages(
            values={"image.repository": f"{_NVCR}/k8s-device-plugin", "nfd.image.repository": _NFD},
            images=(f"{_NVCR}/k8s-device-plugin:v0.20.0",),
            feature_discovery=(_NFD_IMAGE,),
            source=f"https://github.com/NVIDIA/k8s-device-plugin, deployments/helm (tag v0.20.0, read {_READ})",
        ),
        "gpu-operator": ReleaseImages(
            values={
                **{
                    f"{name}.repository": _NVCR
                    for name in ("operator", "validator", "driver", "devicePlugin", "gfd", "draDriver")
                },
                **{
                    f"{name}.repository": f"{_NVCR}/cloud-native"
                    for name in (
                        *("driver.manager", "dcgm", "migManager", "gds", "gdrcopy", "vgpuManager.driverManager"),
                        *("vgpuDeviceManager", "vfioManager", "vfioManager.driverManager", "ccManager"),
                        "kataSandboxDevicePlugin",
                    )
                },
                **{f"{name}.repository": f"{_NVCR}/k8s" for name in ("toolkit", "dcgmExporter")},
                "nodeStatusExporter.repository": _NVCR,
                "sandboxDevicePlugin.repository": _NVCR,
                "node-feature-discovery.image.repository": _NFD,
            },
            images=(
                f"{_NVCR}/gpu-operator:v26.7.0",
                f"{_NVCR}/k8s-device-plugin:v0.20.0",
                f"{_NVCR}/k8s/dcgm-exporter:4.6.0-4.8.3-distroless",
                f"{_NVCR}/cloud-native/k8s-mig-manager:v0.15.0",
            ),
            feature_discovery=(_NFD_IMAGE,),
            source=f"https://github.com/NVIDIA/gpu-operator, deployments/gpu-operator (tag v26.7.0, read {_READ})",
        ),
        "nvidia-dra-driver": ReleaseImages(
            values={"image.repository": "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu"},
            images=("registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.4.1",),
            source=f"https://github.com/NVIDIA/k8s-dra-driver-gpu, deployments/helm (commit 2240711, read {_READ})",
        ),
        "kueue": ReleaseImages(
            values={"controllerManager.manager.image.repository": "registry.k8s.io/kueue/kueue"},
            images=("registry.k8s.io/kueue/kueue:v0.19.2",),
            source=f"https://github.com/kubernetes-sigs/kueue, hack/helm-chart-package.sh (tag v0.19.2, read {_READ})",
        ),
        "jobset": ReleaseImages(
            values={"image.repository": "registry.k8s.io/jobset/jobset"},
            images=("registry.k8s.io/jobset/jobset:v0.12.0",),
            source=f"https://github.com/kubernetes-sigs/jobset, hack/helm-chart-package.sh (tag v0.12.0, read {_READ})",
        ),
        "lws": ReleaseImages(
            values={"image.manager.repository": "registry.k8s.io/lws/lws"},
            images=("registry.k8s.io/lws/lws:v0.10.0",),
            source=f"https://github.com/kubernetes-sigs/lws, hack/push-chart.sh (tag v0.10.0, read {_READ})",
        ),
        "kubeflow-trainer": ReleaseImages(
            values={"image.registry": "ghcr.io", "runtimes.installer.image.registry": "docker.io"},
            images=("ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.3.0",),
            source=f"https://github.com/kubeflow/trainer, charts/kubeflow-trainer (tag v2.3.0, read {_READ})",
        ),
        "mpi-operator": ReleaseImages(
            values={},
            images=(f"docker.io/{MPI_OPERATOR_IMAGE}:{MPI_OPERATOR_VERSION.removeprefix('v')}",),
            source=f"https://github.com/kubeflow/mpi-operator, deploy/v2beta1/mpi-operator.yaml (tag v0.8.0, {_READ})",
        ),
        "volcano": ReleaseImages(
            values={"basic.image_registry": "docker.io"},
            images=_at("docker.io/volcanosh", "v1.15.1", "vc-controller-manager", "vc-scheduler", "vc-webhook-manager"),
            source=f"https://github.com/volcano-sh/volcano, installer/helm/chart (tag v1.15.1, read {_READ})",
        ),
        "kai-scheduler": ReleaseImages(
            values={"global.registry": _KAI},
            images=_at(
                _KAI, "v0.17.0",
                *("operator", "scheduler", "binder", "podgrouper", "podgroupcontroller", "queuecontroller"),
                *("admission", "resourcereservation", "crd-upgrader", "nodescaleadjuster", "scalingpod"),
                "numa-placement-exporter",
            ),
            source=f"https://github.com/kai-scheduler/KAI-Scheduler, the chart's values.yaml (tag v0.17.0, {_READ})",
        ),
        "karpenter": ReleaseImages(
            values={"controller.image.repository": "public.ecr.aws/karpenter/controller"},
            images=(
                "public.ecr.aws/karpenter/controller:1.14.1@sha256:"
                "723130949e4cab989461ff07d1be4cd781d63515432494641b33c235f300ae23",
            ),
            source=f"https://github.com/aws/karpenter-provider-aws, charts/karpenter (commit 1d92708, read {_READ})",
        ),
    }
)  # fmt: skip
