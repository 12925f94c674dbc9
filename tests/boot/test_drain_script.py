"""The script runs here in bash, as a node gets it; the controller of Slurm is a stand-in."""

from pathlib import Path

import pytest

from support.node_boot import ADDRESS, Node

MOUNTS = "/run/ultracluster/health/mounts"
THEIRS = "GPU 3 fell off the bus"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path)
    created.with_slurm(options="-N train-1")
    created.slurm_node("train-2", address="10.1.1.62", host="ip-10-1-1-62")
    return created


def broken(node: Node, reason: str = "/fsx is not mounted") -> None:
    node.file(MOUNTS, f"failed: {reason}\n")


def check(node: Node, times: int = 1) -> str:
    output = ""
    for _ in range(times):
        done = node.run("drain-on-failure")
        assert (done.returncode, done.stderr) == (0, "")
        output += done.stdout
    return output


def updates(node: Node) -> list[str]:
    return [call for call in node.calls("scontrol") if call.startswith("scontrol update")]


def test_one_failure_drains_nothing_and_two_in_a_row_do(node: Node) -> None:
    broken(node)
    check(node)
    assert updates(node) == []
    check(node)
    assert node.slurm()["State"] == "IDLE+CLOUD+DRAIN"
    assert node.slurm()["Reason"] == "ultracluster: mounts: /fsx is not mounted"
    assert node.slurm("train-2")["State"] == "IDLE+CLOUD"


def test_failures_that_are_not_in_a_row_drain_nothing(node: Node) -> None:
    for _ in range(3):
        broken(node)
        check(node)
        node.file(MOUNTS, "ok\n")
        check(node)
    assert updates(node) == []


def test_a_drained_node_is_drained_once(node: Node) -> None:
    broken(node)
    check(node, 5)
    assert [update.split()[3].partition("=")[0] for update in updates(node)] == ["Comment", "State"]


def test_when_it_is_well_again_it_resumes_itself_once(node: Node) -> None:
    broken(node)
    check(node, 2)
    node.file(MOUNTS, "ok\n")
    check(node, 2)
    assert "+DRAIN" in node.slurm()["State"], "it may come and go"
    check(node, 2)
    assert node.slurm()["State"] == "IDLE+CLOUD"
    assert len(updates(node)) == 3


def test_the_third_drain_within_a_day_stays(node: Node) -> None:
    for drains in (1, 2, 3):
        node.file(MOUNTS, "ok\n")
        check(node, 3)
        assert node.slurm()["State"] == "IDLE+CLOUD"
        broken(node)
        check(node, 2)
        assert node.slurm()["State"] == "IDLE+CLOUD+DRAIN"
        assert node.slurm()["Comment"].endswith(f":{drains}")
    node.file(MOUNTS, "ok\n")
    check(node, 4)
    assert node.slurm()["State"] == "IDLE+CLOUD+DRAIN"
    assert node.slurm()["Reason"] == (
        "ultracluster, flapping, drained 3 times within a day; mounts: /fsx is not mounted"
    )


def test_it_resumes_after_a_reboot_that_helped(node: Node) -> None:
    broken(node)
    check(node, 2)
    node.reboot()
    node.file(MOUNTS, "ok\n")
    check(node, 3)
    assert node.slurm()["State"] == "IDLE+CLOUD"


def test_it_resumes_only_when_every_file_is_well(node: Node) -> None:
    broken(node)
    node.file("/run/ultracluster/health/local-scratch", "failed: 7 of 8 local disks are there\n")
    check(node, 2)
    assert node.slurm()["Reason"] == (
        "ultracluster: local-scratch: 7 of 8 local disks are there; mounts: /fsx is not mounted"
    )
    node.file(MOUNTS, "ok\n")
    check(node, 2)
    assert "+DRAIN" in node.slurm()["State"]
    node.file("/run/ultracluster/health/local-scratch", "ok\n")
    check(node, 3)
    assert "+DRAIN" not in node.slurm()["State"]


@pytest.mark.parametrize("state", ["IDLE+CLOUD+DRAIN", "MIXED+DRAIN", "IDLE+DRAIN*", "DOWN+DRAIN+NOT_RESPONDING"])
def test_a_drain_of_others_is_left_alone_whether_the_node_is_well_or_not(node: Node, state: str) -> None:
    node.slurm_node("train-1", address=ADDRESS, host="ip-10-1-1-61", state=state, reason=THEIRS)
    node.file(MOUNTS, "ok\n")
    check(node, 2)
    broken(node)
    check(node, 3)
    node.file(MOUNTS, "ok\n")
    check(node, 2)
    assert updates(node) == []
    assert node.slurm()["Reason"] == THEIRS


