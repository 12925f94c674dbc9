"""Scripts of the user on Slurm nodes."""

from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.nodes import ON_ERROR, STAGES, OnError, Stage

_ANY = r"^.+$"
ScriptName = Annotated[str, w.parsed(lambda value: w.text(value, "the name of a script"), _ANY, "EDR agent")]
ScriptUrl = Annotated[
    str, w.parsed(lambda value: w.text(value, "s3://BUCKET/KEY or https://HOST/PATH"), _ANY, "s3://tools/edr.sh")
]
ScriptFile = Annotated[str, w.parsed(lambda value: w.text(value, "the path of a file"), _ANY, "scripts/join-ldap.sh")]
Sha256 = Annotated[str, w.parsed(lambda value: w.text(value, "a checksum"), _ANY, "0123456789abcdef" * 4)]


class Script(Section):
    """A script that AWS PCS runs as root on each node at boot."""

    name: ScriptName | None = Field(default=None, description="Its name. Default: that of the file.")
    file: ScriptFile | None = Field(
        default=None, description="File of the script, beside the cluster file; it is uploaded with its checksum."
    )
    url: ScriptUrl | None = Field(
        default=None,
        description="Instead of a file: s3://BUCKET/KEY in the Region, which the nodes get permission to read, or an "
        "https:// address without authentication.",
    )
    sha256: Sha256 | None = Field(default=None, description="Checksum of the script, required with `url`.")
    arguments: tuple[t.OneLine, ...] = Field(
        default=(), description="Arguments, 20 at most. No secrets: they are visible in AWS PCS."
    )
    stage: Annotated[Stage, w.choice(STAGES, "a stage")] = Field(
        default="nodeBootstrapped",
        description="nodeBootstrapped: before slurmd starts. nodeReady: after it, when jobs may run already.",
    )
    on_error: Annotated[OnError, w.choice(ON_ERROR, "what happens after an error")] = Field(
        default="TERMINATE",
        description="TERMINATE: the node is terminated, and PCS launches another one; after three of them within "
        "an hour, a node stays drained. HyperPod launches and charges without limit. "
        "STOP_SEQUENCE: no further script of the stage runs, and the node stays. CONTINUE: the next one runs.",
    )
    every_boot: t.Flag = Field(default=False, description="Whether it runs again after a reboot.")
