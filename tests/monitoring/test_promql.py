"""The check of PromQL: what it accepts and rejects is what promtool accepts and rejects."""

import json
import subprocess
from pathlib import Path

import pytest

from support.rule_tests import all_rules
from ultracluster.monitoring.alerts._promql import PromqlError, check_promql
from ultracluster.monitoring.names import Profile

GOOD = [
    "up",
    "1 + 2 * -3 ^ 2 > bool 4",
    "vector(1)",
    'rate(x{a="b", c!~"d|e"}[5m]) > 0.5',
    "sum by (a, b) (x) / on (a) group_left (b) y",
    "sum(x) without (a) or vector(0) unless ignoring (b) z",
    "max_over_time(rate(x[5m])[1h:30s] offset 1d)",
    "topk(3, x @ end()) and x @ 1609746000",
    "x offset -5m % 2 == bool 1",
    'label_replace(x, "a", "$1", "b", "(.*)")',
    'label_join(x, "a", "-", "b", "c")',
    "histogram_quantile(0.99, sum by (le) (rate(x_bucket[5m])))",
    "absent(x) * scalar(y) + time() - pi()",
    "quantile_over_time(0.5, x[1h30m]) # comment",
    'count_values("v", x) > Inf or NaN * x',
    "hour() + minute(x) + round(x, 5)",
    '{__name__=~"a.+", b="c"}',
    "a:b:c / a:b:c > 0x10",
    "x atan2 y",
    "sum by () (x)",
    r"""x{a=~"a\\.b|\\d+\\\\x", b!~`c\.(?i)d{1,3}`, c="\n\x41\"", d='\''}""",
    r"x{a=~`[[:alpha:]*+]+?[]a](?P<n>a)(?i:b)\pL\p{Greek}\Q(\E\z[^]*]`}",
]
# Valid queries, without a value for a rule.
NO_VALUE = ['"text"', "x[5m]"]
BAD = [
    "",
    "x >",
    "rate(x)",
    "rate(x[5m]",
    "rate(x[5x])",
    "sum(x) by",
    "x and 1",
    "1 > 2",
    "x + x[5m]",
    "sum by () (x,)",
    "ratee(x[5m])",
    "x{a=b}",
    'x{a="b"',
    "{}",
    '{a=~".*"}',
    "x y",
    "sum(x, y)",
    "topk(x)",
    "x[5m][5m]",
    "(x + y)[5m]",
    "1[5m:]",
    "x and on (a) group_left (b) y",
    "x + bool y",
    "histogram_quantile(x, 0.9)",
    "label_replace(x, a)",
    "x == on (a) 1",
    "time(1)",
    "x offset y",
    "1 offset 5m",
    "x @ y",
    "sum by (a:b) (x)",
    "x $ y",
    "x{a==1}",
    "clamp(x, 1)",
    r'x{a=~"a\.b"}',
    r"""x{a="\'"}""",
    'x{a=~"("}',
    'x{a!~"*b"}',
    'x{a=~"b**"}',
    'x{a=~"b++"}',
    'x{a=~"[b"}',
    'x{a=~"(?=b)c"}',
    r"x{a=~`(b)\1`}",
    r"x{a=~`b\Z`}",
]


def promtool_rejects(expressions: list[str], directory: Path) -> set[str]:
    """One file for each, in one call: promtool names those that it rejects."""
    for number, expression in enumerate(expressions):
        rules = [{"record": "a:b:c", "expr": expression}]
        (directory / f"{number}.yaml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    files = [str(directory / f"{number}.yaml") for number in range(len(expressions))]
    command = ["promtool", "check", "rules", *files]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    parts = done.stdout.split("Checking ")[1:]
    assert len(parts) == len(expressions)
    return {expression for expression, part in zip(expressions, parts, strict=True) if "FAILED" in part}


def test_promtool_agrees(tmp_path: Path) -> None:
    # Prometheus 3 takes colons in labels. Those before it, which AMP may be like, and which Debian 12 has, do not.
    either = {"sum by (a:b) (x)"}
    assert promtool_rejects([*GOOD, *NO_VALUE, *BAD], tmp_path) - either == set(BAD) - either


@pytest.mark.parametrize("expression", GOOD)
def test_accepts(expression: str) -> None:
    check_promql(expression)


@pytest.mark.parametrize("expression", [*BAD, *NO_VALUE])
def test_rejects(expression: str) -> None:
    with pytest.raises(PromqlError):
        check_promql(expression)


def test_accepts_every_rule_of_the_library() -> None:
    for rule in all_rules(Profile.FULL):
        check_promql(rule["expr"])


def test_returns_the_metrics_that_are_read() -> None:
    expected = {"a", "b:c:d", "up"}
    assert check_promql('sum by (x) (a{y="z"}) / rate(b:c:d[5m]) and on (x) up') == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("rate(x)", r"column 8: rate needs a range vector, such as x\[5m\] as argument 1, got an instant vector"),
        ("x >", "column 4: unexpected end"),
        ("ratee(x[5m])", "column 1: unknown function 'ratee'"),
        ("1 > 2", "column 6: > of two numbers needs bool"),
        ("x[5m]", "a rule needs a number or an instant vector"),
    ],
)
def test_an_error_names_place_and_reason(expression: str, message: str) -> None:
    with pytest.raises(PromqlError, match=message):
        check_promql(expression)
