import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.boot import LocalScratch, scripts
from ultracluster.boot._scratch import SCRATCH_STATE, NodeSetup
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType
from ultracluster.clusterfile.sections._common import mount_path

P5 = INSTANCE_TYPES["p5.48xlarge"]
WITHOUT_DISKS = [record for record in INSTANCE_TYPES.values() if not record.nvme[0]]


def unit(setup: NodeSetup) -> dict[str, list[str]]:
    _, file = setup.files
    pairs = (line.split("=", 1) for line in file.text.splitlines() if "=" in line)
    return {key: value.split() for key, value in pairs}


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_a_node_knows_the_number_of_disks_of_its_type(name: str) -> None:
    record = INSTANCE_TYPES[name]
    for setup in (
        LocalScratch().for_slurm(record),
        LocalScratch().for_eks(record),
        LocalScratch().for_hyperpod(record),
    ):
        command = unit(setup)["ExecStart"]
        assert command[command.index("--disks") + 1] == str(record.nvme[0])


def test_slurm_and_docker_start_after_the_volume_is_there() -> None:
    result = unit(LocalScratch().for_slurm(P5))
    assert {"slurmd.service", "docker.service", "containerd.service", "kubelet.service"} <= set(result["Before"])
    assert "dlami-nvme.service" in result["After"]
    assert result["WantedBy"] == ["multi-user.target"]


def test_sockets_are_not_ordered_after_the_unit_which_would_be_a_circle() -> None:
    for setup in (LocalScratch().for_slurm(P5), LocalScratch().for_eks(P5)):
        assert not [name for name in unit(setup)["Before"] if name.endswith((".socket", ".target"))]


def test_on_eks_nodeadm_makes_the_stripe_and_the_unit_starts_with_its_mount() -> None:
    setup = LocalScratch().for_eks(P5)
    assert setup.node_config == {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"instance": {"localStorage": {"strategy": "RAID0"}}},
    }
    result = unit(setup)
    assert result["WantedBy"] == [r"mnt-k8s\x2ddisks-0.mount"]
    assert r"mnt-k8s\x2ddisks-0.mount" in result["After"]
    assert result["ExecStart"][-2:] == ["--stripe", "use"]
    # nodeadm-run starts kubelet and waits for it, and kubelet waits for this unit.
    assert not [name for name in result["After"] if name.startswith("nodeadm")]
    # cloud-init runs before nodeadm: there is nothing to bind yet.
    assert setup.commands == ("systemctl enable ultracluster-local-scratch.service",)


def test_on_eks_the_container_store_can_stay_on_the_root_volume() -> None:
    config = LocalScratch(container_store=False).for_eks(P5).node_config
    assert config is not None
    assert config["spec"]["instance"]["localStorage"] == {"strategy": "RAID0", "disabledMounts": ["Containerd"]}


@pytest.mark.parametrize("record", WITHOUT_DISKS, ids=lambda record: record.name)
def test_a_type_without_disks_asks_nothing_of_nodeadm(record: InstanceType) -> None:
    setup = LocalScratch().for_eks(record)
    assert setup.node_config is None
    assert unit(setup)["WantedBy"] == ["multi-user.target"]


def test_hyperpod_places_its_container_store_itself() -> None:
    command = unit(LocalScratch().for_hyperpod(P5))["ExecStart"]
    assert command[command.index("--container-store") + 1] == "no"


def test_the_lines_for_a_lifecycle_script_write_the_files_as_they_are(tmp_path: Path) -> None:
    setup = LocalScratch().for_hyperpod(P5)
    shell = setup.shell()
    for file in setup.files:
        shell = shell.replace(f"cat >{file.path}", f"cat >{tmp_path / Path(file.path).name}")
        shell = shell.replace(f"chmod {file.mode} {file.path}", f"chmod {file.mode} {tmp_path / Path(file.path).name}")
    done = subprocess.run(["bash", "-euc", f'systemctl() {{ echo "$@"; }}\n{shell}'], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "enable --now ultracluster-local-scratch.service\n"), done.stderr
    for file in setup.files:
        written = tmp_path / Path(file.path).name
        assert written.read_text() == file.text
        assert oct(written.stat().st_mode & 0o777) == f"0o{file.mode.lstrip('0')}"


def test_cloud_init_gets_the_script_and_room_is_left_in_the_user_data() -> None:
    config = LocalScratch().for_slurm(P5).cloud_config()
    assert [entry["path"] for entry in config["write_files"]] == [
        "/usr/local/sbin/ultracluster-local-scratch",
        "/etc/systemd/system/ultracluster-local-scratch.service",
    ]
    assert config["write_files"][0]["content"].startswith("#!/usr/bin/env bash\nset -")
    assert config["runcmd"] == ["systemctl enable --now ultracluster-local-scratch.service"]
    # Of EC2's 16 KiB; the rest is for mounts and for what others boot.
    assert len(json.dumps(config)) < 12 * 1024


def test_the_state_file_is_the_one_that_the_script_writes() -> None:
    assert SCRATCH_STATE.rpartition("/")[0] in scripts.text("local-scratch.sh")
    assert SCRATCH_STATE.endswith("/local-scratch")


def test_an_unknown_script_is_reported_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no script 'x.sh'; the known ones: .*local-scratch\.sh"):
        scripts.text("x.sh")


paths = st.from_regex(r"/?([a-z. ;$]{0,4}/){0,3}[a-z]{1,4}", fullmatch=True)


@given(paths | st.sampled_from(["/", "/etc", "/opt/aws/x", "/opt", "/scratch", "/mnt/nvme", "/var/x", "/a b", "/é"]))
def test_the_path_is_checked_as_the_cluster_file_checks_mounts(path: str) -> None:
    try:
        mount_path("/fsx").parse(path)
    except ValueError:
        with pytest.raises(ValueError, match=r"^path .*such as /scratch|^path .*use one like /scratch"):
            LocalScratch(path=path)
    else:
        assert LocalScratch(path=path).path == path
