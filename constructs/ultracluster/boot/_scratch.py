"""One scratch volume over a node's local NVMe disks, at the same path under every orchestrator and on every image."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster.boot._node_files import PROGRAM, NodeFile, oneshot, program, shell, unit_file
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.planning import check_fields
from ultracluster.planning.nodes import MOUNT_PATH, check_mount_path
from ultracluster.rules import Refusal

#: File with the state of a node's scratch volume: `ok`, or `failed: REASON`. No file: the script has not ended yet.
SCRATCH_STATE = "/run/ultracluster/health/local-scratch"
#: The unit that makes and mounts it, at every boot.
SCRATCH_UNIT = "ultracluster-local-scratch.service"

# nodeadm makes a stripe of RAID0 and mounts it there, in a unit of systemd, before it starts kubelet.
# https://github.com/awslabs/amazon-eks-ami/blob/main/templates/shared/runtime/bin/setup-local-disks and
# nodeadm/doc/api.md beside it (read 2026-11-21)
_NODEADM_MOUNT_UNIT = r"mnt-k8s\x2ddisks-0.mount"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSetup:
    """First boot of a node's scratch volume; the systemd unit among the files repeats it at every boot.

    Args:
        files: Files, written first.
        commands: Commands to run as root. The last one fails if the volume does; the node stays up.
        node_config: Document for nodeadm, in a MIME part of the type `application/node.eks.aws`, or None for no
            settings or another image.
    """

    files: tuple[NodeFile, ...]
    commands: tuple[str, ...]
    node_config: Mapping[str, Any] | None = None

    def cloud_config(self) -> dict[str, Any]:
        """Return the keys `write_files` and `runcmd` of a `#cloud-config`: about 10 of the 16 KiB of user data."""
        return {
            "write_files": [{"path": file.path, "permissions": file.mode, "content": file.text} for file in self.files],
            "runcmd": list(self.commands),
        }

    def shell(self) -> str:
        """Return the same as lines of bash, for an existing script, such as a HyperPod lifecycle script."""
        return shell(self.files, self.commands)


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalScratch:
    """Scratch volume of a node: all local NVMe disks, striped, open to all users.

    A type without local disks has no volume, which is not an error. Fewer disks than the type has are one: see
    `SCRATCH_STATE`. Data on the volume survives a reboot, but not a stop.

    Args:
        path: Mount point. By default, `/scratch`.
        container_store: enroot, docker and containerd keep their images on it. By default, they do.

    Raises:
        ValueError: If the path is not a plain directory, or a system directory.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-store-lifetime.html (read 2026-11-21)
    """

    path: str = "/scratch"
    container_store: bool = True

    def __post_init__(self) -> None:
        """Validate the path."""
        check_fields(self)
        if problems := check_mount_path(self.path, example="/scratch"):
            raise Refusal("", [MOUNT_PATH(f"path {problem}") for problem in problems])

    def for_slurm(self, instance_type: InstanceType) -> NodeSetup:
        """Return the setup of a Slurm node or a plain instance, with the image's stripe if it has one."""
        return self._setup(instance_type, container_store=self.container_store)

    def for_hyperpod(self, instance_type: InstanceType) -> NodeSetup:
        """Return the setup of a HyperPod node, whose image mounts the disks at `/opt/dlami/nvme`.

        The container store is left to HyperPod: its image and AWS's lifecycle scripts set it.

        See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-deploy-nvme.html and
        https://github.com/awslabs/awsome-distributed-ai (1.architectures/5.sagemaker-hyperpod, read 2026-11-21)
        """
        return self._setup(instance_type, container_store=False)

    def for_eks(self, instance_type: InstanceType) -> NodeSetup:
        """Return the setup of an EKS node with Amazon Linux 2023: nodeadm's stripe, bind-mounted at the path.

        nodeadm also puts the directories of kubelet and containerd, and pod logs, on its stripe. Pods use the
        volume through a `hostPath` of `path`, which is bound before kubelet starts.
        """
        if not instance_type.nvme[0]:
            return self._setup(instance_type, container_store=False)
        storage: dict[str, Any] = {"strategy": "RAID0"}
        if not self.container_store:
            storage["disabledMounts"] = ["Containerd"]
        # cloud-init runs before nodeadm: the unit is created ready here, and starts with nodeadm's mount. After nodeadm
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
        command = f"{PROGRAM}local-scratch --path {self.path} --disks {instance_type.nvme[0]}"
        unit = oneshot(
            f"Scratch volume over the local NVMe disks at {self.path}",
            unit=(
                f"After=local-fs.target {starts_with or 'dlami-nvme.service'}",
                # Not before docker.socket: it belongs to basic.target, which every service comes after: a circle.
                "Before=containerd.service docker.service kubelet.service slurmd.service",
            ),
            service=(
                "RemainAfterExit=yes",
                f"ExecStart={command} --container-store {store} --stripe {stripe}",
                # The images that an AMI brings along are copied once.
                "TimeoutStartSec=1h",
            ),
            wanted_by=starts_with or "multi-user.target",
        )
        return (program("local-scratch", comments=False), unit_file(SCRATCH_UNIT, unit))
