"""Scripts of the user, and the logs of the nodes, in a cluster file."""

from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from ultracluster import clusterfile
from ultracluster.boot import limited_script
from ultracluster.clusterfile import ClusterFileError, node_script

MOST_BYTES = 2 * 1024 * 1024
GOOD: dict[str, Any] = {"url": "s3://security-tools/edr.sh", "sha256": "0" * 64}


def cluster(*scripts: Any, orchestrator: str = "slurm", **slurm: Any) -> clusterfile.ClusterFile:
    nodes: dict[str, Any] = {"train": {"type": "p5en.48xlarge", "count": 2, "scripts": list(scripts)}}
    more: dict[str, Any] = {"slurm": slurm} if slurm else {}
    place: Any = {"name": "llama", "region": "us-east-2", "zone": "use2-az1", "orchestrator": orchestrator}
    return clusterfile.build(**place, nodes=nodes, **more)


def rules(*scripts: Any, **more: Any) -> list[str | None]:
    with pytest.raises(ClusterFileError) as caught:
        cluster(*scripts, **more)
    return [problem.rule for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ({"url": "s3://security-tools/edr.sh"}, "node-script-checksum"),
        ({**GOOD, "sha256": "abc"}, "node-script-checksum"),
        ({**GOOD, "file": "edr.sh"}, "node-script"),
        ({"name": "x"}, "node-script"),
        ({"file": "/does/not/exist.sh"}, "node-script"),
        ({"file": "/"}, "node-script"),
        ({**GOOD, "url": "s3://security-tools/edr*.sh"}, "node-script"),
        ({**GOOD, "url": "http://example.com/x.sh"}, "node-script"),
        ({**GOOD, "name": "a/b"}, "node-script"),
        ({**GOOD, "arguments": ["x"] * 21}, "node-script-count"),
        ({**GOOD, "arguments": ["x" * 257]}, "node-script"),
        ({"file": str(ROOT / "README.md")}, "node-script"),
    ],
)
def test_a_script_that_pcs_or_a_node_would_refuse_is_an_error(script: dict[str, Any], rule: str) -> None:
    assert rules(script) == [rule]


@pytest.mark.parametrize(
    "script",
    [{**GOOD, "stage": "boot"}, {**GOOD, "on-error": "terminate"}, {**GOOD, "every-boot": "maybe"}, "edr.sh", 7, None],
)
def test_a_script_that_is_none_is_an_error(script: Any) -> None:
    assert rules(script)


def test_a_stage_takes_twenty_with_those_of_the_library() -> None:
    scripts = [{**GOOD, "name": f"script {number}"} for number in range(18)]
    assert cluster(*scripts[:17])
    assert rules(*scripts) == ["node-script-count"]
    assert cluster(*scripts[:17], {**GOOD, "name": "ready", "stage": "nodeReady"})


def test_two_scripts_have_two_names() -> None:
    assert rules(GOOD, GOOD) == ["node-script"]
    assert rules({**GOOD, "name": "ultracluster-boot"}) == ["node-script"]


def test_login_nodes_have_scripts_as_well() -> None:
    assert rules(login={"scripts": [{"url": "s3://bucket/x.sh"}]}) == ["node-script-checksum"]


def test_kubernetes_refuses_scripts_with_a_remedy() -> None:
    with pytest.raises(ClusterFileError, match="their image or a DaemonSet"):
        cluster(GOOD, orchestrator="kubernetes")


def test_a_file_is_beside_the_cluster_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = clusterfile.load(ROOT / "examples" / "slurm-scripts.yaml")
    agent, certificate = map(node_script, example.nodes["train"].scripts)
    assert (agent.name, agent.on_error, agent.content) == ("EDR agent", "TERMINATE", None)
    assert certificate.content == (ROOT / "examples" / "scripts" / "company-ca.sh").read_bytes()
    assert (certificate.name, certificate.on_error, certificate.every_boot) == ("company-ca", "CONTINUE", True)


@pytest.mark.parametrize(("retention", "remedy"), [("45 d", "write 60 d"), ("36 h", "write 3 d"), ("20 y", "d")])
def test_logs_are_kept_for_days_that_cloudwatch_has(retention: str, remedy: str) -> None:
    with pytest.raises(ClusterFileError, match=remedy):
        cluster(logs={"retention": retention})
    assert cluster(logs={"retention": "365 d"}).slurm.logs.retention.days == 365


def test_the_key_of_the_logs_is_in_the_region() -> None:
    key = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    with pytest.raises(ClusterFileError, match="must be in the cluster's Region"):
        cluster(logs={"encryption-key": key})


def test_a_file_has_room_for_what_limits_its_terminations(tmp_path: Path) -> None:
    most, file = MOST_BYTES - 6144, tmp_path / "x.sh"
    file.write_bytes(b"#!" + b"x" * (most - 2))
    (script,) = cluster({"file": str(file), "name": "n" * 64}).nodes["train"].scripts
    limited = limited_script(node_script(script), cluster="c" * 40, nodes="compute", region="us-gov-east-1")
    assert most < len(limited.content or b"") <= MOST_BYTES
    file.write_bytes(b"#!" + b"x" * (most - 1))
    assert rules({"file": str(file)}) == ["node-script-size"]
