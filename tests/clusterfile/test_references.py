"""Dynamic references of CloudFormation, and control characters, in texts of a cluster file."""

import pytest

from support.clusterfile_data import GOOD, problems

MESSAGE = "CloudFormation would replace {{resolve:...}} when it deploys; write the value itself"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("slurm: {settings: {Prolog: '{{resolve:ssm:/x}}'}}", "slurm.settings.Prolog"),
        ("slurm: {settings: {Prolog: 'a {{RESOLVE:ssm:/x}} b'}}", "slurm.settings.Prolog"),
        ("slurm: {users: {'{{resolve:ssm:/x}}': {uid: 2001}}}", "slurm.users.{{resolve:ssm:/x}}"),
        ("observability: {saml: {admins: ['{{resolve:secretsmanager:y}}']}}", "observability.saml.admins[0]"),
        ("accept: {slurm-limits: '{{resolve:ssm:/x}}'}", "accept.slurm-limits"),
    ],
)
def test_rejects_dynamic_references_in_keys_and_texts(text: str, path: str) -> None:
    assert any(line.endswith(f" {path}: {MESSAGE}") for line in problems(f"{GOOD}{text}\n"))


@pytest.mark.parametrize("control", ["\\t", "\\n", "\\r", "\\x1f", "\\x85", "\\u2028"])
def test_rejects_control_characters_in_tags(control: str) -> None:
    name, value = problems(f'{GOOD}tags: {{"a{control}b": x, c: "d{control}e"}}\n')
    assert "1 to 128 letters, digits, spaces and" in name
    assert "0 to 256 letters, digits, spaces and" in value
