"""Every refusal and warning of a construct has a rule, and each rule one text."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT
from support.syntax import nodes
from ultracluster import clusterfile
from ultracluster.cli._rules import construct_rules
from ultracluster.live import CHECKS
from ultracluster.rules import ARGUMENT, SHARED, Message, Refusal, RuleText, error, register

LIBRARY = ROOT / "constructs" / "ultracluster"
PAGE = ROOT / "docs" / "reference" / "rules.md"
CONSTRUCTS = (
    *("cloudwatch", "network", "security", "compute", "storage", "observability", "orchestration", "slurm", "eks"),
    *("stacks", "workloads", "monitoring", "kubernetes", "boot"),
)


def _without_rule(package: str) -> Iterator[str]:
    for path in sorted((LIBRARY / package).rglob("*.py")):
        for node in nodes(path.read_text()):
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            match node:
                case ast.Raise(exc=ast.Call(func=ast.Name(id="ValueError" | "TypeError"))):
                    yield f"{place}: raise a Refusal, with a rule of ultracluster.rules"
                case ast.Call(func=ast.Attribute(attr="add_warning"), args=[ast.Constant() | ast.JoinedStr(), *_]):
                    yield f"{place}: take the id of a rule, RULE.warning_id"


@pytest.mark.parametrize("package", CONSTRUCTS)
def test_every_refusal_and_warning_has_a_rule(package: str) -> None:
    assert not (lines := list(_without_rule(package))), "\n".join(lines)


def test_every_rule_is_on_the_page_of_rules() -> None:
    listed = set(re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text(), re.MULTILINE))
    # In a new process: packages import their modules when a name is first used.
    printed = subprocess.check_output([Path(sys.executable).parent / "ultracluster", "rules", "--json"])
    assert {rule["id"] for rule in json.loads(printed)} | {check.id for check in CHECKS} == listed


def test_a_rule_of_constructs_and_of_the_cluster_file_is_written_once() -> None:
    """In `SHARED`, or in the rule that the cluster file takes from a package below it."""
    written: dict[str, list[str]] = {}
    for path in LIBRARY.rglob("*.py"):
        for node in nodes(path.read_text()):
            match node:
                case ast.Call(func=ast.Name(id="error" | "warning"), args=[ast.Constant(value=str(id)), _]):
                    written.setdefault(id, []).append(path.name)
    assert {id: files for id, files in written.items() if len(files) > 1 or id in SHARED} == {}
    both = {rule.id for rule in clusterfile.rules()} & {rule.id for rule in construct_rules()}
    assert both >= SHARED.keys()


def test_rules_of_one_id_have_one_reason() -> None:
    with pytest.raises(ValueError, match="has two reasons"):
        register(RuleText(id=ARGUMENT.id, kind="error", reason="Another reason."))


@pytest.mark.parametrize("rule", construct_rules(), ids=lambda rule: rule.id)
def test_ids_are_kebab_case_and_reasons_are_sentences(rule: object) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)  # type: ignore[attr-defined]
    assert re.fullmatch(r"[A-Z`].{9,140}\.", rule.reason)  # type: ignore[attr-defined]


def test_an_id_is_registered_once() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        error(ARGUMENT.id, "Another reason.")


def test_a_refusal_lists_each_message_once_with_path_and_rule() -> None:
    message = Message("size must be 1, got 2", construct_rules()[0])
    refusal = Refusal("Stack/Lustre", [message, "subnet must be one", message])
    assert str(refusal).splitlines() == [
        f"Stack/Lustre: size must be 1, got 2 [{construct_rules()[0].id}]",
        "Stack/Lustre: subnet must be one [argument]",
    ]
    assert str(Refusal("", "subnet must be one")) == "subnet must be one [argument]"
