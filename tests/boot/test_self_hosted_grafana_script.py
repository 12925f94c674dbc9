"""The script that sets Grafana up, run in bash with stand-ins for the programs of Amazon Linux."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import ultracluster.boot.scripts
from ultracluster.observability._self_hosted_grafana import _bundle

SCRIPT = Path(ultracluster.boot.scripts.__file__).parent / "self-hosted-grafana.sh"
URL = "https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-0"
STAND_IN = """#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$CALLS"
case $(basename "$0") in
    rpm) [ -e "$INSTALLED" ] && cat "$INSTALLED" || exit 1 ;;
    dnf) printf '%s' "${3#grafana-}" | sed 's/-1$//' >"$INSTALLED" ;;
    aws) [ "$(grep -c ^aws "$CALLS")" -gt "$FAILURES" ] && cp "$BUNDLE" "${@: -1}" ;;
esac
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in ("rpm", "dnf", "aws", "systemctl"):
        (bin / name).write_text(STAND_IN)
        (bin / name).chmod(0o755)

    def run(
        *, dashboards: dict[str, str] | None = None, checksum: str | None = None, arguments: int = 5, failures: int = 0
    ) -> object:
        content = _bundle({"fleet": "{}"} if dashboards is None else dashboards)
        (tmp_path / "bundle").write_bytes(content)
        words = ["12.4.11", "s3://b/k.tar", checksum or hashlib.sha256(content).hexdigest(), URL, "us-east-2"]
        variables = {
            "PATH": f"{bin}:{os.environ['PATH']}",
            "CALLS": str(tmp_path / "calls"),
            "INSTALLED": str(tmp_path / "installed"),
            "BUNDLE": str(tmp_path / "bundle"),
            "ULTRACLUSTER_ROOT": str(tmp_path / "root"),
            "ULTRACLUSTER_PAUSE": "0",
            "FAILURES": str(failures),
        }
        bash = shutil.which("bash")
        assert bash
        return subprocess.run([bash, SCRIPT, *words[:arguments]], env=variables, capture_output=True, text=True)

    return run  # type: ignore[return-value]


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().splitlines()


def test_a_fresh_server_gets_the_pinned_package_its_files_and_a_start(run: Run, tmp_path: Path) -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    assert "dnf install -y grafana-12.4.11-1" in calls(tmp_path)
    assert calls(tmp_path)[-3:] == [
        "systemctl daemon-reload",
        "systemctl enable grafana-server",
        "systemctl restart grafana-server",
    ]
    root = tmp_path / "root"
    assert "gpgcheck=1" in (root / "etc/yum.repos.d/grafana.repo").read_text()
    assert (root / "etc/ultracluster/grafana/dashboards/fleet.json").read_text() == "{}"
    assert (root / "etc/ultracluster/grafana/provisioning/datasources/ultracluster.yaml").exists()


def test_grafana_listens_on_the_loopback_address_and_knows_where_to_ask(run: Run, tmp_path: Path) -> None:
    run()
    unit = (tmp_path / "root/etc/systemd/system/grafana-server.service.d/ultracluster.conf").read_text()
    assert "GF_SERVER_HTTP_ADDR=127.0.0.1\n" in unit
    assert "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION=true\n" in unit
    assert f"ULTRACLUSTER_PROMETHEUS_URL={URL}\n" in unit


def test_a_second_run_installs_nothing_and_drops_what_is_gone(run: Run, tmp_path: Path) -> None:
    run()
    done = run(dashboards={"job": "{}"})
    assert done.returncode == 0, done.stderr
    assert sum(call.startswith("dnf ") for call in calls(tmp_path)) == 1
    names = [path.name for path in (tmp_path / "root/etc/ultracluster/grafana/dashboards").iterdir()]
    assert names == ["job.json"]


def test_a_bundle_with_another_checksum_is_not_unpacked(run: Run, tmp_path: Path) -> None:
    done = run(checksum="0" * 64)
    assert done.returncode == 1
    assert "the checksum of s3://b/k.tar is not" in done.stderr
    assert not (tmp_path / "root/etc/ultracluster/grafana/dashboards").exists()
    assert "15 times: the instance powers off" in done.stderr
    # An instance that stays up without Grafana is healthy for its group, which would never replace it.
    assert [call for call in calls(tmp_path) if call.startswith("systemctl")] == ["systemctl poweroff"]


def test_a_download_that_fails_for_minutes_is_repeated(run: Run, tmp_path: Path) -> None:
    done = run(failures=14)
    assert done.returncode == 0, done.stderr
    assert calls(tmp_path)[-1] == "systemctl restart grafana-server"
    assert "systemctl poweroff" not in calls(tmp_path)


def test_wrong_usage_does_nothing(run: Run, tmp_path: Path) -> None:
    assert run(arguments=4).returncode == 2
    assert not (tmp_path / "calls").exists()
