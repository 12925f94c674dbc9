"""The commands `deploy` and `diff`, with the real CDK CLI and a local cloud in place of AWS."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cdk_rehearsal.deploy import SIDE_BY_SIDE, CdkCli, CliProcesses, CliResult, DeployError, assembled
from cdk_rehearsal.deploy._stack_policy import stack_policy
from cdk_rehearsal.guard import protected_resources
from cdk_rehearsal.rehearsal import LocalCloud
from support import ROOT, runbooks
from support.templates import synth
from ultracluster import clusterfile
from ultracluster.cli import _deploy, app
from ultracluster.cli._cluster_stacks import cluster_stacks

FILE = """name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 4, capacity: cr-0123456789abcdef0}
observability: {profile: none}
"""


@pytest.fixture(scope="module")
def cloud(cli_processes: CliProcesses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    scratch = tmp_path_factory.mktemp("bootstrap")
    with LocalCloud() as cloud:
        environment = cloud.environment("us-east-2")
        cli = CdkCli(app=ROOT, environment=environment, scratch=scratch, processes=cli_processes)
        assert cli.bootstrap("123456789012", "us-east-2", lambda line: None).code == 0
        yield cloud


@pytest.fixture
def run(cloud: LocalCloud, cli_processes: CliProcesses, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command of the library. The CDK CLI runs in processes that other tests have started."""
    for name, value in cloud.environment("us-east-2").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "123456789012")
    monkeypatch.setenv("CDK_DEFAULT_REGION", "us-east-2")
    monkeypatch.chdir(tmp_path)

    def cdk_deploy(command: list[str], *, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        begin = command.index("deploy")
        code, output = cli_processes.run(
            command[:begin], command[begin:], folder=cwd, environment=env, each_line=lambda line: None
        )
        return subprocess.CompletedProcess(command, code, output)

    monkeypatch.setattr(subprocess, "run", cdk_deploy)
    monkeypatch.setattr("cdk_rehearsal.deploy.CdkCli", partial(CdkCli, processes=cli_processes))

    def run(command: str, text: str, *arguments: str) -> Any:
        (tmp_path / "my.yaml").write_text(text)
        # There is no terminal.
        return CliRunner().invoke(app, [command, "my.yaml", *(["--yes"] if command == "deploy" else []), *arguments])

    return run


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Synthesise in this process from now on: through the CDK CLI, it takes two seconds."""

    def synthesise(cli: CdkCli, file: Path, output: Path) -> None:
        shutil.copytree(synth(clusterfile.load(file)).directory, output)
        # A stack of the app that is not the cluster's.
        manifest = json.loads((output / "manifest.json").read_text())
        properties = {"templateFile": "Payments.json"}
        place = "aws://123456789012/us-east-2"
        stack = {"type": "aws:cloudformation:stack", "environment": place, "properties": properties}
        manifest["artifacts"]["Payments"] = stack
        (output / "manifest.json").write_text(json.dumps(manifest))
        (output / "Payments.json").write_text('{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}')

    return lambda: monkeypatch.setattr(_deploy, "synthesise", synthesise)


STRICTER = {"Effect": "Deny", "Action": "Update:Delete", "Principal": "*", "Resource": "LogicalResourceId/Login*"}
TWO_STACKS = """name: wide
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5.48xlarge, count: 2, capacity: on-demand, stack: 1}
  tuning: {type: p5.48xlarge, count: 2, capacity: on-demand, stack: 2}
