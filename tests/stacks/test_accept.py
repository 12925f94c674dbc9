"""`accept`: errors that rest on a dated fact go through to the template, others do not."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT
from support.boot_scripts import boots
from support.clusterfile_data import GOOD, NO_METRICS, RESERVATION, bent, private_with_directory, problem, problems
from support.templates import of_type, synth, warning_ids
from ultracluster.cli import app
from ultracluster.clusterfile import ClusterFileError, loads, rules, warnings


def moved(text: str, region: str, zone: str) -> str:
    return text.replace("us-east-2", region).replace("use2-az1", zone)


KUBERNETES = bent("slurm", "kubernetes")
YEAR = "starts: 2026-12-04, ends: 2027-12-03"
BLOCK = bent(RESERVATION, f"{{reservation: {RESERVATION}, kind: capacity-block, ends: 2026-12-24}}")

PLAN = "arn:aws:sagemaker:us-east-2:999999999999:training-plan/llama"

# By rule: a file that violates it alone, the type of the resource that takes the accepted value, and the value there.
BOOT = "what a node writes at boot"
ACCEPTED = {
    "block-length": (
        KUBERNETES.replace(RESERVATION, f"{{reservation: {RESERVATION}, kind: capacity-block, {YEAR}}}"),
        "AWS::Scheduler::Schedule",
        "at(2026-12-04T11:30:00)",
    ),
    "slurm-user-account": (
        bent(
            "storage: {", "slurm: {settings: {AccountingStorageEnforce: limits}, users: {ada: {uid: 2001}}}\nstorage: {"
        ),
        "AWS::PCS::Cluster",
        '"ParameterValue": "limits"',
    ),
    "slurm-not-enforced": (
        bent(
            "storage: {",
            "slurm: {settings: {AccountingStorageEnforce: nojobs}, queues: {train: {nodes: [train], qos: [normal]}}}\n"
            "storage: {",
        ),
        "AWS::PCS::Cluster",
        '"ParameterValue": "nojobs"',
    ),
    "grafana-workspace-region": (
        moved(GOOD, "eu-north-1", "eun1-az1") + "observability: {grafana: {kind: managed, workspace: g-0123456789}}\n",
        "Custom::GrafanaContent",
        '"WorkspaceId": "g-0123456789"',
    ),
    "prometheus-region": (
        moved(KUBERNETES, "cn-north-1", "cnn1-az1") + "observability: {}\n",
        "AWS::APS::Workspace",
        '"Alias": "llama"',
    ),
    "home-region": (
        bent("storage: {", "storage: {home: {deployment: SINGLE_AZ_HA_1}, "),
        "AWS::FSx::FileSystem",
        '"DeploymentType": "SINGLE_AZ_HA_1"',
    ),
    "home-throughput": (
        bent("storage: {", "storage: {home: {throughput: 20480 MB/s}, "),
        "AWS::FSx::FileSystem",
        '"ThroughputCapacity": 20480',
    ),
    "home-client": (
        bent("storage: {", "storage: {home: {type: s3-files}, "),
        "AWS::S3Files::FileSystem",
        '"Prefix": "home/"',
    ),
    "home-clients-subnet": (
        bent("storage: {", "storage: {home: {clients: [10.0.128.0/20]}, "),
        "AWS::FSx::Volume",
        '"Clients": "10.0.128.0/20"',
    ),
    "hyperpod-region": (
        moved(
            bent("orchestrator: slurm", "orchestrator: hyperpod-slurm", bent(RESERVATION, "on-demand")),
            "eu-west-3",
            "euw3-az1",
        ),
        "AWS::SageMaker::Cluster",
        '"NodeProvisioningMode": "Continuous"',
    ),
    "hyperpod-kubernetes-version": (
        (ROOT / "examples" / "hyperpod-kubernetes.yaml")
        .read_text()
        .replace("kubernetes:\n", 'kubernetes:\n  version: "1.36"\n'),
        "AWS::EKS::Cluster",
        '"Version": "1.36"',
    ),
    "hyperpod-metrics-nodes": (
        bent("orchestrator: slurm", "orchestrator: hyperpod-kubernetes", bent(RESERVATION, "on-demand"))
        .replace("p5en.48xlarge", "g6e.2xlarge")
        .replace("40 GB/s", "40 GB/s, efa: true")
        + "kubernetes: {add-ons: {amazon-sagemaker-hyperpod-observability: default}}\n",
        "AWS::EKS::Addon",
        '"AddonName": "amazon-sagemaker-hyperpod-observability"',
    ),
    "hyperpod-training-plan": (
        bent("orchestrator: slurm", "orchestrator: hyperpod-slurm", bent(RESERVATION, f"{{training-plan: '{PLAN}'}}"))
        + "account: '123456789012'\n",
        "AWS::SageMaker::Cluster",
        PLAN,
    ),
    "hyperpod-type": (
        bent("orchestrator: slurm", "orchestrator: hyperpod-slurm", bent(RESERVATION, "on-demand"))
        + "hyperpod: {controller: c7i.4xlarge}\n",
        "AWS::SageMaker::Cluster",
        '"InstanceType": "ml.c7i.4xlarge"',
    ),
    "image-driver": (
        bent("p5en.48xlarge", "g4ad.16xlarge", bent("40 GB/s", "40 GB/s, efa: false"))
        + "types: {g4ad.16xlarge: {architecture: x86_64, vcpus: 64, memory: 256 GiB, addresses-per-interface: 50, "
        "network-cards: [{count: 1, kinds: [interface], interfaces: 8}]}}\n",
        "AWS::PCS::ComputeNodeGroup",
        '"InstanceType": "g4ad.16xlarge"',
    ),
    "kubernetes-add-on-role": (
        f"{KUBERNETES}kubernetes: {{add-ons: {{external-dns: default}}}}\n",
        "AWS::EKS::Addon",
        "external-dns",
    ),
    "kubernetes-add-on-name": (
        f"{KUBERNETES}kubernetes: {{add-ons: {{cordns: default}}}}\n",
        "AWS::EKS::Addon",
        '"AddonName": "cordns"',
    ),
    "kubernetes-scaling-tier": (
        f"{KUBERNETES}kubernetes: {{scaling-tier: tier-16xl}}\n",
        "AWS::EKS::Cluster",
        '"Tier": "tier-16xl"',
    ),
    "kubernetes-version": (
        f'{KUBERNETES}kubernetes: {{version: "1.38"}}\n',
        "AWS::EKS::Cluster",
        '"Version": "1.38"',
    ),
    "kubernetes-zone": (
        moved(KUBERNETES, "us-east-1", "use1-az3"),
        "AWS::EC2::Subnet",
        '"AvailabilityZoneId": "use1-az3", "CidrBlock": "10.0.128.0/18"',
    ),
    "lustre-efa-zone": (
        moved(bent("40 GB/s", "40 GB/s, efa: true"), "us-east-1", "use1-dfw2-az1")
        + "network: {control-plane-zone: use1-az4}\n",
        "AWS::FSx::FileSystem",
        '"EfaEnabled": true',
    ),
    "lustre-gpudirect": (
        bent("p5en.48xlarge", "p5.4xlarge", bent("40 GB/s", "40 GB/s, client: {gpudirect-storage: true}")),
        BOOT,
        "lustre-efa --gds yes",
    ),
    "lustre-adopt-associations": (
        bent(
            "throughput: 40 GB/s",
            "throughput: 40 GB/s, data-repository-associations: {/data: {export: [NEW]}}, adopt: "
            "{id: fs-0123456789abcdef0, mount-name: abcdefgh, security-group: sg-0123456789abcdef0}",
        ),
        "AWS::FSx::DataRepositoryAssociation",
        '"FileSystemId": "fs-0123456789abcdef0"',
    ),
    "lustre-efa-choice": (
        bent("p5en.48xlarge", "p4d.24xlarge"),
        "AWS::FSx::FileSystem",
        '"EfaEnabled": true',
    ),
    "kubernetes-node-driver": (
        bent(
            "orchestrator: slurm", "orchestrator: kubernetes", bent(RESERVATION, "on-demand, os: bottlerocket")
        ).replace("p5en.48xlarge", "g7.48xlarge"),
        "AWS::EKS::Nodegroup",
        '"AmiType": "BOTTLEROCKET_x86_64_NVIDIA"',
    ),
    "lustre-tier": (
        bent("throughput: 40 GB/s", "tier: 2000 MB/s/TiB, capacity: 48000 GiB"),
        "AWS::FSx::FileSystem",
        '"PerUnitStorageThroughput": 2000',
    ),
    "lustre-version": (
        bent("throughput: 40 GB/s", 'throughput: 40 GB/s, lustre-version: "2.17"'),
        "AWS::FSx::FileSystem",
        '"FileSystemTypeVersion": "2.17"',
    ),
    "private-image": (
        bent(
            "storage: {",
            "network: {internet: false}\nslurm: {login: {image: ami-0123456789abcdef0}}\nstorage: {home: {}, ",
        ),
        "AWS::FSx::FileSystem",
        '"FileSystemType": "OPENZFS"',
    ),
    "slurm-directory-route": (
        re.sub(r"accept: .*\n", "", private_with_directory()),
        "AWS::EC2::VPCEndpoint",
        "com.amazonaws.us-east-2.secretsmanager",
    ),
    "metrics-quota": (
        f"{GOOD}observability: {{series-limit: 50000001}}\n",
        "AWS::APS::Workspace",
        "50000001",
    ),
    # 200 days and half an hour before the end.
    "notice-time": (f"{BLOCK}notifications: {{drain: 200 d}}\n", "AWS::Scheduler::Schedule", "at(2026-06-07T11:00:00)"),
    "pcs-region": (moved(GOOD, "us-west-1", "usw1-az1"), "AWS::PCS::Cluster", '"Version"'),
    "slurm-size": (f"{GOOD}slurm: {{size: XLARGE}}\n", "AWS::PCS::Cluster", '"Size": "XLARGE"'),
    "slurm-version": (f"{GOOD}slurm: {{version: 26.11}}\n", "AWS::PCS::Cluster", '"Version": "26.11"'),
    "unknown-zone": (
        bent("use2-az1", "xyz1-az1"),
        "AWS::EC2::Subnet",
        '"AvailabilityZoneId": "xyz1-az1", "CidrBlock": "10.0.128.0/18"',
    ),
}


def accepting(rule: str, text: str) -> str:
    return f"{text}accept: {{{rule}: it is sold since 2026-12}}\n"


def test_each_acceptable_error_has_a_case() -> None:
    assert {rule.id for rule in rules() if rule.acceptable and rule.kind == "error"} == ACCEPTED.keys()


@pytest.mark.parametrize("rule", ACCEPTED)
def test_an_accepted_value_is_deployed(rule: str) -> None:
    text, type, value = ACCEPTED[rule]
    with pytest.raises(ClusterFileError) as caught:
        loads(text, "c.yaml")
    assert [problem.rule for problem in caught.value.problems] == [rule]
    less = "" if "observability:" in text else NO_METRICS
    cluster = loads(accepting(rule, text) + less, "c.yaml")
    assert [problem.rule for problem in cluster.accepted] == [rule]
    assert {warning.rule: warning.accepted for warning in warnings(cluster)}[rule] == "it is sold since 2026-12"
    templates = [stack.template for stack in synth(cluster).stacks if "Resources" in stack.template]
    assert value in (
        str(boots(cluster)) if type == BOOT else json.dumps([of_type(template, type) for template in templates])
    )
    assert f"ultracluster:{rule}" not in warning_ids(cluster)


@pytest.mark.parametrize("rule", ACCEPTED)
def test_check_describes_a_cluster_with_an_accepted_value(rule: str, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(accepting(rule, ACCEPTED[rule][0]))
    result = CliRunner().invoke(app, ["check", str(file)])
    assert (result.exit_code, result.exception) == (0, None), result.output
    assert f"[{rule}: it is sold since 2026-12]" in result.output


def test_rejects_the_acceptance_of_an_error_that_would_lose_data_or_cannot_be_deployed() -> None:
    text = bent("count: 64", "count: 9999")
    message = problems(accepting("network-addresses", text))[-1]
    assert "accept.network-addresses: cannot be accepted: it would lose data, or cannot be deployed" in message


def test_rejects_an_unknown_rule_with_the_nearest() -> None:
    message = problem("name: llama", "name: llama\naccept: {slurm-versoin: known}")
    assert message == "c.yaml:2:10 accept.slurm-versoin: is not the id of a rule; did you mean slurm-version?"


def test_rejects_an_acceptance_without_a_reason() -> None:
    assert "needs the reason" in problem("name: llama", "name: llama\naccept: {slurm-version: ''}")


def test_every_rule_has_an_id_in_kebab_case_and_a_reason_of_one_sentence() -> None:
    for rule in rules():
        assert rule.id == rule.id.lower().strip("-").replace("_", "-")
        assert rule.reason.endswith(".")
        assert "\n" not in rule.reason
    assert len(rules()) > 100
    assert all(rule.acceptable for rule in rules() if rule.kind == "warning")


def test_check_prints_what_is_accepted_and_the_age_of_the_facts(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(accepting("slurm-version", f"{GOOD}slurm: {{version: 26.11}}\n"))
    result = CliRunner().invoke(app, ["check", str(file)])
    assert "[slurm-version: it is sold since 2026-12]" in result.output
    assert re.search(r"facts: the oldest were read \d+ days ago \(lustre 2026-10-09, ", result.output)
    facts = json.loads(CliRunner().invoke(app, ["check", str(file), "--json"]).output)["facts"]
    assert facts.keys() == {"ec2", "pcs", "lustre", "monitoring"}


def test_the_command_lists_the_rules() -> None:
    listed = CliRunner().invoke(app, ["rules"]).output
    assert "slurm-version (cluster file, error, `accept` allows it): " in listed
    data = json.loads(CliRunner().invoke(app, ["rules", "--json"]).output)
    assert [rule["id"] for rule in data if rule["of"] == "cluster file"] == [rule.id for rule in rules()]


def test_an_accepted_rule_that_the_file_does_not_break_is_reported() -> None:
    text = f'{GOOD}accept: {{unknown-region: "opens in 2027", alerts-without-subscription: "a wall screen"}}\n'
    by_rule = {warning.rule: warning for warning in warnings(loads(text, "c.yaml"))}
    assert by_rule["alerts-without-subscription"].accepted == "a wall screen"
    assert "accept names unknown-region, which this file does not break" in by_rule["accept-unused"].message
