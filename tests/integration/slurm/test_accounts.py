"""Accounts, QoS and users of Slurm: the rendered script against a real slurmdbd."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.real_slurm import RealSlurm
from support.waiting import PATIENCE_SECONDS
from ultracluster import clusterfile
from ultracluster.boot import SlurmAccount, SlurmQos, SlurmUser, accounting_script, check_accounts

CLUSTER = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  tune: {type: p5.48xlarge, count: 1}
slurm:
  queues:
    tune: {default: true}
    urgent: {nodes: [tune], accounts: [team]}
  accounts:
    team: {fairshare: 2, settings: {GrpTRES: gres/gpu=4}}
storage:
  lustre: {throughput: 20 GB/s}
"""
LONG = SlurmQos(name="long", priority=10, options={"MaxJobsPerUser": "4"})
RESEARCH = SlurmAccount(name="research", fairshare=10)
TUNING = SlurmAccount(
    name="tuning", parent="research", fairshare=3, qos=("normal", "long"), options={"GrpTRES": "gres/gpu=64"}
)
ADA = SlurmUser(name="ada", accounts=("tuning", "research"), admin=True)
GRACE = SlurmUser(name="grace", accounts=("research",))


class Database:
    """The database of a running Slurm, read through sacctmgr."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", script], env=self.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )

    def show(self, *words: str) -> list[str]:
        command = ["sacctmgr", "-nP", "show", *words]
        return sorted(
            subprocess.check_output(command, env=self.environment, text=True, timeout=PATIENCE_SECONDS).split()
        )


pytestmark = pytest.mark.daemons


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with RealSlurm(clusterfile.loads(CLUSTER, "cluster.yaml")) as running:
        yield running


@pytest.fixture(scope="module")
def database(slurm: RealSlurm) -> Database:
    return Database(slurm.environment)


def script(*accounts: SlurmAccount, users: tuple[SlurmUser, ...] = (), qos: tuple[SlurmQos, ...] = (LONG,)) -> str:
    return accounting_script(version="25.11", accounts=accounts, qos=qos, users=users)


def test_script_brings_a_real_slurmdbd_to_the_state_of_the_file(database: Database) -> None:
    # The child stands before its parent.
    text = script(TUNING, RESEARCH, users=(ADA, GRACE))
    for _ in range(2):
        done = database.run(text)
        assert done.returncode == 0, done.stdout + done.stderr
        assert database.show("qos", "long", "format=name,priority,maxjobspu") == ["long|10|4"]
        shares = "format=account,user,parentname,fairshare,qos,defaultqos,grptres"
        assert database.show("assoc", "where", "account=research,tuning", shares) == [
            "research|ada||1|normal||",
            "research|grace||1|normal||",
            "research||root|10|normal||",
            "tuning|ada||1|long,normal|normal|",
            "tuning||research|3|long,normal|normal|gres/gpu=64",
        ]
        people = ["ada|tuning|Administrator", "grace|research|None", "root|root|Administrator"]
        assert database.show("user", "format=user,defaultaccount,admin") == people

    # Changes of the file are applied; accounts that leave it stay, with their history.
    moved = SlurmAccount(name="tuning", fairshare=5)
    done = database.run(script(RESEARCH, moved, users=(SlurmUser(name="ada", accounts=("tuning",)),)))
    assert done.returncode == 0, done.stderr
    assert database.show("assoc", "where", "account=tuning", "user=", "format=account,parentname,fairshare") == [
        "tuning|root|5"
    ]
    assert database.show("user", "format=user,admin") == ["ada|None", "grace|None", "root|Administrator"]

    # What Slurm refuses is printed, fails the run, and keeps nothing else from being created.
    wrong = SlurmAccount(name="broken", options={"GrpTrees": "cpu=1"})
    once = Database({**database.environment, "ULTRACLUSTER_LIMIT": "0"})
    done = once.run(script(wrong, SlurmAccount(name="after")))
    assert done.returncode == 1
    assert done.stderr.count("failed: ") == 1
    assert "broken" in done.stderr
    assert database.show("account", "after", "format=account") == ["after"]


def test_what_leaves_the_file_leaves_slurm(slurm: RealSlurm, database: Database) -> None:
    """Options, resources of a list, QoS, accounts of users and their level; jobs go on."""
    name = slurm.user
    other = SlurmAccount(name="other")
    limits = {"GrpTRES": "gres/gpu=64,CPU=9", "maxjobs": "3", "MaxTRESPerNode": "cpu=8"}
    of_qos = {"MaxTRESPerUser": "cpu=2", "Flags": "DenyOnLimit", "GraceTime": "5", "Preempt": "normal"}
    tuning = SlurmAccount(name="tuning", qos=("long",), options=limits)
    ada = SlurmUser(name="ada", accounts=("tuning", "other"), admin=True)
    me = SlurmUser(name=name, accounts=("tuning", "other"), admin=None)
    full = script(other, tuning, users=(ada, me), qos=(SlurmQos(name="long", options=of_qos),))
    shares = ("assoc", "where", "account=tuning", "user=", "format=grptres,maxjobs,maxtrespernode,qos,defaultqos")
    for _ in range(2):
        assert database.run(full).returncode == 0
        assert database.show(*shares) == ["cpu=9,gres/gpu=64|3|cpu=8|long|long"]
        assert database.show("qos", "long", "format=maxtrespu,flags,gracetime,preempt") == [
            "cpu=2|DenyOnLimit|00:00:05|normal"
        ]
    job = slurm.run("sbatch", "--parsable", "--output=/dev/null", "--account=tuning", "--qos=long", "--wrap=sleep 600")
    slurm.until("it runs", lambda: slurm.job(job, "%T") == "RUNNING")
    less = (
        other,
        SlurmAccount(name="tuning", options={"GrpTRES": "GRES/gpu=64"}),
    )
    users = (SlurmUser(name="ada", accounts=("other",)), SlurmUser(name=name, accounts=("other",), admin=None))
    text = script(*less, users=users, qos=(SlurmQos(name="long"),))
    done = database.run(text)
    assert done.returncode == 0, done.stderr
    assert database.show(*shares) == ["gres/gpu=64|||normal|"]
    assert database.show("qos", "long", "format=maxtrespu,flags,gracetime,preempt") == ["||00:00:00|"]
    members = ("assoc", "where", f"user=ada,{name}", "account=other,tuning", "format=account,user")
    # Slurm keeps it while the job runs; the next run after that removes it.
    assert f"{name} keeps the account tuning for now" in done.stdout
    assert slurm.job(job, "%T") == "RUNNING"
    assert database.show(*members) == ["other|ada", f"other|{name}", f"tuning|{name}"]
    assert database.show("user", "ada", "format=user,defaultaccount,admin") == ["ada|other|None"]
    slurm.run("scancel", job)
    slurm.until("its end is accounted", lambda: database.run(text).stdout.count("for now") == 0)
    assert database.show(*members) == ["other|ada", f"other|{name}"]


def test_the_user_of_the_image_has_an_account(database: Database, tmp_path: Path) -> None:
    (tmp_path / "getent").write_text('#!/bin/sh\n[ "$*" = "-s files passwd ubuntu" ]\n')
    (tmp_path / "getent").chmod(0o755)
    of_image = Database({**database.environment, "PATH": f"{tmp_path}:{database.environment['PATH']}"})
    text = accounting_script(version="25.11")
    for account in ("root", "chosen"):
        done = of_image.run(text)
        assert done.returncode == 0, done.stderr
        assert database.show("assoc", "where", "user=ubuntu,ec2-user", "format=account,user") == [f"{account}|ubuntu"]
        # Another account, once it has one, is an administrator's choice.
        database.run("sacctmgr -i add account chosen; sacctmgr -i add user ubuntu account=chosen; "
                     "sacctmgr -i modify user where name=ubuntu set DefaultAccount=chosen; "
                     "sacctmgr -i delete user where name=ubuntu account=root")  # fmt: skip
    database.run("sacctmgr -i delete user ubuntu")


def test_slurm_enforces_what_the_file_limits(slurm: RealSlurm, database: Database) -> None:
    """With the settings of the library alone: the file has none."""
    text = slurm.cluster.accounting_script or ""
    assert database.run(text).returncode == 0
    submit = ("sbatch", "--parsable", "--output=/dev/null", "--gpus-per-node=4", "--wrap=sleep 600")
    job = slurm.run(*submit, "--partition=urgent")
    reason = "PENDING Job's account not permitted to use this partition (urgent allows team not "
    slurm.until("the queue refuses it", lambda: slurm.job(job, "%T %r").startswith(reason))
    team = SlurmAccount(name="team", options={"GrpTRES": "gres/gpu=4"})
    done = database.run(script(team, users=(SlurmUser(name=slurm.user, accounts=("team",)),)))
    assert done.returncode == 0, done.stderr
    first, second = (slurm.run(*submit, "--partition=urgent", "--account=team") for _ in range(2))
    slurm.until("the first runs", lambda: slurm.job(first, "%T") == "RUNNING")
    slurm.until("the other waits", lambda: slurm.job(second, "%T %r") == "PENDING AssocGrpGRES")
    slurm.run("scancel", job, first, second)


def test_the_script_waits_for_slurm_on_a_new_node(database: Database) -> None:
    """Without the configuration that slurmd fetches, `sacctmgr` fails at once, as with an empty one."""
    configuration = Path(database.environment["SLURM_CONF"])
    late = configuration.with_name("late.conf")
    late.touch()
    environment = {**database.environment, "SLURM_CONF": str(late), "ULTRACLUSTER_PAUSE": "0"}
    text = script(SlurmAccount(name="late"))
    done = Database({**environment, "ULTRACLUSTER_LIMIT": "0"}).run(text)
    assert done.returncode == 1
    assert "the accounting database does not answer: sacctmgr: " in done.stderr, "the reason is Slurm's"
    with subprocess.Popen(["sh", "-c", text], env=environment, stdout=subprocess.DEVNULL) as waiting:
        time.sleep(1)
        assert waiting.poll() is None, "it gives up before Slurm runs"
        shutil.copy(configuration, late)
        assert waiting.wait(timeout=PATIENCE_SECONDS) == 0
    assert database.show("account", "late", "format=account") == ["late"]


def test_the_script_repeats_what_failed(tmp_path: Path) -> None:
    """A stand-in of `sacctmgr` that is blocked, as by another login node, until bash has waited twice."""
    (tmp_path / "sacctmgr").write_text(
        '#!/bin/sh\ncase "$*" in\n    *"modify qos"*) [ "$(wc -l <"$WAITS")" -ge 2 ] ;;\n    *) echo there ;;\nesac\n'
    )
    (tmp_path / "sleep").write_text('#!/bin/sh\necho "$1" >>"$WAITS"\n')
    for name in ("sacctmgr", "sleep"):
        (tmp_path / name).chmod(0o755)
    waits = tmp_path / "waits"
    waits.touch()
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "WAITS": str(waits)}
    done = Database(environment).run(script(RESEARCH))
    assert (done.returncode, waits.read_text()) == (0, "10\n10\n"), done.stderr
    waits.write_text("")
    done = Database({**environment, "ULTRACLUSTER_LIMIT": "0"}).run(script(RESEARCH))
    assert (done.returncode, waits.read_text()) == (1, ""), "the time is over"


def test_the_script_finds_sacctmgr_where_pcs_puts_it() -> None:
    assert 'PATH="/opt/aws/pcs/scheduler/slurm-$1/bin:$PATH"' in script(RESEARCH)
    assert "slurm-accounts 25.11 GrpJobs," in script(RESEARCH)


@pytest.mark.parametrize(
    ("accounts", "output"),
    [
        ([SlurmAccount(name="a", parent="b")], "is a part of b, which is no account here"),
        ([SlurmAccount(name="a", parent="b"), SlurmAccount(name="b", parent="a")], "is a part of itself"),
        ([SlurmAccount(name="a", parent="a")], "is a part of itself"),
        ([SlurmAccount(name="root")], "is the whole cluster"),
    ],
)
def test_rejects_accounts_that_are_no_tree(accounts: list[SlurmAccount], output: str) -> None:
    assert any(output in problem for problem in check_accounts(accounts).values())
    with pytest.raises(ValueError, match=output):
        accounting_script(version="25.11", accounts=accounts)


@pytest.mark.parametrize("value", ["$(reboot)", "a'b", "a;b", "`id`", "a\nTABLE", "a\\b", "a|b"])
def test_rejects_what_a_shell_would_read(value: str) -> None:
    with pytest.raises(ValueError, match="what a shell would read"):
        script(SlurmAccount(name="a", options={"Description": value}))
