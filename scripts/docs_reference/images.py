"""Generate the reference of images: their software with checksums and sources, and what their check does not run."""

from typing import get_args

from docs_reference.markdown import code, page, table
from ultracluster.catalogue.ec2 import CHECKS_NOT_RUN, Architecture
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.cli._image_plan import Software, installed

_ABOUT = """What `image: build` installs, and what nodes with AWS's image install at their first boot: the same, without
EFA, PCS agent and Slurm, which AWS's image has. [Nodes](../guides/nodes.md#images) has the keys of the cluster file;
`ultracluster image plan FILE` prints the table of a file."""
_NOT_RUN = """## Check of an image

Before an image is available, EC2 Image Builder starts an instance from it, and each program runs there. Not run:"""


def images_page() -> str:
    """Page with a row for each file and package."""
    rows: dict[Software, list[str]] = {}
    for architecture in get_args(Architecture):
        for version in software.SLURM:
            for item in installed(architecture, version):
                rows.setdefault(item, []).append(architecture)
    body = [
        (item.name, item.version, _where(architectures), _proof(item.proof), _source(item.source))
        for item, architectures in sorted(rows.items(), key=lambda row: row[0].name.lower())
    ]
    header = ("software", "version", "architecture", "checksum, or key that signs it", "from")
    not_run = table(("what", "reason, and what is run instead"), CHECKS_NOT_RUN.items())
    return page("Images", _ABOUT, table(header, body), f"{_NOT_RUN}\n\n{not_run}")


def _where(architectures: list[str]) -> str:
    return " and ".join(dict.fromkeys(architectures))


def _proof(proof: str) -> str:
    kind, _, digits = proof.partition(":")
    return f"{kind} {code(digits)}" if digits else proof or "the parent's"


def _source(source: str) -> str:
    return code(source) if source.startswith("https://") else source
