"""The selection of EFA's plugin runs in bash, with directories of a container that are those of the test."""

import os
import subprocess
from pathlib import Path

import pytest

from support import ROOT

SCRIPT = ROOT / "constructs/ultracluster/boot/scripts/ultracluster_efa.sh"
OFI, NGC = "amazon/ofi-nccl/lib", "amazon/aws-ofi-nccl/lib"
SELECTED = {"FI_PROVIDER": "efa", "NCCL_NET_PLUGIN": "ofi"}
NO_PLUGIN = "NCCL uses TCP between nodes: the image has no libnccl-net-ofi.so, which EFA needs\n"


def container(root: Path, *files: str, cached: str = "", **variables: str) -> tuple[dict[str, str], str]:
    """The variables that the script changes for a program in a container, and what it prints.

    Args:
        root: Root of the container, which has EFA.
        files: Files that it has.
        cached: Line of the cache of the linker.
        variables: Variables of the program before.
    """
    for file in ("bin/ldconfig", "dev/infiniband/uverbs0", *files):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f"#!/bin/sh\necho '{cached}'\n")
        (root / file).chmod(0o755)
    text = SCRIPT.read_text()
    for path in ("/opt/amazon", "/dev/infiniband", "/sys/devices"):
        text = text.replace(path, f"{root}/{path.removeprefix('/opt/').lstrip('/')}")
    given = {"PATH": f"{root}/bin:{os.defpath}", "PWD": str(root), "SHLVL": "1", **variables}
    command = ["bash", "-euo", "pipefail", "-c", f"{text}\nover_efa\nexec env -u _"]
    done = subprocess.run(command, env=given, cwd=root, capture_output=True, text=True, check=True)
    after = dict(line.split("=", 1) for line in done.stdout.splitlines())
    return {name: value for name, value in after.items() if value != given.get(name)}, done.stderr


@pytest.mark.parametrize(
    ("directory", "files", "variables"),
    [
        (NGC, ["libnccl-net-ofi.so", "libnccl-tuner-ofi.so"], {}),
        (OFI, ["libnccl-net-ofi.so", "libnccl-tuner-ofi.so"], {}),
        (OFI, ["libnccl-net-ofi.so", "libnccl-net.so", "libnccl-tuner-ofi.so"], {"NCCL_NET_PLUGIN": "spcx"}),
    ],
    ids=["NVIDIA's NeMo image", "EFA's installer in an image of NVIDIA", "NeMo 26.08"],
)
def test_efas_plugin_is_selected_where_nccl_would_use_tcp(
    tmp_path: Path, directory: str, files: list[str], variables: dict[str, str]
) -> None:
    after, printed = container(
        tmp_path, *(f"{directory}/{file}" for file in files), **variables, LD_LIBRARY_PATH="/usr/lib"
    )
    libraries = f"{tmp_path}/{directory}:{tmp_path}/amazon/efa/lib:/usr/lib"
    assert (after, printed) == ({**SELECTED, "LD_LIBRARY_PATH": libraries}, "")


@pytest.mark.parametrize(
    ("files", "variables"),
    [
        ([f"{OFI}/libnccl-net-ofi.so", f"{OFI}/libnccl-net.so"], {}),
        # AWS's own images.
        (["amazon/ofi-nccl/lib64/libnccl-net.so"], {"LD_LIBRARY_PATH": "/usr/lib:{root}/amazon/ofi-nccl/lib64"}),
        (["mine/libnccl-net-ofi.so"], {"LD_LIBRARY_PATH": "{root}/mine"}),
        # A pod of veRL, whose layer installs the plugin.
        ([], {"NCCL_NET_PLUGIN": "ofi"}),
        # What the user selects.
        ([f"{NGC}/libnccl-net-ofi.so"], {"NCCL_NET_PLUGIN": "none"}),
        ([f"{NGC}/libnccl-net-ofi.so"], {"NCCL_NET_PLUGIN": "/fsx/libnccl-net-new.so"}),
        ([], {"SLURM_PROCID": "1"}),
        ([], {"JOB_COMPLETION_INDEX": "1"}),
    ],
)
def test_a_plugin_that_nccl_loads_stays(tmp_path: Path, files: list[str], variables: dict[str, str]) -> None:
    given = {name: value.replace("{root}", str(tmp_path)) for name, value in variables.items()}
    assert container(tmp_path, *files, **given) == ({}, "")


