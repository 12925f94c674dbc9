"""The rules run here in a network namespace, with the real nftables and iptables, in front of a real web server."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ultracluster.boot import imds_boot, scripts
from ultracluster.boot._imds import IMDS_UNIT

AS_ROOT = () if os.geteuid() == 0 else ("sudo",)
# A namespace of its own: its loopback device has the addresses of IMDS, and of another service.
IN_A_NODE = r"""
set -eu
root=$1 script=$2 python=$3; shift 3
ip link set lo up
ip address add 169.254.169.254/32 dev lo
ip address add 169.254.169.123/32 dev lo
echo 0 >/proc/sys/net/ipv6/conf/lo/disable_ipv6
ip -6 address add fd00:ec2::254/128 dev lo nodad
cd "$root"
"$python" -m http.server --bind :: 80 >/dev/null 2>&1 & server=$!
trap 'kill $server' EXIT
until curl --silent --output /dev/null http://127.0.0.1/; do kill -0 $server; done
reach() {
    for address in 169.254.169.254 '[fd00:ec2::254]' 169.254.169.123; do
        setpriv --reuid "$1" --regid "$1" --clear-groups \
            curl --silent --output /dev/null --max-time 20 --write-out '%{http_code} ' "http://$address/" || true
    done
    echo
}
for run in "$@"; do
    case $run in
        apply) PATH=$root/bin "$root/bin/bash" "$script" ;;
        flush) nft flush ruleset ;;
        *) reach "$run" ;;
    esac
done
"""
TOOLS = ("bash", "cat", "nft", "iptables", "ip6tables")
#: Answers of IMDS over IPv4 and IPv6, and of another link-local service.
OPEN, CLOSED = "200 200 200", "000 000 200"


def node(folder: Path, *runs: str, without: str = "") -> list[str]:
    """Run steps in a namespace: a uid calls the three addresses, `apply` runs the script."""
    (folder / "bin").mkdir(parents=True)
    for tool in TOOLS:
        if tool not in without.split():
            path = shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
            assert path is not None, f"{tool} is missing: make test-packages"
            (folder / "bin" / tool).symlink_to(path)
    script = folder / "imds.sh"
    script.write_text(scripts.text("imds.sh"))
    done = subprocess.run(
        [*AS_ROOT, "unshare", "--net", "bash", "-c", IN_A_NODE, "node", folder, script, "/usr/bin/python3", *runs],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    return [
        *(line.strip() for line in done.stdout.splitlines()),
        *([f"exit {done.returncode}"] * (done.returncode > 0)),
    ]


@pytest.mark.parametrize(("without", "tool"), [("", "nftables"), ("nft", "iptables")])
def test_only_root_reaches_the_metadata_service(tmp_path: Path, without: str, tool: str) -> None:
    applied = f"imds: root only, by {tool}"
    assert node(tmp_path, "2001", "apply", "2001", "65534", "0", "apply", "2001", "0", without=without) == [
        OPEN,
        applied,
        CLOSED,
        CLOSED,
        OPEN,
        applied,
        CLOSED,
        OPEN,
    ]


def test_the_rules_return_after_another_program_deletes_all_tables(tmp_path: Path) -> None:
    """nftables.service does so when it starts; the unit restarts with it."""
    applied = "imds: root only, by nftables"
    assert node(tmp_path, "apply", "flush", "2001", "apply", "2001") == [applied, OPEN, applied, CLOSED]
    (unit,) = (file.text for file in imds_boot().files if file.path.endswith(IMDS_UNIT))
    assert "PartOf=nftables.service" in unit


def test_a_node_without_either_tool_fails(tmp_path: Path) -> None:
    assert node(tmp_path, "apply", without="nft iptables ip6tables") == ["exit 1"]
