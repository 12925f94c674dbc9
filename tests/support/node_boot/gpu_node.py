"""A node with GPUs and the checks of the library on it."""

import os
import subprocess
from pathlib import Path

from support.node_boot import Node
from ultracluster.boot import health_boot, scripts
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType, nvlinks

P5EN = INSTANCE_TYPES["p5en.48xlarge"]
BIN = "/usr/local/sbin/ultracluster-"


class GpuNode(Node):
    """A healthy node with Slurm on it, booted."""

    def __init__(
        self, directory: Path, *, name: str = "train-1", instance_type: InstanceType = P5EN, efa: int = 16
    ) -> None:
        super().__init__(directory, efa=efa)
        self.with_slurm(name, options=f"-N {name}")
        for item in health_boot(instance_type, efa_devices=efa).files:
            self.file(item.path, item.text).chmod(int(item.mode, 8))
        self.install("drain-on-failure")
        count = instance_type.gpus
        self.gpus(count)
        self.says("rows", "\n".join(f"00000000:{n}B:00.0, No, No" for n in range(count)))
        links = "\n".join(f"\t Link {n}: 26.562 GB/s" for n in range(nvlinks(instance_type)))
        model = instance_type.gpu_model
        self.says("nvlink", "\n".join(f"GPU {n}: NVIDIA {model} (UUID: GPU-{n})\n{links}" for n in range(count)))
        self.fabric(count=count)
        (self.root / "dev/shm").mkdir(parents=True)
        self.says("kernel", "EXT4-fs (nvme0n1p1): mounted filesystem\nNVRM: loading NVIDIA UNIX Open Kernel Module")
        for device in (self.root / "sys/class/infiniband").iterdir():
            (device / "ports/1").mkdir(parents=True)
            (device / "ports/1/state").write_text("4: ACTIVE\n")

    def gpus(self, count: int = 8, **changed: str) -> None:
        """Set nvidia-smi's output; `gpu3="Enabled, 1, Not Active"` changes a GPU."""
        lines = {f"gpu{n}": changed.get(f"gpu{n}", "Enabled, 0, Not Active") for n in range(count)}
        self.says("gpus", "\n".join(f"{name[3:]}, {line}" for name, line in lines.items()))

    def fabric(self, count: int = 8, **changed: str) -> None:
        """Set what nvidia-smi prints of the fabric; `gpu3="In Progress, N/A"` changes a GPU."""
        lines = (f"{n}, {changed.get(f'gpu{n}', 'Completed, Success')}" for n in range(count))
        self.says("fabric", "\n".join(lines))

    def wait(self) -> None:
        """Age the last result of the check, which the prolog takes for a while."""
        os.utime(self.root / "run/ultracluster/health/devices", (0, 0))

    def install(self, script: str) -> None:
        """Put another of our scripts in its place."""
        self.file(f"{BIN}{script}", scripts.text(f"{script}.sh")).chmod(0o755)

    def call(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one of them as Slurm does."""
        return self.start(self.root / f"{BIN}{script}".lstrip("/"), *arguments, **environment)
