"""The slurm.conf of a cluster file: what AWS PCS would write, and what makes its nodes fit onto one machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ultracluster.boot import health_settings
from ultracluster.clusterfile import ClusterFile


def as_pcs_has_it(cluster: ClusterFile, *, prolog: Path, epilog: Path) -> str:
    """The lines that decide what jobs get, as they are on AWS PCS.

    Nodes are called GROUP-1, GROUP-2, ...; a queue is a partition over its groups. GresTypes follows from the nodes'
    Gres. PCS runs Slurm with cons_tres. The settings are those that the
    library gives PCS, the ones of the health checks included; only the paths of prolog and epilog are others.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/gres-custom-settings.html, slurm-custom-settings-cluster.html
    (read 2026-11-21)
    """
    settings = {**health_settings(cluster.slurm_settings), "Prolog": str(prolog), "Epilog": str(epilog)}
    lines = [
        f"ClusterName={cluster.name}",
        "SelectType=select/cons_tres",
        "GresTypes=gpu",
        "AccountingStorageType=accounting_storage/slurmdbd",
        *(f"{name}={value}" for name, value in sorted(settings.items())),
    ]
    for group in cluster.node_groups:
        record = group.instance_type
        gres = f" Gres=gpu:{record.gpus}" if record.gpus else ""
        features = f" Features={','.join(group.features)}" if group.features else ""
        memory_mb = int(record.memory_gib * 1024 * 0.95)
        lines.append(
            f"NodeName={group.name}-[1-{group.count}] CPUs={record.vcpus} RealMemory={memory_mb}{gres}{features}"
        )
    for queue in cluster.queues:
        nodes = ",".join(f"{g.name}-[1-{g.count}]" for g in cluster.node_groups if g.section in queue.sections)
        more = "".join(f" {name}={value}" for name, value in sorted(queue.settings.items()))
        lines.append(f"PartitionName={queue.name} Nodes={nodes} State=UP{more}")
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Paths and ports of the emulation."""

    directory: Path
    host: str
    user: str
    slurmctld_port: int
    slurmdbd_port: int
    #: Port of each slurmd, by the name of its node.
    slurmd_ports: Mapping[str, int]

    @property
    def munge_socket(self) -> Path:
        return self.directory / "munge" / "socket"


def on_one_machine(pcs: str, machine: Machine) -> str:
    """The same, with what the emulation alone needs: processes instead of hosts, no cgroups, other timeouts.

    A machine that stands still for half a minute, or has other work for all its cores, must not look like lost nodes.

    SlurmdParameters=config_overrides lets a node have the GPUs and CPUs that slurm.conf says, whatever the machine has.
    """
    here = machine.directory
    only_here = {
        "SlurmctldHost": f"{machine.host}(127.0.0.1)",
        "SlurmctldPort": machine.slurmctld_port,
        "SlurmUser": machine.user,
        "SlurmdUser": machine.user,
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={machine.munge_socket}",
        "AccountingStorageHost": machine.host,
        "AccountingStoragePort": machine.slurmdbd_port,
        "AccountingStoragePass": machine.munge_socket,
        "StateSaveLocation": here / "state",
        "SlurmdSpoolDir": here / "spool/%n",
        "SlurmctldPidFile": here / "slurmctld.pid",
        "SlurmdPidFile": here / "spool/%n.pid",
        "SlurmctldLogFile": here / "slurmctld.log",
        "SlurmdLogFile": here / "log/%n.log",
        "SlurmdParameters": "config_overrides",
        "SelectTypeParameters": "CR_CPU_Memory",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "MpiDefault": "none",
        "PlugStackConfig": here / "plugstack.conf",
        "SlurmdTimeout": 300,
        "MessageTimeout": 100,
        "TCPTimeout": 60,
        "BatchStartTimeout": 300,
        "KillWait": 2,
        "ReturnToService": 2,
    }
    # The same setting in Slurm 22.05, which Debian has: _preempt_jobs in src/slurmctld/node_scheduler.c of
    # https://github.com/SchedMD/slurm, tag slurm-22-05-8-1 (read 2026-11-27).
    pcs = pcs.replace("PreemptParameters=send_user_signal", "SlurmctldParameters=preempt_send_user_signal")
    # Heterogeneous jobs start in the backfill alone, each 30 s by default.
    pcs = pcs.replace("SchedulerParameters=", "SchedulerParameters=bf_interval=1,")
    output = {line.partition("=")[0] for line in pcs.splitlines()}
    lines = [f"{name}={value}" for name, value in only_here.items() if name not in output]
    for line in pcs.splitlines():
        if not line.startswith("NodeName="):
            lines.append(line)
            continue
        name, _, rest = line.removeprefix("NodeName=").partition(" ")
        group = name.partition("-[")[0]
        ports = [port for node, port in machine.slurmd_ports.items() if node.rpartition("-")[0] == group]
        where = f"NodeHostname={machine.host} NodeAddr=127.0.0.1 Port=[{ports[0]}-{ports[-1]}]"
        lines.append(f"NodeName={name} {where} {rest}")
    return "".join(f"{line}\n" for line in lines)
