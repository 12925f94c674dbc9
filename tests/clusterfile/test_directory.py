"""The directory of users in the cluster file."""

import json

import pytest

from support.boot_scripts import boots
from support.clusterfile_data import GOOD, bent, problems
from support.templates import templates
from ultracluster import clusterfile

SECRET = "arn:aws:secretsmanager:us-east-2:123456789012:secret:reader-AbCdEf"
DNS = "base-dn: 'dc=example,dc=com', bind-dn: 'cn=r,dc=example,dc=com'"
KEYS = f"servers: [ldaps://ldap.example.com], {DNS}, secret: '{SECRET}'"
HOME = bent("40 GB/s}", "40 GB/s}, home: {}")


def with_directory(directory: str, text: str = HOME, more: str = "") -> str:
    return f"{text}slurm: {{directory: {directory}{more}}}\n"


@pytest.mark.parametrize(("kind", "schema"), [("ldap", "rfc2307"), ("managed-ad", "ad")])
def test_every_node_asks_the_directory_and_may_read_its_secret(kind: str, schema: str) -> None:
    filtered = f"{KEYS}, filter: '(memberOf=cn=hpc,dc=example,dc=com)'"
    cluster = clusterfile.loads(with_directory(f"{{{kind}: {{{filtered}}}}}"), "c.yaml")
    for files, _ in boots(cluster).values():
        conf = files["etc/ultracluster/sssd.conf"]
        assert "ldap_uri = ldaps://ldap.example.com\n" in conf
        assert f"ldap_schema = {schema}\n" in conf
        assert "ldap_access_filter = (memberOf=cn=hpc,dc=example,dc=com)\n" in conf
        assert "override_homedir = /home/%u\n" in conf
    policies = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for resource in templates(cluster)["llama-Cluster"]["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy"
    ]
    reads = [item for policy in policies for item in policy if "secretsmanager" in json.dumps(item["Action"])]
    assert [item["Resource"] for item in reads] == [SECRET] * 2, "compute nodes and login nodes"


@pytest.mark.parametrize(
    ("directory", "more", "message"),
    [
        ("{}", "", "slurm.directory: names no directory; write managed-ad or ldap"),
        (f"{{ldap: {{{KEYS}}}, managed-ad: {{{KEYS}}}}}", "", "slurm.directory.ldap: is a second directory"),
        (f"{{ldap: {{{KEYS}}}}}", ", users: {ada: {uid: 2001}}", "slurm.directory: gives all users"),
        (f"{{ldap: {{{KEYS.replace('ldaps:', 'ldap:')}}}}}", "", "must be an address that begins with ldaps://"),
        (f"{{ldap: {{{KEYS.replace('[ldaps://ldap.example.com]', '[]')}}}}}", "", "servers: needs at least one entry"),
        (f"{{ldap: {{{KEYS.split(', ', 1)[1]}}}}}", "", "slurm.directory.ldap.servers: is missing"),
        (f"{{ldap: {{{KEYS.replace('dc=com', 'dc=com#')}}}}}", "", "must be a distinguished name on one line"),
        (f"{{ldap: {{{KEYS.replace(SECRET, 'hunter2')}}}}}", "", "must be the ARN of a secret, and not its content"),
        (
            f"{{ldap: {{{KEYS.replace('us-east-2', 'eu-west-1')}}}}}",
            "",
            "is in eu-west-1, and must be in the cluster's",
        ),
        (
            f"{{ldap: {{{KEYS}, filter: '(memberOf=cn=hpc'}}}}",
            "",
            "filter: must be an LDAP filter with all its parenth",
        ),
        (f"{{ldap: {{{KEYS}, certificates: secret}}}}", "", "must be 1 to 20 certificates as PEM"),
    ],
)
def test_refuses_what_would_not_work_or_would_send_passwords_in_clear(directory: str, more: str, message: str) -> None:
    lines = problems(with_directory(directory, more=more))
    assert any(message in line for line in lines), lines


def test_users_of_a_directory_need_a_shared_home() -> None:
    (line,) = problems(with_directory(f"{{ldap: {{{KEYS}}}}}", text=GOOD))
    assert "slurm.directory: gives users without homes" in line


def test_users_of_a_directory_are_members_of_accounts() -> None:
    enforces = ", settings: {AccountingStorageEnforce: limits}, accounts: {ml: {}, rl: {}}"
    (line,) = problems(with_directory(f"{{ldap: {{{KEYS}}}}}", more=enforces))
    assert "slurm.directory: Slurm enforces the limits of this file, and refuses the jobs of users" in line
    assert "slurm.accounts: {ml: {members: [ada, grace]}}" in line
    members = enforces.replace("ml: {}, rl: {}", "ml: {members: [jane.doe]}, rl: {members: [ada, jane.doe]}")
    script = clusterfile.loads(with_directory(f"{{ldap: {{{KEYS}}}}}", more=members), "c.yaml").accounting_script or ""
    # Their administrators are not in the file.
    assert "member ml jane.doe\nmember rl jane.doe\nuser jane.doe DefaultAccount=ml\n" in script


def test_a_directory_that_a_new_private_vpc_does_not_reach_is_refused_until_it_is_connected() -> None:
    text = with_directory(f"{{ldap: {{{KEYS}}}}}") + "network: {internet: false}\n"
    (line,) = (line for line in problems(text) if "slurm.directory" in line)
    assert "has no route to them" in line
    assert "accept: {slurm-directory-route: " in line
    accepted = problems(text + "accept: {slurm-directory-route: the VPC is peered}\n")
    assert not [line for line in accepted if "slurm.directory" in line]