observability: {profile: none}
"""


def status(cloud: LocalCloud) -> dict[str, str]:
    return {stack.name: stack.status for stack in cloud.stacks.living() if stack.name != "CDKToolkit"}


def test_a_cluster_is_deployed_compared_with_what_is_deployed_and_protected(
    run: Any, cloud: LocalCloud, in_process: Callable[[], None]
) -> None:
    first = run("deploy", FILE)
    assert first.exit_code == 0, first.output
    assert "nothing is deployed yet" in first.output
    assert set(status(cloud).values()) == {"CREATE_COMPLETE"}
    policies = {stack.name: stack.policy for stack in cloud.stacks.living() if stack.name != "CDKToolkit"}
    assert "trainNodeGroupEAA26539" in str(policies["llama-Compute"])
    assert all(policies.values())

    in_process()
    same = run("diff", FILE, "--json")
    assert same.exit_code == 0, same.output
    assert json.loads(same.stdout)["guard"]["nodes"] == []
    assert json.loads(same.stdout)["monthly_cost"]["changes"] == {}
    assert json.loads(same.stdout)["change_sets"] == {"refused": {}, "missing": {}}
    assert json.loads(same.stdout)["unprotected_stacks"] == {}

    # As after a plain `cdk deploy`, which sets no policy.
    (compute,) = (stack for stack in cloud.stacks.living() if stack.name == "llama-Compute")
    kept, compute.policy = compute.policy, None

    more = run("diff", FILE.replace("count: 4", "count: 6"))
    compute.policy = kept
    assert "warning: the stack policy of llama-Compute does not protect LoginNodeGroup" in more.output
    assert "trainNodeGroupEAA26539, trainQueue2AEF98BA: `deploy` sets it" in more.output
    assert "monthly cost: p5en.48xlarge: 4 -> 6 nodes." in more.output

    # A renamed group ends its nodes: refused before anything happens.
    renamed = FILE.replace("train:", "gpus:")
    refused = run("deploy", renamed)
    assert refused.exit_code == 1
    assert "--allow llama-Compute/trainNodeGroupEAA26539" in refused.output
    assert "--allow llama-Compute/trainQueue2AEF98BA" in refused.output
    assert "jobs on llama-Compute/trainNodeGroupEAA26539, llama-Compute/trainQueue2AEF98BA end" in refused.output
    assert set(status(cloud).values()) == {"CREATE_COMPLETE"}

    # A statement of the user's stays, whatever the library adds and lifts.
    kept = json.loads(str(compute.policy))
    kept["Statement"].insert(1, STRICTER)
    compute.policy = json.dumps(kept)
    allowed = run("deploy", renamed, "--allow", "trainNodeGroupEAA26539", "--allow", "trainQueue2AEF98BA")
    assert allowed.exit_code == 0, allowed.output
    assert status(cloud)["llama-Compute"] == "UPDATE_COMPLETE"
    assert "gpusNodeGroup" in str(compute.policy)
    assert "trainNodeGroup" not in str(compute.policy)
    assert json.loads(str(compute.policy))["Statement"][1] == STRICTER
    assert "Payments" not in status(cloud)

    # A stack that cannot be updated is named, with the page to read.
    compute.status = "UPDATE_ROLLBACK_FAILED"
    blocked = run("diff", renamed)
    assert blocked.exit_code == 1
    assert "llama-Compute is UPDATE_ROLLBACK_FAILED" in blocked.output
    assert "docs/operations/changes.md#a-rollback-that-failed" in blocked.output

    # Such as an EKS cluster with deletion protection after a first deployment that failed.
    compute.status, compute.protected = "ROLLBACK_FAILED", True
    stuck = run("diff", renamed)
    place = "--region us-east-2 --stack-name llama-Compute"
    assert stuck.exit_code == 1
    assert (
        "delete the stack: aws cloudformation update-termination-protection --no-enable-termination-protection "
        f"{place} && aws cloudformation delete-stack {place}"
    ) in stuck.output


def test_a_stack_that_leaves_the_app_is_refused_until_it_is_deleted(
    run: Any, cloud: LocalCloud, in_process: Callable[[], None]
) -> None:
    in_process()
    assert run("deploy", TWO_STACKS).exit_code == 0
    assert status(cloud)["wide-Compute-2"] == "CREATE_COMPLETE"
    fewer = "".join(line for line in TWO_STACKS.splitlines(keepends=True) if "tuning" not in line)

    # `cdk deploy` would leave the stack and its nodes, which are charged for.
    refused = run("deploy", fewer)
    assert refused.exit_code == 1
    assert "wide-Compute-2 is deployed and no longer in the app" in refused.output
    assert "--allow wide-Compute-2/tuningNodeGroup" in refused.output
    delete = "aws cloudformation delete-stack --region us-east-2 --stack-name wide-Compute-2"
    assert delete in refused.output
    assert "llama" not in refused.output, "the stacks of another cluster are none of its own"
    assert json.loads(run("diff", fewer, "--json").stdout)["left_stacks"] == {"wide-Compute-2": delete}

    options = dict(zip(*[iter(shlex.split(delete)[3:])] * 2, strict=True))
    cloud.client("cloudformation", options["--region"]).delete_stack(StackName=options["--stack-name"])
    assert "wide-Compute-2" not in status(cloud)
    good = run("deploy", fewer)
    assert good.exit_code == 0, good.output
    assert "Compute-2" not in good.output


def test_a_plain_cdk_deploy_is_protected_too(cloud: LocalCloud, cli_processes: CliProcesses, tmp_path: Path) -> None:
    """CloudFormation's events start the runbook of the Network stack, which sets the policy that `deploy` sets."""
    environment = cloud.environment("us-east-2")
    cli = CdkCli(app=ROOT, environment=environment, scratch=tmp_path, processes=cli_processes)

    def cdk_deploy(text: str) -> CliResult:
        app = str(synth(clusterfile.loads(text, "x.yaml")).directory)
        return cli.run("deploy", "**", "--app", app, *SIDE_BY_SIDE, folder=tmp_path)

    text = FILE.replace("name: llama", "name: plain")
    first = cdk_deploy(text)
    assert first.code == 0, first.output
    stacks = {stack.name: stack for stack in cloud.stacks.living() if stack.name.startswith("plain-")}
    assert len(stacks) > 3
    assert not any(stack.policy for stack in stacks.values())

    ids = {stack.name: stack.id for stack in cloud.stacks.living()}
    others = [id for name, id in ids.items() if name not in stacks]
    others += [id.replace("/plain-", "/plain-2-") for name, id in ids.items() if name in stacks]
    assert others
    events = [runbooks.event(id, "CREATE_COMPLETE") for id in others]
    events += [
        runbooks.event(id, status) for id in ids.values() for status in ("UPDATE_IN_PROGRESS", "DELETE_COMPLETE")
    ]
    (runbook,) = (
        name for name in runbooks.started(cloud, [runbooks.event(stacks["plain-Network"].id, "CREATE_COMPLETE")])
    )
    assert runbook not in runbooks.started(cloud, events)
    deployed = [runbooks.event(stack.id, stack.status) for stack in stacks.values()]
    deployed.append(runbooks.event(stacks["plain-Compute"].id.replace("Compute/", "Compute-2/"), "UPDATE_COMPLETE"))
    parameters = runbooks.started(cloud, deployed)[runbook]
    assert {row["StackId"] for row in parameters} == {row["detail"]["stack-id"] for row in deployed}

    statements = next(
        resource.blueprint.properties["PolicyDocument"]["Statement"]
        for id, resource in stacks["plain-Network"].resources.items()
        if id.startswith("StackPoliciesPolicy")
    )
    for row in parameters:
        assert runbooks.allowed(statements, "cloudformation:SetStackPolicy", row["StackId"])
    # Those of a cluster that is called `plain-Compute`.
    nested = [id.replace("/plain-", "/plain-Compute-") for name, id in ids.items() if name in stacks]
    nested.append(parameters[-1]["StackId"].replace("/plain-", "/plain-Compute-"))
    for id in (others[-1], *nested):
        assert not runbooks.allowed(statements, "cloudformation:SetStackPolicy", id)
    # They do not exist here, so that each call for one of them fails.
    runbooks.run(cloud, runbook, [*parameters[:-1], *({"StackId": id} for id in nested)], tmp_path)
    for name, stack in stacks.items():
        assert stack.policy == stack_policy(protected_resources(json.loads(stack.text))), name

    renamed = cdk_deploy(text.replace("train:", "gpus:"))
    assert renamed.code
    assert "Action denied by stack policy" in renamed.output
    assert stacks["plain-Compute"].status == "UPDATE_ROLLBACK_COMPLETE"
    assert any("trainNodeGroup" in id for id in stacks["plain-Compute"].resources)


