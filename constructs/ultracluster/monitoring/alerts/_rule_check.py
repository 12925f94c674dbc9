"""Validation of rule files."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ultracluster.catalogue.monitoring import DEFINITION_BYTES, RULES
from ultracluster.monitoring.alerts._alert import Severity
from ultracluster.monitoring.alerts._all import ALERTS
from ultracluster.monitoring.alerts._promql import PromqlError, check_promql
from ultracluster.monitoring.alerts._rule_keys import file_key_problems, rule_key_problems
from ultracluster.monitoring.collectors import RenderedYaml
from ultracluster.monitoring.names import METRICS, OTHERS, Profile, read_from_exporters
from ultracluster.planning.workload import quota_request
from ultracluster.rules import Message, error, nearest

#: Labels that have a new value for each process, request or moment: a recording rule that keeps one makes series
#: without end, each of which is paid for and counts for two hours. A choice of this library.
UNBOUNDED_LABELS = frozenset(
    {
        *("comm_id", "container_id", "pid", "pod_uid", "request_id", "session_id", "span_id", "tid", "time"),
        *("timestamp", "trace_id", "url"),
    }
)
RULE_FILE = error("prometheus-rule-file", "Prometheus must be able to load a rule file.")
_RULE = error("prometheus-rule", "A rule must have a name, an expression and valid labels.")
_METRIC_NAME = error("prometheus-rule-metric", "A rule on a metric that nothing records never fires.")
_PROFILE = error("prometheus-rule-profile", "A rule on a metric that is not collected never fires.")
_TAKEN = error("prometheus-rule-name", "A second rule with a name of the library changes what its alerts mean.")
_SEVERITY = error("prometheus-rule-severity", "The severity selects the receiver of an alert.")
_UNBOUNDED = error("prometheus-unbounded-label", "Labels with unlimited values create series without end.")
_QUOTA = error("prometheus-rule-quota", "A workspace has quotas of rules, and of bytes in a namespace.")
# Of the 1,000,000 bytes of a template: a tenth stays for the other resources of the stack.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-22)
_STACK_BYTES = 900_000
_NAME = re.compile(r"[0-9A-Za-z][-.0-9A-Z_a-z]{0,63}", re.ASCII)
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_METRIC = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*", re.ASCII)
# Those of this library alone; rules of users may have other names.
_OURS = re.compile(r"ultracluster_\w+|(cluster|group|job|model|node)\w*:\w+:\w+", re.ASCII)
# Of node_exporter and dcgm-exporter. All that no rule of the library reads is sent with the largest profile only.
_EXPORTERS = ("DCGM_", "node_")
_TAB = re.compile(r"^ *\t", re.MULTILINE)
_KEPT = re.compile(r"\bby\s*\(([^)]*)\)|\bgroup_(?:left|right)\s*\(([^)]*)\)")


def rule_problems(
    rules: Mapping[str, str], profile: Profile = Profile.FULL, *, reserved: bool = False
) -> Iterator[Message]:
    """Yield the problems of rule files.

    Args:
        rules: Text of each file, by the name of its namespace.
        profile: Metrics profile of the nodes. By default, all that can be collected is.
        reserved: True for rules beside those of the library, whose names they must not have. By default, they may be
            those of the library from a file.
    """
    for name, text in rules.items():
        if not _NAME.fullmatch(name):
            yield RULE_FILE(
                f"{name!r} is no name of a namespace: letters, digits, dots, hyphens and underscores, 64 at most"
            )
        size = len(text.encode())
        if size > DEFINITION_BYTES:
            yield _QUOTA(f"{name} has {size:,} bytes, and a namespace takes {DEFINITION_BYTES:,}")
            continue
        try:
            document = text.document if isinstance(text, RenderedYaml) else YAML(typ="safe").load(text)
        except YAMLError as error:
            yield RULE_FILE(f"{name} {_reason(text, error)}")
            continue
        groups = _mappings(document.get("groups")) if isinstance(document, Mapping) else []
        yield from (RULE_FILE(f"{name}: {text}") for text in file_key_problems(document))
        loaded = [rule for group in groups for rule in _mappings(group.get("rules"))]
        if not loaded:
            yield RULE_FILE(
                f"{name} is no rule file: it needs groups with names and rules, as promtool check rules requires them"
            )
        names = [str(group.get("name")) for group in groups]
        for group in sorted({group for group in names if names.count(group) > 1}):
            yield RULE_FILE(f"{name} has the group {group} twice")
        recorded = {str(rule["record"]) for rule in loaded if rule.get("record")}
        for index, rule in enumerate(loaded, 1):
            yield from _rule_problems(name, index, rule, None if isinstance(text, RenderedYaml) else recorded, profile)
            if reserved:
                yield from _name_problems(f"{name}: {rule.get('record') or rule.get('alert')}", rule)


def rules_quota_problems(rules: Mapping[str, str]) -> Iterator[Message]:
    """Yield what a workspace and a stack do not take of valid rule files, all together.

    Args:
        rules: Text of each file, by its name.
    """
    documents = [
        text.document if isinstance(text, RenderedYaml) else YAML(typ="safe").load(text) for text in rules.values()
    ]
    number = sum(len(group.get("rules") or ()) for document in documents for group in document["groups"])
    if number > RULES:
        yield _QUOTA(
            f"there are {number:,} rules, those of the library included, and a workspace takes {RULES:,} by default "
            f"(L-3D15CDB4); record less, or add the others to a workspace whose quota is raised: "
            f"{quota_request('L-3D15CDB4', number)}"
        )
    size = sum(len(json.dumps(text)) for text in rules.values())
    if size > _STACK_BYTES:
        yield _QUOTA(
            f"the rule files have {size:,} bytes in the template of their stack, which has room for {_STACK_BYTES:,}; "
            "create some with PrometheusRules in a stack of their own"
        )


def _reason(text: str, error: YAMLError) -> str:
    if _TAB.search(text):
        return "is indented with tabs, which YAML does not allow"
    mark = getattr(error, "problem_mark", None)
    where = "" if mark is None else f" in line {mark.line + 1}"
    return f"is no rule file: it is not YAML{where}: {getattr(error, 'problem', None) or error}"


def _mappings(items: Any) -> list[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, Sequence) else []


def _rule_problems(
    file: str, index: int, rule: Mapping[str, Any], recorded: set[str] | None, profile: Profile
) -> Iterator[Message]:
    """Yield the problems for which Prometheus rejects a rule, and labels without bound."""
    record, alert, expression = (str(rule.get(key) or "").strip() for key in ("record", "alert", "expr"))
    called = f"{file}: {record or alert or f'rule {index}'}"
    if bool(record) == bool(alert):
        yield _RULE(f"{called} must have one of record and alert, with a name")
    elif record and not _METRIC.fullmatch(record):
        yield _RULE(f"{file}: {record!r} is no name of a metric: letters, digits, underscores and colons")
    if not expression:
        yield _RULE(f"{called} has no expr")
    elif recorded is not None:
        # The tests check the expressions of the library.
        yield from _expression_problems(called, expression, recorded, profile)
    yield from (_RULE(f"{called} {text}") for text in rule_key_problems(rule))
    labels = rule.get("labels")
    for label in labels if isinstance(labels, Mapping) else ():
        if label == "__name__" or (record and label == "alertname") or not _LABEL.fullmatch(str(label)):
            yield _RULE(f"{called} has the label {label!r}: letters, digits and underscores, and not __name__")
    if record and (unbounded := sorted(_kept(expression) & UNBOUNDED_LABELS)):
        yield _UNBOUNDED(
            f"{called} keeps the label {unbounded[0]}, whose values have no bound, so that its series never stop "
            "growing in number; aggregate it away"
        )


@lru_cache(maxsize=1024)
def _kept(expression: str) -> frozenset[str]:
    """Return the labels that the result of an expression keeps."""
    texts = (match[1] or match[2] or "" for match in _KEPT.finditer(expression))
    return frozenset(label.strip() for text in texts for label in text.split(","))


def _name_problems(called: str, rule: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the problems of what a team names: metrics and alerts of the library, and severities without a route."""
    record, labels = str(rule.get("record")), rule.get("labels")
    if record.startswith("ultracluster_") or record in METRICS or record in OTHERS:
        yield _TAKEN(
            f"{called} records a metric of the library, whose names begin with ultracluster_ or are in "
            "docs/reference/metrics.md: both would be written; record another name, such as team:NAME"
        )
    if rule.get("alert") in ALERTS:
        yield _TAKEN(
            f"{called} has the name of an alert of the library, which would fire beside it and inhibit others; change "
            "that one under observability: {alerts: ...}, or use another name"
        )
    severity = str(labels.get("severity", Severity.WARNING)) if isinstance(labels, Mapping) else Severity.WARNING
    if severity not in set(Severity) and "{{" not in severity:
        near = nearest(severity, Severity)
        yield _SEVERITY(
            f"{called} has severity: {severity}; it must be one of {', '.join(Severity)}"
            + (f", did you mean {near}?" if near else "")
        )


def _expression_problems(called: str, expression: str, recorded: set[str], profile: Profile) -> Iterator[Message]:
    try:
        read = check_promql(expression)
    except PromqlError as error:
        yield _RULE(f"{called}: expr: {error}")
        return
    known = {*METRICS, *OTHERS, *read_from_exporters(Profile.FULL), *recorded}
    for name in sorted(name for name in read - known if _OURS.fullmatch(name)):
        near = nearest(name, known)
        hint = f"did you mean {near}?" if near else "docs/reference/metrics.md lists them"
        yield _METRIC_NAME(f"{called} reads {name}, which nothing records; {hint}")
    for name in sorted(read - recorded):
        if (needed := _profile_of(name)) > profile:
            yield _PROFILE(
                f"{called} reads {name}, which is not collected with the profile {profile.name.lower()}; set "
                f"observability: {{profile: {needed.name.lower()}}}"
            )


def _profile_of(name: str) -> Profile:
    """Return the smallest profile that has a metric; a name that no exporter of a node has may be of a job."""
    if name in METRICS:
        return METRICS[name].profile
    for profile in Profile:
        if name in read_from_exporters(profile):
            return profile
    return Profile.FULL if name.startswith(_EXPORTERS) else Profile.BASIC
