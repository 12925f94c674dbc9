"""The circuit breaker of drains, its mode, and the replacement of bad nodes, in bash; Slurm and AWS are stand-ins."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from support.node_boot import ADDRESS, Node
from ultracluster.boot import breaker_boot, breaker_limit

MOUNTS = "/run/ultracluster/health/mounts"
METRIC = "/var/lib/node_exporter/textfile_collector/ultracluster_drain.prom"
REPLACE = METRIC.replace("drain", "replace")
AWS = Path(__file__).parents[1] / "support/node_boot/aws"
FATAL = "ultracluster: devices: XID 79 on GPU 0000:b9:00"
CLOCK = "ultracluster: devices: the clock is 11 s off"
MODE = "/ultracluster/llama/health-mode"
TOPIC = "arn:aws:sns:us-east-2:123456789012:alerts"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path)
    created.with_slurm(options="-N train-1")
    (created.state / "aws").symlink_to(AWS)
    for item in breaker_boot(cluster="llama", region="us-east-2", replace={"train": 2}).files:
        created.file(item.path, item.text).chmod(int(item.mode, 8))
    created.says("metadata/instance-id", "i-0123456789abcdef0")
    created.says("instances", "i-0123456789abcdef0")
    parameters(created, {MODE: "enforce", "/ultracluster/llama/alert-topic": TOPIC})
    return created


def parameters(node: Node, values: dict[str, str]) -> None:
    (node.state / "parameters.json").write_text(json.dumps(values))


def stored(node: Node) -> dict[str, str]:
    values: dict[str, str] = json.loads((node.state / "parameters.json").read_text())
    return values


def others(node: Node, count: int, comment: str = "", *, group: str = "train") -> None:
    """Further nodes of a group, of which all have a comment."""
    for number in range(2, count + 2):
        node.slurm_node(f"{group}-{number}", address=f"10.1.2.{number}", host=f"ip-10-1-2-{number}")
        if comment:
            with (node.state / "slurm" / f"{group}-{number}").open("a") as record:
                print(f"Comment={comment}", file=record)


def fail(node: Node) -> int:
    node.file(MOUNTS, "failed: /fsx is not mounted\n")
    return node.run("drain-on-failure", "--now", "mounts").returncode


def ago(seconds: int) -> int:
    return int(time.time()) - seconds


def is_drained(node: Node) -> bool:
    return "+DRAIN" in node.slurm()["State"]


@pytest.mark.parametrize(("nodes", "limit"), [(1, 2), (40, 2), (59, 2), (60, 3), (64, 3), (1000, 50)])
def test_the_limit_is_two_nodes_or_five_percent(nodes: int, limit: int) -> None:
    assert breaker_limit(nodes) == limit


def test_the_third_node_within_an_hour_stays_in_service_and_reports(node: Node) -> None:
    others(node, 2, f"ultracluster:{ago(1800)}:1")
    assert fail(node) == 3
    assert not is_drained(node)
    assert 'ultracluster_health_breaker_open{action="drain"} 1' in node.read(METRIC)
    node.file(MOUNTS, "ok\n")
    assert node.run("drain-on-failure").returncode == 0
    assert 'ultracluster_health_breaker_open{action="drain"} 0' in node.read(METRIC)


@pytest.mark.parametrize(
    ("comment", "group"),
    [
        (f"ultracluster:{ago(4000)}:1", "train"),
        (f"ultracluster:{ago(100)}:1", "other"),
        (f"ultracluster:{ago(90)}:0:claim", "train"),
        # A claim after this one: the other node waits for this one.
        (f"ultracluster:{ago(-6000)}:0:claim", "train"),
        ("checked by ada", "train"),
    ],
    ids=("old", "another group", "claim", "later claim", "words"),
)
def test_old_drains_other_groups_and_later_claims_do_not_count(node: Node, comment: str, group: str) -> None:
    others(node, 9, comment, group=group)
    assert fail(node) == 0
    assert is_drained(node)


def test_claims_of_nodes_that_fail_at_the_same_moment_count(node: Node) -> None:
    others(node, 2, f"ultracluster:{ago(5)}:0:claim")
    assert fail(node) == 3
    assert not is_drained(node)


@pytest.mark.parametrize("drained_before", [False, True])
def test_the_comment_of_an_administrator_stays_on_the_node(node: Node, drained_before: bool) -> None:
    with (node.state / "slurm/train-1").open("a") as record:
        print("Comment=checked by ada, Rack=7", file=record)
    others(node, 2, f"ultracluster:{ago(1800)}:1" if drained_before else "")
    assert fail(node) == (3 if drained_before else 0)
    comment = node.slurm()["Comment"]
    if drained_before:
        assert comment == "checked by ada, Rack=7"
        return
    assert re.fullmatch(r"ultracluster:\d+:1 checked by ada, Rack=7", comment)
    node.slurm_node("train-1", address=ADDRESS, host="ip-10-1-1-61")
    with (node.state / "slurm/train-1").open("a") as record:
        print(f"Comment={comment}", file=record)
    assert fail(node) == 0
    assert re.fullmatch(r"ultracluster:\d+:2 checked by ada, Rack=7", node.slurm()["Comment"])


def test_a_group_of_64_may_lose_three(node: Node) -> None:
    others(node, 63)
    for number in (2, 3):
        (node.state / "slurm" / f"train-{number}").write_text(f"State=IDLE\nComment=ultracluster:{ago(9)}:1\n")
    assert fail(node) == 0


def test_a_wrong_check_of_many_hours_drains_a_tenth_of_the_group_and_reports_the_rest(node: Node) -> None:
    others(node, 59)
    for path in sorted((node.state / "slurm").iterdir()):
        path.write_text(re.sub("NodeAddr=.*", f"NodeAddr={ADDRESS}", path.read_text()))
    hours, number = [], 1
    for _ in range(4):
        for path in (node.state / "slurm").iterdir():
            older = re.sub(r"(?<=Comment=ultracluster:)\d+", lambda epoch: str(int(epoch[0]) - 3700), path.read_text())
            path.write_text(older)
        while True:
            node.file("/proc/4711/cmdline", f"slurmd\0-N\0train-{number}\0")
            if (code := fail(node)) != 0:
                break
            number += 1
        assert code == 3
        assert 'ultracluster_health_breaker_open{action="drain"} 1' in node.read(METRIC)
        hours.append(number - 1)
    assert hours == [3, 6, 6, 6]
    held = node.run("drain-on-failure").stderr
    assert "6 nodes of train are drained by checks; others follow when they are resumed" in held


@pytest.mark.parametrize(
    ("state", "reason", "drained"),
    [
        ("IDLE+CLOUD+DRAIN", "ultracluster: devices: XID 79", False),
        ("MIXED+DRAIN+NOT_RESPONDING", "ultracluster, flapping, drained 3 times within a day; devices", False),
        ("IDLE+CLOUD", "ultracluster: devices: XID 79", True),
        ("IDLE+CLOUD+DRAIN", "the block ends", True),
        ("IDLE+CLOUD+DRAIN", "watched by ada, not by ultracluster: devices", True),
    ],
)
def test_only_nodes_that_checks_drained_and_nobody_resumed_take_a_place(
    node: Node, state: str, reason: str, drained: bool
) -> None:
    for number in (2, 3):
        name = f"train-{number}"
        node.slurm_node(name, address=f"10.1.2.{number}", host=name, state=state, reason=f"{reason} [root@2026-11-22]")
    assert fail(node) == (0 if drained else 3)
    assert is_drained(node) is drained


@pytest.mark.parametrize(
    ("partitions", "drained"),
    [("dev,train", False), ("dev,other", True), ("dev,train,hyperpod-system-maintenance", False)],
)
def test_nodes_of_hyperpod_are_a_group_by_their_partition(tmp_path: Path, partitions: str, drained: bool) -> None:
    """Their names are addresses, of several subnets of 256: of ip-10-1-1-61 all three are its group."""
    node = Node(tmp_path)
    node.with_slurm(name="ip-10-1-1-61")
    for number, subnet in enumerate((2, 3), 1):
        name = f"ip-10-1-{subnet}-{number}"
        node.slurm_node(name, address=f"10.1.{subnet}.{number}", host=name)
        with (node.state / "slurm" / name).open("a") as record:
            print(f"Comment=ultracluster:{ago(1800)}:1\nPartitions={partitions}", file=record)
    with (node.state / "slurm" / "ip-10-1-1-61").open("a") as record:
        print("\nPartitions=dev,train", file=record)
    assert fail(node) == (0 if drained else 3)
    assert ("+DRAIN" in node.slurm("ip-10-1-1-61")["State"]) is drained


@pytest.mark.parametrize(("mode", "drained"), [("enforce", True), ("observe", False), ("off", False), ("onn", True)])
def test_the_mode_is_read_when_a_check_fails(node: Node, mode: str, drained: bool) -> None:
    parameters(node, {MODE: mode})
    assert fail(node) == (0 if drained else 3)
    assert is_drained(node) is drained


def test_a_mode_that_cannot_be_read_is_the_last_one_and_enforce_before_the_first(node: Node) -> None:
    parameters(node, {MODE: "observe"})
    assert fail(node) == 3
    parameters(node, {})
    assert fail(node) == 3
    node.reboot()
    assert fail(node) == 0


def replace(node: Node, reason: str = FATAL, state: str = "IDLE+CLOUD+DRAIN", mode: str = "enforce") -> int:
    line = f"NodeName=train-1 State={state} Comment=x Reason={reason} [root@2026-11-22T12:00:00] InstanceId=i-0"
    node.says("line", line)
    program = node.root / "usr/local/sbin/ultracluster-replace"
    call = node.file("/call", f'exec {program} train-1 {mode} <"$STAND_IN_STATE/line"\n')
    call.write_text(f"#!/usr/bin/env bash\n{call.read_text()}")
    return node.start(call, ULTRACLUSTER_REPLACE_AFTER="0").returncode


def log(node: Node) -> list[str]:
    path = node.state / "log"
    return path.read_text().splitlines() if path.exists() else []


def test_a_drained_node_with_a_fatal_fault_is_terminated_once_with_a_notice(node: Node) -> None:
    assert replace(node) == 4
    actions = [line for line in log(node) if not line.startswith("ssm")]
    assert actions[0].startswith(f"sns publish {TOPIC} Node train-1 is replaced The instance i-0123456789abcdef0")
    assert actions[1:] == ["ec2 terminate-instances i-0123456789abcdef0"]
    assert stored(node)["/ultracluster/llama/replaced/train/1"].endswith(" train-1 i-0123456789abcdef0")
    # EC2 knows it no more; the call before may have been lost too: neither takes a second place.
    assert replace(node) == 1
    assert "/ultracluster/llama/replaced/train/2" not in stored(node)
    assert sum(line.startswith("sns") for line in log(node)) == 1


@pytest.mark.parametrize(
    ("reason", "state", "mode", "code"),
    [
        (FATAL, "MIXED+CLOUD+DRAIN", "enforce", 0),
        (FATAL, "ALLOCATED+CLOUD+DRAIN", "enforce", 0),
        (FATAL, "IDLE+CLOUD+COMPLETING+DRAIN", "enforce", 0),
        (FATAL, "IDLE+CLOUD", "enforce", 0),
        ("ultracluster: mounts: /fsx is not mounted", "IDLE+CLOUD+DRAIN", "enforce", 0),
        (CLOCK, "IDLE+CLOUD+DRAIN", "enforce", 0),
        (f"{CLOCK} [root@2026-11-22T12:00:00] Comment=had XID 79 in May", "IDLE+CLOUD+DRAIN", "enforce", 0),
        (FATAL, "IDLE+CLOUD+DRAIN", "observe", 3),
    ],
)
def test_nothing_is_terminated_that_runs_jobs_recovers_or_is_only_observed(
    node: Node, reason: str, state: str, mode: str, code: int
) -> None:
    assert replace(node, reason, state, mode) == code
    assert not any(line.startswith("ec2") for line in log(node))


@pytest.mark.parametrize("age", [10, 4000])
def test_the_budget_of_an_hour_holds(node: Node, age: int) -> None:
    taken = {f"/ultracluster/llama/replaced/train/{slot}": f"{ago(age)} train-{slot} i-{slot}" for slot in (1, 2)}
    parameters(node, stored(node) | taken)
    assert replace(node) == (3 if age < 3600 else 4)
    terminated = any(line.startswith("ec2") for line in log(node))
    assert terminated is (age > 3600)
    assert f'{{action="replace"}} {0 if terminated else 1}' in node.read(REPLACE)


@pytest.mark.parametrize("well", [False, True])
def test_each_run_renews_the_time_of_the_metrics_and_a_healthy_node_needs_no_replacement(
    node: Node, well: bool
) -> None:
    for path in (METRIC, REPLACE):
        os.utime(node.file(path, "x 1\n"), (ago(4000), ago(4000)))
    node.file(MOUNTS, "ok\n" if well else "failed: /fsx is not mounted\n")
    # The second run of a check drains, and has nothing to write.
    assert node.run("drain-on-failure").returncode == 0
    assert (node.root / METRIC[1:]).stat().st_mtime > ago(60)
    assert (node.root / REPLACE[1:]).exists() is not well


@pytest.mark.parametrize("action", ["ssm put-parameter", "ssm get-parameters-by-path", "ec2 terminate-instances"])
def test_what_aws_denies_terminates_nothing(node: Node, action: str) -> None:
    node.says("denied", action)
    assert replace(node) != 0
    assert (node.state / "instances").read_text().strip()


def test_a_full_disk_keeps_no_bad_node_in_service(node: Node) -> None:
    node.file(REPLACE, "")
    (node.root / REPLACE.removeprefix("/")).with_name(".ultracluster_replace").symlink_to("/dev/full")
    assert replace(node) == 4
    assert log(node)[-1] == "ec2 terminate-instances i-0123456789abcdef0"


def test_a_notice_that_cannot_be_sent_holds_nothing_up(node: Node) -> None:
    node.says("denied", "sns publish")
    assert replace(node) == 4


def test_the_check_that_finds_its_node_drained_replaces_it(node: Node) -> None:
    node.file("/run/ultracluster/health/devices", "failed: XID 79 on GPU 0000:b9:00\n")
    for _ in range(3):
        node.run("drain-on-failure", ULTRACLUSTER_REPLACE_AFTER="0")
    assert log(node)[-1] == "ec2 terminate-instances i-0123456789abcdef0"


def test_the_instance_after_one_that_flapped_is_resumed(node: Node) -> None:
    node.file("/run/ultracluster/health/devices", "failed: XID 79 on GPU 0000:b9:00\n")
    for _ in range(2):
        node.run("drain-on-failure", ULTRACLUSTER_REPLACE_AFTER="3600")
    flapping = "ultracluster, flapping, drained 3 times within a day; devices: XID 79 on GPU 0000:b9:00"
    comment = f"ultracluster:{ago(100)}:3"
    path = node.state / "slurm/train-1"
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("Reason=", "Comment="))]
    path.write_text("\n".join([*lines, f"Reason={flapping}", f"Comment={comment}"]) + "\n")
    node.run("drain-on-failure", ULTRACLUSTER_REPLACE_AFTER="0")
    assert log(node)[-1] == "ec2 terminate-instances i-0123456789abcdef0"
    assert node.slurm()["Comment"] == comment[:-1] + "0", "it counts for the breaker, not for flaps"
    node.reboot()
    node.file("/run/ultracluster/health/devices", "ok\n")
    for _ in range(3):
        node.run("drain-on-failure")
    assert not is_drained(node)


@pytest.mark.parametrize("text", ["", "abc\n", "a[$(touch ran)]\n", "08\n", "1 2\n"])
def test_a_count_that_is_none_neither_drains_nor_keeps_from_it(node: Node, text: str) -> None:
    for name in ("passed", "mounts.times"):
        node.file(f"/run/ultracluster/drain/{name}", text)
    node.file("/run/ultracluster/health/devices", "ok\n")
    assert node.run("drain-on-failure").returncode == 0
    assert not is_drained(node)
    node.file("/run/ultracluster/drain/mounts.times", text)
    assert fail(node) == 0
    assert is_drained(node)
