"""Scripts that run on nodes: files of shell, each complete and shellcheck-clean, carried by the package as data."""

from importlib import resources


def text(name: str) -> str:
    """The text of a script.

    Args:
        name: Its file name, such as `local-scratch.sh`.

    Raises:
        ValueError: When there is no such script; the known ones are named.
    """
    known = sorted(entry.name for entry in resources.files(__name__).iterdir() if entry.name.endswith(".sh"))
    if name not in known:
        raise ValueError(f"there is no script {name!r}; the known ones: {', '.join(known)}")
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
