"""Collectors on a node that boots with user data: programs, settings and systemd units."""

import re
import shlex
from dataclasses import dataclass

from ultracluster.boot import NodeBoot, NodeFile, scripts, without_comments
from ultracluster.catalogue.ec2 import InstanceType, nvlinks
from ultracluster.catalogue.monitoring import nvlink5_words
from ultracluster.monitoring.collectors._agent import INTERVAL_S, PORTS, agent_configuration
from ultracluster.monitoring.collectors._counters import Dcgm, counters
from ultracluster.monitoring.names import EFA_COUNTERS, EFA_COUNTERS_FULL, Profile
from ultracluster.rules import Refusal, error

TEXTFILES = "/var/lib/node_exporter/textfile_collector"
_ETC = "/etc/ultracluster/metrics"
_BIN = "/usr/local/sbin/ultracluster-"
# Where an image may have put the programs; a bundle is unpacked into the first.
_PATH = "/opt/ultracluster/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_TARGET = error("metrics-remote-write", "The target of remote write is part of a command line on the node.")
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d", re.ASCII)
_TOKEN = "${Token["
_WORD = re.compile(r"[^\s\"'`;<>|&\\]+")

#: The versions that this release was written for, each with its source.
#: Prometheus: https://github.com/prometheus/prometheus (tag v3.13.2 of 2026-07-30, read 2026-11-22); 3.13 is supported
#: until 2027-07-31. The tests run what Debian has. node_exporter: https://github.com/prometheus/node_exporter (tag
#: v1.12.1 of 2026-07-14, read 2026-11-22). dcgm-exporter: the README of https://github.com/NVIDIA/dcgm-exporter (commit
#: d5e5f51 of 2026-05-12), the last release before fields and labels were renamed.
PROMETHEUS = "3.13.2"
NODE_EXPORTER = "1.12.1"
DCGM_EXPORTER = "4.5.3-4.8.2"
#: Where pods get their GPUs by resource claims: the first release that reads ResourceSlices of resource.k8s.io/v1,
#: which Kubernetes serves since 1.34. Those before wait for v1beta1 without end. The image of GPU operator v26.7.0.
#: https://github.com/NVIDIA/dcgm-exporter, internal/pkg/transformation/dra.go (commit 7ad58324), and issue 590 there
#: (read 2026-11-27)
DCGM_EXPORTER_OF_CLAIMS = "4.6.0-4.8.3"


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteWrite:
    """Remote write target of a node's agent.

    Args:
        region: Region of the workspace, which requests are signed for. Without one they are not signed, as for a
            Prometheus of your own.
        url: The workspace's endpoint with `api/v1/remote_write` behind it, or that of your own receiver.
        parameter: Instead: the parameter of Systems Manager that holds it, for an endpoint that is known only when it
            is created. The node reads it with its own role and the AWS CLI.

    Raises:
        Refusal: If not exactly one of url and parameter is given, or a value is not one word, or not valid.
    """

    region: str | None = None
    url: str | None = None
    parameter: str | None = None

    def __post_init__(self) -> None:
        """Validate the target."""
        problems = ["give one of url and parameter"] if (self.url is None) == (self.parameter is None) else []
        if self.region is None and self.parameter is not None:
            problems.append("a parameter is read in a region: give region too")
        problems += [
            f"{value!r} must be one word without quotes, semicolons and backslashes: it is part of a command line"
            for value in (self.region, self.url, self.parameter)
            if value is not None and not _WORD.fullmatch(value)
        ]
        # CDK's token of a region is one that a deployment fills in.
        if not problems and self.region and not _REGION.fullmatch(self.region) and not self.region.startswith(_TOKEN):
            problems.append(f"region must be one such as us-east-2, got {self.region!r}")
        # A placeholder that is filled in later has no scheme.
        if not problems and self.url and "://" in self.url and not self.url.startswith(("https://", "http://")):
            problems.append(f"url must begin with https://, got {self.url!r}")
        if not problems and self.parameter is not None and self.parameter.startswith("-"):
            problems.append(f"parameter must be the name of one, got {self.parameter!r}")
        if problems:
            raise Refusal("", map(_TARGET, problems))

    @property
    def arguments(self) -> str:
        """Arguments of the script metrics-agent.sh."""
        where = f"--url {self.url}" if self.url else f"--parameter {self.parameter}"
        return f"{where} --region {self.region}" if self.region else where


