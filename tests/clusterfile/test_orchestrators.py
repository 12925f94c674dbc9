"""Moving: an example with another orchestrator is valid, or names each line without an equivalent, and a remedy."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from support import EXAMPLES
from ultracluster import clusterfile
from ultracluster.clusterfile._orchestrators import ORCHESTRATORS
from ultracluster.clusterfile.rules._instead import INSTEAD, NODE_KEYS
from ultracluster.clusterfile.sections._hyperpod import HyperPod
from ultracluster.clusterfile.sections._kubernetes import Kubernetes
from ultracluster.clusterfile.sections._slurm import Slurm

REMEDY = re.compile(r"\b(write|remove|use|purchase|name|pin|put|choose|create|set|correct)\b")


def moved(file: Path, orchestrator: str) -> str:
    text, count = re.subn(r"^orchestrator: \S+", f"orchestrator: {orchestrator}", file.read_text(), flags=re.MULTILINE)
    assert count == 1
    return text


@pytest.mark.parametrize("orchestrator", ORCHESTRATORS)
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_moves_or_names_each_line_without_an_equivalent(file: Path, orchestrator: str) -> None:
    text = moved(file, orchestrator)
    try:
        cluster = clusterfile.loads(text, str(file))
    except clusterfile.ClusterFileError as error:
        lines = text.splitlines()
        for problem in error.problems:
            assert 1 <= problem.line <= len(lines)
            assert REMEDY.search(problem.message), problem.message
    else:
        assert cluster.traits.name == orchestrator


@pytest.mark.parametrize("orchestrator", ORCHESTRATORS)
def test_without_the_keys_of_another_orchestrator_no_further_line_is_named(orchestrator: str) -> None:
    """One run of `check` names all lines."""
    for file in EXAMPLES:
        text = moved(file, orchestrator)
        first = problems_of(text)
        data = YAML(typ="safe").load(text)
        for problem in first:
            if problem.rule == "other-orchestrator":
                remove(data, problem.field.split("."))
        rest = json.dumps(data, default=str)
        expected = {(problem.field, problem.message) for problem in first if problem.rule != "other-orchestrator"}
        assert {(problem.field, problem.message) for problem in problems_of(rest)} == expected, file.stem


def problems_of(text: str) -> tuple[clusterfile.Located, ...]:
    try:
        clusterfile.loads(text, str(EXAMPLES[0]))
    except clusterfile.ClusterFileError as error:
        return error.problems
    return ()


def remove(data: dict[str, Any], path: list[str]) -> None:
    """Remove a key, and mappings that it leaves empty."""
    if len(path) > 1 and path[0] in data:
        remove(data[path[0]], path[1:])
    if len(path) == 1 or data.get(path[0]) == {}:
        data.pop(path[0], None)


SECTIONS: dict[str, type[BaseModel]] = {"slurm": Slurm, "kubernetes": Kubernetes, "hyperpod": HyperPod}
FOREIGN = [(orchestrator, section) for orchestrator, sections in INSTEAD.items() for section in sections]


@pytest.mark.parametrize(("orchestrator", "section"), FOREIGN)
def test_each_key_of_another_orchestrator_has_something_to_write_instead(orchestrator: str, section: str) -> None:
    rows = INSTEAD[orchestrator][section]
    patterns = dict(below(SECTIONS[section]))
    assert not rows.keys() - patterns.keys(), "rows without a key"
    for pattern, leaf in patterns.items():
        above = [".".join(pattern.split(".")[: length + 1]) for length in range(pattern.count(".") + 1)]
        assert not leaf or any(each in rows for each in above), pattern
    for text in rows.values():
        assert REMEDY.search(text), text


def test_each_orchestrator_names_the_sections_of_the_others() -> None:
    for name, traits in ORCHESTRATORS.items():
        assert set(INSTEAD[name]) == set(SECTIONS) - set(traits.sections)
    keys = {key for traits in ORCHESTRATORS.values() for key in traits.group_keys}
    assert {*NODE_KEYS} == {*ORCHESTRATORS}
    assert all({*rows} == keys for rows in NODE_KEYS.values())


def below(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the pattern of each key of a section, and whether it has none below."""
    for name, field in model.model_fields.items():
        pattern = f"{prefix}{field.alias or name}"
        arguments = [argument for argument in flat(field.annotation) if isinstance(argument, type)]
        models = [argument for argument in arguments if issubclass(argument, BaseModel)]
        named = f"{pattern}.*" if get_origin(field.annotation) is dict else pattern
        yield pattern, named == pattern and not models
        if named != pattern:
            yield named, not models
        for each in models:
            yield from below(each, f"{named}.")


