"""Older form of Slurm's configuration on HyperPod: a file beside the lifecycle scripts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ultracluster.hyperpod._instance_group import GROUP, HyperPodMount
from ultracluster.planning import check_fields, known
from ultracluster.rules import Refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodProvisioning:
    """Roles of instance groups in `provisioning_parameters.json`, the form before `node_type` and `partition`.

    Lifecycle scripts of AWS's samples read the file. It is the only form with several controllers, by `settings`.
    A cluster has one of the two forms.

    Args:
        controller: Group of the controller.
        compute: Partitions by the name of the group.
        login: Group of the login nodes. Default: none.
        lustre: File system of FSx for Lustre that the scripts mount; its path is theirs. Default: none.
        openzfs: File system of FSx for OpenZFS that the scripts mount. Default: none.
        settings: Values of `slurm_configurations`, such as `slurm_database_endpoint` and `slurm_shared_directory` of
            several controllers. They may be CDK tokens. Default: none.

    Raises:
        Refusal: If a group has two roles, or a file system is not of its kind. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html and
    https://github.com/awslabs/awsome-distributed-ai, 1.architectures/5.sagemaker-hyperpod/LifecycleScripts/base-config
    (commit 95b939c of 2026-07-23, both read 2026-11-25)
    """

    controller: str
    compute: Mapping[str, str]
    login: str | None = None
    lustre: HyperPodMount | None = None
    openzfs: HyperPodMount | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        problems = [] if self.compute else [GROUP("compute must hold at least one group, got none")]
        problems += [
            GROUP(f"a group has one role, got {name!r} as {role} and in compute")
            for role, name in (("controller", self.controller), ("login", self.login))
            if name in self.compute
        ]
        if self.login == self.controller:
            problems.append(GROUP(f"a group has one role, got {self.login!r} as controller and login"))
        if self.lustre is not None and self.lustre.mount_name is None:
            problems.append(GROUP("lustre must be a file system of FSx for Lustre: give its mount_name"))
        if self.openzfs is not None and self.openzfs.mount_name is not None:
            problems.append(GROUP("openzfs must be a file system of FSx for OpenZFS: leave mount_name out"))
        if problems:
            raise Refusal("", problems)

    @property
    def groups(self) -> list[str]:
        """Names of all groups."""
        return [self.controller, *([self.login] if self.login else []), *self.compute]

    def render(self) -> str:
        """Return the text of the file."""
        workers = [
            {"instance_group_name": name, "partition_name": partition} for name, partition in self.compute.items()
        ]
        content: dict[str, object] = {
            "version": "1.0.0",
            "workload_manager": "slurm",
            "controller_group": self.controller,
            "worker_groups": workers,
        }
        if self.login is not None:
            content["login_group"] = self.login
        if self.lustre is not None:
            content |= {"fsx_dns_name": self.lustre.dns_name, "fsx_mountname": self.lustre.mount_name}
        if self.openzfs is not None:
            content["fsx_openzfs_dns_name"] = self.openzfs.dns_name
        if self.settings:
            content["slurm_configurations"] = dict(self.settings)
        return json.dumps(content, indent=1)

    def problems(self, groups: Mapping[str, bool]) -> list[str]:
        """Return the errors beside the instance groups of a cluster.

        Args:
            groups: Whether each group has a role of the API, by name.
        """
        missing = [name for name in self.groups if known(name) and name not in groups]
        problems = [f"provisioning names the group {name}, which the cluster does not have" for name in missing]
        both = [name for name, has_role in groups.items() if has_role]
        problems += [
            f"the group {name} has a node_type, and provisioning has the roles: leave one out" for name in both
        ]
        others = [name for name in groups if name not in self.groups]
        return problems + [f"provisioning has no role for the group {name}" for name in others]
