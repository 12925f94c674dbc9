"""Plan of an image: parent, software, minutes and cost of its build."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ultracluster.catalogue.ec2 import (
    BUILD_MINUTES,
    BUILDERS,
    CHECKS_NOT_RUN,
    Architecture,
    InstanceType,
    image_parameter,
)
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.planning.capacity import BuiltImage, Image

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

# Instances of a build: one installs, and one is started from the new image and checks it.
_INSTANCES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Software:
    """A line of the table of software."""

    name: str
    version: str
    proof: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImagePlan:
    """An image that the deployment builds.

    Args:
        architecture: CPU architecture.
        parent: Id of the parent, or its parameter.
        kernel: Kernel of the parent, if the file names it.
        driver_floor: Oldest NVIDIA driver that its nodes support.
        driver: Driver of the parent, if the file names it.
        slurm_version: Slurm release.
        nodes: Node groups that use it, `login` included.
        builder: Instance type that builds it.
        minutes: Minutes of a build, at least.
        usd: Cost of the instances in that time, at us-east-1's price.
        software: Its software.
        not_run: What the check of the image does not run, with the reason and what it does instead.
    """

    architecture: Architecture
    parent: str
    kernel: str | None
    driver_floor: str
    driver: str | None
    slurm_version: str
    nodes: tuple[str, ...]
    builder: str
    minutes: int
    usd: float
    software: tuple[Software, ...]
    not_run: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self)


def plans(cluster: "ClusterFile") -> list[ImagePlan]:
    """Return the images that a cluster file builds."""
    return [_plan(cluster, architecture, built.parent) for architecture, built in cluster.built_images.items()]


def _plan(cluster: "ClusterFile", architecture: Architecture, parent: "Image | None") -> ImagePlan:
    uses: dict[str, InstanceType] = {
        group.name: group.instance_type
        for group in cluster.node_groups
        if group.built and group.instance_type.architecture == architecture
    }
    if isinstance(cluster.login_image, BuiltImage) and cluster.service_type.architecture == architecture:
        uses["login"] = cluster.service_type
    builder = BUILDERS[architecture]
    named = image_parameter("dlami", architecture) if parent is None else parent.id or parent.parameter
    return ImagePlan(
        architecture=architecture,
        parent=str(named),
        kernel=parent.kernel if parent else None,
        driver_floor=_driver_floor(list(uses.values())),
        driver=parent.driver if parent else None,
        slurm_version=cluster.slurm.version,
        nodes=tuple(uses),
        builder=builder.type,
        minutes=BUILD_MINUTES,
        usd=round(_INSTANCES * builder.usd_per_hour * BUILD_MINUTES / 60, 2),
        software=tuple(installed(architecture, cluster.slurm.version)),
        not_run=dict(CHECKS_NOT_RUN),
    )


def _driver_floor(types: list[InstanceType]) -> str:
    floors = [record.software.driver for record in types if record.software]
    return max([*floors, str(software.DRIVER)], key=lambda version: [int(part) for part in version.split(".")])


def installed(architecture: Architecture, slurm_version: str) -> list[Software]:
    """Return the software of an image."""
    pcs, slurm = "https://aws-pcs-repo-REGION.s3.REGION.amazonaws.com", software.SLURM[slurm_version]
    installers = {
        "EFA": (software.EFA, "https://efa-installer.amazonaws.com"),
        "PCS agent": (software.PCS_AGENT, pcs),
        f"Slurm {slurm_version}": (slurm, pcs),
    }
    exporters = list(software.DCGM_EXPORTERS.values())
    signed = (
        (software.DCGM, software.DCGM.name, f"parent, or {software.DCGM.version}"),
        (software.DCGM, "dcgm-exporter", f"{exporters[0]} to {exporters[-1]}, by DCGM"),
        (software.CLOUDWATCH_AGENT, software.CLOUDWATCH_AGENT.name, software.CLOUDWATCH_AGENT.version),
    )
    return [
        Software(name="driver, CUDA, Lustre", version="parent", proof="", source="the parent"),
        Software(name="chrony, NFS, SSSD, XFS", version="24.04", proof="apt", source="Ubuntu"),
        *(
            Software(name=name, version=file.version, proof=f"sha256:{file.sha256}", source=source)
            for name, (file, source) in installers.items()
        ),
        *(
            Software(name=item.name, version=item.version, proof=f"sha256:{item.sha256}", source=item.url)
            for item in software.artefacts(architecture)
        ),
        *(
            Software(name=name, version=version, proof=f"key:{package.fingerprint}", source=package.url)
            for package, name, version in signed
        ),
    ]
