"""A node on which job files run in bash: srun, which starts a command once a node, and programs are stand-ins."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from support import ROOT
from ultracluster.boot import NodeBoot
from ultracluster.clusterfile import load
from ultracluster.workloads import slurm_jobs, workload_files

SRUN = """\
#!/usr/bin/env bash
printf '%s\\n' "$@" >"$SAID/srun"
# Slurm passes the last value of a plugin's option to the nodes: no option twice.
repeated=$(printf '%s\\n' "$@" | grep -- '^--' | cut -d= -f1 | sort | uniq -d)
[ -z "$repeated" ] || { echo "srun: given twice: $repeated" >&2; exit 99; }
while [[ $1 == --* ]]; do shift; done
code=0
for ((node = 0; node < SLURM_JOB_NUM_NODES; node++)); do
    SLURM_PROCID=$node SLURMD_NODENAME=train-$((node + 1)) "$@" || code=$?
done
exit "$code"
"""
SAYS = """\
#!/usr/bin/env bash
echo "${SLURM_PROCID:-}: ${0##*/} $*" >>"$SAID/${0##*/}"
exit "${FAILS:-0}"
"""


class Node:
    """A node on which a job file runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.said = directory / "said"
        self.root = directory / "root"
        for path in (self.said, directory / "bin", self.root / "sys/class/infiniband"):
            path.mkdir(parents=True)
        self.provide("srun", SRUN)
        self.provide("squeue", "#!/bin/sh\n")
        self.provide("enroot", (ROOT / "tests/support/real_slurm/enroot.sh").read_text())

    def provide(self, name: str, text: str = SAYS) -> None:
        path = self.directory / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def install(self, boot: NodeBoot) -> None:
        for file in boot.files:
            path = self.root / file.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
            path.chmod(int(file.mode, 8))

    def run(self, job: str, *arguments: str, nodes: int = 2, **variables: str) -> subprocess.CompletedProcess[str]:
        example, path = job.split(":")
        cluster = load(str(ROOT / "examples" / f"{example}.yaml"))
        text = next(item.text for item in slurm_jobs(cluster) if item.path == f"{path}.sbatch")
        return self.run_text(text, *arguments, nodes=nodes, **variables)

    def run_text(
        self, text: str, *arguments: str, nodes: int, **variables: str | None
    ) -> subprocess.CompletedProcess[str]:
        file = self.directory / "job"
        # The mounts stay as they are in the options of srun; an image is imported to a directory of the test.
        file.write_text(re.sub(r"(?m)^shared=/", f"shared={self.directory}/", text))
        environment: dict[str, str | None] = {
            "PATH": f"{self.directory}/bin:{os.environ['PATH']}",
            "SAID": str(self.said),
            "ENROOT_LOG": str(self.said / "enroot"),
            "ULTRACLUSTER_ROOT": str(self.root),
            "USER": "ana",
            "RUN": str(self.directory / "run"),
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_NAME": "job",
            "SLURM_JOB_NUM_NODES": str(nodes),
            "SLURM_CPUS_ON_NODE": "192",
            **variables,
        }
        command = ["bash", str(file), *arguments]
        given = {name: value for name, value in environment.items() if value is not None}
        return subprocess.run(command, env=given, cwd=self.directory, capture_output=True, text=True, timeout=180)

    def calls(self, name: str) -> list[str]:
        return (self.said / name).read_text().splitlines()


def rendered(cluster: str, name: str, **settings: str) -> list[str]:
    files = workload_files(load(str(ROOT / "examples" / f"{cluster}.yaml")), name, settings=settings)
    # The model and the data are not here; test_model_fit.py has the test for them.
    return [re.sub(r'compgen -G "[^"]+"', "true", file.text) for file in files]


def pods(text: str) -> list[Any]:
    """Pods of a manifest, whatever creates them."""
    result: list[Any] = []

    def search(value: Any) -> None:
        if isinstance(value, dict):
            result.extend([value] if "containers" in value else [])
            for part in value.values():
                search(part)
        elif isinstance(value, list):
            for part in value:
                search(part)

    search(list(YAML(typ="safe").load_all(text)))
    return result