def test_a_new_cluster_takes_over_the_log_group_that_one_of_its_name_left(
    run: Any, cloud: LocalCloud, in_process: Callable[[], None]
) -> None:
    """EKS creates its log group, which outlives the cluster: CloudFormation refuses to create another."""
    in_process()
    properties = {"LogGroupName": "/aws/eks/again/cluster"}
    left = {"Logs": {"Type": "AWS::Logs::LogGroup", "DeletionPolicy": "Retain", "Properties": properties}}
    cloudformation = cloud.client("cloudformation", "us-east-2")
    cloudformation.create_stack(StackName="earlier", TemplateBody=json.dumps({"Resources": left}))
    cloudformation.delete_stack(StackName="earlier")
    result = run("deploy", KUBERNETES.replace("name: bear", "name: again"))
    assert result.exit_code == 0, result.output
    assert status(cloud)["again-Cluster"] == "CREATE_COMPLETE"


def test_an_app_that_fails_is_not_deployed(run: Any) -> None:
    result = run("deploy", FILE.replace("zone: use2-az1", "zone: use1-az1"))
    assert result.exit_code == 1
    assert "problem" in result.output


def test_the_deployment_runs_the_cdk_cli(
    run: Any, in_process: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_process()
    called = []

    def fails(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        called.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", fails)
    result = run("deploy", FILE.replace("name: llama", "name: other"))
    assert result.exit_code == 1
    assert "cdk deploy ended with code 3" in result.output
    ((command,),) = [called]
    assert command[command.index("--require-approval") + 1] == "never"


def test_the_stacks_of_a_cluster_are_those_that_hold_it_and_what_they_depend_on(tmp_path: Path) -> None:
    cluster = clusterfile.loads(KUBERNETES, "c.yaml")
    described = {"Description": "Nodes of the cluster bear", "Resources": {}}
    templates = {
        "Vpc": {"Resources": {}},
        "Research": {"Resources": {"Eks": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "bear"}}}},
        "Payments": {"Resources": {"Eks": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "payments"}}}},
        "Prod-bear-Compute": described,
        "bear-Payments": described,
    }
    artifacts: dict[str, Any] = {"Vpc.assets": {"type": "cdk:asset-manifest"}}
    for name, template in templates.items():
        (tmp_path / f"{name}.template.json").write_text(json.dumps(template))
        artifacts[name] = {"type": "aws:cloudformation:stack", "displayName": f"App/{name}"}
    artifacts["Research"]["dependencies"] = ["Vpc", "Vpc.assets"]
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    stacks = list(assembled(tmp_path))
    of_cluster, deployed = ([stack.path for stack in part] for part in cluster_stacks(stacks, cluster))
    assert of_cluster == ["App/Research", "App/Prod-bear-Compute"]
    assert deployed == ["App/Vpc", *of_cluster]
    with pytest.raises(DeployError, match="no stack of the app has the cluster llama"):
        cluster_stacks(stacks, clusterfile.loads(FILE, "c.yaml"))


