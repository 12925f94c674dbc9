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
    for path in ("/opt/amazon", "/dev/infiniband"):
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
