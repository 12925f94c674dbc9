"""Generate the contract of the constructs from the table that the tests hold them to."""

from collections.abc import Iterator, Mapping
from typing import Any

from docs_reference.markdown import page, table

_ABOUT = """What each construct has for a CDK app, beside its own properties. Each entry is tested in
`tests/house/test_contract.py`, through JavaScript, as the CDK's own constructs call it.

| entry | meaning |
|---|---|
| port `2049` | it has `connections`, with this default port |
| grants `read` | `grants.read(grantee)` accepts an `IGrantable` and returns an `iam.Grant` |
| grantable | it is an `IGrantable`: it can be granted access itself |
| imported as `IName` | `from_..._attributes` imports an existing one, with this interface |
| metrics | `metrics` has methods that return metrics of CloudWatch |
| alarms | `alarms` accepts thresholds, periods and an action |
| usable as ... | constructs of the CDK accept it as this |

Every construct: two of them fit in one stack; it may be in another stack than what it is given; if that is in another
Region, it synthesizes by references of the CDK, or an error names the argument; it synthesizes without account and
Region; a permissions boundary set on the app reaches every role. `Tags.of(...)` reaches the resources of all of them,
instances and volumes included, and arguments accept tokens, but for [the exceptions](#exceptions)."""

_EXCEPTIONS = {"tags": "tags do not reach it", "tokens": "arguments are no tokens", "default_child": "no default child"}
_WITHOUT = {
    "connects": "`connections`",
    "grants": "`grants`",
    "principal": "`IGrantable`",
    "imported": "`from_...`",
    "metrics": "`metrics`",
    "alarms": "`alarms`",
    "uses": "use by constructs of the CDK",
}


def contracts_page() -> str:
    """Page with what each construct has, by package, and the reasons of what it has not."""
    # From tests/support, which `make docs-reference` and pytest have on the path.
    from support.contracts import PACKAGES, rows

    each = rows()
    sections = []
    for package in PACKAGES:
        of_package = sorted(name for name in each if name.startswith(f"{package}."))
        lines = [(f"`{name}`", _main(each[name]), "; ".join(_entries(each[name]))) for name in of_package]
        sections.append(f"## {package}\n\n" + table(("construct", "`node.default_child`", "has"), lines))
    return page(
        "Contract of the constructs",
        _ABOUT,
        *sections,
        "## Exceptions\n\n" + table(("exception", "reason", "constructs"), _reasons(each, _EXCEPTIONS)),
        "## Why something is missing\n\n" + table(("without", "reason", "constructs"), _reasons(each, _WITHOUT)),
    )


def _main(row: Any) -> str:
    return f"`{row.default_child}`" if isinstance(row.default_child, str) else ""


def _entries(row: Any) -> Iterator[str]:
    from support.contracts import No

    def has(value: object) -> bool:
        return not isinstance(value, No)

    if has(row.connects):
        yield f"port `{row.connects.default_port}`"
    if has(row.grants):
        yield "grants " + ", ".join(f"`{method}`" for method in row.grants.methods)
    if has(row.principal):
        yield "grantable"
    if has(row.imported):
        yield f"imported as `{row.imported.interface.__name__}`"
    yield from (word for word in ("metrics", "alarms") if has(getattr(row, word)))
    if has(row.uses):
        yield "usable as " + ", ".join(row.uses)


def _reasons(each: Mapping[str, Any], columns: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the reasons of each column with their constructs; the reason of most constructs names none."""
    from support.contracts import No

    for manner, words in columns.items():
        reasons: dict[str, list[str]] = {}
        for name, row in sorted(each.items()):
            value = getattr(row, manner)
            if isinstance(value, No):
                reasons.setdefault(value.reason, []).append(name)
        most = max(reasons, key=lambda reason: len(reasons[reason]))
        for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
            rest = reason == most and len(names) > len(each) / 4
            yield words, reason, "the others" if rest else ", ".join(f"`{name}`" for name in names)
