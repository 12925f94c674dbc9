"""Generate the reference of rules from their registry."""

from docs_reference.markdown import page, table
from ultracluster.cli._rules import construct_rules
from ultracluster.clusterfile import rules
from ultracluster.clusterfile.rules._rule import Rule
from ultracluster.live import CHECKS

_ABOUT = """Errors and warnings of the cluster file and of the constructs. `ultracluster check` prints the id behind a
message, and the exception of a constructor ends with it; ids do not change. `accept: {ID: REASON}` accepts a warning,
or an error that rests on a fact with a date ([how](../guides/cluster-file.md#rules)). The id of a warning in
`cdk synth` begins with `ultracluster:`."""


def rules_page() -> str:
    """Page with all rules."""
    errors = [rule for rule in rules() if rule.kind == "error"]
    warnings = [(f"`{rule.id}`", rule.reason) for rule in rules() if rule.kind == "warning"]
    sections = [
        "## Errors that `accept` allows\n\n" + _table([rule for rule in errors if rule.acceptable]),
        "## Other errors\n\n" + _table([rule for rule in errors if not rule.acceptable]),
        "## Warnings\n\n" + table(("id", "printed when"), warnings),
        "## Errors of constructs\n\nA constructor raises `ultracluster.rules.Refusal`, a `ValueError`.\n\n"
        + _constructs("error", "reason"),
        "## Warnings of constructs\n\n" + _constructs("warning", "printed when"),
        "## Checks of the account\n\n`ultracluster check FILE --live` prints them as `pass`, `warn` or `fail`.\n\n"
        + table(("id", "reason"), [(f"`{check.id}`", check.reason) for check in CHECKS]),
    ]
    return page("Rules", _ABOUT, *sections)


def _table(rules: list[Rule]) -> str:
    return table(("id", "reason"), [(f"`{rule.id}`", rule.reason) for rule in rules])


def _constructs(kind: str, column: str) -> str:
    return table(("id", column), [(f"`{rule.id}`", rule.reason) for rule in construct_rules() if rule.kind == kind])
