"""Generate the reference of rules from their registry."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from docs_reference.markdown import page, table
from ultracluster.cli._rules import DEPLOY_CHECKS, construct_rules
from ultracluster.clusterfile import rules
from ultracluster.live import CHECKS
from ultracluster.rules import RuleText

_LIBRARY = Path(__file__).parents[2] / "constructs" / "ultracluster"

_ABOUT = """Errors and warnings of the cluster file and of the constructs. `ultracluster check` prints the id behind a
message, and the exception of a constructor ends with it; ids do not change. `accept: {ID: REASON}` accepts a warning,
or an error that rests on a fact with a date ([how](../guides/cluster-file.md#rules)). The id of a warning in
`cdk synth` begins with `ultracluster:`. The last column is the module that checks it,
below `constructs/ultracluster`."""


def rules_page() -> str:
    """Page with all rules."""
    errors = [rule for rule in rules() if rule.kind == "error"]
    warnings = [rule for rule in rules() if rule.kind == "warning"]
    sections = [
        "## Errors that `accept` allows\n\n" + _table([rule for rule in errors if rule.acceptable]),
        "## Other errors\n\n" + _table([rule for rule in errors if not rule.acceptable]),
        "## Warnings\n\n" + _table(warnings, "printed when"),
        "## Errors of constructs\n\nA constructor raises `ultracluster.rules.Refusal`, a `ValueError`.\n\n"
        + _constructs("error", "reason"),
        "## Warnings of constructs\n\n" + _constructs("warning", "printed when"),
        "## Refusals of `deploy`\n\n`ultracluster diff` and `deploy` refuse an update for these, beside the "
        "losses that the guard finds. `adopt-retained` is a refusal of `rehearse`.\n\n"
        + _rows("reason", [(check.id, check.reason) for check in DEPLOY_CHECKS], "cli"),
        "## Checks of the account\n\n`ultracluster check FILE --live` prints them as `pass`, `warn` or `fail`.\n\n"
        + _rows("reason", [(check.id, check.reason) for check in CHECKS], "live"),
    ]
    return page("Rules", _ABOUT, *sections)


def _table(rules: Iterable[RuleText], column: str = "reason") -> str:
    return _rows(column, [(rule.id, rule.reason) for rule in rules], "clusterfile")


def _constructs(kind: str, column: str) -> str:
    return _rows(column, [(rule.id, rule.reason) for rule in construct_rules() if rule.kind == kind], "")


def _rows(column: str, rules: Iterable[tuple[str, str]], package: str) -> str:
    header = ("id", column, "module")
    return table(header, [(f"`{id}`", reason, f"`{_module(id, package)}`") for id, reason in rules])


def _module(id: str, package: str) -> str:
    """Module that names a rule: of the package if there is one, otherwise of another one."""
    modules = [path for path in _by_id()[id] if path != "rules/_shared.py"] or ["rules/_shared.py"]
    inside = [path for path in modules if path.startswith(f"{package}/" if package else "")]
    outside = [path for path in modules if not path.startswith("clusterfile/")]
    return ((inside if package else outside) or modules)[0]


@cache
def _by_id() -> dict[str, list[str]]:
    """Modules by the ids of the rules that they register."""
    registers = re.compile(r'\b(?:INVALID_VALUE = |(?:error|warning|shared|\w*[Cc]heck)\(\s*(?:id=)?)"([a-z0-9-]+)"')
    result: dict[str, list[str]] = {}
    for path in sorted(_LIBRARY.rglob("*.py")):
        for id in registers.findall(path.read_text(encoding="utf-8")):
            result.setdefault(id, []).append(str(path.relative_to(_LIBRARY)))
    return result
