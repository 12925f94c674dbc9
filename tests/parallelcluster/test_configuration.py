"""Configurations of ParallelCluster, as its own package reads them, and what they cannot carry over."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from support import EXAMPLES, ROOT
from support.hardware_data import described
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.parallelcluster import _notes, parallelcluster_configuration
from ultracluster.parallelcluster._export import Configuration
from ultracluster.parallelcluster._notes import written_keys

RUN = CliRunner()
PYTHON = ROOT / ".venv-parallelcluster" / "bin" / "python"
SLURM = {path.stem: path for path in EXAMPLES if path.stem.startswith("slurm-")}
BASE = """\
name: moved
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5.48xlarge, count: 2, tags: {team: a}, slurm: {settings: {Weight: 5}}}
"""
DIRECTORY = """\
slurm:
  settings: {SchedulerParameters: bf_continue, Prolog: /opt/own.sh, AccountingStorageEnforce: limits}
  queues: {train: {settings: {QOS: normal, OverTimeLimit: 5}}}
  accounts: {ml: {members: [ada]}}
  logs: {retention: 1096 d}
  directory:
    ldap:
      servers: [ldaps://ldap.example.com]
      base-dn: dc=example,dc=com
      bind-dn: cn=reader,dc=example,dc=com
      secret: arn:aws:secretsmanager:us-east-2:123456789012:secret:reader-AbCdEf
      filter: (memberOf=cn=hpc,dc=example,dc=com)
      certificates: |
        -----BEGIN CERTIFICATE-----
        MIIB
        -----END CERTIFICATE-----
storage:
  lustre: {existing: {id: fs-0123456789abcdef0, mount-name: abcdefgh}}
  home: {type: efs}
  data-bucket: {existing: own-data}
observability: {profile: none}
"""
INTELLIGENT = """\
storage:
  lustre: {storage-type: INTELLIGENT_TIERING, capacity: 100 TiB, throughput: 4 GB/s}
  home: {existing: {id: fs-0123456789abcdef0, volume: fsvol-0123456789abcdef0, path: /fsx/home}}
encryption-key: arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef
tags: {project: block}
"""
TEXTS = {"directory": BASE + DIRECTORY, "intelligent": BASE + INTELLIGENT}


PLAIN = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 8}
"""


def _cluster(name: str) -> clusterfile.ClusterFile:
    return clusterfile.loads(TEXTS[name], name) if name in TEXTS else clusterfile.load(SLURM[name])


@pytest.fixture(scope="module")
def clusters() -> dict[str, clusterfile.ClusterFile]:
    return {name: _cluster(name) for name in [*SLURM, *TEXTS]}


@pytest.fixture(scope="module")
def configurations(clusters: dict[str, clusterfile.ClusterFile]) -> dict[str, Configuration]:
    return {name: parallelcluster_configuration(cluster, bucket="example-tools") for name, cluster in clusters.items()}


@pytest.fixture(scope="module")
def documents(configurations: dict[str, Configuration]) -> dict[str, Any]:
    return {name: YAML(typ="safe").load(configuration.text) for name, configuration in configurations.items()}


@pytest.fixture(scope="module")
def verdicts(
    clusters: dict[str, clusterfile.ClusterFile], configurations: dict[str, Configuration]
) -> dict[str, dict[str, list[str]]]:
    """Results of the real pcluster package for all configurations, and for some that are broken on purpose."""
    assert PYTHON.exists(), "ParallelCluster's package is missing: make test-packages"
    files = {
        name: {"cluster": cluster.name, "region": cluster.region, "text": configurations[name].text}
        for name, cluster in clusters.items()
    }
    for name, example, old, new in BROKEN:
        text = files[example]["text"]
        assert old in text
        files[name] = {**files[example], "text": text.replace(old, new)}
    types = set(re.findall(r"InstanceType: (\S+)", "\n".join(file["text"] for file in files.values())))
    request = {"types": {name: described()[name] for name in types & described().keys()}, "files": files}
    # Without the metadata service, which boto asks for credentials.
    environment = {"PATH": os.environ["PATH"], "AWS_EC2_METADATA_DISABLED": "true"}
    program = [PYTHON, ROOT / "tests" / "support" / "parallelcluster_validation.py"]
    done = subprocess.run(program, input=json.dumps(request), capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    result: dict[str, dict[str, list[str]]] = json.loads(done.stdout)
    return result


BROKEN = [
    ("an unknown key", "slurm-512-gpus", "Scheduler: slurm\n", "Scheduler: slurm\n  EfaEnabled: true\n"),
    ("a Capacity Block with dynamic nodes", "slurm-capacity-block", "MinCount: 16", "MinCount: 0"),
    ("an unknown tier", "slurm-512-gpus", "PerUnitStorageThroughput: 1000", "PerUnitStorageThroughput: 900"),
    ("no placement group with EFA", "slurm-minimal", "            PlacementGroup:\n              Enabled: true\n",
     "            PlacementGroup: {}\n"),
]  # fmt: skip


@pytest.mark.parametrize("name", [*SLURM, *TEXTS])
def test_pcluster_accepts_the_configuration(name: str, verdicts: dict[str, dict[str, list[str]]]) -> None:
    verdict = verdicts[name]
    assert verdict["error"] == []
    assert {"NameValidator", "RegionValidator", "ClusterNameValidator"} <= set(verdict["run"])


def test_validators_of_pcluster_ran(verdicts: dict[str, dict[str, list[str]]]) -> None:
    """Those that need no account, or no more of it than the description of the types."""
    run = {validator for verdict in verdicts.values() for validator in verdict["run"]}
    assert run >= {
        *("CapacityTypeValidator", "ComputeResourceSizeValidator", "CustomSlurmSettingsValidator", "EfaValidator"),
        *("DomainAddrValidator", "FsxStorageCapacityValidator", "FsxPersistentOptionsValidator", "FsxDraValidator"),
        *("EfaPlacementGroupValidator", "SharedStorageNameValidator", "LogRotationValidator"),
    }


@pytest.mark.parametrize("name", [row[0] for row in BROKEN])
def test_pcluster_refuses_broken_configurations(name: str, verdicts: dict[str, dict[str, list[str]]]) -> None:
    assert verdicts[name]["error"]


def test_a_key_without_a_row_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    # A new key is never lost in silence: the table has what is carried over, and that of which more can be noted.
    cluster = clusterfile.loads(BASE.replace("count: 2", "count: 2, stack: 2"), "x")
    noted = {note.path: note.reason for note in _notes.key_notes(cluster)}
    assert noted[("nodes", "train", "stack")] == "ParallelCluster creates its own stacks"
    monkeypatch.delitem(_notes._KEYS, "nodes.*.stack")
    noted = {note.path: note.reason for note in _notes.key_notes(cluster)}
    assert noted[("nodes", "train", "stack")] == "this release does not export the key"


def test_keys_of_the_file_become_patterns() -> None:
    keys = dict(written_keys(_cluster("slurm-fine-tuning")))
    assert keys[("slurm", "users", "ada", "uid")] == "slurm.users.*.uid"
    assert keys[("slurm", "health", "replace")] == "slurm.health.replace"
    assert keys[("nodes", "tune", "type")] == "nodes.*.type"


def test_capacity_becomes_the_capacity_type_and_the_target(documents: dict[str, Any]) -> None:
    def rows(name: str) -> list[tuple[str, str, str, Any, int, int]]:
        return [
            (queue["Name"], row["Name"], queue["CapacityType"], row.get("CapacityReservationTarget"), row["MinCount"],
             row["MaxCount"])
            for queue in documents[name]["Scheduling"]["SlurmQueues"]
            for row in queue["ComputeResources"]
        ]  # fmt: skip

    assert rows("slurm-capacity-block") == [
        ("train", "train-bcdef0", "CAPACITY_BLOCK", {"CapacityReservationId": "cr-0123456789abcdef0"}, 16, 16),
        ("train", "train-bcdef1", "CAPACITY_BLOCK", {"CapacityReservationId": "cr-0123456789abcdef1"}, 16, 16),
        ("data", "data", "ONDEMAND", None, 0, 4),
    ]
    group = {"CapacityReservationResourceGroupArn": "arn:aws:resource-groups:us-east-2:123456789012:group/pool"}
    mixed = {row[0]: row[2:] for row in rows("slurm-mixed")}
    assert mixed["pool"] == ("ONDEMAND", group, 8, 8)
    assert mixed["serve"] == ("SPOT", None, 0, 6)
    assert mixed["tune"][:2] == ("SPOT", None)


def test_storage_directory_and_logs_are_carried_over(documents: dict[str, Any]) -> None:
    lustre = documents["slurm-512-gpus"]["SharedStorage"][0]["FsxLustreSettings"]
    plan = _cluster("slurm-512-gpus").lustre_spec
    assert plan is not None
    assert (lustre["StorageCapacity"], lustre["PerUnitStorageThroughput"]) == (plan.capacity_gib, plan.mb_per_s_per_tib)
    linked = documents["slurm-linked-data"]["SharedStorage"][0]["FsxLustreSettings"]["DataRepositoryAssociations"]
    assert linked == [
        {
            "Name": "association-1",
            "FileSystemPath": "/data",
            "DataRepositoryPath": "s3://my-datasets/tokens",
            "AutoImportPolicy": ["NEW", "CHANGED", "DELETED"],
        }
    ]
    document = documents["directory"]
    assert document["SharedStorage"][0]["FsxLustreSettings"] == {"FileSystemId": "fs-0123456789abcdef0"}
    assert document["DirectoryService"]["LdapAccessFilter"] == "(memberOf=cn=hpc,dc=example,dc=com)"
    assert document["DirectoryService"]["DomainAddr"] == "ldaps://ldap.example.com"
    # A disabled account with a key is refused, as by the nodes under AWS PCS.
    assert (
        document["DirectoryService"]["AdditionalSssdConfigs"].items()
        >= {
            "access_provider": "ldap",
            "ldap_access_order": "filter, expire",
            "ldap_account_expire_policy": "shadow",
        }.items()
    )
    (queue,) = document["Scheduling"]["SlurmQueues"]
    assert queue["CustomSlurmSettings"] == {"OverTimeLimit": "5"}
    assert document["Monitoring"]["Logs"]["CloudWatch"]["RetentionInDays"] == 1827
    settings = document["Scheduling"]["SlurmSettings"]["CustomSlurmSettings"]
    assert settings == [{"SchedulerParameters": "bf_continue,nohold_on_prolog_fail"}]
    row = document["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]
    assert (row["StaticNodePriority"], row["Tags"]) == (5, [{"Key": "team", "Value": "a"}])
    volumes = documents["intelligent"]["SharedStorage"]
    assert [volume["StorageType"] for volume in volumes] == ["FsxOpenZfs"]


def test_nodes_of_another_architecture_are_left_out_and_noted(
    documents: dict[str, Any], configurations: dict[str, Configuration]
) -> None:
    names = [queue["Name"] for queue in documents["slurm-built-image"]["Scheduling"]["SlurmQueues"]]
    assert names == ["train"]
    assert ("nodes", "prepare", "type") in {note.path for note in configurations["slurm-built-image"].notes}


def test_nobody_reaches_ssh_unless_the_file_names_who(documents: dict[str, Any]) -> None:
    assert documents["slurm-512-gpus"]["HeadNode"]["Ssh"] == {"AllowedIps": "127.0.0.1/32"}
    assert documents["slurm-fine-tuning"]["HeadNode"]["Ssh"] == {"KeyName": "team", "AllowedIps": "10.8.0.0/16"}


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("directory", {("slurm", "settings", "Prolog"), ("slurm", "settings", "AccountingStorageEnforce"),
                       ("slurm", "queues", "train", "settings", "QOS"),
                       ("slurm", "accounts"), ("slurm", "logs", "retention"), ("zone",),
                       ("storage", "home", "type"), ("observability",),
                       ("slurm",)}),
        ("intelligent", {("storage", "lustre"), ("zone",), ("orchestrator",), ("storage",)}),
    ],
)  # fmt: skip
def test_notes_name_exactly_what_is_lost(
    name: str, paths: set[tuple[str, ...]], configurations: dict[str, Configuration]
) -> None:
    assert {note.path for note in configurations[name].notes} == paths


def test_the_prolog_for_imex_is_noted_for_each_group_of_ultraservers(configurations: dict[str, Configuration]) -> None:
    notes = [note for note in configurations["slurm-ultraserver"].notes if "IMEX" in note.reason]
    assert [note.path for note in notes] == [("nodes", "train", "type"), ("nodes", "tune", "type")]
    assert "support-nvidia-imex" in notes[0].fix
    assert not [note for note in configurations["slurm-512-gpus"].notes if "IMEX" in note.reason]


def test_without_a_bucket_no_custom_action_runs() -> None:
    configuration = parallelcluster_configuration(_cluster("slurm-512-gpus"))
    assert "CustomActions" not in configuration.text
    assert not configuration.scripts
    assert [note.fix for note in configuration.notes if "--bucket" in note.fix]


@pytest.mark.parametrize("bucket", [None, "own-data"])
def test_scripts_that_run_as_root_are_not_where_jobs_write(bucket: str | None) -> None:
    """The queue may write to the whole data bucket, and nodes would run what a job puts there."""
    with pytest.raises(ValueError, match="jobs may write to the data bucket own-data; pass --bucket") as refused:
        parallelcluster_configuration(_cluster("directory"), bucket=bucket)
    # A cluster of an earlier configuration has them there.
    assert "s3://own-data/parallelcluster/moved/scripts/, upload them to the other bucket" in str(refused.value)


def test_a_script_of_the_file_is_not_where_jobs_write() -> None:
    text = BASE.replace("tags: {team: a}", f"scripts: [{{url: s3://own-data/setup.sh, sha256: {'0' * 64}}}]")
    text += "storage: {data-bucket: {existing: own-data}}\n"
    with pytest.raises(ValueError, match=r"s3://own-data/setup\.sh as root, and jobs may write to this bucket"):
        parallelcluster_configuration(clusterfile.loads(text, "c.yaml"), bucket="scripts")
    moved = clusterfile.loads(text.replace("s3://own-data/", "s3://read-only/"), "c.yaml")
    assert "Script: s3://read-only/setup.sh" in parallelcluster_configuration(moved, bucket="scripts").text


def test_no_bucket_of_scripts_is_written_by_nodes(documents: dict[str, Any]) -> None:
    parts = [part for text in documents.values() for part in (text["HeadNode"], *text["Scheduling"]["SlurmQueues"])]
    assert parts
    for part in parts:
        actions = [action for stage in part.get("CustomActions", {}).values() for action in stage["Sequence"]]
        writable = {row["BucketName"] for row in part["Iam"]["S3Access"] if row.get("EnableWriteAccess")}
        assert not {action["Script"].split("/")[2] for action in actions} & writable


def test_without_scripts_the_data_bucket_is_enough() -> None:
    text = f"{PLAIN}storage: {{data-bucket: {{existing: own-data}}}}\nslurm: {{health: false}}\n"
    assert "CustomActions" not in parallelcluster_configuration(clusterfile.loads(text, "c.yaml")).text


def test_scripts_pass_shellcheck(configurations: dict[str, Configuration], tmp_path: Path) -> None:
    texts = {**configurations["slurm-fine-tuning"].scripts, **configurations["directory"].scripts}
    for path, text in texts.items():
        (tmp_path / Path(path).name).write_text(text)
    assert {path.name for path in tmp_path.iterdir()} == {"directory-ca.sh", "head-node.sh", "health.sh", "users.sh"}
    done = subprocess.run(["shellcheck", "--exclude=SC1091", *tmp_path.iterdir()], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("home", "directory"), [("{}", "/home"), ("{mount: /users}", "/users")])
def test_users_get_their_homes_where_the_homes_are_mounted(home: str, directory: str, tmp_path: Path) -> None:
    text = f"{PLAIN}storage: {{home: {home}}}\nslurm: {{users: {{ada: {{uid: 2001}}}}}}\n"
    configuration = parallelcluster_configuration(clusterfile.loads(text, "c.yaml"), bucket="scripts")
    actions = YAML(typ="safe").load(configuration.text)["HeadNode"]["CustomActions"]["OnNodeConfigured"]["Sequence"]
    (arguments,) = (action["Args"] for action in actions if action["Script"].endswith("/users.sh"))
    (script,) = (text for path, text in configuration.scripts.items() if path.endswith("/users.sh"))
    (tmp_path / "etc/parallelcluster").mkdir(parents=True)
    (tmp_path / "etc/parallelcluster/cfnconfig").write_text("cfn_node_type=ComputeFleet\n")
    for name, body in {"getent": "exit 2", "groupadd": "", "useradd": f'echo "$*" >>{tmp_path}/calls'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ULTRACLUSTER_ROOT": str(tmp_path)}
    subprocess.run(["bash", "-c", script, "users.sh", *arguments], env=environment, check=True)
    assert f"--home-dir {directory}/ada ada" in (tmp_path / "calls").read_text()


def test_scripts_install_the_health_check(configurations: dict[str, Configuration], tmp_path: Path) -> None:
    scripts = {Path(path).name: text for path, text in configurations["slurm-512-gpus"].scripts.items()}
    environment = {**os.environ, "ULTRACLUSTER_ROOT": str(tmp_path), "ULTRACLUSTER_CHECK_LIMIT": "1"}
    subprocess.run(["bash", "-c", scripts["head-node.sh"]], env=environment, check=True)
    prolog = tmp_path / "opt/slurm/etc/scripts/prolog.d/50_ultracluster_health"
    assert os.access(prolog, os.X_OK)
    # No GPUs and no EFA are expected, and there are none: the check passes at once.
    subprocess.run(
        ["bash", "-c", scripts["health.sh"], "health.sh", "gpus", "0", "efa", "0"], env=environment, check=True
    )
    assert (tmp_path / "etc/ultracluster/health").read_text() == "gpus 0\nefa 0\n"
    assert (tmp_path / "run/ultracluster/health/devices").read_text() == "ok\n"


def test_the_command_prints_the_configuration_and_the_lines_that_are_lost(tmp_path: Path) -> None:
    text = SLURM["slurm-own-vpc"].read_text()
    example = str(tmp_path / "cluster.yaml")
    Path(example).write_text(text + "slurm: {health: false}\n")
    printed = RUN.invoke(app, ["render", example, "--parallelcluster"])
    assert printed.exit_code == 0
    assert YAML(typ="safe").load(printed.stdout)["Region"] == "eu-north-1"
    assert "No such" not in printed.stderr
    lines = printed.stderr.splitlines()
    assert lines[0] == f"not carried over, or not as it is: {len(lines) - 1}"
    assert all(
        re.fullmatch(rf"{re.escape(example)}:\d+:\d+ [\w.\[\]-]+: .+; .+ \[parallelcluster\]", line)
        for line in lines[1:]
    )
    written = RUN.invoke(app, ["render", example, "--parallelcluster", "--json", "--out", str(tmp_path)])
    (file,) = json.loads(written.stdout)
    source = Path(example).read_text().splitlines()
    for note in file["notes"]:
        key = re.sub(r"\[\d+\]$", "", note["field"]).rpartition(".")[2]
        assert key in source[note["line"] - 1]
    assert (tmp_path / "parallelcluster" / "cluster.yaml").read_text() == printed.stdout


def test_the_command_writes_scripts_for_a_bucket_that_is_not_the_data_bucket(tmp_path: Path) -> None:
    command = ["render", str(SLURM["slurm-own-vpc"]), "--parallelcluster", "--json", "--out", str(tmp_path)]
    refused = RUN.invoke(app, command)
    assert (refused.exit_code, [*tmp_path.iterdir()]) == (1, [])
    message = "nodes run health.sh as root, and jobs may write to the data bucket"
    assert json.loads(refused.stdout)["error"].startswith(message)
    assert refused.stderr.startswith(f"error: {message}")
    written = RUN.invoke(app, [*command, "--bucket", "tools"])
    files = json.loads(written.stdout)
    assert [Path(file["path"]).name for file in files] == ["cluster.yaml", "health.sh", "head-node.sh"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([str(SLURM["slurm-minimal"]), "--jobs"], 2, "--out DIR is missing"),
        ([str(SLURM["slurm-minimal"]), "--parallelcluster", "--json"], 2, "--out DIR is missing"),
        ([str(SLURM["slurm-minimal"]), "--jobs", "--bucket", "tools", "--out", "x"], 2, "--bucket is for"),
    ],
)
def test_wrong_usage(arguments: list[str], code: int, message: str) -> None:
    result = RUN.invoke(app, ["render", *arguments])
    assert result.exit_code == code
    assert message in result.stderr


def test_a_file_of_another_orchestrator_is_read_as_one_of_slurm(tmp_path: Path) -> None:
    """Its keys without an equivalent are named line by line, with what to write instead."""
    example = ROOT / "examples" / "eks-512-gpus.yaml"
    refused = RUN.invoke(app, ["render", str(example), "--parallelcluster"])
    assert refused.exit_code == 1
    first, *lines = refused.stderr.splitlines()
    assert first.endswith("in the cluster file with orchestrator: slurm, which ParallelCluster runs")
    named = dict(re.findall(r"^[^ ]+:\d+:\d+ ([^:]+): (.+) \[other-orchestrator\]$", "\n".join(lines), re.MULTILINE))
    assert len(named) == len(lines)
    teams = {f"teams.{team}{key}" for team in ("pretrain", "research") for key in ("", ".nodes")}
    keys = {"public-access-cidrs", "admins", "scaling-tier", "bin-packing", "teams.pretrain.members", *teams}
    assert set(named) == {f"kubernetes.{key}" for key in keys}
    assert "write slurm: {accounts: {pretrain: {settings: {GrpTRES: gres/gpu=384}}}}" in str(named)
    plain = tmp_path / "plain.yaml"
    plain.write_text(SLURM["slurm-minimal"].read_text().replace("orchestrator: slurm", "orchestrator: hyperpod-slurm"))
    printed = RUN.invoke(app, ["render", str(plain), "--parallelcluster"])
    assert printed.exit_code == 0
    assert YAML(typ="safe").load(printed.stdout)["Scheduling"]["Scheduler"] == "slurm"
    assert "orchestrator: ParallelCluster runs Slurm; the configuration is that of this file" in printed.stderr
    with pytest.raises(ValueError, match="load the file with orchestrator='slurm'"):
        parallelcluster_configuration(clusterfile.load(example))
