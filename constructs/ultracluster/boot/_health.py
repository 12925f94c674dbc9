"""Health checks of a Slurm node before each job, and cleanup after it."""

from collections.abc import Mapping

from ultracluster.boot._boot_guard import BOOT_GUARD
from ultracluster.boot._node_files import PROGRAM, NodeBoot, NodeFile, oneshot, program, slurmd_drop_in, unit_file
from ultracluster.catalogue.ec2 import InstanceType, nvlinks
from ultracluster.catalogue.monitoring import XidPolicy, nvlink5_words, xids

#: The unit that checks a node's devices at boot, before slurmd starts. It also makes the directory of the jobs on each
#: GPU, which dcgm-exporter takes as `--hpc-job-mapping-dir`.
HEALTH_UNIT = "ultracluster-health-check.service"

# A job that comes back to a bad node is held for good, unless the scheduler is configured otherwise:
# https://slurm.schedmd.com/slurm.conf.html#OPT_Prolog and #OPT_nohold_on_prolog_fail. Alloc runs the prolog on all
# nodes of a job before its first step, as AWS has it: https://docs.aws.amazon.com/pcs/latest/userguide/
# capacity-blocks-nvidia-imex.html (all read 2026-11-21)
_REQUEUE = "nohold_on_prolog_fail"
_SETTINGS = {
    "Prolog": f"{PROGRAM}prolog",
    "Epilog": f"{PROGRAM}epilog",
    "PrologFlags": "Alloc,NoHold",
    # Steps report through a tree of nodes, and those above a lost one wait for it. After Slurm's minute they were
    # drained themselves, in each of two runs of a real slurmctld with 64 nodes; after three minutes none was.
    "UnkillableStepTimeout": "180",
}

# GPUs and their fabric take a minute to come up on a large node. KillMode: what hangs in the driver cannot be killed.
_UNIT = oneshot(
    "Check of GPUs, EFA devices and mounts",
    unit=("After=ultracluster-mount-check.service nvidia-persistenced.service nvidia-fabricmanager.service",),
    service=(f"ExecStart=-{PROGRAM}health-check --patience 180", "KillMode=process", "TimeoutStartSec=5min"),
)
# `slurm_boot` drains the node at each start of slurmd if the check has failed.
_SLURMD = f"[Unit]\nWants={HEALTH_UNIT}\nAfter={HEALTH_UNIT}\n"


def health_boot(
    instance_type: InstanceType, *, efa_devices: int, imex: bool = True, ssh_access: bool = True
) -> NodeBoot:
    """Return the checks of a node, as Slurm prolog and epilog, and once at boot.

    They use what `slurm_boot` gives: the state of the mounts, and the program that drains.

    Args:
        instance_type: Type of the node. Facts that are not known are not checked.
        efa_devices: EFA devices of its launch template.
        imex: Create the IMEX domain of each job on an UltraServer. False where the service does.
        ssh_access: Allow SSH to users with a job on the node only. False where another prolog or epilog runs, which
            does not list the jobs.
    """
    lines = {
        "gpus": str(instance_type.gpus),
        "nvlinks": str(nvlinks(instance_type)),
        "efa": str(efa_devices),
        "xids": " ".join(map(str, xids(XidPolicy.FATAL, XidPolicy.RESET))),
    }
    gpu = instance_type.gpu
    if instance_type.gpus and (gpu is None or gpu.nvlink_generation >= 5):
        lines |= dict(zip(("nvlink-xids", "nvlink-harmless"), nvlink5_words(), strict=True))
    files = [program(name, in_place=True) for name in ("health-check", "prolog", "epilog")]
    if ssh_access:
        files.append(program("ssh-access", in_place=True))
    if imex and instance_type.ultraservers:
        files.append(program("imex", in_place=True))
    files += [
        NodeFile(
            path="/etc/ultracluster/health",
            text="".join(f"{name} {value}\n" for name, value in lines.items()),
            in_place=True,
        ),
        unit_file(HEALTH_UNIT, _UNIT),
        *slurmd_drop_in("ultracluster-health", _SLURMD),
    ]
    return NodeBoot(files=tuple(files), units=(HEALTH_UNIT,))


def health_settings(settings: Mapping[str, str], *, health: bool = True) -> dict[str, str]:
    """Return the slurm.conf settings that run the checks, merged with a cluster's, which take precedence.

    `SchedulerParameters` is a list, and keeps the cluster's entries. Without the library's prolog, `boot_guard` is the
    prolog, and runs the one of the cluster.

    Args:
        settings: Settings of the cluster.
        health: False if the cluster has no health checks. Default: True.
    """
    entries = [word for word in settings.get("SchedulerParameters", "").split(",") if word]
    if _REQUEUE not in entries:
        entries.append(_REQUEUE)
    custom = settings.get("Prolog", _SETTINGS["Prolog"]) != _SETTINGS["Prolog"]
    guard = {} if health and not custom else {"Prolog": BOOT_GUARD}
    return {**(_SETTINGS if health else {}), **settings, **guard, "SchedulerParameters": ",".join(entries)}