def node_collectors(
    instance_type: InstanceType,
    *,
    cluster: str,
    group: str,
    efa_devices: int,
    to: RemoteWrite,
    profile: Profile = Profile.STANDARD,
    slurm: bool = False,
    queue: bool = False,
) -> NodeBoot:
    """Return the files and units that send a node's metrics.

    The programs themselves (`prometheus`, `node_exporter`, `dcgm-exporter`) are the image's, or are installed before:
    in `/opt/ultracluster/bin` or on the usual path. A unit whose program is missing does not start, and nothing else of
    the boot fails. dcgm-exporter collects the fields that its release supports.

    Args:
        instance_type: Type of the node.
        cluster: Name of the cluster.
        group: Name of the node's group.
        efa_devices: EFA devices that the node is given.
        to: Where the samples go.
        profile: Metrics profile.
        slurm: The node also scrapes Slurm's controller, as login nodes do.
        queue: The node also reports the running jobs of Slurm and their users, as login nodes do.

    Raises:
        Refusal: If a name is not a valid label, or `efa_devices` is below 0.
    """
    if efa_devices < 0:
        raise Refusal("", f"efa_devices must be 0 or more, got {efa_devices}")
    files = [
        _script("node-metrics"),
        _script("metrics-agent"),
        _settings(
            f"{_ETC}/agent.yaml",
            agent_configuration(
                cluster=cluster,
                group=group,
                region=to.region,
                gpus=instance_type.gpus > 0,
                profile=profile,
                slurm=slurm,
            ),
        ),
        _command(
            "textfiles",
            f"{_BIN}node-metrics {textfile_arguments(instance_type, efa_devices, profile)}"
            + (" --queue yes" if queue else ""),
        ),
        _service("textfiles", "Metrics that node_exporter does not have", once=True),
        _timer("textfiles", "Metrics that node_exporter does not have"),
        _command("node", shlex.join(("node_exporter", *node_exporter_flags(profile)))),
        _service("node", "Metrics of the node"),
        _command("agent", f"{_BIN}metrics-agent --template {_ETC}/agent.yaml {to.arguments}"),
        _service("agent", "Agent that sends the metrics"),
    ]
    names = ["textfiles.timer", "node.service"]
    if instance_type.gpus:
        files += [
            _script("dcgm-exporter"),
            *(
                _settings(f"{_ETC}/dcgm-counters-{dcgm}.csv", counters(instance_type.gpu, profile, dcgm=dcgm))
                for dcgm in Dcgm
            ),
            _command("dcgm", shlex.join((f"{_BIN}dcgm-exporter", _ETC, *dcgm_exporter_flags(profile)))),
            _service("dcgm", "Metrics of the GPUs"),
        ]
        names.append("dcgm.service")
    if slurm:
        files += [
            _script("slurm-target"),
            _command("slurm-target", f"{_BIN}slurm-target"),
            _service("slurm-target", "Where Slurm's controller is", once=True),
            _timer("slurm-target", "Where Slurm's controller is"),
        ]
        names.append("slurm-target.timer")
    names.append("agent.service")
    return NodeBoot(files=tuple(files), units=tuple(f"ultracluster-metrics-{name}" for name in names))


