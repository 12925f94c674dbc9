"""Installation of the software of a Slurm node: at the first boot, and when an image is built."""

from typing import Literal

from ultracluster.boot import scripts
from ultracluster.boot._boot_script import BootScript
from ultracluster.boot._node_files import without_comments
from ultracluster.catalogue.ec2 import Architecture
from ultracluster.catalogue.ec2 import image_software as software

#: What `install-software.sh` installs, by the names of its arguments.
SoftwareItem = Literal[
    "chrony",
    "cloudwatch-agent",
    "enroot",
    "pyxis",
    "prometheus",
    "node_exporter",
    "dcgm-exporter",
    "lustre-efa-tool",
]


def install_program(architecture: Architecture) -> str:
    """Return the program that installs software on nodes of an architecture, with the list of its files.

    It takes the same arguments at a boot and in an image build; see `software_script`.
    """
    lines = (f"{item.name} {item.version} {item.sha256} {item.url}" for item in software.artefacts(architecture))
    # The script takes the first pair for a DCGM that is not listed.
    pinned = software.DCGM.version.removeprefix("1:")
    others = (version for version in software.DCGM_EXPORTERS if version != pinned)
    pairs = (f"{version} {software.DCGM_EXPORTERS[version]}" for version in (pinned, *others))
    text = without_comments(scripts.text("install-software.sh"))
    for placeholder, value in (
        ("@FILES@", "\n".join(lines)),
        ("@PAIRS@", "\n".join(pairs)),
        ("@CLOUDWATCH_KEY@", software.CLOUDWATCH_AGENT.fingerprint),
    ):
        text = text.replace(placeholder, value)
    return text


def software_script(
    *items: SoftwareItem,
    architecture: Architecture,
    slurm_version: str,
    bucket: str | None = None,
    region: str | None = None,
    internet: bool = True,
) -> BootScript:
    """Return the script that installs what the image of a Slurm node lacks, before `boot_script`.

    A failure of one item is a state of the node and a metric, never a terminated node. The script is the same for all
    nodes of an architecture, so that a changed mount, metric or check does not change it.

    Args:
        items: Software to install.
        architecture: Architecture of the nodes.
        slurm_version: Slurm release of the cluster, for which Pyxis is compiled.
        bucket: Bucket with copies of the files, written by the first node; may be a token of the CDK. Default: none;
            every node fetches them from their publishers.
        region: Region of the bucket.
        internet: False if nodes have no internet access, and read the bucket only. Default: True.
    """
    arguments = ["--slurm", slurm_version]
    if bucket is not None and region is not None:
        arguments += ["--bucket", bucket, "--region", region]
    if not internet:
        arguments += ["--internet", "no"]
    return BootScript(
        text=install_program(architecture),
        arguments=(*arguments, *dict.fromkeys(items)),
        name="ultracluster-software",
        on_error="CONTINUE",
    )