def flat(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from flat(argument)


def test_each_orchestrator_takes_a_file_of_each_other() -> None:
    """A file of ten lines, without what is the service's own."""
    for file in ("slurm-home", "slurm-minimal"):
        path = next(example for example in EXAMPLES if example.stem == file)
        for orchestrator in ("slurm", "hyperpod-slurm"):
            assert clusterfile.loads(moved(path, orchestrator), str(path)).traits.name == orchestrator


FILE = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: hyperpod-slurm
nodes:
  train: {type: p5en.48xlarge, count: 4}
"""
SCRIPT = f"{{url: 's3://tools/agent.sh', sha256: {64 * '0'}}}"
READY = f"{SCRIPT[:-1]}, stage: nodeReady}}"
BAD = [
    ("nodes.train", "capacity: cr-0123456789abcdef0", "nodes.train.capacity: HyperPod launches instances of SageMaker"),
    ("nodes.train", "capacity: {reservation: cr-0123456789abcdef0, kind: capacity-block}", "purchase a training plan"),
    ("nodes.train", "capacity: spot", "HyperPod launches Spot instances for Kubernetes only; write on-demand"),
    ("nodes.train", "min: 0", "nodes.train.min: HyperPod: every node of a group runs; remove it"),
    ("nodes.train", "labels: {rack: a}", "it gives nodes no features"),
    (
        "nodes.train",
        f"scripts: [{SCRIPT}]",
        "scripts[0].stage: HyperPod runs scripts once slurmd has started; write stage",
    ),
    ("nodes.train", f"scripts: [{READY[:-1]}, every-boot: true}}]", "on each new node, and not at further boots"),
    ("nodes.train", "scripts: [{url: 's3://tools/a.sh', stage: nodeReady}]", "sha256"),
    (
        "",
        f"slurm: {{login: {{scripts: [{SCRIPT}]}}}}",
        "slurm.login.scripts[0].stage: HyperPod runs scripts once slurmd",
    ),
    ("nodes.train", "placement-group: cluster", "HyperPod places its instances itself"),
    (
        "",
        "kubernetes: {version: '1.34'}",
        "kubernetes.version: is for Kubernetes, and orchestrator is hyperpod-slurm: ",
    ),
    ("", "slurm: {size: LARGE}", "the controller is a node; write its type instead: hyperpod: {controller: m7i.8xl"),
    ("", "slurm: {settings: {NodeName: a}}", "slurm.settings.NodeName: HyperPod writes it itself; remove it"),
    ("", "slurm: {settings: {prolog: /x.sh}}", "slurm.settings.prolog: HyperPod writes it itself; remove it"),
    (
        "",
        "slurm: {settings: {TaskPlugin: task/cgroup}}",
        "settings.TaskPlugin: HyperPod resumes jobs with task/none only",
    ),
    ("", "slurm: {queues: {dev: {nodes: [train]}}}", "slurm.queues.dev: HyperPod has a partition dev with all nodes"),
    ("", "slurm: {health: {replace: 2}}", "HyperPod replaces faulty nodes itself; write health: true"),
    ("", "slurm: {imds: root}", "serve the credentials of the role to all users of a node; write imds: all"),
    ("", "slurm: {login: {type: c7i.2xlarge}}", "slurm.login.type: HyperPod has no ml.c7i.2xlarge"),
    (
        "",
        "slurm: {queues: {train: {max-time: 1 d}}}",
        "add it to PartitionName=train in slurm.conf on the controller, then",
    ),
    (
        "",
        "slurm: {queues: {a-queue: {nodes: [train]}, b-queue: {nodes: [train]}}}",
        "train is in the partition a-queue, and in dev, as all nodes are; remove it from one",
    ),
    (
        "",
        "slurm: {queues: {a-queue: {nodes: [train, other]}}}",
        "has p5.48xlarge and p5en.48xlarge, which a job would mix",
    ),
    ("", "hyperpod: {controller: c7i.2xlarge}", "hyperpod.controller: HyperPod has no ml.c7i.2xlarge"),
    ("", "hyperpod: {bucket: llama-scripts}", "must begin with sagemaker-, for HyperPod reads no other"),
    ("", "hyperpod: {restricted-groups: []}", "in Python only, by hyperpod.HyperPodRestrictedGroup; remove it"),
    ("", "storage: {scratch: {path: /opt/sagemaker/a}}", "HyperPod has a volume of its own at /opt/sagemaker, got"),
    ("", "hyperpod: {bucket: sagemaker-a.b}", "must be the name of a bucket, without dots, got 'sagemaker-a.b'"),
    ("", "hyperpod: {bucket: sagemaker-a-s3alias}", "hyperpod.bucket: 'sagemaker-a-s3alias' is the name of the alias"),
    (
        "nodes.train",
        "capacity: {training-plan: 'arn:aws:sagemaker:us-west-2:123456789012:training-plan/a'}",
        "nodes.train.capacity.training-plan: is in us-west-2, and must be in the cluster's Region, us-east-2",
    ),
    (
        "",
        "hyperpod: {volume-key: 'arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef'}",
        "hyperpod.volume-key: is in us-west-2",
    ),
    (
        "",
        "hyperpod: {accounting: {endpoint: a.b, secret: 'arn:aws:secretsmanager:us-west-2:123456789012:secret:x'}}",
        "hyperpod.accounting.secret: is in us-west-2",
    ),
    (
        "",
        "hyperpod: {strategy: Merge, accounting: {endpoint: a.b, secret: "
        "'arn:aws:secretsmanager:us-east-2:123456789012:secret:x'}}",
        "a database needs continuous provisioning, which strategy turns off",
    ),
    ("", "network: {internet: false}", "nodes of HyperPod need the internet here: no page of AWS lists the endpoints"),
    ("", "perimeter: {accounts: ['123456789012']}", "no page of AWS lists the buckets of the service"),
    ("", "image: build", "image: HyperPod: its nodes have its own image; remove it"),
]


@pytest.mark.parametrize(("where", "line", "message"), BAD, ids=lambda value: str(value)[:40])
def test_hyperpod_refuses_what_it_has_no_equivalent_for(where: str, line: str, message: str) -> None:
    text = FILE.replace("count: 4}", f"count: 4, {line}}}") if where else f"{FILE}{line}\n"
    if "other" in line:
        text = text.replace("count: 4}", "count: 4}\n  other: {type: p5.48xlarge, count: 4}")
    with pytest.raises(clusterfile.ClusterFileError) as error:
        clusterfile.loads(text, "c.yaml")
    assert message in str(error.value)


def refusals(text: str) -> list[str]:
    with pytest.raises(clusterfile.ClusterFileError) as error:
        clusterfile.loads(text, "c.yaml")
    return [f"{problem.field}: {problem.message}" for problem in error.value.problems]


@pytest.mark.parametrize("orchestrator", ["hyperpod-slurm", "hyperpod-kubernetes"])
def test_no_remedy_names_what_hyperpod_refuses(orchestrator: str) -> None:
    text = FILE.replace("hyperpod-slurm", orchestrator)
    assert refusals(f"{text}image: build\n") == ["image: HyperPod: its nodes have its own image; remove it"]
    ultraserver = text.replace("p5en.48xlarge, count: 4", "u-p6e-gb200x72, count: 1")
    assert (
        "p6e-gb200.36xlarge is available in UltraServers only; write {training-plan: ARN}" in refusals(ultraserver)[0]
    )
    (neuron,) = refusals(text.replace("p5en.48xlarge", "trn2.48xlarge"))
    assert neuron.endswith("which this release does not set up on SageMaker HyperPod; use another type")
    (many,) = refusals(text.replace("count: 4}", "count: 9000}"))
    assert "such nodes fit, or use an existing subnet of a /16" in many
    foreign: dict[str, dict[str, tuple[str, ...]]] = {
        "hyperpod-slurm": {"elastic: true": ("on demand", "Spot"), "taints: {a: NoSchedule}": ("accounts",)},
        "hyperpod-kubernetes": {f"scripts: [{READY}]": ("image or",)},
    }
    for line, refused in foreign[orchestrator].items():
        (problem,) = refusals(text.replace("count: 4}", f"count: 4, {line}}}"))
        assert problem.endswith("remove it")
        assert not any(word in problem for word in refused)


@pytest.mark.parametrize("orchestrator", ["kubernetes", "hyperpod-kubernetes"])
def test_teams_of_queues_that_share_nodes_are_taken_together(orchestrator: str) -> None:
    path = next(example for example in EXAMPLES if example.stem == "slurm-fine-tuning")
    texts = re.findall(
        r"queues\.\S+: .*write kubernetes: (\{teams: \{.*\}\})",
        "\n".join(f"{problem.field}: {problem.message}" for problem in problems_of(moved(path, orchestrator))),
    )
    assert len(texts) == 3
    data = YAML(typ="safe").load(path.read_text())
    teams = {name: team for text in texts for name, team in YAML(typ="safe").load(text)["teams"].items()}
    assert teams == {
        "urgent": {"nodes": {"tune": 2, "cheap": 6}}, "tune": {"nodes": {"tune": 2}}, "cheap": {"nodes": {"cheap": 6}}
    }  # fmt: skip
    nodes = {name: {**data["nodes"][name], "capacity": "on-demand"} for name in ("tune", "cheap")}
    text = FILE.partition("nodes:")[0].replace("hyperpod-slurm", orchestrator)
    whole = {**YAML(typ="safe").load(text), "nodes": nodes, "kubernetes": {"teams": teams}}
    assert clusterfile.loads(json.dumps(whole), "c.yaml").kubernetes.teams["urgent"].nodes == {"tune": 2, "cheap": 6}


@pytest.mark.parametrize("orchestrator", ["hyperpod-slurm", "hyperpod-kubernetes"])
@pytest.mark.parametrize(
    ("region", "zone", "most"), [("us-east-2", "use2-az1", 30), ("ap-southeast-1", "apse1-az1", 25)]
)
def test_the_bucket_of_lifecycle_scripts_has_a_valid_name(orchestrator: str, region: str, zone: str, most: int) -> None:
    text = FILE.replace("hyperpod-slurm", orchestrator).replace("us-east-2\nzone: use2-az1", f"{region}\nzone: {zone}")
    clusterfile.loads(text.replace("llama", most * "a"), "c.yaml")
    for name in ((most + 1) * "a", "Orion"):
        (problem,) = refusals(text.replace("llama", name))
        assert problem.startswith("name: its bucket of lifecycle scripts is sagemaker-NAME-ACCOUNT-REGION")
        assert f"use a name of at most {most} lowercase letters" in problem
        clusterfile.loads(text.replace("llama", name) + "hyperpod: {bucket: sagemaker-mine}\n", "c.yaml")


@pytest.mark.parametrize(("orchestrator", "most"), [("hyperpod-slurm", 98), ("hyperpod-kubernetes", 100)])
def test_a_cluster_of_hyperpod_has_a_hundred_groups(orchestrator: str, most: int) -> None:
    def file(groups: int) -> str:
        lines = "".join(f"  g{number:03}: {{type: g5.xlarge, count: 1}}\n" for number in range(groups))
        # A queue of Kueue has 64 flavors at most.
        kai = "kubernetes: {scheduler: kai}\n" if orchestrator == "hyperpod-kubernetes" else ""
        return f"{FILE.replace('hyperpod-slurm', orchestrator).partition('  train')[0]}{lines}{kai}"

    assert len(clusterfile.loads(file(most), "c.yaml").node_groups) == most
    (problem,) = refusals(file(most + 1))
    assert problem.startswith("nodes: HyperPod supports at most 100 groups")
    assert problem.endswith(f", got 101; use at most {most}, each with more nodes")


@pytest.mark.parametrize("orchestrator", ["hyperpod-slurm", "hyperpod-kubernetes"])
def test_notices_of_a_capacity_block_are_refused_with_the_block(orchestrator: str) -> None:
    block = "capacity: {reservation: cr-0123456789abcdef0, kind: capacity-block}"
    text = FILE.replace("hyperpod-slurm", orchestrator).replace("count: 4}", f"count: 4, {block}}}")
    fields = [problem.partition(":")[0] for problem in refusals(f"{text}notifications: {{notice: 1 d}}\n")]
    assert fields[:2] == ["nodes.train.capacity", "notifications"]


def test_the_list_of_scripts_of_a_group_fits_into_a_parameter() -> None:
    many = ",\n".join(256 * "x" for _ in range(20))
    both = ",\n".join(f"{READY[:-1]}, name: {name}, arguments: [{many}]}}" for name in ("one", "two"))
    text = FILE.replace("count: 4}", f"count: 4, scripts: [{both}]}}")
    with pytest.raises(clusterfile.ClusterFileError, match="of the 8,192 bytes of a parameter; use fewer arguments"):
        clusterfile.loads(text, "c.yaml")


def test_hyperpod_takes_scripts_that_run_once_slurm_has_started() -> None:
    text = FILE.replace("count: 4}", f"count: 4, scripts: [{READY}]}}") + f"slurm: {{login: {{scripts: [{READY}]}}}}\n"
    assert clusterfile.loads(text, "c.yaml").nodes["train"].scripts[0].stage == "nodeReady"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("train: {", "controller: {", "'controller' is a name of HyperPod's own; choose another name"),
        ("train: {", "train-: {", "begins and ends with a letter or digit, got 'train-'"),
        ("us-east-2\nzone: use2-az1", "af-south-1\nzone: afs1-az1", "HyperPod is not available in af-south-1"),
        ("p5en.48xlarge", "c7i.48xlarge", "nodes.train.type: HyperPod has no ml.c7i.48xlarge"),
    ],
)
def test_hyperpod_refuses_names_places_and_types(old: str, new: str, message: str) -> None:
    with pytest.raises(clusterfile.ClusterFileError) as error:
        clusterfile.loads(FILE.replace(old, new), "c.yaml")
    assert message in str(error.value)


PLAN = "{training-plan: 'arn:aws:sagemaker:us-east-2:123456789012:training-plan/a'}"
BAD_KUBERNETES = [
    ("nodes.train", "capacity: cr-0123456789abcdef0", "HyperPod launches instances of SageMaker"),
    ("nodes.train", "capacity: {reservation: cr-0123456789abcdef0, kind: capacity-block}", "purchase a training plan"),
    ("nodes.train", "os: bottlerocket", "nodes.train.os: HyperPod: its nodes have its own image; remove it"),
    ("nodes.train", "pods: 30", "each node has one network interface for pods"),
    ("nodes.train", "update: all", "by aws sagemaker update-cluster-software; remove it"),
    ("nodes.train", "taints: {a: NoSchedule}", "write hyperpod: {deep-health-checks: false}"),
    ("nodes.train", "tags: {a: b}", "its instances are in an account of the service"),
    ("", "kubernetes: {version: '1.36'}", "HyperPod supports Kubernetes 1.30 to 1.35 (read 2026-11-23), got 1.36"),
    ("", "kubernetes: {platform: code-build}", "the admin host installs the charts without which HyperPod refuses"),
    ("", "kubernetes: {platform: none}", "the admin host installs the charts without which HyperPod refuses"),
    ("", "kubernetes: {registry: a.example.com/b}", "charts of HyperPod are in no registry"),
    (
        "",
        "kubernetes: {add-ons: {aws-ec2-local-instance-store-csi-driver: default}}",
        "the image of HyperPod has the NVMe disks in a volume already",
    ),
    ("", "hyperpod: {controller: m7i.8xlarge}", "hyperpod.controller: HyperPod: this key is for Slurm"),
    ("", "hyperpod: {strategy: Merge}", "hyperpod.strategy: HyperPod: this key is for Slurm"),
    ("", "hyperpod: {bucket: llama-scripts}", "must begin with sagemaker-, for HyperPod reads no other"),
    ("", "hyperpod: {checkpoint-memory: 10}", "hyperpod.checkpoint-memory: "),
    ("", "slurm: {version: '25.11'}", "slurm.version: is for Slurm, and orchestrator is hyperpod-kubernetes: "),
    (
        "",
        f"kubernetes: {{scheduler: task-governance, teams: {{{40 * 't'}: {{nodes: {{train: 4}}}}}}}}",
        "with 66 of at most 63 characters; choose a shorter name",
    ),
    ("", "network: {internet: false}", "remove it, or write orchestrator: kubernetes"),
]


@pytest.mark.parametrize(("where", "line", "message"), BAD_KUBERNETES, ids=lambda value: str(value)[:40])
def test_hyperpod_with_kubernetes_refuses_what_it_has_no_equivalent_for(where: str, line: str, message: str) -> None:
    text = FILE.replace("hyperpod-slurm", "hyperpod-kubernetes")
    text = text.replace("count: 4}", f"count: 4, {line}}}") if where else f"{text}{line}\n"
    text = text.replace("llama", "llama-of-the-second-floor") if "task-gov" in line else text
    with pytest.raises(clusterfile.ClusterFileError) as error:
        clusterfile.loads(text, "c.yaml")
    assert message in str(error.value)


def test_hyperpod_with_kubernetes_takes_spot_plans_labels_and_taints_without_tests() -> None:
    """Nodes under Slurm take none of them but a plan."""
    text = FILE.replace("hyperpod-slurm", "hyperpod-kubernetes") + "hyperpod: {deep-health-checks: false}\n"
    for line in ("capacity: spot", f"capacity: {PLAN}", "labels: {rack: a}", "taints: {a: NoSchedule}"):
        cluster = clusterfile.loads(text.replace("count: 4}", f"count: 4, {line}}}"), "c.yaml")
        assert cluster.node_groups[0].addresses_per_node == 65, "50 of the first card of p5en, 15 of the others"


EXISTING = """\
kubernetes:
  existing:
    name: platform
    endpoint: https://ABC.eks.amazonaws.com
    certificate-authority: LS0t
    security-group: sg-0123456789abcdef0
network:
  existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, cidr: 10.0.0.0/16}
