"""Scripts of HyperPod nodes: what runs at their set-up, and the settings of slurm.conf."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.node_boot import Node
from ultracluster.boot import (
    LocalScratch,
    LustreClient,
    hyperpod_controller,
    hyperpod_hooks,
    hyperpod_kubernetes_setup,
    hyperpod_parameter,
    hyperpod_setup,
)
from ultracluster.catalogue.ec2 import INSTANCE_TYPES

AWS = Path(__file__).parents[1] / "support/node_boot/aws"
CONF = "/opt/slurm/etc/slurm.conf"
IMAGE_CONF = (
    "ClusterName=x\nPrologFlags=Contain\nSchedulerParameters=defer\nDefMemPerCPU=1\nPartitionName=dev Nodes=ALL"
)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path)
    shutil.copy(AWS, created.state / "aws")
    return created


def publish(node: Node, *scripts: tuple[str, str, str], broken: bool = False) -> None:
    """List scripts in the Parameter Store: text, what follows from a failure, arguments."""
    lines = []
    for text, failure, arguments in scripts:
        checksum = hashlib.sha256(text.encode()).hexdigest()
        (node.state / "store" / f"{checksum}.sh").write_text(text + ("\n# more" if broken else ""))
        lines.append(f"s3://assets/{checksum}.sh {checksum} {failure} {arguments}".rstrip())
    listed = {hyperpod_parameter("llama", "train"): "\n".join(lines)}
    (node.state / "parameters.json").write_text(json.dumps(listed))


def set_up(node: Node) -> subprocess.CompletedProcess[str]:
    program = node.file("/tmp/train.sh", hyperpod_setup(cluster="llama", region="us-east-2", group="train"))
    return node.start(program, ULTRACLUSTER_PAUSE="0")


def ran(node: Node, name: str, *, code: int = 0) -> str:
    return f'#!/bin/bash\nprintf "%s\\n" "{name} $*" >>"{node.state}/ran"\nexit {code}\n'


def test_the_scripts_of_a_group_run_in_their_order_with_their_arguments(node: Node) -> None:
    publish(node, (ran(node, "software"), "CONTINUE", "--slurm 25.11"), (ran(node, "boot"), "TERMINATE", "fs@tcp:/a b"))
    assert set_up(node).returncode == 0
    assert (node.state / "ran").read_text() == "software --slurm 25.11\nboot fs@tcp:/a b\n"
    assert "s3://assets/" in node.read("/var/log/provision/ultracluster.log")


def test_arguments_are_words_of_the_shell(node: Node) -> None:
    text = f'#!/usr/bin/env python3\nimport sys\nopen("{node.state}/ran", "w").write("|".join(sys.argv[1:]))\n'
    publish(node, (text, "TERMINATE", "--motd 'two words' '$HOME; *'"))
    assert set_up(node).returncode == 0
    assert (node.state / "ran").read_text() == "--motd|two words|$HOME; *", "a script has the interpreter that it names"


def test_a_script_of_an_address_is_fetched_with_its_checksum(node: Node) -> None:
    text = ran(node, "agent")
    (node.state / "agent.sh").write_text(text)
    curl = node.bin / "curl"
    curl.unlink()
    curl.write_text(
        '#!/bin/bash\necho "${@: -1}" >>"$0.called"\n'
        'while [ "$1" != --output ]; do shift; done\n'
        f'cp {node.state}/agent.sh "$2"\n'
    )
    curl.chmod(0o755)
    for checksum, code in ((hashlib.sha256(text.encode()).hexdigest(), 0), ("0" * 64, 1)):
        line = f"https://tools.example.com/agent.sh {checksum} TERMINATE"
        (node.state / "parameters.json").write_text(json.dumps({hyperpod_parameter("llama", "train"): line}))
        assert set_up(node).returncode == code
    assert (node.state / "ran").read_text() == "agent \n", "once: the other checksum is not its own"
    assert "https://tools.example.com/agent.sh" in (node.bin / "curl.called").read_text()


def test_a_failure_that_stops_the_sequence_keeps_the_node(node: Node) -> None:
    publish(node, (ran(node, "one", code=1), "STOP_SEQUENCE", ""), (ran(node, "two"), "TERMINATE", ""))
    assert set_up(node).returncode == 0
    assert (node.state / "ran").read_text() == "one \n"


def test_a_script_that_may_fail_ends_nothing(node: Node) -> None:
    publish(node, (ran(node, "software", code=1), "CONTINUE", ""), (ran(node, "boot"), "TERMINATE", ""))
    assert set_up(node).returncode == 0
    assert "boot" in (node.state / "ran").read_text()


def test_a_script_that_must_not_fail_ends_the_set_up(node: Node) -> None:
    publish(node, (ran(node, "boot", code=1), "TERMINATE", ""), (ran(node, "more"), "TERMINATE", ""))
    assert set_up(node).returncode == 1
    assert (node.state / "ran").read_text() == "boot \n"


def test_a_script_with_another_checksum_never_runs(node: Node) -> None:
    publish(node, (ran(node, "boot"), "TERMINATE", ""), broken=True)
    assert set_up(node).returncode == 1
    assert not (node.state / "ran").exists()


def test_a_role_that_is_not_ready_costs_no_node(node: Node) -> None:
    """HyperPod launches a node whose script fails again, and has a cluster fail whose controller does."""
    publish(node, (ran(node, "boot"), "TERMINATE", ""))
    aws = node.state / "aws"
    aws.rename(node.state / "aws-later")
    aws.write_text(
        "#!/bin/bash\n"
        f'echo try >>"{node.state}/tries"\n'
        f'mapfile -t tries <"{node.state}/tries"\n'
        f"[ ${{#tries[@]}} -gt 20 ] || {{ echo AccessDenied >&2; exit 254; }}\n"
        f'exec "{node.state}/aws-later" "$@"\n'
    )
    aws.chmod(0o755)
    assert set_up(node).returncode == 0
    assert (node.state / "ran").read_text() == "boot \n"


def test_a_node_without_a_list_fails(node: Node) -> None:
    (node.state / "parameters.json").write_text("{}")
    result = set_up(node)
    assert result.returncode == 1
    assert "there is no /ultracluster/llama/hyperpod/train" in result.stdout


def settle(node: Node, settings: dict[str, str], *, health: bool = True) -> subprocess.CompletedProcess[str]:
    for file in hyperpod_controller(settings, health=health).files:
        node.file(file.path, file.text)
    reconfigure = node.bin / "scontrol"
    if not reconfigure.exists():
        reconfigure.write_text(f'#!/bin/bash\necho "$*" >>"{node.state}/reconfigured"\n')
        reconfigure.chmod(0o755)
    return node.run("hyperpod-settings")


def test_settings_replace_those_of_the_image_and_lists_keep_them(node: Node) -> None:
    node.file(CONF, IMAGE_CONF)
    assert settle(node, {"DefMemPerCPU": "4000"}).returncode == 0
    lines = node.read(CONF).splitlines()
    assert "PrologFlags=Contain,Alloc,NoHold" in lines
    assert "SchedulerParameters=defer,nohold_on_prolog_fail" in lines
    assert [line for line in lines if "DefMem" in line] == ["DefMemPerCPU=4000"]
    assert "PartitionName=dev Nodes=ALL" in lines
    assert not any(line.startswith(("Prolog=", "Epilog=")) for line in lines), "the image runs every script of a folder"


def test_a_second_run_changes_nothing_and_disturbs_no_controller(node: Node) -> None:
    node.file(CONF, IMAGE_CONF)
    settle(node, {})
    before = node.read(CONF)
    settle(node, {})
    assert node.read(CONF) == before
    assert (node.state / "reconfigured").read_text() == "reconfigure\n"


def test_a_controller_that_did_not_answer_reads_the_settings_at_the_next_try(node: Node) -> None:
    node.file(CONF, IMAGE_CONF)
    scontrol = node.bin / "scontrol"
    scontrol.write_text("#!/bin/bash\nexit 1\n")
    scontrol.chmod(0o755)
    assert [settle(node, {}).returncode, settle(node, {}).returncode] == [1, 1]
    scontrol.unlink()
    assert settle(node, {}).returncode == settle(node, {}).returncode == 0
    assert (node.state / "reconfigured").read_text() == "reconfigure\n"


def test_the_unit_of_the_settings_is_one_that_systemd_restarts(tmp_path: Path) -> None:
    files = {file.path: file.text for file in hyperpod_controller({}, health=True).files}
    text = files["/etc/systemd/system/ultracluster-hyperpod-settings.service"]
    assert "\nRestart=on-failure\n" in text
    unit = tmp_path / "settings.service"
    unit.write_text(re.sub("ExecStart=.*", "ExecStart=/bin/true", text))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "settings.service" in line]) == (0, [])


def test_a_controller_without_slurm_conf_is_a_failed_unit(node: Node) -> None:
    assert settle(node, {}).returncode == 1


def test_nodes_without_checks_and_settings_have_no_unit() -> None:
    assert hyperpod_controller({}, health=False).units == ()


def test_prolog_and_epilog_lie_beside_those_of_the_image() -> None:
    files = {file.path: file for file in hyperpod_hooks().files}
    # Its image is Ubuntu.
    assert "slurmd" in files.pop("/etc/needrestart/conf.d/90-ultracluster.conf").text
    assert sorted(files) == [
        "/opt/slurm/etc/epilog.d/800_ultracluster.sh",
        "/opt/slurm/etc/prolog.d/800_ultracluster.sh",
    ]
    assert all(file.mode == "0755" for file in files.values())
    assert "exec /usr/local/sbin/ultracluster-prolog" in files["/opt/slurm/etc/prolog.d/800_ultracluster.sh"].text


AL2 = "/etc/eks/containerd/containerd-config.toml"
IMAGES = "/opt/sagemaker/containerd/data-root"
DROP_IN = "/etc/systemd/system/containerd.service.d/50-ultracluster.conf"


def join(node: Node, *, volume: bool = True) -> subprocess.CompletedProcess[str]:
    node.file("/proc/mounts", "/dev/nvme1n1 /opt/sagemaker xfs rw 0 0\n" if volume else "/dev/nvme0n1p1 / xfs rw 0 0\n")
    return node.start(node.file("/tmp/train.sh", hyperpod_kubernetes_setup(None)), ULTRACLUSTER_PAUSE="0")


@pytest.mark.parametrize("running", [True, False])
def test_images_are_on_the_second_volume_whatever_nodeadm_writes_later(node: Node, running: bool) -> None:
    """Amazon Linux 2023 has no file of containerd to edit before the node joins."""
    node.file("/var/lib/containerd/pause", "image")
    node.file(f"{IMAGES}/of-an-earlier-node", "")
    if running:
        node.says("units/containerd.service/active")
    assert join(node).returncode == 0
    lines = node.read(DROP_IN).splitlines()
    assert lines[-2:] == ["ExecStart=", f"ExecStart=/usr/bin/containerd --root {IMAGES}"]
    assert node.read(f"{IMAGES}/pause") == "image", "the pause container is in the image of the node"
    assert not (node.root / f"{IMAGES}/of-an-earlier-node".lstrip("/")).exists()
    calls = [call.removeprefix("systemctl ") for call in node.calls("systemctl")]
    steps = ["stop containerd.service", "daemon-reload", "start containerd.service"]
    assert calls == ["is-active --quiet containerd.service", *(steps if running else steps[1:2])]


def test_amazon_linux_2_has_a_file_for_the_place_of_images(node: Node) -> None:
    node.file(AL2, 'version = 2\nroot = "/var/lib/containerd"\n')
    assert join(node).returncode == 0
    assert node.read(AL2) == f'version = 2\nroot = "{IMAGES}"\n'
    assert not (node.root / DROP_IN.lstrip("/")).exists()


def test_images_stay_on_the_root_volume_without_a_second_one(node: Node) -> None:
    done = join(node, volume=False)
    assert done.returncode == 0
    assert "/opt/sagemaker is not mounted: images stay on the root volume" in done.stdout
    assert not (node.root / DROP_IN.lstrip("/")).exists()


def test_a_node_of_kubernetes_without_its_disks_joins(node: Node) -> None:
    scratch = LocalScratch().for_hyperpod(INSTANCE_TYPES["p5en.48xlarge"])
    text = hyperpod_kubernetes_setup(scratch)
    for file in scratch.files:
        node.file(file.path, "")
        text = text.replace(f"cat >{file.path} ", f"cat >{node.root}{file.path} ")
        text = text.replace(f"chmod {file.mode} {file.path}", f"chmod {file.mode} {node.root}{file.path}")
    node.says("units/ultracluster-local-scratch.service/broken")
    node.file("/proc/mounts", "/dev/nvme0n1p1 / xfs rw 0 0\n")
    assert node.start(node.file("/tmp/train.sh", text), ULTRACLUSTER_PAUSE="0").returncode == 0
    assert node.calls("systemctl") == ["systemctl enable --now ultracluster-local-scratch.service"]


@pytest.mark.parametrize("broken", [False, True])
def test_efa_for_lustre_is_set_up_before_the_node_joins_and_its_failure_keeps_the_node(
    node: Node, broken: bool
) -> None:
    lustre = LustreClient(efa="required").boot(INSTANCE_TYPES["p5en.48xlarge"], before="kubelet.service")
    text = hyperpod_kubernetes_setup(None, lustre=lustre)
    for file in lustre.files:
        node.file(file.path, "")
        text = text.replace(f"cat >{file.path} ", f"cat >{node.root}{file.path} ")
        text = text.replace(f"chmod {file.mode} {file.path}", f"chmod {file.mode} {node.root}{file.path}")
    if broken:
        node.says("units/ultracluster-lustre-efa.service/broken")
    node.file("/proc/mounts", "/dev/nvme0n1p1 / xfs rw 0 0\n")
    assert node.start(node.file("/tmp/train.sh", text), ULTRACLUSTER_PAUSE="0").returncode == 0
    assert node.calls("systemctl") == ["systemctl enable --now ultracluster-lustre-efa.service"]
    for file in lustre.files:
        assert node.read(file.path) == file.text
