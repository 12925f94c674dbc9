"""The software of a Slurm node, by exact version, with checksum or signing key, for nodes and images.

NVIDIA driver, CUDA and Lustre client come with AWS's image, the Deep Learning Base OSS NVIDIA Driver GPU AMI for Ubuntu
24.04: https://docs.aws.amazon.com/dlami/latest/devguide/ (read 2026-11-20).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from ultracluster.catalogue.ec2._instance_type import Architecture
from ultracluster.catalogue.provenance import Source, Stated

_INSTALLERS = Source(
    "https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html", read_on="2026-11-21"
)
_EFA_INSTALLER = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-changelog.html "
    "https://docs.aws.amazon.com/dlami/latest/devguide/aws-deep-learning-ami-gpubasesinglecudaarm64-ul2404-2026-10-05.html",
    read_on="2026-11-27",
    as_of="2026-10-05",
)
_DLAMI_NOTES = Source(
    "https://docs.aws.amazon.com/dlami/latest/devguide/aws-deep-learning-ami-gpubaseossarm64-ul2404-2026-10-09.html "
    "https://github.com/NVIDIA/dcgm-exporter",
    read_on="2026-11-21",
    as_of="2026-10-09",
)
_GPU_INSTANCES_STARTED = Source(
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html", read_on="2026-11-20"
)


class Download(NamedTuple):
    """An installer that AWS publishes for each region, and its checksum."""

    version: str
    #: 64 hexadecimal digits.
    sha256: str


class Artefact(NamedTuple):
    """A file that nodes install.

    Args:
        name: Name.
        version: Version.
        url: HTTPS URL.
        sha256: Checksum of the file, 64 hexadecimal digits.
        source: Where the checksum was read.
        read_on: Date on which it was read.
        architecture: Architecture, or None if the file is for both.
    """

    name: str
    version: str
    url: str
    sha256: str
    source: str
    read_on: str
    architecture: Architecture | None = None

    @property
    def file(self) -> str:
        """Name of the file, the last part of its URL."""
        return self.url.rpartition("/")[2]

    @property
    def key(self) -> str:
        """Key of its copy in the bucket of a cluster: the checksum is a part of it."""
        return f"{SOFTWARE_PREFIX}{self.sha256}/{self.file}"


class SignedPackage(NamedTuple):
    """A package whose publisher signs it and keeps no version in place, so that a checksum cannot be fixed.

    Args:
        name: Name.
        version: Version, or `latest`.
        url: Repository or directory.
        fingerprint: Fingerprint of the key that signs it, 40 hexadecimal digits.
        source: Where the fingerprint was read.
        read_on: Date on which it was read.
    """

    name: str
    version: str
    url: str
    fingerprint: str
    source: str
    read_on: str


#: Prefix of the copies in the bucket of a cluster.
SOFTWARE_PREFIX = "ultracluster/software/"

# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html (read 2026-11-21): both tables. PCS
# lists no installer for 26.05 there yet.
PCS_AGENT: Annotated[Download, Stated(_INSTALLERS, columns="version and SHA-256 of the installer")] = Download(
    version="1.5.1-1", sha256="9ac3fff38d75774852d947bf6823abc5a75e5c6325cd5aa5a3172b1defa72f9d"
)
SLURM: Annotated[
    Mapping[str, Download], Stated(_INSTALLERS, columns="version of Slurm: version and SHA-256 of the installer")
] = MappingProxyType(
    {
        "25.05": Download(
            version="25.05.9-1", sha256="d9be2ae01eac14cd023f48787770878530b308e40b35c4ec1da3a2dbd1a372b7"
        ),
        "25.11": Download(
            version="25.11.8-1", sha256="70bf017a088223524949ffd5ef0d0b0eea45b22f904bcad1fbc0c9d92ea4a9c9"
        ),
    }
)
# Of 2026-08-21, and that of AWS's Deep Learning AMI of 2026-10-05. The checksum is that of several public build recipes
# that download the file from AWS (read 2026-11-27). 1.51.0 of 2026-10-22 is newer; no source of its checksum was seen.
EFA: Annotated[Download, Stated(_EFA_INSTALLER, columns="version and SHA-256 of the installer")] = Download(
    version="1.50.0", sha256="fa6dff8593d866866c13cb4640d9059835cd4efa427971f100ab40c97bef2841"
)

_GITHUB = "https://github.com"
# Not the .deb files of Enroot: no checksum of those for arm64 is published or recorded anywhere, and this tarball is
# for both architectures. GitHub creates it from the tag v4.1.2, commit bd51f53b; its submodules are not needed for a
# build against glibc. The checksum is that of `git archive` for the tag, which gave the recorded checksum of Pyxis too.
ENROOT = Artefact(
    name="enroot",
    version="4.1.2",
    url=f"{_GITHUB}/NVIDIA/enroot/archive/refs/tags/v4.1.2.tar.gz",
    sha256="9f8c589bf2537cf5ac042358c49b3f203b5c8ed8dc646010719eb728d76da4ac",
    source="git archive --prefix=enroot-4.1.2/ v4.1.2 of https://github.com/NVIDIA/enroot, gzip -n",
    read_on="2026-11-22",
)
# The tag v0.24.0 (2026-05-11), commit 10751994.
PYXIS = Artefact(
    name="pyxis",
    version="0.24.0",
    url=f"{_GITHUB}/NVIDIA/pyxis/archive/refs/tags/v0.24.0.tar.gz",
    sha256="9c4cdb79a67301d8ea05951aa4d2c205f40cf6145e338214b0191add8b36d6c4",
    source="https://github.com/vantagecompute/slurm-factory-spack-repo "
    "(spack_repo/slurm_factory/packages/pyxis/package.py, 835abe25), and git archive of the tag",
    read_on="2026-11-22",
)
# AWS publishes neither version nor checksum, and replaces the file in place. If it differs, nodes refuse it and mount
# over TCP; a copy of a reviewed one is named by storage.lustre.client.bundle.
LUSTRE_EFA_TOOL = Artefact(
    name="configure-efa-fsx-lustre-client",
    version="2026-08-20",
    url="https://docs.aws.amazon.com/fsx/latest/LustreGuide/samples/configure-efa-fsx-lustre-client.zip",
    sha256="ed421b0cd251f4dae78cc727f857937de345d7c67700cc240db5f6af7ba6ef49",
    source="https://github.com/liadhweka/wsi-cloud (scripts/vendor/configure-efa-fsx-lustre-client, 91dd06d)",
    read_on="2026-11-22",
)


def _release(project: str, version: str, source: str, checksums: Mapping[Architecture, str]) -> tuple[Artefact, ...]:
    """Return the tarballs of a release of Prometheus' organization, by architecture."""
    names: Mapping[Architecture, str] = {"x86_64": "amd64", "arm64": "arm64"}
    base = f"{_GITHUB}/prometheus/{project}/releases/download/v{version}/{project}-{version}.linux-"
    return tuple(
        Artefact(
            name=project,
            version=version,
            url=f"{base}{names[architecture]}.tar.gz",
            sha256=sha256,
            source=source,
            read_on="2026-11-22",
            architecture=architecture,
        )
        for architecture, sha256 in checksums.items()
    )


