"""Script of the admin host of a Kubernetes cluster."""

from collections.abc import Mapping

from ultracluster.boot import scripts
from ultracluster.boot._node_files import without_comments


def platform_script(environment: Mapping[str, str]) -> list[str]:
    """Return the lines of the script that applies a platform, with its environment."""
    shebang, *lines = without_comments(scripts.text("apply-platform.sh")).splitlines()
    return [shebang, *(f"export {name}='{value}'" for name, value in environment.items()), *lines]
