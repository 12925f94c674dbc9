"""One scratch volume over a node's local NVMe disks, at the same path under every orchestrator and on every image."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster import scripts
from ultracluster.hardware import InstanceType
from ultracluster.planning.arguments import refuse_wrong_fields
from ultracluster.planning.node_files import NodeFile, without_comments
from ultracluster.planning.paths import check_mount_path

#: Where a node says how its scratch volume is: `ok`, or `failed: REASON`. No file: the script has not ended yet.
SCRATCH_STATE = "/run/ultracluster/health/local-scratch"
#: The unit that makes and mounts it, at every boot.
SCRATCH_UNIT = "ultracluster-local-scratch.service"

_SCRIPT = "/usr/local/sbin/ultracluster-local-scratch"
# nodeadm makes a stripe of RAID0 and mounts it there, in a unit of systemd, before it starts kubelet.
# https://github.com/awslabs/amazon-eks-ami/blob/main/templates/shared/runtime/bin/setup-local-disks and
# nodeadm/doc/api.md beside it (read 2026-11-21)
_NODEADM_MOUNT_UNIT = r"mnt-k8s\x2ddisks-0.mount"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSetup:
    """What a node's first boot does; the unit of systemd among the files does it again at every boot.

    Args:
        files: Written first.
        commands: Run then, as root. The last one fails when the volume does; the node stays up.
        node_config: A document for nodeadm, in a MIME part of the type `application/node.eks.aws`. None: nothing to
            say, or no node of EKS.
    """

    files: tuple[NodeFile, ...]
    commands: tuple[str, ...]
    node_config: Mapping[str, Any] | None = None

    def cloud_config(self) -> dict[str, Any]:
        """The keys `write_files` and `runcmd` of a `#cloud-config`: about 10 of the 16 KiB that user data may have."""
        return {
            "write_files": [{"path": file.path, "permissions": file.mode, "content": file.text} for file in self.files],
            "runcmd": list(self.commands),
        }

    def shell(self) -> str:
        """The same as lines of bash, for a script that is there already, such as a lifecycle script of HyperPod."""
        lines = []
        for file in self.files:
            lines += [f"cat >{shlex.quote(file.path)} <<'ULTRACLUSTER_END'", file.text + "ULTRACLUSTER_END"]
            lines.append(f"chmod {file.mode} {shlex.quote(file.path)}")
        return "\n".join([*lines, *self.commands]) + "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalScratch:
    """The scratch volume of a node: everything that its local NVMe disks hold, striped, open to all users.

    A type without local disks gets no volume, and that is no error. Fewer disks than the type has are one: see
    `SCRATCH_STATE`. What is on the volume outlives a reboot, and nothing else.

    Args:
        path: Where it is mounted. Default: `/scratch`.
        container_store: Whether enroot, docker and containerd keep their images on it. Default: yes.

    Raises:
        ValueError: When the path is no plain directory, or one of the system.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-store-lifetime.html (read 2026-11-21)
    """

    path: str = "/scratch"
    container_store: bool = True

    def __post_init__(self) -> None:
        """Check the path."""
        refuse_wrong_fields(self)
        if problems := check_mount_path(self.path, example="/scratch"):
            raise ValueError("; ".join(f"path {problem}" for problem in problems))

    def for_slurm(self, instance_type: InstanceType) -> NodeSetup:
        """For a node of Slurm or any plain instance: the image's stripe where there is one, else one of ours."""
        return self._setup(instance_type, container_store=self.container_store)

    def for_hyperpod(self, instance_type: InstanceType) -> NodeSetup:
        """For a node of HyperPod, whose image mounts the disks at `/opt/dlami/nvme`; `/opt/sagemaker` is EBS, not ours.

        Where containers keep their images is left to HyperPod: its image and AWS's lifecycle scripts choose that.

        See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-deploy-nvme.html and
        https://github.com/awslabs/awsome-distributed-ai (1.architectures/5.sagemaker-hyperpod, read 2026-11-21)
        """
        return self._setup(instance_type, container_store=False)

    def for_eks(self, instance_type: InstanceType) -> NodeSetup:
        """For a node of EKS with Amazon Linux 2023: nodeadm makes the stripe, a directory of it is bound to the path.

        nodeadm also puts the directories of kubelet and containerd, and the logs of pods, on its stripe. Pods see the
        volume through a `hostPath` of `path`, which is bound before kubelet starts.
        """
        if not instance_type.nvme[0]:
            return self._setup(instance_type, container_store=False)
        storage: dict[str, Any] = {"strategy": "RAID0"}
        if not self.container_store:
            storage["disabledMounts"] = ["Containerd"]
        # cloud-init runs before nodeadm: the unit is made ready here, and starts with nodeadm's mount. After nodeadm
        # itself it must not come, because nodeadm starts kubelet before it ends.
        return NodeSetup(
            files=self._files(instance_type, container_store=False, stripe="use", starts_with=_NODEADM_MOUNT_UNIT),
            commands=(f"systemctl enable {SCRATCH_UNIT}",),
            node_config={
                "apiVersion": "node.eks.aws/v1alpha1",
                "kind": "NodeConfig",
                "spec": {"instance": {"localStorage": storage}},
            },
        )

    def _setup(self, instance_type: InstanceType, *, container_store: bool) -> NodeSetup:
        return NodeSetup(
            files=self._files(instance_type, container_store=container_store, stripe="make", starts_with=None),
            commands=(f"systemctl enable --now {SCRATCH_UNIT}",),
        )

    def _files(
        self, instance_type: InstanceType, *, container_store: bool, stripe: str, starts_with: str | None
    ) -> tuple[NodeFile, ...]:
        store = "yes" if container_store else "no"
        command = (
            f"{_SCRIPT} --path {self.path} --disks {instance_type.nvme[0]} --container-store {store} --stripe {stripe}"
        )
        unit = _unit_text(path=self.path, command=command, starts_with=starts_with)
        return (
            NodeFile(path=_SCRIPT, text=without_comments(scripts.text("local-scratch.sh")), mode="0755"),
            NodeFile(path=f"/etc/systemd/system/{SCRATCH_UNIT}", text=unit, mode="0644"),
        )


def _unit_text(*, path: str, command: str, starts_with: str | None) -> str:
    # Not before docker.socket: it belongs to basic.target, which every service comes after. That would be a circle.
    # An hour: the images that an AMI brings along are copied once.
    return f"""\
[Unit]
Description=Scratch volume over the local NVMe disks at {path}
After=local-fs.target {starts_with or "dlami-nvme.service"}
Before=containerd.service docker.service kubelet.service slurmd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={command}
TimeoutStartSec=1h

[Install]
WantedBy={starts_with or "multi-user.target"}
"""
