"""The parts of the Slurm section, as its keys stand in it: queues, accounts, users, the way in."""

from pydantic import Field

from ultracluster.clusterfile.sections.section import Section
from ultracluster.clusterfile.types import slurm as s
from ultracluster.clusterfile.types import values as t


class Ssh(Section):
    """SSH to the login nodes, beside Session Manager."""

    key_pair: s.KeyPair = Field(description="Name of a key pair of EC2, which opens the image's own user.")
    sources: s.Sources = Field(
        alias="from",
        description="Ranges of addresses that may connect; the nodes have private addresses only. anywhere: all.",
    )


class NodeSlurm(Section):
    """What Slurm is told of the nodes of a group."""

    settings: t.SlurmSettings = Field(
        default={}, description="Settings of slurm.conf that PCS takes for nodes, by name, such as Weight."
    )
    gres: s.Gres = Field(
        default=[], description="Records of gres.conf. Default: PCS writes one for the GPUs of the type."
    )


class Queue(Section):
    """A queue: what Slurm calls a partition."""

    nodes: s.SectionNames = Field(
        default=(), description="Sections of `nodes` that it hands out. Default: the one that is called like it."
    )
    default: t.Flag = Field(default=False, description="Whether jobs that name no queue go here.")
    priority: s.Priority = Field(
        default=1, description="Jobs of a queue with a higher one go first, and preempt where `preempt` says so."
    )
    preempt: s.Preempt = Field(
        default="off", description="What becomes of its jobs when a queue with a higher priority wants their nodes."
    )
    max_time: t.Duration | None = Field(default=None, description="The longest that a job may run. Default: no limit.")
    default_time: t.Duration | None = Field(
        default=None, description="How long a job may run that does not say. Default: as long as any."
    )
    accounts: s.AccountNames = Field(default=(), description="Accounts that may use it. Default: all.")
    qos: s.QosNames = Field(default=(), description="QoS that may be used in it. Default: all.")
    billing_weights: s.BillingWeights = Field(
        default={}, description="What resources cost in accounting, by name, such as GRES/gpu. Default: a CPU is 1."
    )
    settings: t.SlurmSettings = Field(default={}, description="Other settings that PCS takes for queues, by name.")


class Account(Section):
    """An account of Slurm: who shares a part of the cluster."""

    parent: s.AccountName | None = Field(
        default=None, description="The account that it is a part of. Default: the whole cluster."
    )
    fairshare: s.Shares = Field(default=1, description="Its shares beside those of others with its parent.")
    qos: s.QosNames = Field(default=(), description="QoS of its jobs, the first by default. Default: its parent's.")
    settings: s.Options = Field(default={}, description="Options of sacctmgr by name, such as {GrpTRES: gres/gpu=256}.")


class Qos(Section):
    """A quality of service of Slurm."""

    priority: s.QosPriority = Field(default=0, description="What it adds to the priority of a job.")
    settings: s.Options = Field(
        default={}, description="Options of sacctmgr by name, such as {MaxTRESPerUser: gres/gpu=64}."
    )


class User(Section):
    """A person, the same on every node."""

    uid: s.Uid = Field(description="Number of user and group, 2000 to 59999. Never give it to somebody else.")
    ssh_keys: s.SshKeys = Field(default=(), description="Public keys that open the login nodes. Default: none.")
    accounts: s.AccountNames = Field(default=(), description="Accounts of the user's jobs, the first by default.")
    admin: t.Flag = Field(default=False, description="Whether the user may do everything with Slurm.")
