"""Texts of the right type that AWS, a policy or a file on a node would not take: refused with the argument's name."""

import inspect
from typing import Any

import aws_cdk as cdk
import pytest

from support.contracts import ACCOUNT, REGION, World, exported, rows
from ultracluster.rules import Refusal

ROWS = rows()
BLANK = "must have at least one character that is not a space, got"
LINE = "must be one line without control characters, got"
CASES: list[tuple[str, str, Any, str]] = [
    ("compute.CapacityNotices", "email", "  ", "email must be a mail address"),
    ("compute.CapacityReservation", "platform", " ", f"platform {BLANK} ' '"),
    ("compute.CapacityNotices", "reservation_ids", "x", "reservation_ids must be cr- and 17 hexadecimal digits"),
    ("compute.ImagePipeline", "schedule", "sundays", "schedule must be such as cron(0 0 ? * sun *), got 'sundays'"),
    ("compute.ScaleInBeforeEnd", "auto_scaling_group_name", "a\nb", f"auto_scaling_group_name {LINE} 'a\\nb'"),
    ("eks.EksAddOn", "name", "", f"name {BLANK} ''"),
    ("eks.EksKarpenter", "name", "*", "name has 1 to 100 letters"),
    ("eks.EksNodeGroup", "subnet", (), "subnet must hold at least one subnet, got none"),
    ("eks.EksSelfManagedNodeGroup", "cluster_name", "*", "cluster_name has 1 to 100 letters"),
    ("network.EfaSecurityGroup", "description", "nodes' group", "description must be at most 255 letters"),
    ("observability.PrometheusWorkspace", "alias", "a\0b", f"alias {LINE} 'a\\x00b'"),
    ("slurm.NodeUsers", "cluster", "../llama", "cluster must be the name of a cluster, got '../llama'"),
    ("slurm.PcsUserPolicy", "grafana", "a\tb", f"grafana {LINE} 'a\\tb'"),
    ("storage.ColdDataRelease", "time_zone", "'Paris'", "time_zone must be the IANA name of a time zone"),
    ("storage.DataRepositoryAssociation", "file_system", "../fs", "file_system must be fs- and 17 hexadecimal digits"),
    ("storage.NfsHome", "path", "/vol 1", "path must be an absolute path"),
    ("storage.NfsHome", "server", "x;reboot", "server must be the DNS name or IPv4 address"),
]


def create(name: str, argument: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create the construct of a row with another value of one argument."""
    construct = exported()[name]
    make: Any = construct.__init__

    def changed(self: Any, scope: Any, id: str, **given: Any) -> None:
        make(self, scope, id, **given | {argument: value})

    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    monkeypatch.setattr(construct, "__init__", changed)
    ROWS[name].make(stack, "Subject", World(stack))


@pytest.mark.parametrize(("name", "argument", "value", "sentence"), CASES)
def test_it_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, argument: str, value: Any, sentence: str) -> None:
    with pytest.raises(Refusal) as caught:
        create(name, argument, value, monkeypatch)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("compute.ImagePipeline", "schedule", "cron(0 0 ? * sun *)"),
        ("compute.ScriptAsset", "text", "#!/bin/sh\n\techo\n"),
        ("storage.ColdDataRelease", "time_zone", "America/Argentina/Buenos_Aires"),
        ("storage.DataRepositoryAssociation", "prefix", ""),
        ("storage.NfsHome", "server", "svm-1.fs-2.fsx.us-east-2.amazonaws.com"),
    ],
)
def test_it_is_taken(monkeypatch: pytest.MonkeyPatch, name: str, argument: str, value: Any) -> None:
    create(name, argument, value, monkeypatch)


def test_every_text_of_several_lines_is_an_argument() -> None:
    from ultracluster.planning._types import _LINES

    arguments = {name for construct in exported().values() for name in inspect.signature(construct.__init__).parameters}
    assert arguments >= _LINES