def test_the_first_node_prints_that_an_image_has_no_plugin(tmp_path: Path) -> None:
    # The plugin for InfiniBand of the same image.
    files, variables = ["hpcx/libnccl-net.so"], {"LD_LIBRARY_PATH": f"{tmp_path}/hpcx", "SLURM_PROCID": "0"}
    assert container(tmp_path, *files, **variables) == ({}, NO_PLUGIN)
    assert container(tmp_path, cached="libnccl-net.so (libc6) => /opt/hpcx/lib/libnccl-net.so") == ({}, NO_PLUGIN)
    # AWS's images.
    assert container(tmp_path, cached="libnccl-net.so (libc6) => /opt/amazon/ofi-nccl/lib64/libnccl-net.so") == ({}, "")


OF_ALL = {"NCCL_BUFFSIZE": "8388608", "NCCL_P2P_NET_CHUNKSIZE": "524288"}
OF_RDMA = {
    **OF_ALL,
    "OFI_NCCL_PROTOCOL": "RDMA",
    "NCCL_NVLSTREE_MAX_CHUNKSIZE": "524288",
    "NCCL_NVLS_CHUNKSIZE": "524288",
    "NCCL_NET_FORCE_FLUSH": "0",
}
#: What aws-ofi-nccl 1.17.3 sets by type, and the protocol that needs no order of bytes where EFA may not keep it.
TUNED = {
    "p4d.24xlarge": {**OF_ALL, "OFI_NCCL_NET_LATENCY": "75", "NCCL_PROTO": "simple"},
    "p5.4xlarge": {"NCCL_PROTO": "simple"},
    "p5.48xlarge": {**OF_RDMA, "OFI_NCCL_NET_LATENCY": "75"},
    "p5en.48xlarge": {**OF_RDMA, "OFI_NCCL_NET_LATENCY": "35", "NCCL_NETDEVS_POLICY": "max:1"},
    "p6-b200.48xlarge": {
        **OF_RDMA,
        "OFI_NCCL_NET_LATENCY": "35",
        "NCCL_NETDEVS_POLICY": "max:1",
        "NCCL_PROTO": "simple",
    },
    "p6e-gb200.36xlarge": {
        **OF_RDMA,
        "OFI_NCCL_NET_LATENCY": "35",
        "NCCL_PROTO": "simple",
        "OFI_NCCL_SKIP_NICS_WITHOUT_ACCEL_AT_SAME_PCI_LEVEL": "1",
    },
    "unknown": {"NCCL_PROTO": "simple"},
}


@pytest.mark.parametrize("instance_type", TUNED)
def test_a_plugin_that_was_not_built_for_aws_gets_what_one_sets_by_itself(tmp_path: Path, instance_type: str) -> None:
    product = tmp_path / "sys/devices/virtual/dmi/id/product_name"
    if instance_type != "unknown":
        product.parent.mkdir(parents=True)
        product.write_text(f"{instance_type}\n")
    plugin = f"{NGC}/libnccl-net-ofi.so"
    after, _ = container(tmp_path, plugin)
    del after["LD_LIBRARY_PATH"]
    assert after == {**SELECTED, **TUNED[instance_type]}
    after, _ = container(tmp_path, plugin, NCCL_PROTO="LL128", FI_PROVIDER="tcp")
    assert not {"NCCL_PROTO", "FI_PROVIDER"} & set(after), "what the user sets stays"
    for tuner in ("libnccl-tuner-ofi.so", "libnccl-ofi-tuner.so"):
        after, _ = container(tmp_path, plugin, f"{NGC}/{tuner}")
        assert set(after) == {*SELECTED, "LD_LIBRARY_PATH"}
        (tmp_path / NGC / tuner).unlink()
