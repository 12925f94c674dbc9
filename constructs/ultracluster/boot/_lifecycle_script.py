"""Scripts that AWS PCS runs on a node: lifecycle actions."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ultracluster.catalogue.storage import s3
from ultracluster.planning import check_fields
from ultracluster.planning.nodes import ON_ERROR, STAGES, OnError, Stage
from ultracluster.rules import Message, Refusal, shared

# https://docs.aws.amazon.com/pcs/latest/APIReference/API_NodeLifecycleScript.html, API_ScriptSource.html and
# API_NodeLifecycleStages.html; the size: https://docs.aws.amazon.com/pcs/latest/userguide/
# cng-node-lifecycle-actions-configure.html (all read 2026-11-22)
MOST_SCRIPTS = 20
MOST_SCRIPT_BYTES = 2 * 1024 * 1024
MOST_SCRIPT_ARGUMENTS = 20
LONGEST_SCRIPT_ARGUMENT = 256
LONGEST_SCRIPT_URL = 1024
#: Scripts of this library, on each node of a cluster file: stage and name.
LIBRARY_SCRIPTS = (
    ("nodeBootstrapped", "ultracluster-logs"),
    ("nodeBootstrapped", "ultracluster-software"),
    ("nodeBootstrapped", "ultracluster-boot"),
)
#: Script of the canary of a node group, after all others: stage and name.
CANARY_SCRIPT: tuple[Stage, str] = ("nodeReady", "ultracluster-canary")
#: Beginning of the names of the scripts of this library.
OWN_SCRIPTS = "ultracluster"
#: Name of a script, in which its log on the node is called.
SCRIPT_NAME = r"[A-Za-z0-9][A-Za-z0-9 _-]{0,63}"
SCRIPT_NAME_WORDS = "1 to 64 letters, digits, spaces, underscores and hyphens, and begin with a letter or digit"
_TOKEN = "${Token["
#: Location of a script: no wildcard, for the role of the nodes may read what it names.
SCRIPT_URL = (
    rf"https://[A-Za-z0-9.-]+(:\d+)?/[A-Za-z0-9./_~@?=&+%-]+|s3://{s3.BUCKET_NAME.pattern}/[A-Za-z0-9!_.()'/+=@ -]+"
)
SCRIPT = shared("node-script")
SCRIPT_CHECKSUM = shared("node-script-checksum")
SCRIPT_SIZE = shared("node-script-size")
SCRIPT_COUNT = shared("node-script-count")


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeScript:
    """A script that AWS PCS runs as root on a node, as a lifecycle action.

    Args:
        name: Name of the script, and of its log in `/var/log/amazon/pcs/lifecycle/actions/STAGE/`.
        content: The script. `cdk deploy` uploads it; see `NodeScript.from_file`.
        url: Instead: where it is. `s3://`: the role of the nodes is allowed to read the object, and the bucket must be
            in the region of the cluster. `https://`: the host must serve it without authentication.
        sha256: Checksum, 64 hexadecimal digits; required with `url`. A node does not run a script with another one.
        arguments: Arguments, at most 20 of 256 characters. They may be CDK tokens. They are visible to everyone who
            may describe the node group: no secrets.
        stage: `nodeBootstrapped`: before slurmd starts. `nodeReady`: after the node has joined; jobs may run already.
        on_error: `TERMINATE`: the node is terminated, and PCS starts another one: if the script fails on every node,
            this does not end; see `limited_script`. `STOP_SEQUENCE`: further scripts of the stage do not run; the node
            stays, to be inspected. `CONTINUE`: the next script runs, and the node takes jobs. A script that cannot
            be downloaded, or has another checksum, counts as one that fails.
        every_boot: Run again after a reboot.

    Raises:
        ValueError: If AWS PCS would not accept a value, or the script has no checksum. All reasons at once.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-configure.html (read 2026-11-22)
    """

    name: str
    content: bytes | None = None
    url: str | None = None
    sha256: str | None = None
    arguments: Sequence[str] = ()
    stage: Stage = "nodeBootstrapped"
    on_error: OnError = "TERMINATE"
    every_boot: bool = False

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        if problems := [*self._problems()]:
            raise Refusal("", problems)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        arguments: Sequence[str] = (),
        stage: Stage = "nodeBootstrapped",
        on_error: OnError = "TERMINATE",
        every_boot: bool = False,
    ) -> "NodeScript":
        """Return the script of a file, which `cdk deploy` uploads under its checksum.

        Args:
            path: The file.
            name: Name of the script. Default: that of the file.
            arguments: See `NodeScript`, as for all that follow.
            stage: When it runs.
            on_error: Effect of a failure.
            every_boot: Run again after a reboot.

        Raises:
            ValueError: If the file cannot be read, or AWS PCS would not accept a value.
        """
        content = read_script(path)
        if isinstance(content, Message):
            raise Refusal("", [content])
        return cls(
            name=name or script_name(path),
            content=content,
            arguments=arguments,
            stage=stage,
            on_error=on_error,
            every_boot=every_boot,
        )

    @property
    def checksum(self) -> str:
        """Checksum of the script, 64 hexadecimal digits."""
        return _checksum(self.content) if self.content is not None else str(self.sha256)

    def _problems(self) -> Iterator[str]:
        if not re.fullmatch(SCRIPT_NAME, self.name):
            yield SCRIPT(f"name must be {SCRIPT_NAME_WORDS}, got {self.name[:80]!r}")
        if (self.content is None) == (self.url is None):
            yield SCRIPT("give one of content and url")
        if self.content is not None:
            yield from check_script_content(self.content)
            if self.sha256 is not None and self.sha256 != self.checksum:
                yield SCRIPT_CHECKSUM(f"sha256 must be that of the content, {self.checksum}, got {self.sha256[:80]!r}")
        if self.url is not None:
            yield from check_script_url(self.url)
            if self.sha256 is None:
                yield SCRIPT_CHECKSUM("a script of a url must have its sha256: sha256sum FILE prints it")
            elif not re.fullmatch(r"[0-9a-f]{64}", self.sha256, re.ASCII):
                yield SCRIPT_CHECKSUM(f"sha256 must be 64 hexadecimal digits in lower case, got {self.sha256[:80]!r}")
        if self.stage not in STAGES:
            yield SCRIPT(f"stage must be one of {', '.join(STAGES)}, got {self.stage!r}")
        if self.on_error not in ON_ERROR:
            yield SCRIPT(f"on_error must be one of {', '.join(ON_ERROR)}, got {self.on_error!r}")
        yield from check_script_arguments(self.arguments)


def script_name(path: str | os.PathLike[str]) -> str:
    """Return the name of the script of a file: the name of the file without its suffix."""
    return re.sub(r"[^A-Za-z0-9 _-]", "-", Path(path).stem)[:64]


def read_script(path: str | os.PathLike[str], *, spare: int = 0) -> bytes | Message:
    """Return the content of a file, or the error."""
    most = MOST_SCRIPT_BYTES - spare
    try:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        return SCRIPT(f"the script {os.fspath(path)} cannot be read: {reason}")
    return content if len(content) <= most else _too_large(most)


def _too_large(most: int) -> Message:
    return SCRIPT_SIZE(
        f"a script may have {most:,} bytes, and this one has more; put what is large into the image, or download it in "
        "the script"
    )


def check_script_content(content: bytes) -> Iterator[str]:
    """Yield the errors of the content of a script."""
    if len(content) > MOST_SCRIPT_BYTES:
        yield _too_large(MOST_SCRIPT_BYTES)
    elif not content.startswith(b"#!"):
        yield SCRIPT("a script must begin with #! and its interpreter, such as #!/usr/bin/env bash")
    # Linux takes the carriage return for a part of the interpreter's name.
    elif content.partition(b"\n")[0].endswith(b"\r"):
        yield SCRIPT(
            "a script must have the line ends of Linux, got CR LF: no node finds its interpreter; convert it with "
            "dos2unix, and add *.sh text eol=lf to .gitattributes"
        )


def check_script_url(url: str) -> Iterator[str]:
    """Yield the errors of the location of a script. A bucket, or a part of a key, may be a token."""
    plain = re.sub(r"\$\{Token\[[^]]*\]\}", "x11", url)
    if len(plain) > LONGEST_SCRIPT_URL or not re.fullmatch(SCRIPT_URL, plain, re.ASCII):
        yield SCRIPT(
            f"the location of a script must be s3://BUCKET/KEY or https://HOST/PATH of plain characters, at most "
            f"{LONGEST_SCRIPT_URL:,}, got {url[:100]!r}"
        )


def check_script_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the errors of the arguments of a script."""
    if len(arguments) > MOST_SCRIPT_ARGUMENTS:
        yield SCRIPT_COUNT(f"AWS PCS accepts at most {MOST_SCRIPT_ARGUMENTS} arguments, got {len(arguments)}")
    for argument in arguments:
        if len(argument) > LONGEST_SCRIPT_ARGUMENT and _TOKEN not in argument:
            yield SCRIPT(
                f"an argument of a script may have {LONGEST_SCRIPT_ARGUMENT} characters, got {len(argument)}: "
                f"{argument[:40]!r}..."
            )


def check_scripts(scripts: Sequence[tuple[str, str]]) -> Iterator[Message]:
    """Yield the errors of the scripts of a node together."""
    for stage in STAGES:
        names = [name for at, name in scripts if at == stage]
        if len(names) > MOST_SCRIPTS:
            library = sum(name.startswith(f"{OWN_SCRIPTS}-") for name in names)
            yield SCRIPT_COUNT(
                f"a node may have {MOST_SCRIPTS} scripts in the stage {stage}, got {len(names)}, of which {library} "
                "are of this library; join some into one"
            )
    every = [name for _, name in scripts]
    for name in sorted(set(every)):
        if every.count(name) > 1:
            yield SCRIPT(f"two scripts of a node are called {name!r}; give one another name")


@lru_cache(maxsize=16)
def _checksum(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
