"""Malformed templates are rejected in one sentence, quickly, and never pass in silence."""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from cdk_rehearsal import guard
from cdk_rehearsal.registry import UnreadableError, read
from support import GOLDEN
from support.guard_edits import LUSTRE, golden
from ultracluster.cli import app

STORAGE = GOLDEN / "llama-Storage.json"
BUCKET = {"Type": "AWS::S3::Bucket"}


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["guard", *map(str, words)])


UNREADABLE = [
    (b"", "it is empty"),
    (b" \n", "it is empty"),
    (b"{", "it is no JSON: Expecting property name"),
    (b"a: [", "line 2, column 1: did not find expected node content"),
    (b"\xff\xfe{}", "it is no text in UTF-8"),
    (b"\x00", "control characters are not allowed"),
    (b"just words", "it is no template: it must be a mapping of sections"),
    (b"[1, 2]", "it is no template: it must be a mapping of sections"),
    (b'{"name": "x", "version": 1}', 'it is no template, which has no section "name", "version"'),
    (b'{"Resources": {"A": {"Type": "T"}, "A": {"Type": "T"}}}', 'a key is repeated in one object: "A"'),
    (b"Resources:\n  A: {Type: T}\n  A: {Type: T}\n", 'line 3, column 3: the key "A" is repeated in one mapping'),
    (b"Resources: &r\n  A: {Type: T}\nOutputs: *r\n", "line 3: CloudFormation does not support YAML aliases"),
    (b'{"Resources": {"A": {"Type": "T", "Properties": {"N": NaN}}}}', "NaN is no JSON"),
    (b"Resources: {A: {Type: T, Properties: {N: .nan}}}", "nan is no value that JSON has"),
    (b'{"Resources": {"A": {"Type": "T", "Properties": {"N": 1e999}}}}', "inf is no value that JSON has"),
    (b'{"N": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    (b"Resources: {A: {Type: T, Properties: {N: !!python/object:os.system x}}}", "could not determine a constructor"),
    (b"[" * 100_000, "it is nested more than 100 levels deep"),
    (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "it is nested more than 100 levels deep"),
    (b"- " * 50_000, "it is nested more than 100 levels deep"),
    (b'{"Resources": []}', "Resources must be a mapping"),
    (b'{"Resources": {"A": 1}}', 'Resources: "A" must be a mapping'),
    (b'{"Resources": {"A": {}}}', 'Resources: "A" has no Type'),
    (b'{"Resources": {"A b": {"Type": "T"}}}', 'a logical id is of letters and digits, got "A b"'),
    (b'{"Resources": {"A": {"Type": "T", "Properties": []}}}', 'the Properties of "A" must be a mapping'),
    (b'{"Resources": {"A": {"Type": "T", "Condition": []}}}', 'the Condition of "A" must be a name'),
    (b'{"Transform": "AWS::Serverless-2016-10-31"}', 'the transform "AWS::Serverless-2016-10-31" runs at AWS only'),
    (b'{"Transform": ["AWS::LanguageExtensions", "Mine"]}', 'the transform "Mine" runs at AWS only'),
    (b'{"Resources": {"Fn::ForEach::A": ["x", [1], {}]}}', "Fn::ForEach::A is expanded at AWS only"),
]


@pytest.mark.parametrize(("content", "message"), UNREADABLE, ids=[message[:30] for _, message in UNREADABLE])
def test_rejects_what_is_no_template_with_exit_code_2(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "bad.template"
    file.write_bytes(content)
    begun = time.monotonic()
    for old, new in ((STORAGE, file), (file, STORAGE)):
        result = run(old, new)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"error: {file}: ")
        assert message in result.stderr
        assert "Traceback" not in result.stderr
    assert time.monotonic() - begun < 5


def test_rejects_wrong_usage_with_exit_code_2(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, message in (
        ((STORAGE,), "Missing argument 'NEW'"),
        ((STORAGE, tmp_path / "none.json"), "none.json: no such file or directory"),
        ((STORAGE, GOLDEN), "one is a directory and the other is not"),
        ((empty, GOLDEN), "there is no template in this directory"),
        ((STORAGE, STORAGE, "--alow", "x"), "No such option"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert message in result.stderr


def test_without_the_schemas_the_command_names_the_extra_to_install() -> None:
    code = "import sys; sys.modules['cfnlint'] = None; from ultracluster.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code, "guard", "a", "b"], capture_output=True, text=True)
    assert result.returncode == 2
    assert 'cfnlint is missing): pip install "cdk-ultracluster[guard]"' in result.stderr


def test_a_stack_without_resources_is_one_that_the_cdk_deletes() -> None:
    empties: list[dict[str, Any]] = [{}, {"Parameters": {"A": {"Type": "String"}}}, {"Resources": {}}]
    for empty in (*empties, {"Resources": None}):
        assert guard.compare(empty, golden("Storage")).ok
        assert len(guard.compare(golden("Storage"), empty).refused) == 9


def test_yaml_and_json_of_one_template_are_the_same(tmp_path: Path) -> None:
    file = tmp_path / "storage.yaml"
    file.write_text(
        """
Parameters: {Vpc: {Type: String}}
Conditions: {Here: !Equals [!Ref AWS::Region, us-east-2]}
Resources:
  Group:
    Type: AWS::EC2::SecurityGroup
    Properties: {GroupDescription: !Sub "of ${AWS::StackName}", VpcId: !Ref Vpc}
  Fs:
    Type: AWS::FSx::FileSystem
    Condition: Here
    Properties:
      FileSystemType: LUSTRE
      StorageCapacity: 1200
      SecurityGroupIds: [!GetAtt Group.GroupId]
      SubnetIds: [!ImportValue {"Fn::Sub": "${Vpc}-subnet"}]
      LustreConfiguration: !If [Here, {DeploymentType: SCRATCH_2}, !Ref AWS::NoValue]
"""
    )
    again = tmp_path / "storage.json"
    again.write_text(json.dumps(read(file.read_text())))
    result = run(file, again)
    assert (result.exit_code, result.stdout) == (0, "1 stateful resource: 1 kept.\n")
    file.write_text(file.read_text().replace("SCRATCH_2", "SCRATCH_1"))
    assert run(again, file).exit_code == 1


def test_a_template_of_a_megabyte_is_compared_in_seconds() -> None:
    # A chain: the worst case, for a change at its head goes through all of it.
    buckets: dict[str, Any] = {"B0": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "a"}}}
    for number in range(1, 4_000):
        name = {"Fn::Sub": f"${{B{number - 1}}}-{'x' * 150}"}
        buckets[f"B{number}"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}}
    old = {"Resources": buckets}
    assert len(json.dumps(old)) > 950_000
    new = json.loads(json.dumps(old))
    new["Resources"]["B0"]["Properties"]["BucketName"] = "b"
    begun = time.monotonic()
    assert guard.compare(old, json.loads(json.dumps(old))).findings == ()
    assert len(guard.compare(old, new).refused) == 4_000
    assert time.monotonic() - begun < 20


def test_conditions_and_outputs_that_double_at_every_step_end_quickly() -> None:
    conditions: dict[str, Any] = {"C0": {"Fn::Equals": [{"Ref": "AWS::Region"}, "x"]}}
    for number in range(1, 60):
        both = [{"Condition": f"C{number - 1}"}] * 2
        conditions[f"C{number}"] = {"Fn::Not": [{"Fn::Or": both}]}
    outputs: dict[str, Any] = {"O0": {"Value": {"Ref": "Bucket"}, "Export": {"Name": "E0"}}}
    for number in range(1, 60):
        twice = [{"Fn::ImportValue": f"E{number - 1}"}] * 2
        outputs[f"O{number}"] = {"Value": {"Fn::Join": ["", twice]}, "Export": {"Name": f"E{number}"}}
    secret = {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": {"Fn::ImportValue": "E59"}}}

    def made(name: str) -> dict[str, Any]:
        bucket = {**BUCKET, "Properties": {"BucketName": name}}
        resources = {"Bucket": bucket, "Secret": {**secret, "Condition": "C59"}}
        return {"Conditions": conditions, "Resources": resources, "Outputs": outputs}

    begun = time.monotonic()
    assert guard.compare(made("a"), made("a")).findings == ()
    assert len(guard.compare(made("a"), made("b")).refused) == 2
    assert time.monotonic() - begun < 2


def test_what_refers_to_itself_ends() -> None:
    loops = {
        "Conditions": {"A": {"Condition": "B"}, "B": {"Condition": "A"}},
        "Resources": {
            "X": {**BUCKET, "Condition": "A", "Properties": {"BucketName": {"Ref": "Y"}}},
            "Y": {**BUCKET, "Properties": {"BucketName": {"Fn::Sub": "${X}-${Y}-${Nobody}"}}},
            "Z": {**BUCKET, "Properties": {"BucketName": {"Fn::ImportValue": "E"}}},
        },
        "Outputs": {"O": {"Value": {"Fn::ImportValue": "E"}, "Export": {"Name": "E"}}},
    }
    assert guard.compare(loops, loops).findings == ()
    assert not guard.compare(loops, {"Resources": {"X": BUCKET, "Y": BUCKET, "Z": BUCKET}}).ok


MALFORMED = st.sampled_from(
    ["Ref", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::If", "Fn::Select", "Fn::Split", "Fn::FindInMap", "Fn::Nothing"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["A", "A.Arn", "${A}", "C", "M"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(MALFORMED, inner, min_size=1, max_size=1)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(JSON, JSON, JSON)
def test_accepts_any_argument_of_an_intrinsic(value: Any, other: Any, condition: Any) -> None:
    def made(name: Any) -> dict[str, Any]:
        resources = {"A": BUCKET, "B": {**BUCKET, "Condition": "C", "Properties": {"BucketName": name}}}
        return {"Resources": resources, "Conditions": {"C": condition}, "Mappings": {"M": other}}

    assert guard.compare(made(value), json.loads(json.dumps(made(value)))).findings == ()
    guard.compare(made(value), made(other))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | JSON.map(json.dumps))
def test_reads_or_rejects_any_text(text: str) -> None:
    with contextlib.suppress(UnreadableError):
        json.dumps(read(text), allow_nan=False)


def test_the_command_shows_what_matters_and_no_more(tmp_path: Path) -> None:
    new = golden("Storage")
    new["Resources"][LUSTRE]["Properties"] |= {"KmsKeyId": "\u001b[31mred", "Tags": [{"Key": "a", "Value": "b"}]}
    new["Resources"][LUSTRE]["Properties"]["SubnetIds"] = ["[bold]subnet-1"]
    file = tmp_path / "new.json"
    file.write_text(json.dumps(new))
    result = run(STORAGE, file)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert "[bold]subnet-1" in result.stdout
    assert "Tags" not in result.stdout
    assert "LustreGroup" not in result.stdout
    assert result.stdout.endswith("9 stateful resources: 8 kept, 1 cannot be known; 1 refused.\n")
    assert result.stderr == f"error: refused. If this is intended, and the data is safe elsewhere: --allow {LUSTRE}\n"
    assert run(STORAGE, file, "--allow", LUSTRE).exit_code == 0
    assert run(STORAGE, file, "--allow", LUSTRE, "--allow", "Lustre").exit_code == 1


def test_prints_the_report_as_json(tmp_path: Path) -> None:
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"Resources": {}}))
    result = run(STORAGE, file, "--json", "--allow", "Nothing")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (report["ok"], report["stateful"], len(report["findings"])) == (False, 9, 9)
    assert report["unused"] == {"Nothing": "the old template has no such resource"}
    (lustre,) = [finding for finding in report["findings"] if finding["logical_id"] == LUSTRE]
    assert (lustre["fate"], lustre["refused"], lustre["causes"][0]["property"]) == ("orphaned", True, "-")
    assert json.loads(run(STORAGE, STORAGE, "--json").stdout)["ok"] is True
