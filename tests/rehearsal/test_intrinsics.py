"""Intrinsic functions give what CloudFormation gives, and never leave anything unresolved."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_rehearsal.registry import NO_VALUE
from cdk_rehearsal.rehearsal import Journal
from cdk_rehearsal.rehearsal import _parameters as parameters
from cdk_rehearsal.rehearsal import _patterns as patterns
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._intrinsics import Resolver
from cdk_rehearsal.rehearsal._template import Template

SECTIONS = {
    "Mappings": {"Sizes": {"us-east-2": {"small": "1"}}},
    "Conditions": {
        "Yes": {"Fn::Equals": ["a", "a"]},
        "No": {"Fn::Not": [{"Condition": "Yes"}]},
        "Both": {"Fn::And": [{"Condition": "Yes"}, {"Fn::Or": [{"Condition": "No"}, {"Condition": "Yes"}]}]},
        "Loop": {"Fn::Not": [{"Condition": "Loop"}]},
    },
}


class _Resolver(Resolver):
    def reference(self, name: str) -> Any:
        return {"AWS::Region": "us-east-2", "List": ["a", "b"]}.get(name, f"<{name}>")

    def attribute(self, name: str, attribute: Any) -> Any:
        return f"<{name}.{attribute}>"

    def import_value(self, name: Any) -> Any:
        return f"<{name}>"

    def stack_output(self, arguments: Any) -> Any:
        return f"<{arguments['StackName']}.{arguments['OutputName']}>"

    def zones(self, region: str) -> list[str]:
        return [f"{region or 'us-east-2'}{letter}" for letter in "abc"]

    def dynamic(self, service: str, reference: str) -> str:
        return f"<{service} {reference}>"


def resolve(value: Any) -> Any:
    template = Template({"Resources": {"X": {"Type": "AWS::SSM::Parameter"}}, **SECTIONS})
    return _Resolver(template).resolve(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Ref": "X"}, "<X>"),
        ({"Fn::GetAtt": ["X", "Arn"]}, "<X.Arn>"),
        ({"Fn::GetAtt": "X.Endpoint.Port"}, "<X.Endpoint.Port>"),
        ({"Fn::Sub": "${X}-${X.Arn}-${!X}-${AWS::Region}"}, "<X>-<X.Arn>-${X}-us-east-2"),
        ({"Fn::Sub": ["${A}/${X}", {"A": {"Ref": "Y"}}]}, "<Y>/<X>"),
        ({"Fn::Join": ["-", ["a", 1, True, {"Ref": "X"}]]}, "a-1-true-<X>"),
        ({"Fn::Join": [",", {"Ref": "List"}]}, "a,b"),
        ({"Fn::Select": ["1", {"Fn::Split": [".", "a.b.c"]}]}, "b"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "small"]}, "1"),
        ({"Fn::FindInMap": ["Sizes", "absent", "small", {"DefaultValue": "2"}]}, "2"),
        ({"Fn::Base64": "boot"}, "Ym9vdA=="),
        ({"Fn::Cidr": ["10.0.0.0/16", 2, "8"]}, ["10.0.0.0/24", "10.0.1.0/24"]),
        ({"Fn::GetAZs": ""}, ["us-east-2a", "us-east-2b", "us-east-2c"]),
        ({"Fn::ImportValue": {"Fn::Sub": "${X}-out"}}, "<<X>-out>"),
        ({"Fn::GetStackOutput": {"StackName": "A", "OutputName": "B"}}, "<A.B>"),
        ({"Fn::ToJsonString": {"a": [{"Ref": "X"}]}}, '{"a":["<X>"]}'),
        ({"Fn::Length": {"Ref": "List"}}, 2),
        ({"Fn::If": ["Both", "yes", "no"]}, "yes"),
        ([1, {"Fn::If": ["No", "x", {"Ref": "AWS::NoValue"}]}, 2], [1, 2]),
        ({"a": {"Ref": "AWS::NoValue"}, "b": 1}, {"b": 1}),
        ("x {{resolve:ssm:/a:1}} y", "x <ssm /a:1> y"),
        ({"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "S"}, ":SecretString}}"]]},
         "<secretsmanager <S>:SecretString>"),
        ({"Condition": {"StringEquals": {"a": "b"}}}, {"Condition": {"StringEquals": {"a": "b"}}}),
    ],
)  # fmt: skip
def test_each_function_gives_what_cloudformation_gives(value: Any, expected: Any) -> None:
    assert resolve(value) == expected


def test_rejects_a_condition_that_depends_on_itself() -> None:
    with pytest.raises(TemplateError, match="depends on itself"):
        resolve({"Fn::If": ["Loop", 1, 2]})


@pytest.mark.parametrize("value", [{"Ref": None}, {"Fn::join": ["", []]}, {"Fn::Sub": 1}, {"Fn::GetAtt": ["X"]}])
def test_rejects_malformed_intrinsics(value: Any) -> None:
    with pytest.raises(TemplateError):
        resolve(value)


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_KEYS = st.sampled_from(["Ref", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::Select", "Fn::If", "Fn::Cidr", "Fn::X", "k"])
_NODES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=2),
    max_leaves=8,
)


@given(_NODES)
def test_nothing_is_left_unresolved(node: Any) -> None:
    """Whatever the template holds: it is refused with a reason, or nothing of it looks like an intrinsic any more."""
    try:
        resolved = resolve(node)
    except TemplateError:
        return
    assert resolved is NO_VALUE or not [key for key in _all_keys(resolved) if key == "Ref" or key.startswith("Fn::")]


def _all_keys(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [*node, *(key for value in node.values() for key in _all_keys(value))]
    return [key for value in node for key in _all_keys(value)] if isinstance(node, list) else []


@given(st.lists(st.text(st.characters(exclude_characters=",{"), max_size=5), min_size=1, max_size=5))
def test_split_undoes_join(parts: list[str]) -> None:
    assert resolve({"Fn::Split": [",", {"Fn::Join": [",", parts]}]}) == parts


@pytest.mark.parametrize(
    ("definition", "given_value", "expected"),
    [
        ({"Type": "CommaDelimitedList"}, "a, b", ["a", "b"]),
        ({"Type": "List<Number>"}, "1,2", ["1", "2"]),
        ({"Type": "Number", "MinValue": 1}, "5", "5"),
        ({"Type": "AWS::SSM::Parameter::Value<List<String>>"}, "/x", ["1", "2"]),
    ],
)
def test_parameters_have_their_types(definition: dict[str, Any], given_value: str, expected: Any) -> None:
    template = Template({"Resources": {"X": {"Type": "T"}}, "Parameters": {"P": definition}})
    values = parameters.resolve(template, {"P": given_value}, lambda name: "1,2", Journal())
    assert values == {"P": expected}


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ({"Type": "Number"}, "x"),
        ({"Type": "Number", "MaxValue": 4}, "5"),
        ({"Type": "String", "MinLength": 3}, "ab"),
        ({"Type": "String", "AllowedPattern": "[a-z]+"}, "A"),
    ],
)
def test_rejects_parameters_out_of_bounds(definition: dict[str, Any], value: str) -> None:
    template = Template({"Resources": {"X": {"Type": "T"}}, "Parameters": {"P": definition}})
    with pytest.raises(TemplateError, match="Parameter 'P'"):
        parameters.resolve(template, {"P": value}, lambda name: "", Journal())


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(pcs_[a-zA-Z0-9]+|[A-Za-z][A-Za-z0-9-]{1,40})$",
        r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:cluster/[a-z0-9]{12}$",
        r"^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$",
        r"^(?!aws:)[\p{L}\p{N}]{5,9}$",
        r"^[^\s,]{3}$",
    ],
)
def test_a_string_is_made_for_a_pattern(pattern: str) -> None:
    text = patterns.generate(pattern, lambda allowed: allowed[0])
    assert text is not None
    assert patterns.fits(text, {"pattern": pattern})
