"""Files of the CDK app that ships with the package: `init` writes them, `rehearse` runs them outside of an app."""

import json
from importlib.resources import files
from typing import Any

from ultracluster import __version__
from ultracluster.cli._writing import RenderedFile

#: Path in the user's repository, file in `_project/`, description.
_FILES = (
    ("app.py", "app.py", "the CDK app"),
    ("cdk.json", "cdk.json", "settings of the CDK: the app's command, feature flags"),
    ("cluster.yaml", "cluster.yaml", "the cluster file"),
    ("requirements.txt", "requirements.txt", "Python packages, Node included"),
    ("package.json", "package.json", "the CDK CLI"),
    ("tests/test_app.py", "test_app.py", "snapshot test of every cluster file"),
    (".github/workflows/cluster.yml", "workflows/cluster.yml", "CI: check, test, rehearse"),
)
_IGNORE = ".gitignore"


def project_files() -> list[RenderedFile]:
    """Files of a new project."""
    return [RenderedFile(path=path, text=_text(name), what=what) for path, name, what in _FILES]


def ignore_file() -> RenderedFile:
    """The .gitignore of a new project."""
    return RenderedFile(path=_IGNORE, text=_text("gitignore"), what="what git leaves out")


def shipped_app() -> list[RenderedFile]:
    """The files that the CDK CLI needs to synthesise a cluster file."""
    return [file for file in project_files() if file.path in ("app.py", "cdk.json")]


def feature_flags() -> dict[str, Any]:
    """Context of the shipped app: the CDK's recommended feature flags."""
    context: dict[str, Any] = json.loads(_text("cdk.json"))["context"]
    return context


def _text(name: str) -> str:
    text = (files("ultracluster.cli") / "_project" / name).read_text(encoding="utf-8")
    return text.replace("{version}", __version__) if name == "requirements.txt" else text
