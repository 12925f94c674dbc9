"""The software of an image for AWS PCS, by exact version, with the checksum or commit of what is downloaded.

Driver and Lustre client come with the parent image, AWS's Deep Learning Base OSS NVIDIA Driver GPU AMI for Ubuntu
24.04: https://docs.aws.amazon.com/dlami/latest/devguide/ (read 2026-11-20).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """A file to download, and what it must be."""

    version: str
    #: 64 hexadecimal digits.
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A release to build from source. The commit is its checksum, and that of its submodules."""

    version: str
    repository: str
    commit: str


# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html (read 2026-11-21): both tables. PCS
# lists no installer for 26.05 there yet.
PCS_AGENT = Download(version="1.5.1-1", sha256="9ac3fff38d75774852d947bf6823abc5a75e5c6325cd5aa5a3172b1defa72f9d")
SLURM: Mapping[str, Download] = MappingProxyType(
    {
        "25.05": Download(
            version="25.05.9-1", sha256="d9be2ae01eac14cd023f48787770878530b308e40b35c4ec1da3a2dbd1a372b7"
        ),
        "25.11": Download(
            version="25.11.8-1", sha256="70bf017a088223524949ffd5ef0d0b0eea45b22f904bcad1fbc0c9d92ea4a9c9"
        ),
    }
)
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-verify.html (read 2026-11-21): the newest there.
EFA = Download(version="1.49.0", sha256="cf2e9281a2328a243c76f911a490faed43ca0fecfe4733c25e34b2e92a32c309")
# The tags v4.1.2 and v0.24.0 (2026-05-11) of the two repositories (read 2026-11-21).
ENROOT = Source(
    version="4.1.2",
    repository="https://github.com/NVIDIA/enroot",
    commit="bd51f53b6fa954805ae3e1985c5dc7594ff66d05",
)
PYXIS = Source(
    version="0.24.0",
    repository="https://github.com/NVIDIA/pyxis",
    commit="107519944221822ea1dace4db8e7234b2eaa4cd5",
)
# By architecture. The checksums are those of upstream's own sha256sums.txt, beside the releases of
# https://github.com/prometheus/prometheus (3.13.2 of 2026-07-30; 3.13 is supported until 2027-07-31, by
# https://prometheus.io/docs/introduction/release-cycle/) and of https://github.com/prometheus/node_exporter (1.12.1 of
# 2026-07-14), as several public build recipes record them (read 2026-11-22). Not Ubuntu's prometheus: it is 2.45.3, and
# Debian's and Ubuntu's packages before 2.53 never sign remote_write, so that AWS refuses every sample.
PROMETHEUS: Mapping[str, Download] = MappingProxyType(
    {
        "x86_64": Download(version="3.13.2", sha256="0e8c4d46101bd025ea8265e377d2caabc57f488fc1be1c367f37db69ea41be6f"),
        "arm64": Download(version="3.13.2", sha256="7cecb17a6f41d59814e1a0581a1f81f79051ad5973d1ecf39e23a9f747d6572a"),
    }
)
NODE_EXPORTER: Mapping[str, Download] = MappingProxyType(
    {
        "x86_64": Download(version="1.12.1", sha256="b51d8a76aa2a9156a55d501aca6276fae09e262259a5e4e831d2c2222f084e63"),
        "arm64": Download(version="1.12.1", sha256="ad35b605f9954b9f1ffddf5ba054bdc5a98d790b9eae5291e1eeb83f1ecbd0e7"),
    }
)
# NVIDIA's package source with its key, for Ubuntu 24.04; the file differs between the architectures:
# https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/Packages, and sbsa/ (read 2026-11-22)
CUDA_KEYRING: Mapping[str, Download] = MappingProxyType(
    {
        "x86_64": Download(version="1.1-1", sha256="d2a6b11c096396d868758b86dab1823b25e14d70333f1dfa74da5ddaf6a06dba"),
        "arm64": Download(version="1.1-1", sha256="6ea7d2737648936820e85677177957a0f6521b840d98eb0bbae0a4f003fa7249"),
    }
)
# DCGM and dcgm-exporter, from NVIDIA's own repository for Ubuntu, which signs it; packages of both exist for x86_64 and
# arm64. The pair that NVIDIA releases together, the last before labels were renamed, and the one of Kubernetes nodes:
# https://github.com/NVIDIA/dcgm-exporter, hack/VERSION (commit d5e5f51 of 2026-05-12, read 2026-11-21).
DCGM = "1:4.5.3"
DCGM_EXPORTER = "4.8.2"
# The driver of B300 and GB200: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html (read
# 2026-11-20)
DRIVER = 580
