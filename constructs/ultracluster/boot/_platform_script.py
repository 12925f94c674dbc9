"""Script of the admin host of a Kubernetes cluster."""

from collections.abc import Mapping

from ultracluster.boot import scripts


def platform_script(environment: Mapping[str, str]) -> list[str]:
    """Return the lines of the script that applies a platform, with its environment."""
    shebang, *lines = scripts.text("apply-platform.sh").splitlines()
    return [shebang, *(f"export {name}='{value}'" for name, value in environment.items()), *lines]