"""


def test_the_warning_about_an_existing_cluster_names_the_charts() -> None:
    text = FILE.replace("hyperpod-slurm", "hyperpod-kubernetes") + EXISTING
    cluster = clusterfile.loads(text, "c.yaml")
    (warning,) = [each for each in clusterfile.warnings(cluster) if each.rule == "hyperpod-existing"]
    assert "deep-health-check, health-monitoring-agent" in warning.message


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_the_section_of_hyperpod_is_for_hyperpod(orchestrator: str) -> None:
    text = FILE.replace("hyperpod-slurm", orchestrator) + "hyperpod: {node-recovery: false}\n"
    (refusal,) = refusals(text)
    assert refusal.startswith(
        f"hyperpod.node-recovery: is for SageMaker HyperPod, and orchestrator is {orchestrator}: "
    )


MOVED = [
    ("slurm", "kubernetes: {teams: {vision: {nodes: {train: 4}, borrow: false}}}",
     {"kubernetes.teams.vision": "write slurm: {accounts: {vision: {fairshare: SHARES}}}",
      "kubernetes.teams.vision.nodes": "write slurm: {accounts: {vision: {settings: {GrpTRES: gres/gpu=32}}}}",
      "kubernetes.teams.vision.borrow": "accounts use idle nodes unless GrpTRES limits them; remove it"}),
    ("hyperpod-slurm", "kubernetes: {teams: {vision: {}}}",
     {"kubernetes.teams.vision": "sacctmgr add account vision fairshare=SHARES; remove it"}),
    ("kubernetes", "slurm: {queues: {train: {priority: 5}}, users: {ada: {uid: 2001}}}",
     {"slurm.queues.train": "write kubernetes: {teams: {train: {nodes: {train: 4}}}}",
      "slurm.queues.train.priority": "jobs name one of two priority classes, production and research; remove it",
      "slurm.users.ada": "write those of administrators: kubernetes: {admins: [ARN]}"}),
    ("hyperpod-kubernetes", "slurm: {health: {replace: 2}, login: {count: 2}}",
     {"slurm.health": "hyperpod: {node-recovery: true}, the default; remove it",
      "slurm.login.count": "write kubernetes: {system: {count: COUNT}}"}),
    ("slurm", "hyperpod: {}", {"hyperpod": "remove it"}),
    ("slurm", "hyperpod: {controller: 5}", {"hyperpod.controller": "remove it"}),
    ("slurm", "kubernetes: {public-access-cidrs: [203.0.113.0/24]}",
     {"kubernetes.public-access-cidrs": "write slurm: {login: {ssh: {key-pair: NAME, from: [RANGE]}}}"}),
]  # fmt: skip


@pytest.mark.parametrize(("orchestrator", "section", "named"), MOVED)
def test_each_line_of_another_orchestrator_has_its_remedy(
    orchestrator: str, section: str, named: dict[str, str]
) -> None:
    text = FILE.replace("hyperpod-slurm", orchestrator) + section + "\n"
    given = {problem.field: problem.message for problem in problems_of(text) if problem.rule == "other-orchestrator"}
    assert set(given) == set(named)
    assert all(given[field].endswith(end) for field, end in named.items()), given


def test_a_cluster_of_hyperpod_has_a_controller_node_and_the_addresses_of_its_cards() -> None:
    cluster = clusterfile.loads(FILE, "c.yaml")
    assert cluster.expected_nodes == {"train": 4, "login": 1, "controller": 1}
    assert cluster.instances == 6
    assert cluster.service_type.name == "m7i.2xlarge"
    assert [group.addresses for group in cluster.node_groups] == [4 * 16]
    assert not cluster.slurm_metrics
    assert [warning.rule for warning in clusterfile.warnings(cluster)].count("hyperpod-quota") == 1
    assert not {"vcpu-quota", "gp3-quota"} & {warning.rule for warning in clusterfile.warnings(cluster)}


@pytest.mark.parametrize(("count", "warned"), [(101, False), (102, True)])
def test_root_volumes_beyond_the_default_quota_of_gp3_storage_are_warned_of(count: int, warned: bool) -> None:
    nodes = f"nodes: {{train: {{type: p5en.48xlarge, count: {count}, capacity: {{reservation: cr-0123456789abcdef0, "
    text = f"name: wide\nregion: us-east-2\nzone: use2-az1\norchestrator: slurm\n{nodes}kind: odcr}}}}}}\n"
    cluster = clusterfile.loads(text, "c.yaml")
    lines = [item.message for item in clusterfile.warnings(cluster) if item.rule == "gp3-quota"]
    assert [line.split(",")[0] for line in lines] == ["the root volumes are 51 TiB"] * warned
    on_hyperpod = FILE.replace("count: 4", "count: 400")
    assert "gp3-quota" not in [item.rule for item in clusterfile.warnings(clusterfile.loads(on_hyperpod, "c.yaml"))]


@pytest.mark.parametrize(("strategy", "warned"), [("Overwrite", True), ("Merge", False)])
def test_warns_that_hyperpod_overwrites_what_the_library_adds_to_slurm_conf(strategy: str, warned: bool) -> None:
    cluster = clusterfile.loads(FILE + f"hyperpod: {{strategy: {strategy}}}\n", "c.yaml")
    rules = [warning.rule for warning in clusterfile.warnings(cluster)]
    assert ("hyperpod-overwrite" in rules) == warned
