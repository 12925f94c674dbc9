"""Snapshots of templates that change when the template does, and not with every asset hash."""

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracluster.testing import plugin

if TYPE_CHECKING:
    # Only where it is used: this package holds a pytest plugin, and not every pytest run wants to start Node.
    import aws_cdk as cdk

# An asset is named by the SHA-256 of its content.
_ASSET = re.compile(r"\b[0-9a-f]{64}\b")

# What the CDK adds to every template by itself, and changes from release to release.
_BOILERPLATE = {
    "Parameters": ["BootstrapVersion"],
    "Rules": ["CheckBootstrapVersion"],
    "Conditions": ["CDKMetadataAvailable"],
    "Resources": ["CDKMetadata"],
}

_LONGEST_DIFF = 80


def normalise(template: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a template without asset hashes and without what the CDK adds to every template."""
    clean = {
        section: {key: value for key, value in body.items() if key not in _BOILERPLATE.get(section, ())}
        if isinstance(body, Mapping)
        else body
        for section, body in template.items()
    }
    result: dict[str, Any] = _without_hashes({section: body for section, body in clean.items() if body != {}})
    return result


def assert_matches_snapshot(subject: "cdk.Stack | Mapping[str, Any]", path: str | Path) -> None:
    """Compare a stack, or a template, with the snapshot in a file.

    Run `pytest --update-snapshots` to write the file, look at the difference, and commit it.

    Args:
        subject: A stack, or the template of one.
        path: The snapshot, a JSON file. Name it by `Path(__file__).parent / "snapshots" / "network.json"`.

    Raises:
        AssertionError: When the template differs, with the difference, or the file is missing.
    """
    template = subject if isinstance(subject, Mapping) else template_of(subject)
    text = json.dumps(normalise(template), indent=1, sort_keys=True) + "\n"
    file = Path(path)
    if plugin.update_snapshots:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return
    if not file.exists():
        raise AssertionError(f"there is no snapshot {file} yet; write it with: pytest {plugin.UPDATE}")
    known = file.read_text()
    if known != text:
        lines = list(
            difflib.unified_diff(known.splitlines(), text.splitlines(), "snapshot", "template", lineterm="", n=2)
        )
        cut = [f"... {len(lines) - _LONGEST_DIFF} more lines"] if len(lines) > _LONGEST_DIFF else []
        raise AssertionError(
            "\n".join(
                [
                    f"the template differs from {file}",
                    *lines[:_LONGEST_DIFF],
                    *cut,
                    f"if the change is meant: pytest {plugin.UPDATE}, and read the difference before you commit it",
                ]
            )
        )


def template_of(stack: "cdk.Stack") -> dict[str, Any]:
    """The template that a stack becomes."""
    from aws_cdk import assertions

    return dict(assertions.Template.from_stack(stack).to_json())


def _without_hashes(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _without_hashes(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_without_hashes(value) for value in node]
    return _ASSET.sub("<asset>", node) if isinstance(node, str) else node