# Of 2026-07-30; 3.13 is supported until 2027-07-31, by https://prometheus.io/docs/introduction/release-cycle/ (read
# 2026-11-22). Not Ubuntu's prometheus: it is 2.45.3, and Debian's and Ubuntu's packages before 2.53 never sign
# remote_write, so that AWS refuses every sample.
PROMETHEUS = _release(
    "prometheus",
    "3.13.2",
    "upstream's sha256sums.txt beside the release, as several public build recipes record it",
    {
        "x86_64": "0e8c4d46101bd025ea8265e377d2caabc57f488fc1be1c367f37db69ea41be6f",
        "arm64": "7cecb17a6f41d59814e1a0581a1f81f79051ad5973d1ecf39e23a9f747d6572a",
    },
)
# Of 2026-07-14.
NODE_EXPORTER = _release(
    "node_exporter",
    "1.12.1",
    "https://github.com/ubicloud/ubicloud (rhizome/common/lib/node_exporter_setup.rb, ec43e7bc), and other recipes",
    {
        "x86_64": "b51d8a76aa2a9156a55d501aca6276fae09e262259a5e4e831d2c2222f084e63",
        "arm64": "ad35b605f9954b9f1ffddf5ba054bdc5a98d790b9eae5291e1eeb83f1ecbd0e7",
    },
)
_CUDA = "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/"
_KEYRINGS: tuple[tuple[Architecture, str, str], ...] = (
    ("x86_64", "x86_64", "d2a6b11c096396d868758b86dab1823b25e14d70333f1dfa74da5ddaf6a06dba"),
    ("arm64", "sbsa", "6ea7d2737648936820e85677177957a0f6521b840d98eb0bbae0a4f003fa7249"),
)
# NVIDIA's package repository with its key, for Ubuntu 24.04; the file differs between the architectures.
CUDA_KEYRING = tuple(
    Artefact(
        name="cuda-keyring",
        version="1.1-1",
        url=f"{_CUDA}{folder}/cuda-keyring_1.1-1_all.deb",
        sha256=sha256,
        source=f"{_CUDA}{folder}/Packages",
        read_on="2026-11-22",
        architecture=architecture,
    )
    for architecture, folder, sha256 in _KEYRINGS
)
#: Files of a node, of both architectures.
ARTEFACTS: tuple[Artefact, ...] = (
    *(ENROOT, PYXIS, LUSTRE_EFA_TOOL),
    *(*PROMETHEUS, *NODE_EXPORTER, *CUDA_KEYRING),
)

