"""Container images of job files, pinned to versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultracluster.catalogue.ec2 import Architecture

_ECR = "public.ecr.aws"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerImage:
    """A container image of Amazon ECR Public.

    Args:
        repository: Name in the registry.
        tag: Tag of one version.
        architectures: CPU architectures.
        holds: Contents that a job needs.
        source: Source of these facts, read on 2026-11-21 unless it has another date.
    """

    repository: str
    tag: str
    architectures: tuple[Architecture, ...]
    holds: str
    source: str

    @property
    def address(self) -> str:
        """Image reference for Kubernetes."""
        return f"{_ECR}/{self.repository}:{self.tag}"

    @property
    def enroot(self) -> str:
        """Image reference for Enroot and Pyxis.

        See: https://github.com/NVIDIA/enroot/blob/master/doc/cmd/import.md (read 2026-11-21)
        """
        return f"docker://{_ECR}#{self.repository}:{self.tag}"


_AWS_IMAGES = "https://github.com/aws/deep-learning-containers (commit e0ecede of 2026-08-21)"
_AWS_SAMPLES = "https://github.com/awslabs/awsome-distributed-ai (commit 95b939c of 2026-07-23)"

PYTORCH = ContainerImage(
    repository="deep-learning-containers/pytorch",
    tag="2.13.0-cu133-amzn2023",
    architectures=("x86_64",),
    holds="PyTorch 2.13.0, CUDA 13.3, NCCL 2.30.7, EFA installer 1.49.0, DeepSpeed 0.19.2, Transformer Engine 2.17.0",
    source=f"{_AWS_IMAGES}, .github/config/image/pytorch/2.13-ec2-cuda.yml and docs/src/data/pytorch/2.13-cuda-ec2.yml",
)
VLLM = ContainerImage(
    repository="deep-learning-containers/vllm",
    tag="server-cuda-v2.3",
    architectures=("x86_64",),
    holds="vLLM 0.27.0, CUDA 13.0, EFA installer 1.47.0",
    source=f"{_AWS_IMAGES}, docs/src/data/vllm-server and docker/vllm/Dockerfile.amzn2023",
)
SGLANG = ContainerImage(
    repository="deep-learning-containers/sglang",
    tag="server-cuda-v1.4",
    architectures=("x86_64",),
    holds="SGLang 0.5.19, CUDA 13.0, EFA",
    source=(
        "https://github.com/aws/deep-learning-containers, docs/src/data/sglang-server (commit 05a7191), and "
        "https://aws.github.io/deep-learning-containers/sglang (read 2026-11-23)"
    ),
)
NCCL_TESTS = ContainerImage(
    repository="hpc-cloud/nccl-tests",
    tag="cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3",
    architectures=("x86_64", "arm64"),
    holds="nccl-tests 2.18.3, CUDA 13.0.2, NCCL 2.30.4, EFA installer 1.48.0",
    source=f"{_AWS_SAMPLES}, .github/image-manifest.yaml; the tag as in 3.test_cases/pytorch/FSDP/Dockerfile",
)

#: The images by what they are for. There is none for veRL: its own images lack EFA, and AWS's sample builds one.
IMAGES: Mapping[str, ContainerImage] = MappingProxyType(
    {"pytorch": PYTORCH, "vllm": VLLM, "sglang": SGLANG, "nccl-tests": NCCL_TESTS}
)
