"""The Slurm section of a cluster file: what it takes, and what it says of what it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import ROOT
from support.clusterfile_data import GOOD, RESERVATION, bent, problem, problems, read, with_groups
from ultracluster.clusterfile import loads
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile._slurm_plan import slurm_time

NAME = "name: llama"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH1111111111111111111111111111111111111111111 ada@home"
TWO = "tune: {type: p5.48xlarge, count: 4}\ncheap: {type: p5.48xlarge, count: 8, capacity: spot}"


def slurm(text: str) -> str:
    return f"{NAME}\nslurm: {text}"


def two(text: str) -> str:
    return with_groups(TWO, f"slurm: {text}")


def test_reserved_nodes_are_static_and_the_others_come_with_jobs() -> None:
    assert [group.minimum for group in read(NAME, NAME).node_groups] == [64]
    assert [group.minimum for group in loads(with_groups(TWO), "c.yaml").node_groups] == [0, 0]
    kept = with_groups("tune: {type: p5.48xlarge, count: 4, min: 2}")
    assert [group.minimum for group in loads(kept, "c.yaml").node_groups] == [2]


def test_sections_that_no_queue_names_have_their_own() -> None:
    cluster = loads(two("{queues: {all: {nodes: [cheap], priority: 5}}}"), "c.yaml")
    assert [(queue.name, queue.sections) for queue in cluster.queues] == [("tune", ("tune",)), ("all", ("cheap",))]
    assert cluster.queues[1].settings == {"PriorityTier": "5"}


def test_the_first_queue_is_the_default_unless_the_file_has_another() -> None:
    assert [queue.settings for queue in read(NAME, NAME).queues] == [{"Default": "YES"}]

    def defaults(text: str) -> list[str]:
        return [queue.name for queue in loads(text, "c.yaml").queues if queue.settings.get("Default") == "YES"]

    assert defaults(with_groups(TWO)) == ["tune"]
    assert defaults(two("{queues: {all: {nodes: [tune, cheap]}}}")) == ["all"]
    assert defaults(two("{queues: {cheap: {default: true}}}")) == ["cheap"]


def test_a_preemptible_queue_enables_preemption_for_itself_only() -> None:
    cluster = loads(two("{queues: {cheap: {preempt: requeue}, tune: {priority: 2}}}"), "c.yaml")
    assert cluster.slurm_settings == {
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "REQUEUE",
        "PreemptParameters": "send_user_signal",
        "AccountingStorageTRES": "gres/gpu",
    }
    assert {queue.name: queue.settings["PreemptMode"] for queue in cluster.queues} == {
        "cheap": "REQUEUE",
        "tune": "OFF",
    }
    assert {queue.name: queue.settings.get("GraceTime") for queue in cluster.queues} == {"cheap": "300", "tune": None}


def test_settings_of_preemption_keep_what_the_file_has() -> None:
    settings, queue = "{PreemptParameters: youngest_first}", "{preempt: requeue, settings: {GraceTime: 900}}"
    cluster = loads(two(f"{{settings: {settings}, queues: {{cheap: {queue}, tune: {{priority: 2}}}}}}"), "c.yaml")
    assert cluster.slurm_settings["PreemptParameters"] == "youngest_first,send_user_signal"
    assert {queue.name: queue.settings.get("GraceTime") for queue in cluster.queues} == {"cheap": "900", "tune": None}


def test_accounting_counts_gpus_where_aws_keeps_it() -> None:
    def tres(*changes: str) -> str | None:
        return read(NAME, *changes).slurm_settings.get("AccountingStorageTRES")

    assert tres(NAME) == "gres/gpu"
    assert tres(slurm("{settings: {AccountingStorageTRES: 'gres/gpu:h100'}}")) == "gres/gpu:h100,gres/gpu"
    assert tres(slurm("{settings: {AccountingStorageTRES: 'license/a,GRES/gpu'}}")) == "license/a,GRES/gpu"
    assert tres(slurm("{accounting: false}")) is None


def test_a_queue_accepts_every_key() -> None:
    cluster = loads(
        two(
            "{accounts: {ml: {}}, queues: {tune: {default: true, max-time: 36 h, default-time: 90 min, accounts: [ml], "
            "qos: [normal], billing-weights: {GRES/gpu: 1.5, CPU: 0}, settings: {GraceTime: 300}}}}"
        ),
        "c.yaml",
    )
    assert cluster.queues[1].settings == {
        "Default": "YES",
        "MaxTime": "1-12:00:00",
        "DefaultTime": "0-01:30:00",
        "AllowAccounts": "ml",
        "AllowQos": "normal",
        "TRESBillingWeights": "GRES/gpu=1.5,CPU=0",
        "GraceTime": "300",
    }


@given(st.integers(1, 10**7))
def test_times_are_those_of_slurm_and_never_shorter(seconds: int) -> None:
    days, clock = slurm_time(Duration.parse(f"{seconds} s")).split("-")
    hours, minutes, rest = map(int, clock.split(":"))
    assert hours < 24
    assert minutes < 60
    total = ((int(days) * 24 + hours) * 60 + minutes) * 60 + rest
    assert seconds <= total < seconds + 60


def test_reports_a_setting_that_conflicts_with_the_health_checks() -> None:
    wrong = "settings: {SlurmctldParameters: enable_stepmgr}"
    error = problem(NAME, slurm(f"{{{wrong}}}"))
    assert "slurm.settings.SlurmctldParameters: enable_stepmgr requires PrologFlags with Contain" in error
    assert error.endswith("slurm.health sets Alloc,NoHold, so write PrologFlags: Contain")
    read(NAME, slurm(f"{{health: false, {wrong}}}"))
    read(NAME, slurm("{settings: {SlurmctldParameters: enable_stepmgr, PrologFlags: Contain}}"))
    preempts = "{settings: {PreemptMode: 'OFF'}, queues: {cheap: {preempt: requeue}, tune: {priority: 2}}}"
    (error,) = problems(two(preempts))
    assert error.endswith("slurm.settings: Slurm requires a PreemptMode with it, such as REQUEUE")


def test_users_and_accounts_become_what_nodes_and_sacctmgr_read() -> None:
    text = f"{{accounts: {{ml: {{}}}}, users: {{ada: {{uid: 2001, ssh-keys: [{KEY}], accounts: [ml], admin: true}}}}}}"
    cluster = read(NAME, slurm(text))
    assert [user.record for user in cluster.users] == [f"ada 2001|{KEY}"]
    script = cluster.accounting_script or ""
    assert "member ml ada\nuser ada DefaultAccount=ml AdminLevel=Administrator\n" in script
    assert read(NAME, NAME).accounting_script is None
    # The image's user needs an account too.
    assert read(NAME, slurm("{settings: {AccountingStorageEnforce: limits}}")).accounting_script is not None


def test_slurm_enforces_the_limits_of_the_file_and_weighs_its_shares() -> None:
    def weighs(text: str) -> list[str]:
        settings = read(NAME, slurm(text)).slurm_settings
        assert settings.get("AccountingStorageEnforce", default) == default
        return sorted(name for name in settings if name.startswith(("AccountingStorageE", "PriorityWeight")))

    default = "associations,limits,qos,safe"
    # Accounts alone limit nothing, and nobody is refused.
    assert weighs("{accounts: {ml: {settings: {Description: x}}}, qos: {fast: {}}}") == []
    assert weighs("{accounts: {ml: {fairshare: 1}}}") == ["PriorityWeightFairshare"]
    assert weighs("{qos: {fast: {priority: 1}}}") == ["PriorityWeightQOS"]
    limits = (
        "accounts: {ml: {}}, queues: {train: {accounts: [ml]}}",
        "accounts: {ml: {}}, queues: {train: {settings: {DenyAccounts: ml}}}",
        "queues: {train: {qos: [normal]}}",
        "accounts: {ml: {qos: [normal]}}",
        "accounts: {ml: {settings: {GrpTRES: gres/gpu=8}}}",
        "qos: {fast: {settings: {maxwall: 60}}}",
    )
    for text in limits:
        assert weighs(f"{{{text}}}") == ["AccountingStorageEnforce"], text
    written = read(NAME, slurm("{accounts: {ml: {fairshare: 3}}, settings: {PriorityWeightFairshare: 0}}"))
    assert written.slurm_settings["PriorityWeightFairshare"] == "0"


def test_a_setting_of_the_file_enforces_all_its_limits() -> None:
    text = (
        "{{accounts: {{ml: {{qos: [normal], settings: {{GrpTRES: node=8}}}}}}, queues: {{train: {{accounts: [ml]}}}}, "
        "settings: {{AccountingStorageEnforce: {}}}}}"
    )
    missing = problems(bent(NAME, slurm(text.format("associations"))))
    assert [line.partition(" slurm.settings.")[2].partition(",")[0] for line in missing] == [
        "AccountingStorageEnforce: slurm.accounts.ml.qos: without qos",
        "AccountingStorageEnforce: slurm.accounts.ml.settings: without limits",
    ]
    read(NAME, slurm(text.format("'safe, QOS'")))


SETTING_ERRORS = [
    ("{settings: {Prologue: /p}}", "slurm.settings.Prologue: PCS has no such setting; did you mean Prolog?"),
    ("{settings: {prolog: /p}}", "slurm.settings.prolog: PCS writes it Prolog"),
    ("{settings: {Prolog: p.sh}}", "must be the path of a program that every node sees"),
    ("{settings: {GresTypes: gpu}}", "PCS does not accept it: PCS derives it from Gres"),
    ("{settings: {SuspendTime: 300}}", "write scale-down-idle-time"),
    ("{settings: {TopologyPlugin: topology/tree}}", "PCS derives the topology"),
    ("{settings: {PriorityTier: 3}}", "PCS accepts it in another place: slurm.queues.NAME.settings"),
    ("{settings: {Weight: 3}}", "PCS accepts it in another place: nodes.NAME.slurm.settings"),
    ("{settings: {MinJobAge: 4}}", "must be a number of seconds, 5 or more, got '4'"),
    ("{settings: {AccountingStorageEnforce: 'limits,all'}}", "must be some of associations, limits, qos"),
    ("{settings: {PreemptType: preempt/qos}}", "Slurm requires a PreemptMode with it"),
    ("{settings: {PrologFlags: 'NoHold,Contain'}}", "Slurm accepts NoHold neither with Contain"),
    ("{settings: {HealthCheckNodeState: REBOOT_ONLY}}", "from Slurm 26.05 on, and the version is 25.11"),
    ("{version: 25.05, settings: {SelectTypeParameters: CR_Socket}}", "from Slurm 25.11 on"),
    ("{settings: {MetricsType: metrics/openmetrics}}", "slurm: {metrics: true} sets both"),
    ("{metrics: true, settings: {MetricsType: metrics/openmetrics, CommunicationParameters: enable_http}}", "2"),
    ("{metrics: true, settings: {PrivateData: jobs}}", "PCS shows no metrics when PrivateData is set"),
    ("{slurmdbd-settings: {PurgeJobAfter: never}}", "must be an age, such as 30days"),
    ("{slurmdbd-settings: {ConstrainCores: 'yes'}}", "PCS accepts it in another place: slurm.cgroup-settings"),
    ("{cgroup-settings: {ConstrainDevices: maybe}}", "must be one of yes, no"),
]


@pytest.mark.parametrize(("text", "message"), SETTING_ERRORS)
def test_rejects_settings_that_pcs_rejects(text: str, message: str) -> None:
    if message == "2":
        assert len(problems(bent(NAME, slurm(text)))) == 2
    else:
        assert message in problem(NAME, slurm(text))


def test_accepts_unknown_settings() -> None:
    assert read(NAME, slurm("{settings: {BrandNewThing: 3}}")).slurm_settings["BrandNewThing"] == "3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{version: 24.11}", "slurm.version: AWS PCS ended Slurm 24.11 on 2026-05-31; use one of 25.05, 25.11, 26.05"),
        ("{version: 25.05, metrics: true}", "slurm.metrics: PCS shows metrics from Slurm 25.11 on"),
        ("{size: SMALL}", "slurm.size: a SMALL controller manages 32 instances"),
        ("{accounting: false, accounting-purge-time: 30 d}", "needs accounting: true"),
        ("{accounting-purge-time: 36 h}", "must be 1 to 10,000 whole days"),
        ("{accounting-purge-time: 30000 d}", "must be 1 to 10,000 whole days"),
        ("{accounting: false, accounts: {ml: {}}}", "needs accounting: true"),
        ("{accounting: false, queues: {train: {billing-weights: {CPU: 1}}}}", "needs accounting: true"),
        ("{rest-api: yes}", "must be true or false"),
        ("{login: {ssh: {key-pair: me, from: [0.0.0.0/0]}}}", "if you mean that, write anywhere"),
        ("{login: {ssh: {key-pair: me}}}", "slurm.login.ssh.from: is missing; write for example from: [10.0.0.0/8]"),
        ("{login: {ssh: {from: [10.0.0.0/8]}}}", "slurm.login.ssh.key-pair: is missing"),
        ("{login: {ssh: {key-pair: me, from: [10.0.0.1/8]}}}", "did you mean 10.0.0.0/8?"),
        ("{users: {ada: {uid: 1000}}}", "slurm.users.ada.uid: must be 2,000 to 59,999"),
        ("{users: {root: {uid: 2000}}}", "root is a user or a group of the image"),
        ("{users: {ultracluster-images: {uid: 2000}}}", "ultracluster-images is a user or a group of the image"),
        ("{users: {jobs: {uid: 2000}}}", "jobs is a directory of the cluster, beside those of users"),
        ("{users: {containers: {uid: 2000}}}", "containers is a directory of the cluster, beside those of users"),
        ("{users: {Ada: {uid: 2000}}}", "lower-case letters"),
        ("{users: {ada: {uid: 2000}, bob: {uid: 2000}}}", "slurm.users.bob.uid: is ada's already"),
        ("{users: {ada: {uid: 2000, accounts: [ml]}}}", "ml is not under slurm.accounts, where there are: none"),
        ("{users: {ada: {uid: 2000, ssh-keys: [hello]}}}", "must be a public key on one line"),
        ("{users: {ada: {uid: 2000, ssh-keys: ['-----BEGIN OPENSSH PRIVATE KEY-----']}}}", "is a private key"),
        ("{accounts: {ml: {members: [ada]}}, users: {ada: {uid: 2000}}}", "write accounts: [ml] there"),
        ("{accounts: {ml: {members: [Ada]}}}", "slurm.accounts.ml.members[0]: must be the name of a user, 1 to 64"),
        (
            "{accounts: {ml: {}}, settings: {AccountingStorageEnforce: safe}, users: {ada: {uid: 2000}}}",
            "slurm.users.ada: Slurm enforces the limits of this file, and refuses the jobs of users without an account",
        ),
        ("{users: {ada: {uid: 2000, admin: true}}}", "an administrator of Slurm is a user of Slurm"),
        ("{accounts: {a: {parent: b}}}", "slurm.accounts.a.parent: is a part of b, which is no account here"),
        ("{accounts: {a: {parent: a}}}", "is a part of itself"),
        ("{accounts: {root: {}}}", "root is the whole cluster"),
        ("{accounts: {a: {qos: [fast]}}}", "fast is not under slurm.qos"),
        ("{accounts: {a: {settings: {GrpTRES: 'a b'}}}}", "must be a text of letters, digits"),
        ("{accounts: {a: {fairshare: 0}}}", "must be 1 to 2,147,483,646, which Slurm has room for"),
        ("{accounts: {a: {fairshare: 2147483647}}}", "to 2,147,483,646, which Slurm has room for, got"),
        ("{qos: {fast: {priority: 99999999999999999999}}}", "to 2,147,483,646, which Slurm has room for, got"),
        ("{qos: {fast: {priority: -1}}}", "must be 0 to 2,147,483,646"),
        ("{queues: {other: {}}}", "slurm.queues.other: there is no node group other; there are train"),
        ("{queues: {all: {nodes: [trian]}}}", "there is no node group trian"),
        ("{queues: {train: {nodes: [train, train]}}}", "names 'train' twice"),
        ("{queues: {train: {preempt: suspend}}}", "is one of off, requeue, cancel"),
        ("{queues: {train: {preempt: requeue}}}", "no queue has a higher priority"),
        ("{queues: {train: {priority: 70000}}}", "must be 0 to 65,533"),
        ("{queues: {train: {max-time: 1 h, default-time: 2 h}}}", "is longer than max-time, 1 h"),
        ("{queues: {train: {qos: [fast]}}}", "fast is not under slurm.qos, where there are: normal"),
        (
            "{qos: {fast: {}}, queues: {train: {settings: {DenyQos: 'Fast, slow'}}}}",
            "slurm.queues.train.settings.DenyQos: slow is not under slurm.qos, where there are: fast, normal",
        ),
        ("{queues: {train: {settings: {QOS: fast}}}}", "settings.QOS: fast is not under slurm.qos, where there are: n"),
        (
            "{accounting: false, queues: {train: {settings: {QOS: normal}}}}",
            "accounts and QoS of a queue need accounting: true",
        ),
        ("{queues: {train: {settings: {PriorityTier: 4}}}}", "has a key of its own: write priority beside settings"),
        ("{queues: {train: {settings: {OverSubscribe: MAYBE}}}}", "must be EXCLUSIVE, NO, YES, FORCE"),
        ("{queues: {train: {settings: {AllowGroups: x}}}}", "write accounts, or qos"),
        (
            "{accounts: {ml: {}}, queues: {train: {accounts: [ml], settings: {DenyAccounts: guests}}}}",
            "slurm.queues.train.settings.DenyAccounts: Slurm does not enforce it beside AllowAccounts; remove one",
        ),
        (
            "{qos: {fast: {}}, queues: {train: {qos: [fast], settings: {DenyQos: fast}}}}",
            "slurm.queues.train.settings.DenyQos: Slurm does not enforce it beside AllowQos; remove one of the two",
        ),
        ("{queues: {train: {billing-weights: {GRES/gpu: -1}}}}", "must be a number, 0 or more"),
        ("{queues: {tr: {}}}", "3 to 25 lower-case letters"),
        ("{queues: {a-name-of-a-queue-that-is-too-long: {nodes: [train]}}}", "3 to 25 lower-case letters"),
    ],
)
def test_rejects_with_the_place_and_the_remedy(text: str, message: str) -> None:
    error = problem(NAME, slurm(text))
    assert message in error
    assert error.startswith("c.yaml:2:")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("min: 65", "nodes.train.min: must be between 0 and the number of nodes, 64, got 65"),
        ("min: -1", "must be 0 or more, got -1"),
        ("slurm: {settings: {Wieght: 3}}", "did you mean Weight?"),
        ("slurm: {settings: {Features: a}}", "this library sets it, from labels; write labels"),
        ("slurm: {settings: {Gres: gpu:8}}", "Gres names 'gpu', and no record of gres declares it"),
        ("slurm: {gres: [{Name: gpu}]}", "a gpu record of gres.conf has File or MultipleFiles, or AutoDetect"),
        ("slurm: {gres: [{File: /dev/nvidia0}]}", "a record of gres.conf has a Name"),
        ("slurm: {gres: [{AutoDetect: nvml}]}", "AutoDetect needs Sockets"),
        ("slurm: {gres: [{Name: gpu, Files: /dev/nvidia0}, {Name: gpu, File: /dev/nvidia1}]}", ""),
        ("slurm: {gres: {Name: gpu}}", "must be a list, got a mapping; write for example gres: [{Name: gpu"),
    ],
)
def test_rejects_what_slurm_would_not_take_of_nodes(node: str, message: str) -> None:
    from support.clusterfile_data import bent

    errors = problems(bent("count: 64", f"count: 64, {node}"))
    assert any(message in line and ":6:" in line for line in errors)


def test_rejects_an_elastic_group_in_a_capacity_block() -> None:
    block = f"{{reservation: {RESERVATION}, kind: capacity-block, instances: 16}}"
    text = with_groups(f"train: {{type: p5en.48xlarge, count: 16, min: 0, capacity: {block}}}")
    (error,) = problems(text)
    assert "nodes.train.min: " in error
    assert "is paid for until it ends, so that all its nodes are up: 16, got 0; remove it" in error


def test_rejects_a_queue_that_ultraservers_share_with_others() -> None:
    block = f"{{reservation: {RESERVATION}, kind: ultraserver, instances: 18}}"
    nodes = f"big: {{type: u-p6e-gb200x72, count: 1, capacity: {block}}}\nsmall: {{type: m7i.8xlarge, count: 2}}"
    text = with_groups(
        nodes, "slurm: {queues: {all: {nodes: [big, small]}}}", "network: {control-plane-zone: use1-az4}"
    )
    (error,) = problems(text.replace("us-east-2", "us-east-1").replace("use2-az1", "use1-dfw2-az1"))
    assert "slurm.queues.all.nodes: UltraServers need a separate queue; give small another queue" in error


def test_rejects_a_declared_type_without_a_primary_interface() -> None:
    cards = "network-cards: [{count: 1, kinds: [efa], interfaces: 1}]"
    text = GOOD.replace("nodes:", f"types: {{p9.48xlarge: {{like: p5en.48xlarge, {cards}}}}}\nnodes:")
    (error,) = problems(text)
    assert "types.p9.48xlarge.network-cards: the first card offers efa; it must offer interface too" in error


def test_rejects_an_undeclared_ultraserver_beside_declared_types() -> None:
    text = (ROOT / "examples" / "slurm-new-type.yaml").read_text()
    (error,) = problems(text.replace("type: u-p6e-gb300x72", "type: u-p6e-gb300x73"))
    assert "unknown instance type 'u-p6e-gb300x73'; did you mean u-p6e-gb300x72?" in error


def test_rejects_two_default_queues_and_a_queue_that_hides_a_node_group() -> None:
    (error,) = problems(two("{queues: {tune: {default: true}, cheap: {default: true}}}"))
    assert "slurm.queues.cheap.default: tune is the default queue already" in error
    (error,) = problems(two("{queues: {tune: {nodes: [cheap]}}}"))
    assert "is the name of a node group that no queue names" in error


RECORDS = (
    "{Name: gpu, Type: h100, File: '/dev/nvidia[0-7]'}, {Name: mps, Count: '100'}, {Name: fpga, Count: '1'}, "
    "{Name: fpga, File: /dev/fpga0}"
)


def handed_out(gres: str) -> str:
    settings = f"{{settings: {{Gres: '{gres}'}}, gres: [{RECORDS}]}}"
    return with_groups(f"tune: {{type: p5.48xlarge, count: 4, slurm: {settings}}}")


@pytest.mark.parametrize(
    ("gres", "expected"),
    [
        ("gpu:9", "Gres has 9 of gpu, and the records of gres have 8"),
        ("gpu:a100:8", "Gres has GPUs of the type 'a100', and the record of gres has h100"),
        ("gpu:8,fpga:3", "Gres has 3 of fpga, and the records of gres have 2"),
        ("tape:1", "Gres names 'tape', and no record of gres declares it"),
    ],
)
def test_rejects_resources_that_the_nodes_do_not_have(gres: str, expected: str) -> None:
    (message,) = problems(handed_out(gres))
    assert message.endswith(f"nodes.tune.slurm.gres: {expected}")


@pytest.mark.parametrize("gres", ["gpu:8", "gpu:0", "gpu:h100:8,fpga:2", "mps:800"])
def test_what_is_there_or_shared_may_be_handed_out(gres: str) -> None:
    loads(handed_out(gres), "c.yaml")


def test_what_slurm_finds_by_itself_is_not_counted() -> None:
    settings = "{settings: {Gres: 'gpu:1g.10gb:56', Sockets: 2}, gres: [{AutoDetect: nvml}]}"
    loads(with_groups(f"tune: {{type: p5.48xlarge, count: 4, slurm: {settings}}}"), "c.yaml")
