"""The JSON schema: what editors complete from, and never stricter than the reader says it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from support import EXAMPLES
from support.clusterfile_data import GOOD, RESERVATION, bent
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, ULTRASERVERS
from ultracluster.clusterfile import ClusterFileError, loads, schema
from ultracluster.clusterfile._quantities import Duration, Parameters, Size, Throughput

SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def as_editors_see_it(text: str) -> Any:
    # To them, as to the reader, a day is a text: YAML 1.2 has no type for it.
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(text), default=str))


def reader_takes(text: str) -> bool:
    try:
        loads(text, "c.yaml")
    except ClusterFileError:
        return False
    return True


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    json.dumps(SCHEMA)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_valid_by_the_schema(file: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(as_editors_see_it(file.read_text()))] == []


def sections(node: Any) -> list[dict[str, Any]]:
    objects = [node] if isinstance(node, dict) and "properties" in node and "additionalProperties" in node else []
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return objects + [section for child in children for section in sections(child)]


def test_every_mapping_is_closed_and_every_key_is_described() -> None:
    assert len(sections(SCHEMA)) >= 9
    for section in sections(SCHEMA):
        assert section["additionalProperties"] is False
    for section in [SCHEMA, *SCHEMA["$defs"].values()]:
        for key, value in section["properties"].items():
            described = value.get("description") or SCHEMA["$defs"][value["$ref"].rpartition("/")[2]]["description"]
            assert len(described) > 5, key
            assert "_" not in key


def defaults(node: Any, key: str = "") -> list[tuple[str, Any]]:
    if isinstance(node, list):
        return [default for child in node for default in defaults(child, key)]
    if not isinstance(node, dict):
        return []
    declared = [(key, node["default"])] if "default" in node and key else []
    return declared + [
        default for name, child in node.items() if name != "default" for default in defaults(child, name)
    ]


def test_defaults_are_in_the_form_of_the_file() -> None:
    values = dict(defaults(SCHEMA))
    assert values["capacity"] == "on-demand"
    assert values["root-volume"] == "500 GiB"
    assert values["scale-down-idle-time"] == "10 min"
    assert values["cidr"] == "10.0.0.0/16"
    assert values["version"] == "25.11"
    assert None not in values.values()


def test_the_schema_completes_types_and_accepts_new_ones() -> None:
    group = SCHEMA["$defs"]["NodeGroupSection"]["properties"]["type"]
    assert group["anyOf"][0]["enum"] == [*INSTANCE_TYPES, *ULTRASERVERS]
    assert VALIDATOR.is_valid(as_editors_see_it(bent("p5en.48xlarge", "p7.48xlarge")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count: 64", "count: 0"),
        ("count: 64", "count: '64'"),
        ("count: 64", "cuont: 64"),
        ("40 GB/s", "40"),
        ("40 GB/s", "0 GB/s"),
        ("40 GB/s", "40 parsecs"),
        ("slurm", "hyperpod-nomad"),
        ("use2-az1", "us-east-2a"),
        ("llama", "1lama"),
        ("  train:", "  Train:"),
        ("  train:", "  login:"),
        (RESERVATION, "cr-1"),
        (RESERVATION, f"{{reservation: {RESERVATION}, kind: capacity-block, instances: 65}}"),
        (RESERVATION, f"{{reservations: [{RESERVATION}, {RESERVATION}], kind: ultraserver}}"),
        (RESERVATION, f"{{reservations: [{RESERVATION}], kind: odcr}}"),
        (RESERVATION, f"{{reservation: {RESERVATION}, kind: capacity-block, ends: tomorrow}}"),
        (RESERVATION, f"{{reservation: {RESERVATION}, kind: capacity-block, active: 1}}"),
        ("count: 64", "count: 64, spare: -1"),
        ("count: 64", "count: 64, placement-group: true"),
        ("count: 64", "count: 64, labels: {a: 1}"),
        ("name: llama", "name: llama\naccept: {ultracluster:unpinned-image: known}"),
        (RESERVATION, "{group: 7}"),
        ("name: llama", "name: llama\naccount: 12345"),
        ("name: llama", "name: llama\nslurm: {version: newest}"),
        ("name: llama", "name: llama\nnetwork:"),
        ("name: llama", "name: llama\ntags: {a: 1}"),
        ("storage: {", "storage: {data-bucket: my-datasets, "),
        ("storage: {", "storage: {data-bucket: {key: x}, "),
        ("storage: {", "storage: {data-bucket: {existing: My_Data}, "),
        ("storage: {", "storage: {data-bucket: {existing: my-datasets, key: alias/data}, "),
    ],
)
def test_the_schema_rejects_what_it_can_express(old: str, new: str) -> None:
    assert not VALIDATOR.is_valid(as_editors_see_it(bent(old, new)))
    assert not reader_takes(bent(old, new))


scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10**13),
    st.floats(),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
    st.sampled_from(
        ["on-demand", RESERVATION, "40 GB/s", "500 GiB", "10 min", "use2-az1", "us-east-2", "slurm", "all-efa"]
    ),
    st.sampled_from(["10 TiB", "NO_CACHE", "SCRATCH_2", "PERSISTENT_1", "HDD", 2.12, "2.10", "my-datasets"]),
    st.sampled_from(
        ["10.0.0.0/16", "ami-0123456789abcdef0", "/fsx", "123456789012", 25.11, "25.11", "c7i.large", {}, []]
    ),
)
ROOMS: list[tuple[str, ...]] = [
    (),
    ("nodes",),
    ("nodes", "train"),
    ("nodes", "train", "capacity"),
    ("slurm",),
    ("slurm", "login"),
    ("network",),
    ("network", "existing"),
    ("storage",),
    ("storage", "lustre"),
    ("storage", "lustre", "existing"),
    ("storage", "lustre", "client"),
    ("storage", "data-bucket"),
    ("tags",),
]
KEYS = sorted(
    {key for section in [SCHEMA, *SCHEMA["$defs"].values()] for key in section["properties"]}
    | {"existing", "key", "reservation", "kind", "instances", "group", "training-plan", "train", "x"}
)


@given(st.lists(st.tuples(st.sampled_from(ROOMS), st.sampled_from(KEYS), scalars), min_size=1, max_size=3))
def test_the_reader_rejects_what_the_schema_rejects(changes: list[tuple[tuple[str, ...], str, Any]]) -> None:
    data = as_editors_see_it(GOOD)
    for room, key, value in changes:
        place = data
        for step in room:
            if not isinstance(place.get(step), dict):
                place[step] = {}
            place = place[step]
        place[key] = value
    # JSON is YAML.
    text = json.dumps(data)
    if not VALIDATOR.is_valid(as_editors_see_it(text)):
        assert not reader_takes(text)


@given(st.text(st.characters(codec="ascii"), max_size=12), st.sampled_from([Throughput, Size, Duration, Parameters]))
def test_accepted_quantities_match_the_schema(text: str, kind: Any) -> None:
    validator = Draft202012Validator({"type": "string", "pattern": kind.pattern()})
    for candidate in (text, f"{text} {next(iter(kind.units))}", f"1{text}{next(iter(kind.units))}"):
        try:
            kind.parse(candidate)
        except ValueError:
            continue
        assert validator.is_valid(candidate)
