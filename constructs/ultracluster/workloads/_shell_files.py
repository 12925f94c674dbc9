"""Shell files of which job files are made."""

import re
from functools import cache
from importlib import resources

from ultracluster.boot import scripts
from ultracluster.workloads._slurm_form import OF_BOOT


@cache
def shell_file(name: str) -> str:
    """Return a shell file of this package, or one of `boot`."""
    if name in OF_BOOT:
        text = scripts.text(name)
    else:
        path = name if "/" in name else f"slurm/{name}"
        text = resources.files(__package__).joinpath(*path.split("/")).read_text(encoding="utf-8")
    return text.removeprefix("# shellcheck shell=bash\n")


@cache
def variables(body: str) -> frozenset[str]:
    """Return the names of the variables that shell files read. Job files of equal node groups have the same."""
    return frozenset(re.findall(r"\$\{?(\w+)", body))