def node_exporter_flags(profile: Profile, *, root: str = "", textfiles: str = TEXTFILES) -> tuple[str, ...]:
    """Return node_exporter's flags, with only the collectors that a rule reads: `cpu` has 17 series for each CPU.

    Args:
        profile: Metrics profile.
        root: Mount point of the node's / in a container. By default, node_exporter runs on the host.
        textfiles: Folder of the text files.
    """
    names = ["meminfo", "filesystem", "stat", "textfile", "timex", "netdev"]
    if profile >= Profile.STANDARD:
        names += ["loadavg", "diskstats"]
    if profile >= Profile.FULL:
        names += ["pressure", "vmstat", "netstat", "sockstat", "uname", "nvme", "edac"]
    host = (f"--path.rootfs={root}", f"--path.procfs={root}/proc", f"--path.sysfs={root}/sys") if root else ()
    return (
        f"--web.listen-address=127.0.0.1:{PORTS['node']}",
        *host,
        "--collector.disable-defaults",
        *(f"--collector.{name}" for name in names),
        f"--collector.textfile.directory={textfiles}",
        # A container of a job brings a mount for each layer.
        "--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|run|snap|var/lib/(docker|containers|containerd|kubelet))($|/)",
        "--collector.filesystem.fs-types-exclude=^(autofs|cgroup2?|overlay|proc|sysfs|tmpfs|devtmpfs|squashfs|nsfs|lustre|nfs4?|fuse.*|tracefs|debugfs|bpf|mqueue|hugetlbfs|efivarfs|configfs|pstore|securityfs|selinuxfs|rpc_pipefs|ramfs)$",
        "--collector.netdev.device-exclude=^(lo|veth.*|docker.*|cni.*|eni.*)$",
        *(
            ("--collector.diskstats.device-exclude=^(loop|ram|dm-|md|nvme[0-9]+n[0-9]+p)[0-9]*$",)
            if profile >= Profile.STANDARD
            else ()
        ),
    )  # fmt: skip


def dcgm_exporter_flags(profile: Profile) -> tuple[str, ...]:
    """Return dcgm-exporter's flags, without its counters file. It collects once for each scrape."""
    return (f"--collect-interval={INTERVAL_S[profile] * 1000}", f"--address=127.0.0.1:{PORTS['dcgm']}")


def textfile_arguments(instance_type: InstanceType, efa_devices: int, profile: Profile) -> str:
    """Return the arguments of the script node-metrics.sh."""
    names = EFA_COUNTERS + (EFA_COUNTERS_FULL if profile >= Profile.FULL else ())
    words = [f'--gpus {instance_type.gpus} --efa {efa_devices} --counters "{" ".join(names)}"']
    # The fabric manager of an UltraServer runs in its switch trays.
    if nvlinks(instance_type) and not instance_type.ultraservers:
        words.append("--nvswitch yes")
    gpu = instance_type.gpu
    if instance_type.gpus and (gpu is None or gpu.nvlink_generation >= 5):
        words.append('--nvlink-xids "{}" --nvlink-harmless "{}"'.format(*nvlink5_words()))
    return " ".join(words)


def _script(name: str) -> NodeFile:
    return NodeFile(path=_BIN + name, text=without_comments(scripts.text(f"{name}.sh")), mode="0755", in_place=True)


def _settings(path: str, text: str) -> NodeFile:
    return NodeFile(path=path, text=text, in_place=True)


def _command(name: str, command: str) -> NodeFile:
    """Return the program of a unit: its flags change with the metrics, and the unit does not."""
    return NodeFile(path=f"{_BIN}collect-{name}", text=f"#!/bin/sh\nexec {command}\n", mode="0755", in_place=True)


def _unit(name: str, text: str) -> NodeFile:
    return NodeFile(path=f"/etc/systemd/system/ultracluster-metrics-{name}", text=text)


def _service(name: str, description: str, *, once: bool = False) -> NodeFile:
    kind = "Type=oneshot\nTimeoutStartSec=60" if once else "Restart=always\nRestartSec=15"
    # Collectors must never use a job's CPUs or memory.
    return _unit(
        f"{name}.service",
        f"""\
[Unit]
Description={description}
Wants=network-online.target
After=network-online.target

[Service]
{kind}
Environment=PATH={_PATH}
ExecStart={_BIN}collect-{name}
CPUQuota=100%
MemoryMax=1G
OOMScoreAdjust=500
Nice=10

[Install]
WantedBy=multi-user.target
""",
    )


def _timer(name: str, description: str) -> NodeFile:
    return _unit(f"{name}.timer", _TIMER.format(description=description))


_TIMER = """\
[Unit]
Description={description}, twice a minute

[Timer]
OnActiveSec=1s
OnUnitActiveSec=30s
AccuracySec=1s

[Install]
WantedBy=timers.target
"""
