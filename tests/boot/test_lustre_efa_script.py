"""The script runs here in bash, as a node gets it; LNet and AWS's own tool are stand-ins."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from support.node_boot import AWS_TOOL, Node

TOOL = "setup.sh --configure-once --tcp-name enp71s0"
SHA256 = "--sha256"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path, efa=16)
    created.with_aws_tool()
    return created


def works(node: Node, *arguments: str) -> str:
    done = node.run("lustre-efa", *arguments)
    assert (done.returncode, done.stderr, node.health("lustre-efa")) == (0, "", "ok\n")
    return done.stdout


def fails(node: Node, *arguments: str, code: int = 1) -> str:
    done = node.run("lustre-efa", "--required", "yes", *arguments)
    assert done.returncode == code, done.stdout
    assert done.stderr.splitlines(keepends=True)[-1] == f"lustre-efa: {node.health('lustre-efa')}"
    return node.health("lustre-efa").removeprefix("failed: ")


def archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as created:
        created.writestr("configure-efa-fsx-lustre-client/setup.sh", AWS_TOOL.read_text())
    return packed.getvalue()


def without_tool(tmp_path: Path) -> Node:
    node = Node(tmp_path / "bare")
    (node.state / "store/tool.zip").write_bytes(archive())
    return node


def test_aws_s_tool_sets_efa_up_on_the_primary_interface(node: Node) -> None:
    assert "8 of 16 EFA interfaces are up" in works(node)
    assert node.calls("setup.sh") == [TOOL]
    assert len(node.interfaces) == 8


def test_on_hyperpod_the_primary_address_is_of_its_agent_and_the_default_route_names_the_interface(node: Node) -> None:
    node.says("metadata/local-ipv4", "172.16.3.7")
    assert "no interface has the node's primary address 172.16.3.7" in fails(node)
    node.says("default-route", "default via 10.1.0.1 dev ens6 proto dhcp src 10.1.1.61 metric 512")
    works(node)
    assert node.calls("setup.sh") == ["setup.sh --configure-once --tcp-name ens6"]


def test_a_second_run_changes_nothing(node: Node) -> None:
    works(node)
    assert "up already" in works(node)
    assert node.calls("setup.sh") == [TOOL]


def test_a_reboot_sets_it_up_again(node: Node) -> None:
    works(node)
    node.reboot()
    works(node)
    assert node.calls("setup.sh") == [TOOL] * 2
    assert len(node.interfaces) == 8


def test_a_run_over_mounted_lustre_with_efa_up_is_no_failure(node: Node) -> None:
    works(node)
    node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw - lustre 10.1.1.67@tcp:/m rw\n")
    works(node)


def test_lustre_that_is_mounted_before_is_a_failure_and_is_left_alone(node: Node) -> None:
    node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw - lustre 10.1.1.67@tcp:/m rw\n")
    assert "reboot the node" in fails(node)
    assert node.calls("setup.sh") == node.calls("lustre_rmmod") == []


def test_modules_that_were_there_before_are_unloaded_so_that_they_read_their_options(node: Node) -> None:
    (node.root / "sys/module/lnet").mkdir(parents=True)
    works(node)
    assert not (node.state / "options-not-read").exists()


@pytest.mark.parametrize("wanted", range(1, 9))
def test_fewer_interfaces_are_spread_over_those_that_aws_takes(node: Node, wanted: int) -> None:
    works(node, "--interfaces", str(wanted))
    kept = [int(name[5:7]) for name in node.interfaces]
    assert len(kept) == wanted
    gaps = [b - a for a, b in zip(kept, [*kept[1:], kept[0] + 16], strict=True)]
    assert max(gaps) - min(gaps) <= 2
    assert node.read("/run/ultracluster/lustre-efa-interfaces") == f"{wanted}\n"


def test_at_most_so_many_interfaces_means_all_where_there_are_fewer(node: Node) -> None:
    works(node, "--interfaces", "12")
    assert len(node.interfaces) == 8


def test_gpudirect_storage_takes_all_interfaces_and_wants_its_driver(node: Node) -> None:
    assert "nvidia-fs" in fails(node, "--gds", "yes")
    node.says("nvidia-fs")
    works(node, "--gds", "yes")
    assert node.calls("setup.sh") == [f"{TOOL} --optimized-for-gds"]
    assert len(node.interfaces) == 16


def test_a_node_without_efa_reports_it_and_succeeds(tmp_path: Path) -> None:
    assert "no EFA device: Lustre runs over TCP" in works(Node(tmp_path, efa=0))


@pytest.mark.parametrize("name", ["p4d.24xlarge", "trn2.48xlarge", "g5.48xlarge"])
def test_a_type_without_efa_for_lustre_reports_it_and_succeeds(node: Node, name: str) -> None:
    node.says("metadata/instance-type", name)
    assert f"Lustre cannot use the EFA of {name}" in works(node)
    assert node.calls("setup.sh") == []


def test_devices_of_another_driver_are_not_efa(tmp_path: Path) -> None:
    node = Node(tmp_path, efa=0)
    for name in ("mlx5_0", "mlx5_1"):
        device = node.root / "sys/class/infiniband" / name / "device"
        device.mkdir(parents=True)
        driver = node.root / "sys/bus/pci/drivers/mlx5_core"
        driver.mkdir(parents=True, exist_ok=True)
        (device / "driver").symlink_to(driver)
    assert "no EFA device" in works(node)


def test_the_tool_s_last_word_is_the_reason(node: Node) -> None:
    node.says("tool-fails")
    assert fails(node) == "AWS's tool failed: Error: Instance type does not support Lustre GDS.\n"


def test_a_failure_can_be_repaired_by_another_run(node: Node) -> None:
    node.says("tool-fails")
    fails(node)
    node.forgets("tool-fails")
    works(node)


def test_a_kernel_without_the_module_is_named(node: Node) -> None:
    node.says("no-kefalnd")
    assert "kefalnd is missing" in fails(node)


def test_a_silent_metadata_service_is_a_failure(node: Node) -> None:
    for file in (node.state / "metadata").iterdir():
        file.unlink()
    (node.state / "metadata").rmdir()
    assert fails(node) == "the instance metadata service did not return the instance type\n"


def test_the_unit_of_the_image_goes_first(node: Node) -> None:
    unit = "units/configure-efa-fsx-lustre-client.service"
    node.says(f"{unit}/enabled")
    node.says(f"{unit}/text", "ExecStart=/usr/bin/python3 /usr/local/sbin/configure-efa-fsx-lustre-client.py")
    start = node.state / unit / "start"
    start.write_text(f'#!/usr/bin/env bash\nexec bash "{AWS_TOOL}" by-its-unit\n')
    start.chmod(0o755)
    works(node, "--interfaces", "4")
    assert node.calls("setup.sh") == ["setup.sh by-its-unit"]
    assert len(node.interfaces) == 4
    node.reboot()
    assert "does not set up for GPUDirect Storage" in fails(node, "--gds", "yes")
    node.says(f"{unit}/broken")
    assert "configure-efa-fsx-lustre-client.service failed" in fails(node)


def test_an_image_without_the_tool_reports_the_remedy(tmp_path: Path) -> None:
    assert "put it into the image at /opt/ultracluster/" in fails(without_tool(tmp_path))


def test_where_efa_is_not_required_lustre_runs_over_tcp_and_the_state_has_the_reason(tmp_path: Path) -> None:
    node = without_tool(tmp_path)
    node.file("/run/ultracluster/software/lustre-efa-tool", "failed: it has another checksum\n")
    done = node.run("lustre-efa")
    assert done.returncode == 0
    assert node.health("lustre-efa").startswith(
        "ok: over TCP: there is no configure-efa-fsx-lustre-client (it has another checksum); put it into the image"
    )
    # A later run with the tool sets it up.
    node.with_aws_tool()
    works(node)


@pytest.mark.parametrize("reason", ["kefalnd", "checksum", "mounted"])
def test_no_reason_but_wrong_usage_fails_where_efa_is_not_required(node: Node, reason: str, tmp_path: Path) -> None:
    arguments: tuple[str, ...] = ()
    if reason == "kefalnd":
        node.says("no-kefalnd")
    elif reason == "mounted":
        node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw - lustre 10.1.1.67@tcp:/m rw\n")
    else:
        node, arguments = without_tool(tmp_path), ("--bundle", "https://example.com/tool.zip", SHA256, "0" * 64)
    assert node.run("lustre-efa", *arguments).returncode == 0
    assert node.health("lustre-efa").startswith("ok: over TCP: ")
    assert node.run("lustre-efa", "--gds", "perhaps").returncode == 2
    assert node.health("lustre-efa").startswith("failed: ")


@pytest.mark.parametrize("address", ["https://example.com/tool.zip", "s3://bucket/tool.zip"])
def test_the_tool_is_fetched_once_and_kept_over_a_reboot(tmp_path: Path, address: str) -> None:
    node = without_tool(tmp_path)
    bundle = ("--bundle", address, SHA256, hashlib.sha256(archive()).hexdigest())
    works(node, *bundle)
    node.reboot()
    (node.state / "store/tool.zip").unlink()
    works(node, *bundle)
    assert len(node.calls("setup.sh")) == 2


def test_a_zip_with_another_checksum_never_runs(tmp_path: Path) -> None:
    node = without_tool(tmp_path)
    assert "so it was not run" in fails(node, "--bundle", "https://example.com/tool.zip", SHA256, "0" * 64)
    assert node.calls("setup.sh") == []


def test_another_checksum_than_the_kept_one_s_fetches_again(tmp_path: Path) -> None:
    node = without_tool(tmp_path)
    works(node, "--bundle", "s3://bucket/tool.zip", SHA256, hashlib.sha256(archive()).hexdigest())
    node.reboot()
    assert "so it was not run" in fails(node, "--bundle", "s3://bucket/tool.zip", SHA256, "0" * 64)


def test_what_cannot_be_fetched_is_named(tmp_path: Path) -> None:
    node = without_tool(tmp_path)
    assert "could not fetch s3://bucket/other.zip" in fails(node, "--bundle", "s3://bucket/other.zip", SHA256, "0" * 64)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--interfaces", "0"], "--interfaces is a whole number"),
        (["--interfaces", "8; reboot"], "--interfaces is a whole number"),
        (["--gds", "maybe"], "--gds is yes or no"),
        (["--gds"], "--gds needs a value"),
        (["--bundle", "http://example.com/tool.zip", SHA256, "0" * 64], "https:// or s3://"),
        (["--bundle", "https://example.com/tool.zip"], "go together"),
        ([SHA256, "0" * 64], "go together"),
        (["--bundle", "https://example.com/tool.zip", SHA256, "latest"], "64 hexadecimal digits"),
        (["--bundles", "x"], "unknown argument"),
    ],
)
def test_wrong_usage_has_its_own_exit_code(node: Node, arguments: list[str], problem: str) -> None:
    assert problem in fails(node, *arguments, code=2)
    assert node.calls("setup.sh") == []
