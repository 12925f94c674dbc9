"""The section `slurm`: controller, queues, accounts, users, login nodes."""

from typing import Annotated

from pydantic import Field

from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _slurm_words as s
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._directory import Directories
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._image import Image
from ultracluster.clusterfile.sections._nodes import InstanceTypeName, NodeGroupName
from ultracluster.clusterfile.sections._scripts import Script
from ultracluster.clusterfile.sections._section import Section, optional
from ultracluster.planning.nodes import RESERVED_USERS

Replacements = Annotated[int, w.whole(1, 1000, example=2)]


def _health(value: object) -> bool:
    try:
        return w.flag(value)
    except ValueError as error:
        raise ValueError(
            str(error).replace("must be true or false", "must be true, false or {replace: 2}", 1)
        ) from None


class Ssh(Section):
    """SSH to the login nodes, beside Session Manager."""

    key_pair: s.KeyPair = Field(description="Name of an EC2 key pair, which opens the image's own user.")
    sources: w.Several[s.Source] = Field(
        alias="from",
        description="Ranges of addresses that may connect; the nodes have private addresses only. anywhere: all.",
    )


class Queue(Section):
    """A queue: what Slurm calls a partition."""

    nodes: w.Several[NodeGroupName] = Field(
        default=(), description="Sections of `nodes` in the queue. Default: the one with the name of the queue."
    )
    default: t.Flag = Field(
        default=False,
        description="Whether jobs that name no queue go here. Default: if no queue is the default, the first.",
    )
    priority: s.Priority = Field(
        default=1,
        description="Jobs of a queue with a higher one start first, and preempt others where `preempt` allows it.",
    )
    preempt: s.Preempt = Field(
        default="off", description="What Slurm does with its jobs if a queue with a higher priority needs their nodes."
    )
    max_time: t.Duration | None = Field(default=None, description="Longest run time of a job. Default: no limit.")
    default_time: t.Duration | None = Field(
        default=None, description="Run time of a job that requests none. Default: as long as any."
    )
    accounts: w.Several[s.AccountName] = Field(default=(), description="Accounts that may use it. Default: all.")
    qos: w.Several[s.AccountName] = Field(default=(), description="QoS that may be used in it. Default: all.")
    billing_weights: s.BillingWeights = Field(
        default={}, description="What resources cost in accounting, by name, such as GRES/gpu. Default: a CPU is 1."
    )
    settings: t.Settings = Field(default={}, description="Other settings that PCS accepts for queues, by name.")


class Account(Section):
    """An account of Slurm, with a share of the cluster."""

    parent: s.AccountName | None = Field(default=None, description="Parent account. Default: the whole cluster.")
    fairshare: s.Shares = Field(default=1, description="Its shares beside those of others with its parent.")
    qos: w.Several[s.AccountName] = Field(
        default=(), description="QoS of its jobs, first the default one. Default: its parent's."
    )
    members: w.Several[s.Member] = Field(
        default=(),
        description="Users of `directory` with jobs of the account; the first account that has a user is the default "
        "one. Users of the file have `accounts`.",
    )
    settings: s.Options = Field(default={}, description="Options of sacctmgr by name, such as {GrpTRES: gres/gpu=256}.")


class Qos(Section):
    """A quality of service of Slurm."""

    priority: s.QosPriority = Field(
        default=0,
        description="What it adds to the priority of a job, as a part of the highest of all QoS: PriorityWeightQOS, by "
        "default 10000, times that part.",
    )
    settings: s.Options = Field(
        default={}, description="Options of sacctmgr by name, such as {MaxTRESPerUser: gres/gpu=64}."
    )


class User(Section):
    """A user, the same on every node."""

    uid: s.Uid = Field(description="Number of user and group, 2000 to 59999. Never give it to another user.")
    ssh_keys: w.Several[s.SshKey] = Field(default=(), description="Public keys for the login nodes. Default: none.")
    accounts: w.Several[s.AccountName] = Field(
        default=(),
        description="Accounts of the user's jobs, first the default one. Required where Slurm enforces associations.",
    )
    admin: t.Flag = Field(default=False, description="Whether the user administers Slurm.")


class Health(Section):
    """Health checks of nodes, and what follows from them."""

    replace: Replacements | None = Field(
        default=None,
        description="Instances of a node group that may be terminated within an hour because of a fault of their "
        "hardware, so that PCS starts others; at most 2, or 5 % of the group. Default: none.",
    )


HealthOrFlag = Annotated[bool | Health, Either(w.Word(_health, type="boolean"), Health)]


