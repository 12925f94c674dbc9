"""Outputs of the controller and the nodes of a Slurm cluster."""

from collections.abc import Mapping

from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.orchestration import Output
from ultracluster.planning.capacity import Block, UltraServerBlock, segment
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._job_files import jobs_directory
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.slurm._pcs_queue import PcsQueue


def controller_outputs(controller: IPcsCluster, region: str) -> list[Output]:
    """Return the outputs that a person needs of the controller."""
    id = controller.cluster_id
    # https://docs.aws.amazon.com/pcs/latest/userguide/get-started-cfn-template-parts.html (read 2026-11-22)
    host = "console.amazonaws-us-gov.com" if region.startswith("us-gov-") else f"{region}.console.aws.amazon.com"
    return [
        Output("ClusterId", "AWS PCS cluster", id),
        Output(
            "ClusterConsole",
            "The cluster in the console of AWS PCS",
            f"https://{host}/pcs/home?region={region}#/clusters/{id}",
        ),
    ]


def node_outputs(
    cluster: ClusterFile,
    groups: Mapping[str, PcsComputeNodeGroup],
    queues: Mapping[str, PcsQueue],
    *,
    has_jobs: bool,
) -> list[Output]:
    """Return the outputs that a person or a job script needs of the nodes.

    Ids are those of the first stack: it does not refer to further ones.
    """
    further = {name for stack in cluster.compute_stacks[1:] for name in stack.groups}
    sections = {group.section for group in cluster.node_groups if group.name in further}
    names = {plan.name for plan in cluster.queues if sections.isdisjoint(plan.sections)}
    groups = {name: group for name, group in groups.items() if name not in further}
    queues = {name: queue for name, queue in queues.items() if name in names}
    outputs = [
        Output(id, description, ", ".join(f"{name} {value}" for name, value in ids.items()))
        for id, description, ids in (
            ("NodeGroupIds", "AWS PCS compute node groups", {name: it.node_group_id for name, it in groups.items()}),
            ("QueueIds", "AWS PCS queues", {name: queue.queue_id for name, queue in queues.items()}),
        )
        if ids
    ]
    domains = [
        f"{group.name}: {group.count} nodes, {group.nvlink_domain} GPUs, "
        f"sbatch --exclusive --segment={segment(group.count)}"
        for group in cluster.node_groups
        if group.ultraserver
    ]
    if domains:
        description = "UltraServers: one NVLink domain each, and one block of Slurm's topology"
        outputs.append(Output("NvlinkDomains", description, "; ".join(domains)))
    if ends := [line for group in cluster.node_groups if (line := _end(group, cluster))]:
        description = "Capacity Blocks that end, and when their nodes take no more jobs"
        outputs.append(Output("CapacityEnds", description, "; ".join(ends)))
    if "login" in groups:
        outputs += _login(cluster, groups["login"])
    if has_jobs:
        description = "Job files of this cluster, on its nodes; submit: sbatch QUEUE/JOB.sbatch"
        outputs.append(Output("JobFiles", description, f"{jobs_directory(cluster)}/current"))
    return outputs


def session(login: PcsComputeNodeGroup, cluster: ClusterFile) -> str:
    """Return the command that starts a session on a login node."""
    return (
        f"aws ssm start-session --region {cluster.region} --target $({_instances(login, cluster)} "
        "--query 'Reservations[0].Instances[0].InstanceId' --output text)"
    )


def _instances(login: PcsComputeNodeGroup, cluster: ClusterFile) -> str:
    return (
        f"aws ec2 describe-instances --region {cluster.region} --filters Name=instance-state-name,Values=running "
        f"Name=tag:aws:pcs:compute-node-group-id,Values={login.node_group_id}"
    )


def _login(cluster: ClusterFile, login: PcsComputeNodeGroup) -> list[Output]:
    command = Output("LoginCommand", "How to log in; then: sudo -iu ubuntu", session(login, cluster))
    if cluster.slurm.login.ssh is None:
        return [command]
    addresses = Output(
        "LoginAddresses",
        "Private addresses of the login nodes, for ssh as ubuntu or as a user of the cluster file",
        f"{_instances(login, cluster)} --query 'Reservations[].Instances[].PrivateIpAddress' --output text",
    )
    return [command, addresses]


def _end(group: NodeGroup, cluster: ClusterFile) -> str | None:
    """Describe the end of the Capacity Block of a group, if it is known."""
    block = group.capacity
    if not isinstance(block, Block) or block.terminates_at is None:
        return None
    drained = block.terminates_at - cluster.notifications.drain.timedelta
    action = "to be terminated by you before" if isinstance(block, UltraServerBlock) else "terminated from"
    return (
        f"{group.name} ({block.reservation_id}): drained from {drained:%Y-%m-%d %H:%M}, "
        f"{action} {block.terminates_at:%Y-%m-%d %H:%M} UTC"
    )
