"""The page on security lists the IAM statements on all resources."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from cdk_rehearsal.registry import walk
from support import ROOT
from support.templates import templates
from ultracluster import clusterfile

PAGE = (ROOT / "docs/guides/network.md").read_text()
SECTION = PAGE.partition("### Statements on all resources")[2].partition("\n### ")[0]


def broad_statements(content: Any) -> Iterator[dict[str, Any]]:
    """Statements of roles and policies whose whole resource is a wildcard; a policy of a resource has a principal."""
    for node in walk(content):
        if isinstance(node, dict) and node.get("Effect") == "Allow" and "Principal" not in node:
            resources = node.get("Resource")
            if "*" in (resources if isinstance(resources, list) else [resources]):
                yield node


def test_each_statement_on_all_resources_is_counted_and_has_a_reason() -> None:
    listed = re.findall(r"`([a-z0-9]+:[A-Za-z*]+)`", SECTION)
    counts = re.findall(r"^\| `(.+)` \| (\d+) \|$", SECTION, re.MULTILINE)
    assert len(counts) == 3
    for example, count in counts:
        cluster = clusterfile.loads((ROOT / "examples" / f"{example}.yaml").read_text(), "c.yaml")
        statements = [row for template in templates(cluster).values() for row in broad_statements(template)]
        assert len(statements) == int(count), example
        for statement in statements:
            actions = statement["Action"]
            for action in [actions] if isinstance(actions, str) else actions:
                assert any(fnmatchcase(action, pattern) for pattern in listed), action
