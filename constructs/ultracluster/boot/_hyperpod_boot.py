"""Scripts and settings of SageMaker HyperPod nodes, after the configuration by their image."""

from collections.abc import Mapping

from ultracluster.boot import scripts
from ultracluster.boot._health import health_settings
from ultracluster.boot._node_files import PROGRAM, NodeBoot, NodeFile, oneshot, program, shell, unit_file
from ultracluster.boot._scratch import NodeSetup
from ultracluster.boot._system_boot import NEEDRESTART
from ultracluster.catalogue.schedulers import hyperpod_kubernetes

_UNIT = "ultracluster-hyperpod-settings.service"
# Scripts of the image are there too: https://github.com/awslabs/awsome-distributed-ai,
# 1.architectures/5.sagemaker-hyperpod/Extensions/observability/README.md (commit 95b939c of 2026-07-23, read
# 2026-11-23)
_HOOKS = {
    "prolog": "/opt/slurm/etc/prolog.d/800_ultracluster.sh",
    "epilog": "/opt/slurm/etc/epilog.d/800_ultracluster.sh",
}
_REFUSAL = "This node is the controller of Slurm: SSH is for administrators, of the group sudo; use a login node.\n"
#: The list of settings: words are added to those of the image.
_LISTS = ("prologflags", "schedulerparameters")


def hyperpod_parameter(cluster: str, group: str) -> str:
    """Return the name of the parameter with the scripts of a group of nodes."""
    return f"/ultracluster/{cluster}/hyperpod/{group}"


def hyperpod_setup(*, cluster: str, region: str, group: str) -> str:
    """Return the lifecycle script of a group of nodes, which runs what the Parameter Store lists."""
    text = scripts.text("hyperpod-setup.sh")
    for placeholder, value in (("@PARAMETER@", hyperpod_parameter(cluster, group)), ("@REGION@", region)):
        text = text.replace(placeholder, value)
    return text


def hyperpod_kubernetes_setup(scratch: NodeSetup | None, *, lustre: NodeBoot | None = None) -> str:
    """Return the lifecycle script of nodes with Kubernetes.

    Args:
        scratch: Setup of their scratch volume, or None for a type without local disks.
        lustre: Files and units of EFA for Lustre. Default: Lustre is mounted over TCP.
    """
    text = scripts.text("hyperpod-kubernetes-setup.sh").replace("@VOLUME@", hyperpod_kubernetes.NODE_VOLUME)
    # A node whose script fails is launched, and charged, again and again. Without its disks, or over TCP, it can run.
    if scratch is not None:
        text += shell(scratch.files, [f"{command} || true" for command in scratch.commands])
    if lustre is not None:
        text += shell(lustre.files, [f"systemctl enable --now {unit} || true" for unit in lustre.units])
    return text


def hyperpod_hooks() -> NodeBoot:
    """Return the files by which the prolog and epilog of the image run those of `health_boot`.

    A further file keeps needrestart of the image, Ubuntu, from restarting slurmd and drivers under a job.
    """
    files = (
        NodeFile(path=path, text=f'#!/bin/sh\nexec {PROGRAM}{name} "$@"\n', mode="0755")
        for name, path in _HOOKS.items()
    )
    return NodeBoot(files=(*files, NEEDRESTART), units=())


def hyperpod_controller(settings: Mapping[str, str], *, health: bool) -> NodeBoot:
    """Return the files and the unit that write settings into slurm.conf on the controller.

    Users of a node have its role, and that of the controller may read the secret of an accounting database: it allows
    SSH to administrators only.

    Args:
        settings: Settings of the cluster file.
        health: Nodes run the checks of `health_boot` before jobs.
    """
    library = health_settings({}) if health else {}
    # The image has a prolog of its own, which runs every script of a folder.
    library = {name: value for name, value in library.items() if name not in ("Prolog", "Epilog")}
    lines = [
        f"{'+' if name.lower() in _LISTS else ''}{name} {value}\n" for name, value in {**library, **settings}.items()
    ]
    service = oneshot(
        "Settings of slurm.conf",
        # slurmctld may not answer yet: 30 tries in half an hour.
        unit=("After=network-online.target slurmctld.service", "StartLimitIntervalSec=1h", "StartLimitBurst=30"),
        service=(
            f"ExecStart={PROGRAM}hyperpod-settings",
            "TimeoutStartSec=2min",
            "Restart=on-failure",
            "RestartSec=1min",
        ),
    )
    files = (
        program("ssh-access", in_place=True),
        NodeFile(path="/etc/ultracluster/ssh-refusal", text=_REFUSAL, in_place=True),
        program("hyperpod-settings", comments=False),
        NodeFile(path="/etc/ultracluster/slurm-settings", text="".join(lines)),
        unit_file(_UNIT, service),
    )
    return NodeBoot(files=files, units=(_UNIT,) if lines else ())