class Login(Section):
    """The login nodes."""

    type: InstanceTypeName = Field(default="c7i.2xlarge", description="EC2 instance type; a GPU is not needed.")
    count: t.Count = Field(default=1, description="Number of login nodes; 2 outlive the loss of one.")
    image: Image | None = Field(default=None, description="As for node groups, of the type's architecture.")
    scripts: tuple[Script, ...] = Field(default=(), description="Scripts that run on each login node at boot.")
    ssh: Ssh | None = Field(default=None, description="SSH beside Session Manager. Default: none.")
    tags: t.Tags = Field(default={}, description=t.TAGS_OF_NODES.format("login"))


class Logs(Section):
    """Logs of controller and nodes in CloudWatch."""

    retention: t.Duration = Field(
        default=Duration.parse("90 d"), description="For how long CloudWatch keeps them, such as 30 d, 90 d, 365 d."
    )
    encryption_key: t.KeyArn | None = Field(
        default=None,
        description="KMS key of the log groups, which must allow CloudWatch Logs. Default: CloudWatch's own.",
    )


class Slurm(Section):
    """Slurm, run by AWS PCS."""

    version: s.SlurmVersion = Field(default=pcs.DEFAULT_SLURM_VERSION, description="Version of Slurm.")
    size: s.ControllerSize | None = Field(
        default=None,
        description="Size of the controller: SMALL for 32 instances, MEDIUM for 512, LARGE for 2,048, login nodes "
        "included. It cannot change later, so leave room to grow. Default: the smallest that holds the nodes.",
    )
    accounting: t.Flag = Field(default=True, description="Whether Slurm keeps its accounting database.")
    scale_down_idle_time: t.Duration = Field(
        default=Duration.parse("10 min"), description="How long an idle node that was powered on for a job stays."
    )
    accounting_purge_time: t.Duration | None = Field(
        default=None, description="For how long accounting records are kept, in whole days. Default: for ever."
    )
    rest_api: t.Flag = Field(default=False, description="Whether the controller serves Slurm's REST API, port 6820.")
    metrics: t.Flag | None = Field(
        default=None,
        description="Whether the controller serves its own metrics to Prometheus, without a password, port 6817. "
        "Default: where metrics are collected, from Slurm 25.11 on, unless `settings` has them or PrivateData.",
    )
    settings: t.Settings = Field(
        default={},
        description="Settings of slurm.conf that PCS accepts, by name, such as Prolog; PCS refuses others.",
    )
    health: HealthOrFlag = Field(
        default=True,
        description="Whether nodes are checked before each job, and cleaned up after it: prolog, epilog. {replace: 2} "
        "also replaces bad nodes.",
    )
    imds: s.ImdsAccess = Field(
        default="root",
        description="Who reaches the instance metadata service on the nodes, and with it the credentials of the nodes' "
        "role, which can join nodes to Slurm: root, or all users and their jobs.",
    )
    logs: Logs = optional(description="Logs of controller and nodes in CloudWatch.")
    slurmdbd_settings: t.Settings = Field(
        default={}, description="Settings of slurmdbd.conf that PCS accepts, by name."
    )
    cgroup_settings: t.Settings = Field(default={}, description="Settings of cgroup.conf that PCS accepts, by name.")
    queues: dict[NodeGroupName, Queue] = Field(
        default={}, description="Queues by name. Default: each section of `nodes` that no queue names has its own."
    )
    accounts: dict[s.AccountName, Account] = Field(default={}, description="Accounts of Slurm, by name.")
    qos: dict[s.AccountName, Qos] = Field(default={}, description="Qualities of service of Slurm, by name.")
    users: dict[s.UserName, User] = Field(
        default={},
        description="Users of all nodes, by name. Default: the image's. Names of users that images have, and of "
        "directories of the cluster, are not valid: "
        f"{', '.join(sorted(RESERVED_USERS))}.",
    )
    directory: Directories | None = Field(
        default=None,
        description="Users of all nodes from a directory, instead of `users`. Default: none.",
    )
    login: Login = optional(description="The login nodes.")

    @property
    def replacements(self) -> int:
        """Instances of a node group that may be terminated within an hour for a fault of their hardware."""
        return (self.health.replace or 0) if isinstance(self.health, Health) else 0

    @property
    def is_new(self) -> bool:
        """True: the controller is new."""
        return True

    @property
    def service_nodes(self) -> Login:
        """Nodes beside the node groups."""
        return self.login
