"""Scripts that AWS PCS runs on a node, as values."""

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ultracluster.boot import NodeScript, check_scripts

GOOD: dict[str, Any] = {"name": "EDR agent", "url": "s3://security-tools/edr/install.sh", "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"name": ""}, "name must be"),
        ({"name": "-edr"}, "name must be"),
        ({"name": "edr/../x"}, "name must be"),
        ({"name": "é"}, "name must be"),
        ({"name": "x" * 65}, "name must be"),
        ({"url": None}, "one of content and url"),
        ({"content": b"#!/bin/sh\n"}, "one of content and url"),
        ({"sha256": None}, "must have its sha256"),
        ({"sha256": "A" * 64}, "64 hexadecimal digits in lower case"),
        ({"sha256": "0" * 63}, "64 hexadecimal digits"),
        ({"url": "http://example.com/x.sh"}, "s3://BUCKET/KEY or https://HOST/PATH"),
        ({"url": "file:///etc/shadow"}, "s3://BUCKET/KEY"),
        ({"url": "s3://bucket"}, "s3://BUCKET/KEY"),
        ({"url": "s3://bucket/*"}, "s3://BUCKET/KEY"),
        ({"url": "s3://bucket/?.sh"}, "s3://BUCKET/KEY"),
        ({"url": "s3://${aws:username}/x"}, "s3://BUCKET/KEY"),
        ({"url": "s3://bucket/x\n"}, "s3://BUCKET/KEY"),
        ({"url": "https://example.com/" + "x" * 1010}, "at most 1,024"),
        ({"url": "${Token[TOKEN.1]}"}, "s3://BUCKET/KEY"),
        ({"arguments": ["x"] * 21}, "at most 20 arguments"),
        ({"arguments": ["x" * 257]}, "256 characters"),
        ({"stage": "nodebootstrapped"}, "stage must be"),
        ({"on_error": "terminate"}, "on_error must be"),
        ({"every_boot": "yes"}, "every_boot must be"),
        ({"arguments": "--force"}, "arguments must be"),
    ],
)
def test_refuses_what_pcs_would_refuse_or_nobody_should_run(changes: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        NodeScript(**{**GOOD, **changes})


def test_reports_all_reasons_at_once() -> None:
    with pytest.raises(ValueError, match=r"(?s)name must be.*sha256"):
        NodeScript(name="", url="s3://bucket/x")


@pytest.mark.parametrize("url", ["s3://${Token[AWS.AccountId.0]}-tools/x.sh", "https://example.com:8443/a/b.sh?v=1"])
def test_takes_a_bucket_that_only_a_deployment_knows(url: str) -> None:
    assert NodeScript(**{**GOOD, "url": url, "arguments": ["${Token[TOKEN.1]}" * 30]}).checksum == "0" * 64


def test_reads_a_file_as_it_is(tmp_path: Path) -> None:
    content = b"#!/bin/sh\necho \xff\r\n"
    (tmp_path / "10 join.ldap.sh").write_bytes(content)
    script = NodeScript.from_file(tmp_path / "10 join.ldap.sh", on_error="CONTINUE")
    assert (script.name, script.content, script.on_error) == ("10 join-ldap", content, "CONTINUE")
    assert script.checksum == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "begin with #!"),
        (b"echo hello\n", "begin with #!"),
        (b"#!/usr/bin/env bash\r\necho hello\r\n", r"got CR LF.*eol=lf to .gitattributes"),
        (b"#!" + b"x" * 2 * 1024 * 1024, "2,097,152 bytes"),
        (None, "cannot be read: No such file"),
    ],
)
def test_refuses_files_that_are_no_scripts(content: bytes | None, reason: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "x.sh").write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        NodeScript.from_file(tmp_path / "x.sh")


def test_linux_does_not_start_a_script_with_other_line_ends(tmp_path: Path) -> None:
    script = tmp_path / "x.sh"
    script.write_bytes(b"#!/usr/bin/env bash\r\necho hello\r\n")
    script.chmod(0o700)
    assert subprocess.run([script], capture_output=True).returncode == 127


def test_a_content_with_another_checksum_is_refused() -> None:
    with pytest.raises(ValueError, match="sha256 must be that of the content"):
        NodeScript(name="x", content=b"#!/bin/sh\n", sha256="0" * 64)


def test_a_stage_has_at_most_twenty_scripts_each_with_its_name() -> None:
    library = [("nodeBootstrapped", f"ultracluster-{name}") for name in ("logs", "boot")]
    user = [("nodeBootstrapped", f"mine {number}") for number in range(19)]
    assert not [*check_scripts([*library, *user[:18], *(("nodeReady", f"ready {n}") for n in range(20))])]
    (error,) = check_scripts([*library, *user])
    assert "got 21, of which 2 are of this library" in error
    (error,) = check_scripts([("nodeBootstrapped", "x"), ("nodeReady", "x")])
    assert "two scripts of a node are called 'x'" in error
