"""Methods of constructs refuse wrong arguments as constructors do: the argument, what it must be, what was given."""

from collections.abc import Callable
from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from support.contracts import ACCOUNT, REGION, World
from support.contracts.slurm import controller
from support.contracts.storage import lustre
from ultracluster import compute, eks, observability, storage
from ultracluster.planning.capacity import Image
from ultracluster.rules import Refusal


class Made:
    """One construct of each kind with methods."""

    def __init__(self) -> None:
        self.stack = cdk.Stack(
            cdk.App(analytics_reporting=False), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION)
        )
        self.world = World(self.stack)
        self.lustre: Any = lustre(self.stack, "Lustre", self.world)
        self.home: Any = storage.EfsHome(self.stack, "Home", vpc=self.world.vpc, subnets=[self.world.subnet])
        self.bucket: Any = storage.DataBucket(self.stack, "Data")
        self.express: Any = storage.ExpressBucket(self.stack, "Express", zone="use2-az1")
        self.slurm: Any = controller(self.stack, "Slurm", self.world)
        self.role: Any = eks.EksNodeRole(self.stack, "NodeRole")
        self.queue = sqs.Queue(self.stack, "Queue")
        self.nodes: Any = compute.AutoScalingNodeGroup(
            self.stack, "Nodes", instance_type="m7i.large", count=1, vpc=self.world.vpc, subnet=self.world.subnet
        )


@cache
def made() -> Made:
    return Made()


CASES: dict[str, tuple[Callable[[Made], object], str]] = {
    "alarm, no action": (
        lambda x: x.lustre.alarms.add("Full", None),
        "Stack/Lustre: action must be an IAlarmAction or an ITopic, got None",
    ),
    "alarm, negative threshold": (
        lambda x: x.lustre.alarms.add("Full", x.world.topic, threshold=-1),
        "Stack/Lustre: threshold must be 0 or more, got -1",
    ),
    "alarm, period": (
        lambda x: x.lustre.alarms.add("Full", x.world.topic, period=cdk.Duration.days(9)),
        "Stack/Lustre: period must be at most 7 days, got 777600 seconds",
    ),
    "alarm, scope": (
        lambda x: x.lustre.alarms.add("Full", x.world.topic, scope="x"),
        "Stack/Lustre: scope must be an instance of Construct, got 'x'",
    ),
    "alarms, none": (lambda x: x.lustre.alarms.add_all(None), "Stack/Lustre: action must be an IAlarmAction"),
    "alarms, left out": (
        lambda x: x.lustre.alarms.add_all(x.world.topic, leave_out=None),
        "Stack/Lustre: leave_out must hold names of Full, ",
    ),
    "clients, subnets": (
        lambda x: x.lustre.allow_clients(x.world.security_group, subnets=x.queue),
        "Stack/Lustre: subnets must be an ISubnet or a list, got Queue Stack/Queue",
    ),
    "clients, no subnet": (
        lambda x: x.home.allow_clients(x.world.security_group, subnets=[None]),
        "Stack/Home: subnets must be an ISubnet, got [None]",
    ),
    "clients, scope": (
        lambda x: x.home.allow_clients(x.world.security_group, scope="x"),
        "Stack/Home: scope must be an instance of Construct, got 'x'",
    ),
    "security group": (
        lambda x: x.nodes.add_security_group(x.queue),
        "Stack/Nodes: security_group must be an ISecurityGroup, got Queue Stack/Queue",
    ),
    "user data": (lambda x: x.nodes.add_user_data(["a"]), "Stack/Nodes: commands must be texts, got ['a']"),
    "grantee, none": (lambda x: x.bucket.grants.read(None), "grantee must be an IGrantable, got None"),
    "grantee, a text": (lambda x: x.slurm.grants.read("ada"), "grantee must be an IGrantable, got 'ada'"),
    "grantee, a queue": (
        lambda x: x.express.grants.read_write(x.queue),
        "grantee must be an IGrantable, got Queue Stack/Queue",
    ),
    "log groups": (
        lambda x: observability.CloudWatchGrants.read_logs(x.role, 5),  # type: ignore[arg-type]
        "log_groups must be a string, got 5",
    ),
    "prefix, none": (
        lambda x: x.bucket.grants.read_write_objects(x.role, None),
        "prefix must be a string, got None",
    ),
    "prefix, wildcard": (
        lambda x: x.bucket.grants.read_write_objects(x.role, "*/secret"),
        "prefix must be a prefix of keys, without * and ?, got '*/secret'",
    ),
    "metric": (lambda x: x.lustre.metrics.metric(None), "name must be a string, got None"),
    "metric, period": (
        lambda x: x.lustre.metrics.metric("FreeDataStorageCapacity", period=5),
        "period must be an instance of Duration, got 5",
    ),
    "metric, queue": (
        lambda x: x.lustre.metrics.metric_age_of_oldest_queued_message("Export"),
        "publisher must be AutoExport or AutoImport, got 'Export'",
    ),
    "size": (lambda x: x.bucket.metrics.metric_size(None), "storage_type must be a string, got None"),
    "mount, none": (lambda x: x.home.mount(None), "path must be a directory, such as /home"),
    "mount, system": (lambda x: x.home.mount("/proc"), "path '/proc' is a directory of the system"),
    "access entry": (
        lambda x: x.role.add_access_entry("llama"),
        "Stack/NodeRole: cluster must be an ICluster of aws_eks_v2, got 'llama'",
    ),
    "policy": (
        lambda x: x.express.add_to_resource_policy(None),
        "Stack/Express: statement must be an instance of PolicyStatement, got None",
    ),
    "image at launch": (
        lambda x: compute.NodeGroupTemplate(
            x.stack,
            "Launch",
            instance_type="m7i.large",
            security_groups=x.world.security_group,
            image=ec2.MachineImage.resolve_ssm_parameter_at_launch("/team/image"),
        ),
        "Stack/Launch: an image that EC2 resolves at launch is refused: a node that replaces another could have "
        "another one than its group; use Image(parameter='/team/image'), or ec2.MachineImage.from_ssm_parameter",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_words(case: str) -> None:
    call, sentence = CASES[case]
    with pytest.raises(Refusal) as refused:
        call(made())
    assert sentence in str(refused.value)


def test_right_arguments_are_accepted() -> None:
    x = made()
    user = iam.User(x.stack, "User")
    for grants in (x.bucket.grants, x.express.grants, x.slurm.grants):
        assert grants.read(user).success
    assert x.bucket.grants.read_write_objects(user, prefix="results/").success
    x.lustre.allow_clients(x.world.client, subnets=(), scope=Construct(x.stack, "Rules"))
    x.nodes.add_security_group(x.world.client)
    x.nodes.add_user_data("echo hello", "echo again")
    assert x.home.mount("/home").path == "/home"
    alarm = x.lustre.alarms.add("Full", x.world.topic, threshold=0, scope=Construct(x.stack, "Alarms"))
    assert alarm.alarm_arn
    assert Image(parameter="/team/image").parameter
