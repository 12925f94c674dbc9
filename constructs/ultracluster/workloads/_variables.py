"""Environment variables of other software that job files set: the reason for each, and its source."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """Environment variable that a library or a program reads.

    Args:
        used_by: Job files that set it.
        reason: Reason why a default is not enough.
        source: Source, with the date on which it was read.
    """

    used_by: str
    reason: str
    source: str


_EFA = "https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md (commit 2daf7d3, read 2026-11-20)"
_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/logging.html (read 2026-11-26)"
_INSPECTOR = "https://github.com/NVIDIA/nccl, plugins/profiler/inspector (commit 5067397c, read 2026-11-20)"
_DYNAMO = "https://github.com/ai-dynamo/dynamo (commit 0c21bf2), examples/backends/vllm/launch (read 2026-11-24)"
_DYNAMO_EFA = (
    "https://github.com/ai-dynamo/dynamo, tests/deploy/efa/disagg-efa-sglang.yaml (commit 7e9f74d, read 2026-11-27)"
)
_NGC = (
    "https://github.com/NVIDIA-NeMo/RL/issues/1973, Megatron-Bridge's Dockerfile.fw_base, and "
    "https://github.com/aws/aws-ofi-nccl (tag v1.21.1), contrib/debian-template (read 2026-11-27)"
)
_PLATFORM = "https://github.com/aws/aws-ofi-nccl (tag v1.17.3), src/platform-aws.cpp (read 2026-11-27)"
_NOT_FOR_AWS = "images whose plugin was not built for AWS, as NVIDIA's NeMo 26.04.01"
_MAXTEXT = "https://github.com/NVIDIA/JAX-Toolbox (commit bcbbfa5), docs/frameworks/maxtext (read 2026-11-24)"
_JAX = "https://github.com/AI-Hypercomputer/maxtext (commit e591f30), src/maxtext/utils/max_utils.py (read 2026-11-24)"
_CACHES = "https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_tutorial.html (read 2026-11-26)"


def _variable(used_by: str, reason: str, source: str) -> Variable:
    return Variable(used_by=used_by, reason=reason, source=source)


#: Variables by name. All others in job files are read by files of this library.
VARIABLES: Mapping[str, Variable] = MappingProxyType(
    {
        "FI_HMEM_DISABLE_P2P": _variable(
            "all, on p5.4xlarge",
            "NCCL over EFA needs it on this type, whose EFA has no GPUDirect RDMA",
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html (read 2026-11-21)",
        ),
        "NCCL_SOCKET_IFNAME": _variable(
            "Kubernetes", "NCCL would use the bridge or the virtual interface of a container", _EFA
        ),
        "FI_PROVIDER": _variable(
            "images in which NCCL does not find EFA's plugin, as those of NVIDIA; dynamo", "EFA only", _NGC
        ),
        "FI_EFA_USE_DEVICE_RDMA": _variable("dynamo", "without RDMA, NIXL ends and does not go on slowly", _DYNAMO_EFA),
        "FI_EFA_ENABLE_SHM_TRANSFER": _variable(
            "dynamo",
            "through shared memory, libfabric copies memory of GPUs as if it were the host's",
            "https://github.com/ofiwg/libfabric/issues/12328 (read 2026-11-27)",
        ),
        "NCCL_NET_PLUGIN": _variable("the same", "NCCL would use the plugin for InfiniBand, then TCP", _NGC),
        "LD_LIBRARY_PATH": _variable("the same", "directories of EFA's plugin, which the image leaves out", _NGC),
        "NCCL_PROTO": _variable(
            _NOT_FOR_AWS, "`simple`, except on P5: the others corrupt data that EFA delivers out of order", _PLATFORM
        ),
        **{
            name: _variable(_NOT_FOR_AWS, "one that was sets this value of the type by itself", _PLATFORM)
            for name in (
                "OFI_NCCL_PROTOCOL",
                "OFI_NCCL_NET_LATENCY",
                "OFI_NCCL_SKIP_NICS_WITHOUT_ACCEL_AT_SAME_PCI_LEVEL",
                "NCCL_BUFFSIZE",
                "NCCL_P2P_NET_CHUNKSIZE",
                "NCCL_NVLSTREE_MAX_CHUNKSIZE",
                "NCCL_NVLS_CHUNKSIZE",
                "NCCL_NET_FORCE_FLUSH",
                "NCCL_NETDEVS_POLICY",
            )
        },
        "FI_EFA_USE_HUGE_PAGE": _variable(
            "training; `FI_EFA_USE_HUGE_PAGE=1` keeps huge pages",
            "data loaders that fork end with `Cannot allocate memory` once a node has no more huge pages",
            _EFA,
        ),
        "NCCL_DEBUG": _variable("nccl, and the test of nodes", "its log shows whether NCCL runs over EFA", _NCCL),
        "NCCL_PROFILER_PLUGIN": _variable("Slurm, with INSPECTOR", "the plug-in that reports collectives", _INSPECTOR),
        "NCCL_INSPECTOR_ENABLE": _variable("Slurm, with INSPECTOR", "the plug-in is off by default", _INSPECTOR),
        "NCCL_INSPECTOR_DUMP_DIR": _variable("Slurm", "directory of the metrics of the job", _INSPECTOR),
        "NCCL_INSPECTOR_PROM_DUMP": _variable("Slurm", "format of Prometheus instead of JSON", _INSPECTOR),
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": _variable(
            "torchrun on Slurm",
            "after a restart, processes read old addresses in the shared store",
            "https://github.com/pytorch/pytorch/issues/135712 (read 2026-11-23)",
        ),
        "PYTHONPATH": _variable(
            "Slurm",
            "programs import `ultracluster_job`",
            "https://docs.python.org/3/using/cmdline.html",
        ),
        "HF_HOME": _variable(
            "what downloads models, on Slurm; training on Kubernetes",
            "the default is the home directory or the container; all nodes share this one",
            "https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables (read 2026-11-26)",
        ),
        "HF_HUB_OFFLINE": _variable(
            "megatron; all without internet access",
            "512 ranks exceed the limits of Hugging Face; without internet access, each request waits for its timeout",
            "https://huggingface.co/docs/hub/rate-limits (read 2026-11-27)",
        ),
        "HF_TOKEN": _variable(
            "Kubernetes",
            "models with limited access; from the secret `hugging-face` of the namespace, if there is one",
            "https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables (read 2026-11-26)",
        ),
        "XDG_CACHE_HOME": _variable("Kubernetes", "caches on the disks of the node, as vLLM's", _CACHES),
        "TRITON_CACHE_DIR": _variable("Kubernetes", "compiled kernels on the disks of the node", _CACHES),
        "TORCHINDUCTOR_CACHE_DIR": _variable("Kubernetes", "compiled graphs on the disks of the node", _CACHES),
        "JAX_COORDINATOR_IP": _variable("maxtext", "address of the first process", _JAX),
        "JAX_COORDINATOR_PORT": _variable("maxtext", "its port", _JAX),
        "NNODES": _variable("maxtext", "number of processes", _JAX),
        "NODE_RANK": _variable("maxtext", "number of the process", _JAX),
        "NVTE_FUSED_ATTN": _variable("maxtext", "attention of cuDNN, as in the published run", _MAXTEXT),
        "XLA_FLAGS": _variable("maxtext", "computation hides collectives, as in the published run", _MAXTEXT),
        "XLA_PYTHON_CLIENT_MEM_FRACTION": _variable("maxtext", "75 % of the memory of a GPU by default", _MAXTEXT),
        "DYN_DISCOVERY_BACKEND": _variable("dynamo", "workers and API find each other in etcd", _DYNAMO),
        "ETCD_ENDPOINTS": _variable("dynamo", "address of etcd, which the job starts", _DYNAMO),
        "DYN_REQUEST_PLANE": _variable("dynamo", "requests over TCP, without NATS", _DYNAMO),
        "DYN_EVENT_PLANE": _variable("dynamo", "events over ZeroMQ, without NATS", _DYNAMO),
        "DYN_SYSTEM_PORT": _variable("dynamo", "port of metrics and health, off by default", _DYNAMO),
    }
)