def test_a_reason_that_others_put_over_ours_makes_the_drain_theirs(node: Node) -> None:
    broken(node)
    check(node, 2)
    node.slurm_node("train-1", address=ADDRESS, host="ip-10-1-1-61", state="IDLE+DRAIN", reason="being looked at")
    node.file(MOUNTS, "ok\n")
    check(node, 2)
    assert node.slurm() == {
        "NodeAddr": ADDRESS,
        "NodeHostName": "ip-10-1-1-61",
        "State": "IDLE+DRAIN",
        "Reason": "being looked at",
    }


def test_a_reason_without_a_drain_is_no_drain(node: Node) -> None:
    reason = "Maintain Minimum Number Of Instances"
    node.slurm_node("train-1", address=ADDRESS, host="ip-10-1-1-61", reason=reason)
    broken(node)
    check(node, 2)
    assert node.slurm()["Reason"].startswith("ultracluster: ")


def test_a_well_node_asks_the_controller_once_since_the_boot(node: Node) -> None:
    node.file(MOUNTS, "ok\n")
    check(node, 4)
    assert len(node.calls("scontrol")) == 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("-N train-1", "train-1"),
        ("-Ntrain-1", "train-1"),
        ("", "train-1"),
        ("", "ip-10-1-1-61"),
        # A name that another node has by now, by its address.
        ("-N train-2", "train-1"),
    ],
)
def test_the_node_finds_its_name_which_need_not_be_its_host_name(tmp_path: Path, options: str, name: str) -> None:
    node = Node(tmp_path)
    node.with_slurm(name, options=options)
    node.slurm_node("train-2", address="10.1.1.62", host="ip-10-1-1-62")
    broken(node)
    check(node, 2)
    assert "+DRAIN" in node.slurm(name)["State"]
    assert node.slurm("train-2")["State"] == "IDLE+CLOUD"


def refused(node: Node) -> str:
    broken(node)
    check(node)
    done = node.run("drain-on-failure")
    assert done.returncode == 1
    assert updates(node) == []
    return done.stderr


def test_a_node_that_the_controller_does_not_know_drains_no_other(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.with_slurm(addresses="10.1.1.99")
    node.slurm_node("train-1", address="10.1.1.99", host="ip-10-1-1-99")
    assert "not one node of the controller" in refused(node)


def test_two_nodes_with_its_address_are_one_too_many(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.with_slurm()
    node.slurm_node("train-7", address=ADDRESS, host="train-7")
    assert "not one node of the controller" in refused(node)


@pytest.mark.parametrize("options", ["-N train-1", "-Ntrain-1"])
def test_the_name_that_slurmd_was_given_decides_between_them(tmp_path: Path, options: str) -> None:
    node = Node(tmp_path)
    node.with_slurm(options=options)
    node.slurm_node("train-7", address=ADDRESS, host="train-7")
    broken(node)
    check(node, 2)
    assert "+DRAIN" in node.slurm("train-1")["State"]
    assert "+DRAIN" not in node.slurm("train-7")["State"]


def test_a_name_that_its_own_begins_with_is_another_s(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.with_slurm()
    node.slurm_node("train-1", address="10.1.1.6", host="ip-10-1-1")
    assert "not one node of the controller" in refused(node)


def test_an_unreachable_controller_is_reported_and_retried(node: Node) -> None:
    node.says("slurm-down")
    assert "controller of Slurm does not answer" in refused(node)
    node.forgets("slurm-down")
    check(node)
    assert "+DRAIN" in node.slurm()["State"]


def test_where_slurmd_does_not_run_nothing_is_asked(tmp_path: Path) -> None:
    node = Node(tmp_path)
    broken(node)
    check(node, 3)
    assert node.calls("scontrol") == []


def test_slurmd_is_found_whatever_its_unit_is_called(node: Node) -> None:
    node.forgets("units/slurmd.service/pid")
    node.says("slurmd", "4711")
    broken(node)
    check(node, 2)
    assert "+DRAIN" in node.slurm()["State"]


def test_before_the_first_check_there_is_nothing_to_drain(node: Node) -> None:
    check(node, 2)
    assert updates(node) == []


def test_a_reason_stays_one_line_that_slurm_takes(node: Node) -> None:
    broken(node, 'lnetctl said "[err]" ' + "x" * 400 + "\nsecond line")
    check(node, 2)
    reason = node.slurm()["Reason"]
    assert len(reason) < 200
    assert not {'"', "[", "]", "\n"} & set(reason)
