"""Platforms without a standing admin host: a pipeline with CodeBuild, and Argo CD of EKS."""

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from typer.testing import CliRunner

from support import ROOT
from ultracluster import clusterfile, network, orchestration, platform, storage
from ultracluster.boot import platform_script
from ultracluster.cli import app
from ultracluster.clusterfile import ClusterFile
from ultracluster.eks import KubernetesCluster, KubernetesPlatform
from ultracluster.kubernetes import parameter_values
from ultracluster.workloads import kubernetes_bundle, kubernetes_files

TEXT = (ROOT / "examples" / "eks-minimal.yaml").read_text()
ARGO_CD = """platform: argo-cd, argo-cd: {
  identity-center: "arn:aws:sso:::instance/ssoins-0123456789abcdef", admins: [906749b5-c0a1-70b4-1b2c-0123456789ab],
  repository: "https://github.com/acme/clusters.git"}, admins:"""
Template = dict[str, dict[str, Any]]


def file_with(text: str) -> ClusterFile:
    assert "{admins:" in TEXT
    return clusterfile.loads(TEXT.replace("{admins:", f"{{{text}"), "c.yaml")


def argo_cd_files(cluster: ClusterFile) -> dict[str, str]:
    values = {name: f"{name}-1" for name in (*kubernetes_bundle(cluster)["parameters"], "ClusterArn")}
    return kubernetes_files(cluster, parameter_values(values))


@cache
def synthesised() -> tuple[Template, Path]:
    """One stack of a control plane and of both platforms, with its directory."""
    app = cdk.App()
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="123456789012", region="us-east-2"))
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    first, second = vpc.private_subnets
    group = ec2.SecurityGroup(stack, "Nodes", vpc=vpc)
    nodes = network.Network(
        vpc=vpc,
        training_subnet=first,
        services_subnet=first,
        nodes=group,
        zone_subnets={"use2-az2": second},
        endpoints=group,
    )
    cluster = file_with("platform: code-build, admins:")
    volumes = storage.Storage()
    control_plane = KubernetesCluster(stack, "Kubernetes", cluster=cluster, network=nodes, storage=volumes)
    outputs = [orchestration.Output(name, name, f"{name}-1") for name in kubernetes_bundle(cluster)["parameters"]]
    further = [*outputs[1:], orchestration.Output(outputs[0].id, "", "another")]
    topic = sns.Topic(stack, "Alerts", master_key=kms.Key(stack, "AlertsKey"), enforce_ssl=True)
    for id, file, values in (
        ("Build", cluster, outputs),
        ("Other", cluster, further),
        ("Argo", file_with(ARGO_CD), outputs),
    ):
        KubernetesPlatform(
            stack,
            id,
            cluster=file,
            network=nodes,
            storage=volumes,
            kubernetes=control_plane,
            outputs=values,
            topic=topic,
        )
    directory = Path(app.synth().directory)
    return json.loads((directory / "Stack.template.json").read_text())["Resources"], directory


def of_type(type: str, prefix: str) -> dict[str, Any]:
    """The one resource of a type whose id has a prefix."""
    (resource,) = (row for id, row in synthesised()[0].items() if row["Type"] == type and id.startswith(prefix))
    return resource


def stages(prefix: str) -> dict[str, Any]:
    stages = of_type("AWS::CodePipeline::Pipeline", prefix)["Properties"]["Stages"]
    return {stage["Name"]: stage["Actions"][0]["Configuration"] for stage in stages}


def environment(prefix: str) -> dict[str, Any]:
    rows = of_type("AWS::CodeBuild::Project", prefix)["Properties"]["Environment"]["EnvironmentVariables"]
    return {row["Name"]: row["Value"] for row in rows}


def test_the_source_of_the_pipeline_is_the_script_of_the_admin_host() -> None:
    archive = zipfile.ZipFile(synthesised()[1] / f"asset.{stages('Build')['Source']['S3ObjectKey']}")
    steps = yaml.safe_load(archive.read("buildspec.yml"))["phases"]
    assert steps["build"]["commands"] == ["bash apply-platform.sh"]
    assert archive.read("apply-platform.sh").decode().splitlines() == platform_script({})
    # What the script reads; CodeBuild sets the Region.
    assert set(environment("Build")) == {
        *("CLUSTER", "BUNDLE", "BUNDLE_SHA256", "TOOLS", "TOOLS_SHA256", "VALUES", "HANDLE", "TOPIC")
    }


