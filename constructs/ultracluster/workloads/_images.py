"""Container images of job files, pinned to versions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ultracluster.catalogue.ec2 import Architecture
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.workloads._packages import AGENT, AGENT_TOOLS, TORCHTITAN_PACKAGES, TRANSFORMERS, VERL_PACKAGES

_HUB = "docker.io"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerImage:
    """A published container image.

    Args:
        repository: Name in the registry.
        tag: Tag of one version.
        architectures: CPU architectures.
        contents: Software that a job needs.
        source: Source of these facts, read on 2026-11-21 unless it has another date.
        registry: Host of the registry, which serves it without credentials.
        layer: Script of `loads` that installs software in addition, or an empty text.
        packages: Arguments of the layer: versions and checksums.
        more_packages: Arguments of its second run, for packages that need the first ones to build.
        imported: False if an import of images must name it, because it is large and one workload uses it.
        replaceable: False if the image for other CPUs lacks what the layer installs.
    """

    repository: str
    tag: str
    architectures: tuple[Architecture, ...]
    contents: str
    source: str
    registry: str = "public.ecr.aws"
    layer: str = ""
    packages: tuple[str, ...] = ()
    more_packages: tuple[str, ...] = ()
    imported: bool = True
    replaceable: bool = True

    @property
    def address(self) -> str:
        """Image reference for Kubernetes."""
        return f"{self.registry}/{self.repository}:{self.tag}"

    @property
    def enroot(self) -> str:
        """Image reference for Enroot and Pyxis.

        See: https://github.com/NVIDIA/enroot/blob/master/doc/cmd/import.md (read 2026-11-21)
        """
        # Its default registry is that of Docker Hub, whose host has another name than its images.
        host = "" if self.registry == _HUB else f"{self.registry}#"
        return f"docker://{host}{self.repository}:{self.tag}"


_AWS_IMAGES = "https://github.com/aws/deep-learning-containers (commit e0ecede of 2026-08-21)"
_AWS_SAMPLES = "https://github.com/awslabs/awsome-distributed-ai (commit 95b939c of 2026-07-23)"

PYTORCH = ContainerImage(
    repository="deep-learning-containers/pytorch",
    tag="2.13.0-cu133-amzn2023",
    architectures=("x86_64",),
    contents=(
        "PyTorch 2.13.0, CUDA 13.3, NCCL 2.30.7, EFA installer 1.49.0, DeepSpeed 0.19.2, Transformer Engine 2.17.0"
    ),
    source=f"{_AWS_IMAGES}, .github/config/image/pytorch/2.13-ec2-cuda.yml and docs/src/data/pytorch/2.13-cuda-ec2.yml",
)
VLLM = ContainerImage(
    repository="deep-learning-containers/vllm",
    tag="server-cuda-v2.3",
    architectures=("x86_64",),
    contents="vLLM 0.27.0, CUDA 13.0, EFA installer 1.47.0",
    source=f"{_AWS_IMAGES}, docs/src/data/vllm-server and docker/vllm/Dockerfile.amzn2023",
)
SGLANG = ContainerImage(
    repository="deep-learning-containers/sglang",
    tag="server-cuda-v1.4",
    architectures=("x86_64",),
    contents="SGLang 0.5.19, CUDA 13.0, EFA",
    source=(
        "https://github.com/aws/deep-learning-containers, docs/src/data/sglang-server (commit 05a7191), and "
        "https://aws.github.io/deep-learning-containers/sglang (read 2026-11-23)"
    ),
)
NCCL_TESTS = ContainerImage(
    repository="hpc-cloud/nccl-tests",
    tag="cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3",
    architectures=("x86_64", "arm64"),
    contents="nccl-tests 2.18.3, CUDA 13.0.2, NCCL 2.30.4, EFA installer 1.48.0",
    source=f"{_AWS_SAMPLES}, .github/image-manifest.yaml; the tag as in 3.test_cases/pytorch/FSDP/Dockerfile",
)

_NGC = "nvcr.io"
_BRIDGE = "https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2, commit c810129)"
MEGATRON = ContainerImage(
    repository="nvidia/nemo",
    tag="26.04.01",
    # Its published results are of H100, B200, B300, and of GB200 and GB300, which have arm64.
    architectures=("x86_64", "arm64"),
    contents="Megatron Bridge 0.4.2, Megatron Core 0.17.1, PyTorch 2.11, Transformer Engine 2.14.1, NCCL 2.29.3, EFA",
    source=(
        f"{_BRIDGE}, docker/Dockerfile.fw_base and docs/performance-summary.md; {_AWS_SAMPLES}, "
        "3.test_cases/megatron/megatron-bridge/Dockerfile, which lists its EFA software (read 2026-11-24)"
    ),
    registry=_NGC,
    imported=False,
)
MAXTEXT = ContainerImage(
    repository="nvidia/jax",
    tag="26.05-maxtext-py3",
    architectures=("x86_64",),
    contents="JAX, MaxText in /opt/maxtext, aws-ofi-nccl of NVIDIA's CUDA DL image",
    source=(
        "https://github.com/NVIDIA/JAX-Toolbox (commit bcbbfa5), README.md and .github/eks-workflow-files; "
        "https://docs.nvidia.com/deeplearning/frameworks/cuda-dl-release-notes/rel-26-03.html (read 2026-11-24)"
    ),
    registry=_NGC,
    imported=False,
)
_ETCD = "3.6.6"
DYNAMO = ContainerImage(
    repository="deep-learning-containers/dynamo",
    tag="1.6.2-efa-vllm-runtime-v1",
    architectures=("x86_64",),
    contents=f"Dynamo 1.6.2, vLLM 0.31.0, NIXL with libfabric, EFA; etcd {_ETCD} is added to it",
    source=(
        "https://github.com/aws/deep-learning-containers (commit e0ecede) and "
        "https://aws.github.io/deep-learning-containers/dynamo (read 2026-11-24); checksum of etcd: "
        "https://github.com/kubernetes-sigs/kubespray (commit 46dbdd3), roles/kubespray_defaults"
    ),
    layer="layer-etcd.sh",
    packages=(_ETCD, "887afaa4a99f22d802ccdfbe65730a5e79aa5c9ce2c8799c67e9d804c50ecedb"),
    imported=False,
)
#: On Kubernetes, where it needs no layer.
ETCD = ContainerImage(
    repository="etcd",
    tag=f"{_ETCD}-0",
    architectures=("x86_64", "arm64"),
    contents=f"etcd {_ETCD}, by which pods of Dynamo find each other",
    source="https://github.com/kubernetes-sigs/kubespray (commit 46dbdd3), and kubeadm 1.35 (read 2026-11-26)",
    registry="registry.k8s.io",
    imported=False,
)

_VERL = "https://github.com/verl-project/verl (commit 1dda039)"
VERL = ContainerImage(
    repository="verlai/verl",
    tag="vllm024.dev2",
    architectures=("x86_64",),
    contents="vLLM 0.24.0, PyTorch 2.11.0, Megatron Core 0.18.0, CUDA 13.0; EFA and veRL are added to it",
    # What veRL 0.9.1 requires of vLLM and PyTorch is in this image; its transformers and TransferQueue are older.
    source=f"{_VERL}, docker/Dockerfile.stable.vllm and .github/workflows (read 2026-11-24)",
    registry=_HUB,
    layer="layer-verl.sh",
    packages=(software.EFA.version, software.EFA.sha256, *VERL_PACKAGES),
    imported=False,
)

_PACKAGES = "layer-packages.sh"
FINETUNE = replace(
    PYTORCH,
    contents=f"{PYTORCH.contents}; transformers 5.24.0 and Accelerate 1.15.0 are added to it",
    layer=_PACKAGES,
    packages=TRANSFORMERS,
    imported=False,
)
TORCHTITAN = replace(
    PYTORCH,
    contents=f"{PYTORCH.contents}; torchtitan 0.3.0 is added to it",
    layer=_PACKAGES,
    packages=TORCHTITAN_PACKAGES,
    imported=False,
    replaceable=False,
)
#: hyperpod-elastic-agent 1.1.3 refuses PyTorch 2.12 and newer.
AGENT_IMAGE = replace(
    PYTORCH,
    tag="2.11.0-cu130-amzn2023",
    contents="PyTorch 2.11.0, CUDA 13.0, EFA; the agent of HyperPod's training operator is added to it",
    source=f"{_AWS_IMAGES}, docs/src/data/pytorch/2.11-cuda-ec2.yml; hyperpod-elastic-agent 1.1.3 (read 2026-11-25)",
    layer=_PACKAGES,
    packages=AGENT_TOOLS,
    more_packages=AGENT,
    imported=False,
)

_DYNAMO_NOTES = "https://docs.nvidia.com/dynamo/v1.2.0/resources/release-artifacts (read 2026-11-24)"
_VLLM_ARM = ContainerImage(
    repository="nvidia/ai-dynamo/vllm-runtime",
    tag="1.2.0-efa",
    architectures=("x86_64", "arm64"),
    contents="vLLM 0.20.1, CUDA 12.9, libfabric for EFA",
    source=_DYNAMO_NOTES,
    registry=_NGC,
    imported=False,
)
_SGLANG_ARM = ContainerImage(
    repository="nvidia/ai-dynamo/sglang-runtime",
    tag="1.2.0-efa",
    architectures=("x86_64", "arm64"),
    contents="SGLang 0.5.11, CUDA 12.9, libfabric for EFA",
    source=_DYNAMO_NOTES,
    registry=_NGC,
    imported=False,
)
# AWS publishes no images for arm64 of these.
_ARM = MappingProxyType({PYTORCH.repository: MEGATRON, VLLM.repository: _VLLM_ARM, SGLANG.repository: _SGLANG_ARM})


def image_on(image: ContainerImage, architecture: Architecture) -> ContainerImage | None:
    """Return the image for a CPU architecture: itself, or another with the same programs, or None."""
    if architecture in image.architectures:
        return image
    return _ARM.get(image.repository) if image.replaceable else None


#: The images by what they are for.
IMAGES: Mapping[str, ContainerImage] = MappingProxyType(
    {
        "pytorch": PYTORCH,
        "vllm": VLLM,
        "sglang": SGLANG,
        "nccl-tests": NCCL_TESTS,
        "megatron": MEGATRON,
        "maxtext": MAXTEXT,
        "dynamo": DYNAMO,
        "etcd": ETCD,
        "verl": VERL,
        "finetune": FINETUNE,
        "torchtitan": TORCHTITAN,
        "hyperpod-agent": AGENT_IMAGE,
        "vllm-arm64": _VLLM_ARM,
        "sglang-arm64": _SGLANG_ARM,
    }
)
