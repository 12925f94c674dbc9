"""Scripts that run on nodes, shipped as package data."""

import re
from functools import cache

from ultracluster.rules import Refusal

# A line of a script that stands for the text of another one.
_INCLUDE = re.compile(r"^#INCLUDE (\S+)\n", re.MULTILINE)


@cache
def text(name: str) -> str:
    """Return the text of a script, with the scripts that it includes.

    Args:
        name: File name, such as `local-scratch.sh`.

    Raises:
        ValueError: If there is no such script, with the known names.
    """
    from importlib import resources

    known = sorted(
        entry.name
        for entry in resources.files(__name__).iterdir()
        if entry.name.endswith((".sh", ".py")) and entry.name != "__init__.py"
    )
    if name not in known:
        raise Refusal("", f"there is no script {name!r}; the known ones: {', '.join(known)}")
    script = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda include: text(include[1]), script)