def test_the_pipeline_reads_its_source_as_the_source_action_of_s3_requires() -> None:
    """https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference-S3.html (read 2026-11-27)."""
    statements = of_type("AWS::IAM::Policy", "BuildPipelineRole")["Properties"]["PolicyDocument"]["Statement"]
    actions = {
        action
        for statement in statements
        if "cdk-hnb659fds-assets" in str(statement["Resource"])
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert actions == {
        *(f"s3:Get{name}" for name in ("Object", "ObjectTagging", "ObjectVersion", "ObjectVersionTagging")),
        *(f"s3:GetBucket{name}" for name in ("Acl", "Location", "Versioning")),
    }


def test_a_first_build_that_fails_leaves_a_stack_that_can_be_deleted() -> None:
    """S3 deletes no bucket with objects, and the source is in this one before the build runs."""
    for type in ("AWS::S3::Bucket", "AWS::S3::BucketPolicy"):
        assert of_type(type, "BuildArtifacts")["DeletionPolicy"] == "Retain"


def test_an_execution_that_fails_before_the_build_notifies_the_topic() -> None:
    """Only the script of the build signals: without the event, the deployment would wait in silence."""
    (pipeline,) = (
        id
        for id, row in synthesised()[0].items()
        if row["Type"] == "AWS::CodePipeline::Pipeline" and id.startswith("Build")
    )
    rule = of_type("AWS::Events::Rule", "Build")["Properties"]
    assert rule["EventPattern"] == {
        "source": ["aws.codepipeline"],
        "detail-type": ["CodePipeline Pipeline Execution State Change"],
        "detail": {"pipeline": [{"Ref": pipeline}], "state": ["FAILED"]},
    }
    (target,) = rule["Targets"]
    assert target["Arn"]["Ref"].startswith("Alerts")
    assert "list-action-executions" in json.dumps(target["InputTransformer"])
    allowed = json.dumps(of_type("AWS::SNS::TopicPolicy", "Alerts")["Properties"]["PolicyDocument"])
    assert "events.amazonaws.com" in allowed
    assert "events.amazonaws.com" in json.dumps(of_type("AWS::KMS::Key", "AlertsKey")["Properties"]["KeyPolicy"])


def test_other_content_runs_the_pipeline_and_is_waited_for() -> None:
    pipelines = [of_type("AWS::CodePipeline::Pipeline", prefix) for prefix in ("Build", "Other")]
    assert all(pipeline["Properties"]["RestartExecutionOnUpdate"] for pipeline in pipelines)
    # Only a value of the deployment differs.
    assert stages("Build")["Source"] == stages("Other")["Source"]
    checksums = [
        json.loads(stages(prefix)["Build"]["EnvironmentVariables"])[0]["value"] for prefix in ("Build", "Other")
    ]
    assert len({*checksums}) == 2
    for prefix, checksum in zip(("Build", "Other"), checksums, strict=True):
        wait = of_type("AWS::CloudFormation::WaitCondition", prefix)
        assert wait["Properties"]["Handle"] == environment(prefix)["HANDLE"]
        assert checksum[:12] in wait["Properties"]["Handle"]["Ref"]
        (pipeline,) = (id for id in wait["DependsOn"] if synthesised()[0][id]["Type"] == "AWS::CodePipeline::Pipeline")
        assert pipeline.startswith(prefix)


def test_the_build_administers_the_cluster_from_its_subnet_alone() -> None:
    entry = of_type("AWS::EKS::AccessEntry", "Build")["Properties"]
    assert "AmazonEKSClusterAdminPolicy" in json.dumps(entry["AccessPolicies"])
    assert entry["PrincipalArn"] == of_type("AWS::CodeBuild::Project", "Build")["Properties"]["ServiceRole"]
    rules = [
        row["Properties"]
        for id, row in synthesised()[0].items()
        if row["Type"] == "AWS::EC2::SecurityGroupIngress" and id.startswith("Build")
    ]
    assert [(rule["FromPort"], rule["ToPort"]) for rule in rules] == [(443, 443)] * 2
    (statement,) = (
        row
        for id, policy in synthesised()[0].items()
        if policy["Type"] == "AWS::IAM::Policy" and id.startswith("BuildRole")
        for row in policy["Properties"]["PolicyDocument"]["Statement"]
        if row["Action"] == "ec2:CreateNetworkInterfacePermission"
    )
    assert set(statement["Condition"]["StringEquals"]) == {"ec2:AuthorizedService", "ec2:Subnet"}


def test_argo_cd_administers_the_cluster_before_eks_would_create_its_entry() -> None:
    capability = of_type("AWS::EKS::Capability", "Argo")
    (entry,) = (id for id in capability["DependsOn"] if synthesised()[0][id]["Type"] == "AWS::EKS::AccessEntry")
    scopes = {
        json.dumps(row["PolicyArn"]).rpartition("/")[2].rstrip(']}"'): row["AccessScope"]
        for row in synthesised()[0][entry]["Properties"]["AccessPolicies"]
    }
    assert scopes == {
        "AmazonEKSArgoCDClusterPolicy": {"Type": "cluster"},
        "AmazonEKSArgoCDPolicy": {"Type": "namespace", "Namespaces": ["argocd"]},
        "AmazonEKSClusterAdminPolicy": {"Type": "cluster"},
    }
    (mapping,) = capability["Properties"]["Configuration"]["ArgoCd"]["RbacRoleMappings"]
    assert mapping["Role"] == "ADMIN"
    assert not any(
        row["Type"] == "AWS::EC2::Instance" for id, row in synthesised()[0].items() if id.startswith(("Build", "Argo"))
    )


def test_applications_come_in_waves_and_name_what_charts_and_files_have() -> None:
    cluster = file_with(ARGO_CD)
    files = argo_cd_files(cluster)
    applications = {
        path.rpartition("/")[2].removesuffix(".yaml"): yaml.safe_load(text)
        for path, text in files.items()
        if path.startswith("argo-cd/applications/")
    }
    waves = {
        name: int(item["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])
        for name, item in applications.items()
    }
    releases = {row["name"]: row for row in kubernetes_bundle(cluster)["releases"]}
    assert waves == {
        **{name: ("controllers", "devices").index(row["phase"]) for name, row in releases.items()},
        "tiny-objects": 1,
    }
    # Argo CD waits for all waves but the last, and a DaemonSet is not healthy while one node is not.
    devices = [name for name, row in releases.items() if row["phase"] == "devices"]
    assert devices
    assert {waves[name] for name in devices} == {max(waves.values())}
    for name, row in releases.items():
        source = applications[name]["spec"]["source"]
        assert source["targetRevision"] == row["version"]
        assert source.get("helm", {}).get("valuesObject", {}) == row["values"]
    assert applications["kueue"]["spec"]["source"]["repoURL"] == "registry.k8s.io/kueue/charts"
    assert applications["nvidia-device-plugin"]["spec"]["source"]["repoURL"].startswith("https://nvidia.github.io/")
    assert applications["tiny-objects"]["spec"]["source"]["path"] == "tiny/objects"
    settings, registration, root = yaml.safe_load_all(files["argo-cd/setup.yaml"])
    first, *others = kubernetes_bundle(cluster)["applications"]
    assert first == f"argocd/{root['metadata']['name']}"
    assert {*others} == {f"argocd/{name}" for name in applications}
    assert "resource.customizations.health.argoproj.io_Application" in settings["data"]
    assert registration["stringData"]["server"] == "ClusterArn-1"
    assert root["spec"]["source"]["path"] == "tiny/argo-cd/applications"
    claims = [text for path, text in files.items() if "-persistentvolumeclaim-" in path]
    assert claims
    assert all("argocd.argoproj.io/sync-options: Prune=confirm" in text for text in claims)


@pytest.mark.parametrize(("version", "tracked"), [("v0.17.0", True), ("v0.16.5", False), ("v0.9.10", False)])
def test_argo_cd_tracks_the_configuration_of_kai_scheduler(version: str, tracked: bool) -> None:
    files = argo_cd_files(file_with(f"scheduler: kai, charts: {{kai-scheduler: {version}}}, {ARGO_CD}"))
    helm = yaml.safe_load(files["argo-cd/applications/kai-scheduler.yaml"])["spec"]["source"]["helm"]["valuesObject"]
    assert (helm == {"kaiConfig": {"render": True}, "kaiConfigDeployer": {"enabled": False}}) == tracked


def test_files_for_argo_cd_have_no_placeholders() -> None:
    with pytest.raises(ValueError, match=r"there is no value of FileSystemId, .*ClusterArn: deploy the stacks first"):
        kubernetes_files(file_with(ARGO_CD), {})


def test_apply_of_a_file_that_argo_cd_applies_is_the_gate_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(TEXT.replace("{admins:", f"{{{ARGO_CD}"))
    done = CliRunner().invoke(app, ["apply", str(path)])
    assert done.exit_code == 1
    assert "has platform: argo-cd, which sets back what apply changes" in done.output
    assert f"ultracluster apply {path} --gate checks the nodes" in done.output
    # Only then it asks for a way to the cluster.
    done = CliRunner().invoke(app, ["apply", str(path), "--gate", "--kubeconfig", str(tmp_path / "none")])
    assert (done.exit_code, "none does not exist" in done.output) == (2, True)


def test_what_leaves_the_file_leaves_the_directory_that_argo_cd_applies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out, outputs = tmp_path / "c.yaml", tmp_path / "tiny", tmp_path / "outputs.json"
    cluster = file_with(ARGO_CD)
    values = {name: f"{name}-1" for name in (*kubernetes_bundle(cluster)["parameters"], "ClusterArn")}
    outputs.write_text(json.dumps({"tiny-Cluster": values}))
    # Without a file of outputs, which `deploy` does not write, they are read from CloudFormation.
    monkeypatch.setattr(platform, "stack_outputs", lambda *cluster: {("tiny", "us-east-2", ()): values}[cluster])
    arguments = ["render", str(path), "--kubernetes", "--out", str(out)]
    kueue, team = out / "argo-cd" / "applications" / "kueue.yaml", out / "objects" / "00-namespace-research.yaml"
    first = TEXT.replace("{admins:", f"{{{ARGO_CD}")
    path.write_text(first.replace("{platform:", "{teams: {research: {}, vision: {}}, platform:"))
    assert CliRunner().invoke(app, arguments).exit_code == 0
    kept = {out / "objects" / "mine.yaml", out / "argo-cd" / "applications" / "mine.yaml"}
    for file in kept:
        file.write_text(team.read_text())
    assert (kueue.exists(), team.exists()) == (True, True)
    assert CliRunner().invoke(app, [*arguments, "--outputs", str(outputs)]).exit_code == 0, "the same files"

    fewer = "observability: {profile: none}\n"
    path.write_text(first.replace("{platform:", "{teams: {vision: {}}, scheduler: volcano, platform:") + fewer)
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 1
    assert f"files are no longer rendered: {out / 'objects' / '00-namespace-research.yaml'}, " in refused.output
    assert str(kueue) in refused.output
    assert kueue.exists()
    forced = CliRunner().invoke(app, [*arguments, "--force", "--json"])
    assert forced.exit_code == 0, forced.output
    fates = {row["path"]: row["fate"] for row in json.loads(forced.stdout)}
    assert fates[str(kueue)] == fates[str(team)] == "removed"
    applied = {*out.glob("argo-cd/**/*.yaml"), *out.glob("objects/*.yaml")}
    assert kept < applied, "they have names of their own"
    rendered = {out / name for name in kubernetes_files(clusterfile.load(path), parameter_values(values))}
    assert applied - kept == {name for name in rendered if name.parent.name in ("argo-cd", "applications", "objects")}
