"""The script that applies a platform on the admin host, run in bash with stand-ins for AWS, curl and the engine."""

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import ultracluster.boot.scripts
from support.waiting import wait_until
from ultracluster.boot import platform_script

SCRIPT = Path(ultracluster.boot.scripts.__file__).parent / "apply-platform.sh"
STAND_IN = """#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$CALLS"
case "$(basename "$0") $1" in
    "aws eks") touch "${@: -1}" ;;
    "aws sns") [ -z "$SNS_CODE" ] || exit "$SNS_CODE" ;;
    "aws s3") cp "$BUCKET/${4##*/}" "$5" ;;
    curl*) cat >"$SIGNAL"; echo "${ANSWER:-200}"; exit "${CURL_CODE:-0}" ;;
esac
"""
PYTHON = """#!/usr/bin/env bash
[ "$2" = ultracluster.platform ] || exec python3 "$@"
echo "engine $* PYTHONPATH=$PYTHONPATH kubectl=$(command -v kubectl)" >>"$CALLS"
cat "${@: -1}" >>"$CALLS"
echo "train: 63 of 64 nodes ready"
[ -z "$STOPS" ] || { kill -TERM "$PPID" && exec sleep 0.1; }
exit "${ENGINE_CODE:-0}"
"""
# A mount point is of the type of its parent until the client is installed.
LUSTRE_STAT = """#!/usr/bin/env bash
if [ "$1" = --file-system ]; then
    if [ -e "{mounted}" ]; then echo lustre; else echo xfs; fi
else
    exec {real} "$@"
fi
"""
VALUES = {"FileSystemId": "fs-0123456789abcdef0", "quote": 'it\'s "here"'}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    bin, bucket = tmp_path / "bin", tmp_path / "bucket"
    bin.mkdir()
    bucket.mkdir()
    for name, text in (("aws", STAND_IN), ("curl", STAND_IN), ("dnf", STAND_IN), ("python3.11", PYTHON)):
        (bin / name).write_text(text)
        (bin / name).chmod(0o755)
    with zipfile.ZipFile(bucket / "tools", "w") as archive:
        for tool in ("kubectl", "helm"):
            archive.writestr(f"{tool}/{tool}", "#!/bin/sh\n")
    with tarfile.open(bucket / "bundle", "w") as packed:
        member = tarfile.TarInfo("bundle/bundle.json")
        member.size = 2
        packed.addfile(member, io.BytesIO(b"{}"))

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        variables = {
            "PATH": f"{bin}:{os.environ['PATH']}",
            "CALLS": str(tmp_path / "calls"),
            "SIGNAL": str(tmp_path / "signal"),
            "BUCKET": str(bucket),
            "ULTRACLUSTER_ROOT": str(tmp_path / "root"),
            "SIGNAL_SECONDS": "0",
            "CLUSTER": "orca",
            "AWS_REGION": "us-east-2",
            "VALUES": base64.b64encode(json.dumps(VALUES).encode()).decode(),
            "HANDLE": "https://example.com/?Signature=a%2Fb&x=1",
            **{
                key: value
                for name in ("bundle", "tools")
                for key, value in (
                    (name.upper(), f"s3://assets/{name}"),
                    (f"{name.upper()}_SHA256", hashlib.sha256((bucket / name).read_bytes()).hexdigest()),
                )
            },
            **environment,
        }
        bash = shutil.which("bash")
        assert bash
        script = tmp_path / "apply-platform.sh"
        script.write_text("\n".join(platform_script({})) + "\n")
        return subprocess.run([bash, script], env=variables, capture_output=True, text=True)

    return run


def signal(tmp_path: Path) -> dict[str, str]:
    result: dict[str, str] = json.loads((tmp_path / "signal").read_text())
    return result


def test_applies_the_bundle_with_the_values_of_the_deployment(run: Run, tmp_path: Path) -> None:
    done = run()
    assert done.returncode == 0, done.stdout
    calls = (tmp_path / "calls").read_text()
    content = tmp_path / "root/var/lib/ultracluster/platform/content"
    kubeconfig = tmp_path / "root/etc/ultracluster/kubeconfig"
    assert f"aws eks update-kubeconfig --region us-east-2 --name orca --kubeconfig {kubeconfig}" in calls
    assert (
        f"engine -m ultracluster.platform apply --allow-unhealthy --kubeconfig {kubeconfig} --bundle {content}/bundle "
        f"--values {content}/values.json PYTHONPATH={content} kubectl={tmp_path}/root/usr/local/bin/kubectl"
    ) in calls
    assert json.loads((content / "values.json").read_text()) == VALUES
    assert signal(tmp_path)["Status"] == "SUCCESS"
    assert "https://example.com/?Signature=a%2Fb&x=1" in calls
    assert "train: 63 of 64 nodes ready" in done.stdout


