"""Holds custom objects against their projects' own definitions, and remembers what was held against what.

The definitions are not kept here. `python -m support.kubernetes_shapes SOURCES.json` reads them from files that you
have, checks every object of every platform of the tests, strictly, and writes `kubernetes_shapes.json`: for each kind
the fields that were checked, the words that an enumeration allows them, its rules in CEL that reach such fields, its
defaults, and the project, version and commit that they were checked against. The tests refuse an object with a field
that is not there, or with another word, and evaluate the rules; all projects have the Apache License 2.0.
SOURCES.json: {"FILE OF DEFINITIONS": "project, version, commit"}. Kinds without a file keep their record.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml  # type: ignore[import-untyped]  # no stubs

from support.kubernetes_rules import defaults, reached, rules

_COUNTED = ("fields", "words", "rules", "defaults")
# Groups whose rules are evaluated: those that every cluster has.
RULED = ("kueue.x-k8s.io/", "jobset.x-k8s.io/", "trainer.kubeflow.org/")
_POD = "template.spec.template.spec"
RECORD = Path(__file__).parent / "kubernetes_shapes.json"


def is_core(api_version: str) -> bool:
    """True if the kind is built in, not a custom resource."""
    group = api_version.rpartition("/")[0]
    return group in ("", "apps", "batch") or group in (
        "admissionregistration.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    )


def shape(value: Any, path: str = "") -> Iterator[str]:
    """The fields of an object with their types; the entries of a list count as one, and so do keys of a free map."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from shape(inner, f"{path}.{'*' if _free(path) else key}")
    elif isinstance(value, list):
        for inner in value:
            yield from shape(inner, f"{path}[]")
    else:
        yield f"{path[1:]}: {type(value).__name__}"


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of an object, with its path as `shape` writes it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, f"{path}.{'*' if _free(path) else key}")
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, f"{path}[]")
    elif isinstance(value, str):
        yield path[1:], value


def words(schema: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """The texts that a definition enumerates, by their path."""
    if "enum" in schema:
        yield path[1:], [item for item in schema["enum"] if isinstance(item, str)]
    for key, inner in schema.get("properties", {}).items():
        yield from words(inner, f"{path}.{key}")
    if "items" in schema:
        yield from words(schema["items"], f"{path}[]")


def _free(path: str) -> bool:
    free = ("labels", "annotations", "matchLabels", "nodeLabels", "nodeSelector", "limits", "requests", "tags")
    return path.rpartition(".")[2] in (*free, "deserved", "capability")


def strict(schema: Any) -> Any:
    """A definition's schema that also refuses fields it does not know, as `kubectl apply` with validation does."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(item) for key, item in schema.items() if key != "x-kubernetes-validations"}
    if isinstance(result.get("properties"), dict) and not result.get("x-kubernetes-preserve-unknown-fields"):
        result.setdefault("additionalProperties", False)
    if result.get("x-kubernetes-int-or-string"):
        result.pop("type", None)
    return result


def served(file: Path) -> Iterator[tuple[tuple[str, str], Any]]:
    """(API version, kind) -> schema, of every definition in a file."""
    for document in yaml.safe_load_all(file.read_text()):
        spec = document["spec"]
        for version in spec["versions"]:
            yield (f"{spec['group']}/{version['name']}", spec["names"]["kind"]), version["schema"]["openAPIV3Schema"]


def definitions(file: Path) -> Iterator[tuple[tuple[str, str], Any]]:
    """(API version, kind) -> strict schema, of every definition in a file."""
    for kind, raw in served(file):
        schema = strict(raw)
        schema["properties"]["metadata"] = {"type": "object"}
        yield kind, schema


def problems(value: Any, schema: Any) -> list[str]:
    """Errors of an object by its definition."""
    result = jsonschema.Draft202012Validator(schema).iter_errors(value)
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in result]


def main(sources: Path) -> int:
    """Check everything and write the record; 1 when an object is bad or has no definition."""
    from support.kubernetes_data import PLATFORMS, everything

    named = json.loads(sources.read_text())
    known = {kind: (schema, what) for file, what in named.items() for kind, schema in definitions(Path(file))}
    schemas = {" ".join(kind): schema for file in named for kind, schema in served(Path(file))}
    record: dict[str, dict[str, Any]] = {}
    kept = {kind: entry for kind, entry in json.loads(RECORD.read_text()).items() if kind not in schemas}
    bad = 0
    for name, item in PLATFORMS.items():
        for created in everything(item):
            kind = (created["apiVersion"], created["kind"])
            if is_core(kind[0]) or " ".join(kind) in kept:
                continue
            schema, what = known.get(kind, ({"not": {}}, "nothing"))
            for problem in problems(created, schema):
                bad += 1
                print(f"{name}: {kind[1]} {created['metadata']['name']}: {problem}")
            entry = record.setdefault(" ".join(kind), {"checked_against": what, "fields": [], "words": {}})
            entry["fields"] = sorted({*entry["fields"], *shape(created)})
            used = {path for path, _ in texts(created)}
            entry["words"] |= {path: sorted(allowed) for path, allowed in words(schema) if path in used}
    for name, entry in record.items():
        if name.startswith(RULED):
            entry["rules"] = [list(rule) for rule in rules(schemas[name]) if reached(rule[0], entry["fields"])]
            entry["defaults"] = [[path, value] for path, value in defaults(schemas[name]) if _POD not in path]
    record |= kept
    if not bad:
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
        print(", ".join(f"{sum(len(item.get(what, [])) for item in record.values())} {what}" for what in _COUNTED))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