# NVIDIA's repository for Ubuntu, which its key signs: DCGM and dcgm-exporter for x86_64 and arm64. The pair is the last
# before labels were renamed, and that of Kubernetes nodes: https://github.com/NVIDIA/dcgm-exporter, hack/VERSION
# (commit d5e5f51 of 2026-05-12, read 2026-11-21).
DCGM = SignedPackage(
    name="datacenter-gpu-manager-4",
    version="1:4.5.3",
    url=_CUDA,
    fingerprint="EB693B3035CD5710E231E123A4B469963BF863CC",
    source="https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/ (3bf863cc.pub)",
    read_on="2026-11-22",
)
#: Releases of dcgm-exporter by the DCGM that NVIDIA released each with. AWS's image has a DCGM of its own, 4.7.0 on
#: 2026-10-09: https://docs.aws.amazon.com/dlami/latest/devguide/aws-deep-learning-ami-gpubaseossarm64-ul2404-2026-10-09.html
#: (read 2026-11-21). A DCGM that is not here is replaced. Tags of https://github.com/NVIDIA/dcgm-exporter (read
#: 2026-11-22).
DCGM_EXPORTERS: Annotated[
    Mapping[str, str], Stated(_DLAMI_NOTES, columns="version of DCGM: version of dcgm-exporter")
] = MappingProxyType({"4.5.2": "4.8.1", "4.5.3": "4.8.2", "4.6.0": "4.8.3", "4.6.1": "4.8.4", "4.7.0": "4.9.0"})
DCGM_EXPORTER = DCGM_EXPORTERS["4.5.3"]
# Only `latest` is documented, with a signature beside it:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/verify-CloudWatch-Agent-Package-Signature.html
CLOUDWATCH_AGENT = SignedPackage(
    name="amazon-cloudwatch-agent",
    version="latest",
    url="https://amazoncloudwatch-agent.s3.amazonaws.com",
    fingerprint="937616F3450B7D806CBD9725D58167303B789C72",
    source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/verify-CloudWatch-Agent-Package-Signature.html",
    read_on="2026-11-22",
)
_DRIVERS = Source(
    "https://docs.aws.amazon.com/dlami/latest/devguide/aws-deep-learning-ami-gpubaseossarm64-ul2404-2026-10-09.html "
    "https://github.com/awslabs/amazon-eks-ami, doc/usage/g7-ami.md and releases",
    read_on="2026-11-27",
    as_of="2026-10-09",
)
#: NVIDIA driver of AWS's newest image for a service. That of PCS is built from the Deep Learning AMI.
DRIVERS: Annotated[Mapping[str, str], Stated(_DRIVERS, columns="service: driver")] = MappingProxyType(
    {"pcs": "595.91.07", "eks": "580"}
)
# The driver of B300 and GB200.
DRIVER: Annotated[int, Stated(_GPU_INSTANCES_STARTED, "major version")] = 580


def artefacts(architecture: Architecture) -> tuple[Artefact, ...]:
    """Return the files for an architecture."""
    return tuple(item for item in ARTEFACTS if item.architecture in (None, architecture))