def test_a_failure_reports_the_last_lines_of_the_log(run: Run, tmp_path: Path) -> None:
    done = run(ENGINE_CODE="1")
    assert done.returncode == 1
    assert signal(tmp_path)["Status"] == "FAILURE"
    assert signal(tmp_path)["Reason"].endswith("train: 63 of 64 nodes ready")


def test_a_host_that_stops_signals_and_publishes_nothing(run: Run, tmp_path: Path) -> None:
    assert run(STOPS="yes", TOPIC="arn:aws:sns:us-east-2:123456789012:alerts").returncode == 143
    assert not (tmp_path / "signal").exists()
    assert "aws sns" not in (tmp_path / "calls").read_text()


@pytest.mark.parametrize(("code", "word"), [("0", "ready"), ("1", "not ready")])
def test_the_result_goes_to_the_topic_with_the_lines_of_the_gate(
    run: Run, tmp_path: Path, code: str, word: str
) -> None:
    assert run(ENGINE_CODE=code, TOPIC="arn:aws:sns:us-east-2:123456789012:alerts").returncode == int(code)
    calls = (tmp_path / "calls").read_text()
    assert f"--topic-arn arn:aws:sns:us-east-2:123456789012:alerts --subject Platform of orca: {word} --mess" in calls
    assert "--message train: 63 of 64 nodes ready" in calls


def test_a_topic_that_is_not_reached_does_not_fail_the_deployment(run: Run, tmp_path: Path) -> None:
    assert run(TOPIC="arn:aws:sns:us-east-2:123456789012:alerts", SNS_CODE="254").returncode == 0
    assert signal(tmp_path)["Status"] == "SUCCESS"


def test_a_run_without_a_deployment_signals_nothing(run: Run, tmp_path: Path) -> None:
    assert run(HANDLE="").returncode == 0
    assert not (tmp_path / "signal").exists()


def test_a_second_run_fetches_nothing_again_and_needs_no_signal(run: Run, tmp_path: Path) -> None:
    run()
    (tmp_path / "calls").unlink()
    done = run(ANSWER="<Message>Request has expired</Message>403")
    assert done.returncode == 0
    assert "needs no signal" in done.stdout
    assert "aws s3 cp" not in (tmp_path / "calls").read_text()


def test_a_new_host_fails_no_update_of_something_else(run: Run, tmp_path: Path) -> None:
    # Its content was applied before. The nodes that are unhealthy today would fail the update, and its rollback.
    done = run(ENGINE_CODE="1", ANSWER="<Message>Request has expired</Message>403", TOPIC="arn:aws:sns:a:1:alerts")
    assert done.returncode == 0
    assert "--subject Platform of orca: not ready" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize("environment", [{"CURL_CODE": "7"}, {"ANSWER": "<Code>AccessDenied</Code>403"}])
def test_a_signal_that_does_not_arrive_fails_the_association(run: Run, environment: dict[str, str]) -> None:
    done = run(**environment)
    assert done.returncode == 1
    assert "CloudFormation " in done.stdout


def test_other_bytes_than_those_of_the_deployment_are_not_run(run: Run, tmp_path: Path) -> None:
    done = run(BUNDLE_SHA256="0" * 64)
    assert done.returncode == 1
    assert "has another checksum than 000" in signal(tmp_path)["Reason"]
    assert "engine" not in (tmp_path / "calls").read_text()


def test_old_archives_are_deleted(run: Run, tmp_path: Path) -> None:
    state = tmp_path / "root/var/lib/ultracluster/platform"
    state.mkdir(parents=True)
    (state / ("f" * 64)).write_text("of an older deployment")
    run()
    assert not (state / ("f" * 64)).exists()
    assert len([path for path in state.iterdir() if path.is_file()]) == 3


def test_the_script_begins_with_its_environment() -> None:
    first, second, *_ = platform_script({"CLUSTER": "orca"})
    assert (first, second) == ("#!/usr/bin/env bash", "export CLUSTER='orca'")


def test_directories_of_lustre_are_opened_when_the_client_is_there(run: Run, tmp_path: Path) -> None:
    stat = tmp_path / "bin/stat"
    stat.write_text(LUSTRE_STAT.format(real=shutil.which("stat"), mounted=tmp_path / "mounted"))
    stat.chmod(0o755)
    linked = tmp_path / "root/fsx/checkpoints"
    linked.mkdir(parents=True)
    for directory in (linked, linked.parent):
        directory.chmod(0o755)
    assert run(DIRECTORIES="/fsx:/ /fsx:/checkpoints", OPEN_PAUSE="0.05").returncode == 0
    assert oct(linked.stat().st_mode & 0o7777) == "0o755"
    (tmp_path / "mounted").touch()
    wait_until("the directory is open", lambda: oct(linked.stat().st_mode & 0o7777) == "0o1777")
    assert oct(linked.parent.stat().st_mode & 0o7777) == "0o1777"
