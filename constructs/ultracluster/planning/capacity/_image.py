"""Machine images and their software."""

import re
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import Architecture, InstanceType, architecture_of, moves
from ultracluster.catalogue.storage import lustre_kernels
from ultracluster.planning import check_fields
from ultracluster.planning.capacity._reservation_ids import is_token

_AMI = r"ami-([0-9a-f]{8}|[0-9a-f]{17})"
# EC2 and Auto Scaling groups resolve such an id when an instance starts; AWS PCS takes none.
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/using-systems-manager-parameters.html (read 2026-11-27)
_AT_LAUNCH = "resolve:ssm:"
_PARAMETER = r"(/[A-Za-z0-9_.-]{1,200}){1,15}"
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSServiceRoleForImageBuilder.html: version 27 (read
# 2026-11-28)
_READ_BY_IMAGE_BUILDER = ("/aws/service/", "/imagebuilder/")
#: A version of software, such as `1.44.0` or `2.26.2-1`.
VERSION = re.compile(r"\d+(\.\d+)*(-\d+)?", re.ASCII)
#: A kernel of AWS's for Ubuntu, such as `7.0.0-1014-aws`.
KERNEL = r"(\d+\.\d+\.\d+)-(\d+)(-aws)?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A machine image: pinned by its id, or named by a parameter that is resolved at each deployment.

    Args:
        id: An `ami-...`, or a token of the CDK.
        parameter: Name of a parameter of Systems Manager that holds the id; instead of `id`.
        architecture: CPU architecture. Default: as in the name of the parameter, or else not known and not checked.
        driver: Version of the NVIDIA driver in it, such as `580.95.05`. Default: not known, so not checked.
        cuda: Version of CUDA in it, such as `13.0`. Default: not known.
        efa_installer: Version of the EFA installer that made it, such as `1.44.0`. Default: not known.
        kernel: Its kernel, such as `7.0.0-1014-aws`. Default: not known.

    Raises:
        ValueError: If it has neither id nor parameter, or both, a version is not valid, or the parameter is for another
            architecture.
    """

    id: str | None = None
    parameter: str | None = None
    architecture: Architecture | None = None
    driver: str | None = None
    cuda: str | None = None
    efa_installer: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self)
        problems = []
        if (self.id is None) == (self.parameter is None):
            problems.append("an image is named by its id (ami-...) or by a parameter, one of the two")
        if self.id is not None and self.id.startswith(_AT_LAUNCH):
            name = self.id.removeprefix(_AT_LAUNCH).partition(":")[0]
            problems.append(
                "an image that EC2 resolves at launch is refused: a node that replaces another could have another one "
                f"than its group; use Image(parameter={name[:80]!r}), or ec2.MachineImage.from_ssm_parameter, which "
                "each deployment resolves"
            )
        elif self.id is not None and not is_token(self.id) and not re.fullmatch(_AMI, self.id):
            problems.append(f"the id of an image is ami- and 17 hexadecimal digits, got {self.id[:80]!r}")
        if self.parameter is not None and not re.fullmatch(_PARAMETER, self.parameter):
            problems.append(
                "a parameter's name begins with / and has letters, digits and _.- between slashes, as in "
                f"/team/images/pcs, got {self.parameter[:80]!r}"
            )
        for what, version in (("driver", self.driver), ("cuda", self.cuda), ("efa_installer", self.efa_installer)):
            if version is not None and not VERSION.fullmatch(version):
                problems.append(f"{what} must be a version such as 1.44.0, got {version[:40]!r}")
        if self.kernel is not None and not re.fullmatch(KERNEL, self.kernel, re.ASCII):
            problems.append(f"kernel must be one such as 7.0.0-1014-aws, got {self.kernel[:40]!r}")
        named = architecture_of(self.parameter or "")
        if named and self.architecture and named != self.architecture:
            problems.append(f"{self.parameter} holds images for {named}, not {self.architecture}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def known_architecture(self) -> Architecture | None:
        """Architecture of the image, given or in the name of its parameter, or None if not known."""
        return self.architecture or architecture_of(self.parameter or "")

    @property
    def moves(self) -> bool:
        """The next deployment may take another image."""
        return self.parameter is not None and moves(self.parameter)


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltImage:
    """An image that the deployment builds.

    Args:
        parent: Image that it is built from. Default: AWS's newest Deep Learning Base OSS NVIDIA Driver GPU AMI for
            Ubuntu 24.04 at the time of the build.
    """

    parent: Image | None = None


def built_image_parameter(cluster: str, architecture: Architecture) -> str:
    """Return the name of the parameter with the id of the newest image that the deployments of a cluster built."""
    return f"/ultracluster/{cluster}/images/{architecture}"


def check_parent(parent: Image, record: InstanceType) -> list[str]:
    """Return reasons why an image for a type cannot be built from a parent; empty if none is known."""
    problems = [*check_image(parent, record), *check_parent_name(parent)]
    kernel = re.fullmatch(KERNEL, parent.kernel or "", re.ASCII)
    if kernel is None:
        return problems
    first, last = lustre_kernels.KERNELS.get(kernel[1], (0, -1))
    if not first <= int(kernel[2]) <= (int(kernel[2]) if last is None else last):
        known = ", ".join(
            f"{version}-{first} {'and newer' if last is None else f'to {last}'}"
            for version, (first, last) in lustre_kernels.KERNELS.items()
        )
        problems.append(
            f"AWS has no Lustre client for the kernel {parent.kernel} of Ubuntu 24.04; use a parent with {known}"
        )
    return problems


def check_parent_name(parent: Image) -> list[str]:
    """Return the error of a parent in a parameter that Image Builder cannot read."""
    if parent.parameter is None or parent.parameter.startswith(_READ_BY_IMAGE_BUILDER):
        return []
    return [
        f"the service-linked role of Image Builder reads parameters below {' and '.join(_READ_BY_IMAGE_BUILDER)} only, "
        f"got {parent.parameter}; write the image into one below /imagebuilder/, or name it by its id"
    ]


def check_image(image: Image, record: InstanceType) -> list[str]:
    """Return reasons why an image cannot run on a type; empty if none is known.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html (read 2026-11-20)
    """
    problems = []
    architecture = image.known_architecture
    if architecture and architecture != record.architecture:
        problems.append(f"{record.name} is {record.architecture}, and the image is for {architecture}; use one for it")
    floor = record.software
    if floor is None:
        return problems
    for what, has, least in (
        ("NVIDIA driver", image.driver, floor.driver),
        ("CUDA", image.cuda, floor.cuda),
        ("EFA installer", image.efa_installer, floor.efa_installer),
    ):
        if has is not None and is_older(has, least):
            problems.append(f"{record.name} needs {what} {least} or newer, and the image has {has}; build a newer one")
    return problems


def is_older(version: str, than: str) -> bool:
    """Return True if a version is older than another one."""
    return _numbers(version) < _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    # 13 is 13.0.
    return tuple(map(int, re.split(r"[.-]", re.sub(r"(\.0+)+$", "", version))))
