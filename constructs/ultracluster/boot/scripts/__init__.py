"""Scripts that run on nodes, shipped as package data."""

from functools import cache

from ultracluster.rules import Refusal


@cache
def text(name: str) -> str:
    """Return the text of a script.

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
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