ELASTIC = "  burst: {type: g6e.48xlarge, count: 4, elastic: true, capacity: spot, image: ami-0123456789abcdef0}\n"
KUBERNETES = """name: bear
region: us-east-2
zone: use2-az1
orchestrator: kubernetes
kubernetes: {platform: none, admins: ["arn:aws:iam::123456789012:role/admin"], release: 1.35.0-20261101}
nodes:
  train: {type: p5en.48xlarge, count: 2, capacity: cr-0123456789abcdef0}
"""


def test_the_last_elastic_group_leaves_with_the_role_of_its_nodes(
    run: Any, cloud: LocalCloud, in_process: Callable[[], None]
) -> None:
    """Compute imports the role from Cluster, and CloudFormation keeps an export that is used."""
    in_process()
    text = KUBERNETES + "observability: {profile: none}\n"
    assert run("deploy", KUBERNETES + ELASTIC + "observability: {profile: none}\n").exit_code == 0
    done = run("deploy", text, "--allow", "bear-Compute/KarpenterAssociation8FBFE544")
    assert done.exit_code == 0, done.output
    assert "first, because other stacks keep exports for them: bear-Compute\n" in done.output
    stacks = {name: state for name, state in status(cloud).items() if name.startswith("bear")}
    assert (stacks["bear-Compute"], stacks["bear-Cluster"]) == ("UPDATE_COMPLETE", "UPDATE_COMPLETE")

    # CloudFormation refuses an update of a group that replaces nodes and changes settings: the nodes are first.
    edit = text.replace("20261101", "20261120").replace("count: 2,", "count: 2, labels: {rack: r1},")
    allowed = ("--allow", "bear-Compute/trainNodeGroupEAA26539", "--allow", "bear-Compute/SystemNodeGroup746E2464")
    done = run("deploy", edit, *allowed)
    assert done.exit_code == 0, done.output
    assert "first the nodes of bear-Compute/trainNodeGroupEAA26539, then their settings\n" in done.output
    updates = [entry.detail for entry in cloud.journal.entries() if entry.logical_id.startswith("trainNodeGroup")]
    assert updates[-2:] == ["ReleaseVersion", "Labels"]
    for count, word in (("2, update: all", "deploy the new `update` first"), ("1", "deploy the smaller `count` alone")):
        late = edit.replace("20261120", "20261130").replace("count: 2,", f"count: {count},")
        refused = run("deploy", late, *allowed)
        assert refused.exit_code == 1
        assert f"eks-update-first: bear-Compute/trainNodeGroupEAA26539: {word}" in refused.output
    # The strategy of an update follows from the capacity: no edit of the file changes it alone.
    reserved = edit.replace("capacity: cr-0123456789abcdef0", "capacity: on-demand")
    done = run("deploy", reserved, *allowed[:2])
    assert done.exit_code == 0, done.output
    updates = [entry.detail for entry in cloud.journal.entries() if entry.logical_id.startswith("trainNodeGroup")]
    assert updates[-2:] == ["LaunchTemplate", "UpdateConfig"]
