"""Metrics under Kubernetes: what the stacks make, what is rendered, and that the two fit together."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from typer.testing import CliRunner

from support import EXAMPLES, ROOT
from support.clusterfile_data import problems
from support.kubernetes_schemas import validate
from support.relabelling import relabelled
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.catalogue.schedulers._eks import DEFAULT_VERSION
from ultracluster.cli import app
from ultracluster.kubernetes import HelmRelease, platform, platform_of
from ultracluster.kubernetes import _kueue as kueue
from ultracluster.kubernetes._charts import CHARTS
from ultracluster.monitoring import collector_objects
from ultracluster.monitoring.collectors import (
    NAMESPACE,
    SERVICE_ACCOUNT,
    RemoteWrite,
    cluster_objects,
    kubernetes_scraping,
)
from ultracluster.monitoring.collectors._agent import JOB_LABELS, relabelling
from ultracluster.monitoring.collectors._kubernetes import KUBE_STATE_METRICS_VERSION
from ultracluster.monitoring.collectors._scraping import KUBE_STATE_METRICS
from ultracluster.monitoring.names import KUBERNETES_METRICS, Profile

MINIMAL = ROOT / "examples" / "eks-minimal.yaml"
PRIVATE = ROOT / "examples" / "eks-private.yaml"
KUBERNETES = [file for file in EXAMPLES if "orchestrator: kubernetes" in file.read_text()]
URL = "https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-0/api/v1/remote_write"


def objects_of(file: Path, url: str = URL) -> list[dict[str, Any]]:
    cluster = clusterfile.load(str(file))
    selectors = {group.name: group.labels for group in platform_of(cluster).nodes}
    return collector_objects(cluster, url=url, selectors=selectors)


def of_kind(objects: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [item for item in objects if item["kind"] == kind]


def resources(text: str, stack: str) -> list[dict[str, Any]]:
    result = templates(clusterfile.loads(text, "c.yaml"))
    return list(result[stack]["Resources"].values())


def of_type(result: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [item["Properties"] for item in result if item["Type"] == type]


@pytest.mark.parametrize("file", KUBERNETES, ids=lambda file: file.stem)
def test_kubernetes_takes_the_collectors_of_every_example(file: Path) -> None:
    version = clusterfile.load(str(file)).kubernetes.version
    result = objects_of(file)
    for created in result:
        validate(created, version)
    names = [(item["kind"], item["metadata"]["name"]) for item in result]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("file", KUBERNETES, ids=lambda file: file.stem)
def test_every_group_of_nodes_and_the_system_nodes_are_watched_once(file: Path) -> None:
    cluster = clusterfile.load(str(file))
    groups = {group.name for group in cluster.node_groups} | ({"system"} if cluster.service_count else set())
    daemons = of_kind(objects_of(file), "DaemonSet")
    assert {item["metadata"]["name"] for item in daemons} == {f"node-metrics-{name}" for name in groups}
    selectors = [json.dumps(item["spec"]["template"]["spec"]["nodeSelector"]) for item in daemons]
    assert len(selectors) == len(set(selectors))
    # Who is expected and never comes is missed, so each of them must be able to answer.
    assert set(cluster.expected_nodes) <= groups


def test_the_role_is_for_the_account_that_the_collectors_run_as_and_may_write_alone() -> None:
    result = resources(MINIMAL.read_text(), "tiny-Observability")
    (association,) = of_type(result, "AWS::EKS::PodIdentityAssociation")
    assert (association["Namespace"], association["ServiceAccount"]) == (NAMESPACE, SERVICE_ACCOUNT)
    pods = [
        item["spec"]["template"]["spec"] for item in objects_of(MINIMAL) if item["kind"] in ("DaemonSet", "Deployment")
    ]
    assert {pod["serviceAccountName"] for pod in pods} == {SERVICE_ACCOUNT}
    assert {item["metadata"]["namespace"] for item in of_kind(objects_of(MINIMAL), "ServiceAccount")} == {NAMESPACE}
    role = association["RoleArn"]["Fn::GetAtt"][0]
    policies = [item for item in of_type(result, "AWS::IAM::ManagedPolicy") if {"Ref": role} in item.get("Roles", [])]
    policies += [item for item in of_type(result, "AWS::IAM::Policy") if {"Ref": role} in item.get("Roles", [])]
    statements = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    assert [statement["Action"] for statement in statements] == ["aps:RemoteWrite", "ec2:DescribeInstanceTopology"]
    assert "*" not in json.dumps(statements[0]["Resource"])


def test_the_rules_know_how_many_nodes_there_should_be() -> None:
    result = of_type(resources(MINIMAL.read_text(), "tiny-Observability"), "AWS::APS::RuleGroupsNamespace")
    text = "".join(item["Data"] for item in result)
    assert re.search(r"group: train\b", text)
    assert re.search(r"group: system\b", text)


def test_the_objects_write_to_the_url_of_the_stacks(tmp_path: Path) -> None:
    outputs = templates(clusterfile.load(str(MINIMAL)))["tiny-Observability"]["Outputs"]
    assert "api/v1/remote_write" in json.dumps(outputs["RemoteWriteUrl"]["Value"])
    output = tmp_path / "outputs.json"
    output.write_text(json.dumps({"tiny-Observability": {"RemoteWriteUrl": URL}}))
    out = tmp_path / "out"
    command = ["render", str(MINIMAL), "--kubernetes", "--outputs", str(output), "--out", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    texts = {path.name: path.read_text() for path in (out / "objects").iterdir() if NAMESPACE in path.name}
    configuration = yaml.safe_load(texts[f"11-configmap-{NAMESPACE}-cluster-metrics.yaml"])["data"]["agent.yaml"]
    assert yaml.safe_load(configuration)["remote_write"][0]["url"] == URL
    (daemon,) = [yaml.safe_load(text) for name, text in texts.items() if name.endswith("node-metrics-train.yaml")
                 and "daemonset" in name]  # fmt: skip
    (first,) = daemon["spec"]["template"]["spec"]["initContainers"]
    assert URL in first["command"]
    # The namespace is there before its objects.
    assert min(texts) == f"00-namespace-{NAMESPACE}.yaml"


def test_a_cluster_with_the_dra_driver_has_the_exporter_of_claims(tmp_path: Path) -> None:
    file, text = tmp_path / "c.yaml", MINIMAL.read_text()
    for gpu, claims in {"device-plugin": False, "dra-driver": True}.items():
        file.write_text(text.replace("kubernetes: {", f"kubernetes: {{gpu: {gpu}, "))
        objects = json.dumps(objects_of(file))
        assert ("--kubernetes-enable-dra" in objects, "resourceslices" in objects) == (claims, claims)


def test_the_gpu_operator_has_an_exporter_only_where_the_collectors_have_none(tmp_path: Path) -> None:
    # Two programs cannot share the profiling counters of a GPU: https://github.com/NVIDIA/dcgm-exporter/issues/7
    file, text = tmp_path / "c.yaml", MINIMAL.read_text().replace("kubernetes: {", "kubernetes: {gpu: gpu-operator, ")

    def exporter() -> Any:
        releases = platform(platform_of(clusterfile.load(str(file)))).releases
        (values,) = [item.values for item in releases if isinstance(item, HelmRelease) and item.name == "gpu-operator"]
        return values.get("dcgmExporter", {}).get("enabled")

    # It is on by default: deployments/gpu-operator/values.yaml (v26.7.0, read 2026-11-27).
    for profile, enabled in {"standard": False, "none": None}.items():
        file.write_text(f"{text}observability: {{profile: {profile}}}\n")
        assert exporter() is enabled
    registry = "111122223333.dkr.ecr.us-east-2.amazonaws.com/x"
    file.write_text(text.replace("gpu: gpu-operator", f"gpu: gpu-operator, registry: {registry}"))
    assert exporter() is False


def test_with_the_profile_none_there_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(MINIMAL.read_text() + "observability: {profile: none}\n")
    assert objects_of(file) == []
    assert "tiny-Observability" not in templates(clusterfile.load(str(file)))


@pytest.mark.parametrize("profile", list(Profile))
def test_prometheus_takes_the_clusters_agent_but_for_the_discovery_that_debian_leaves_out(
    tmp_path: Path, profile: Profile
) -> None:
    to = RemoteWrite(region="us-east-2", url=URL)
    (config,) = of_kind(cluster_objects(cluster="tiny", to=to, profile=profile), "ConfigMap")
    result = yaml.safe_load(config["data"]["agent.yaml"])
    for job in result["scrape_configs"]:
        job.pop("kubernetes_sd_configs", None)
        job.pop("authorization", None)  # names a file of the pod
    (tmp_path / "agent.yaml").write_text(json.dumps(result))
    command = ["promtool", "check", "config", "--agent", str(tmp_path / "agent.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_agent_does_not_hold_the_pods_of_daemonsets() -> None:
    """A node has twenty of them, and a pod takes 30 KiB: all pods of two thousand nodes exceed its memory."""
    to = RemoteWrite(region="us-east-2", url=URL)
    (config,) = of_kind(cluster_objects(cluster="tiny", to=to), "ConfigMap")
    jobs = {job["job_name"]: job for job in yaml.safe_load(config["data"]["agent.yaml"])["scrape_configs"]}
    discovered = {name: job["kubernetes_sd_configs"] for name, job in jobs.items() if "kubernetes_sd_configs" in job}
    assert discovered == {
        "kueue": [{"role": "endpoints", "namespaces": {"names": [CHARTS["kueue"].namespace]}}],
        "workloads": [{"role": "pod", "selectors": [{"role": "pod", "label": "!pod-template-generation"}]}],
    }


def test_kube_state_metrics_is_built_for_the_version_of_kubernetes_that_a_cluster_gets() -> None:
    # 2.19 for 1.35, 2.18 for 1.34: https://github.com/kubernetes/kube-state-metrics, README.md (read 2026-11-21)
    built_for = int(KUBE_STATE_METRICS_VERSION.split(".")[1]) + 16
    assert f"1.{built_for}" == DEFAULT_VERSION


def test_a_parameter_is_no_destination_of_the_clusters_agent() -> None:
    with pytest.raises(ValueError, match="takes the address itself"):
        cluster_objects(cluster="tiny", to=RemoteWrite(region="us-east-2", parameter="/x"))


@pytest.mark.parametrize("profile", [Profile.BASIC, Profile.STANDARD])
def test_metrics_that_rules_read_of_kubernetes_are_exported_and_kept(profile: Profile) -> None:
    to = RemoteWrite(region="us-east-2", url=URL)
    (config,) = of_kind(cluster_objects(cluster="tiny", to=to, profile=profile), "ConfigMap")
    kept: set[str] = set()
    for job in yaml.safe_load(config["data"]["agent.yaml"])["scrape_configs"]:
        for rule in job["metric_relabel_configs"]:
            if rule["action"] == "keep":
                kept |= set(rule["regex"].split("|"))
    read = {
        name
        for metric in KUBERNETES_METRICS
        if metric.profile <= profile
        for name in re.findall(r"\b(?:kube|kueue)_\w+", metric.expr or "")
    }
    assert read
    assert read <= kept
    # kube-state-metrics only exports the configured metrics.
    assert {name for name in read if name.startswith("kube_")} <= set(KUBE_STATE_METRICS)


_BATCH, _JOBSET = "batch.kubernetes.io/job-name", "jobset.sigs.k8s.io/jobset-name"


@pytest.mark.parametrize(
    ("labels", "job"),
    [
        ({_BATCH: "exp-1"}, "team/exp-1"),
        ({_BATCH: "pretrain-train-0", _JOBSET: "pretrain"}, "team/pretrain"),
        ({"training.kubeflow.org/job-name": "exp-2"}, "team/exp-2"),
        ({"leaderworkerset.sigs.k8s.io/name": "vllm-train"}, "team/vllm-train"),
        ({"app": "x"}, None),
    ],
)
def test_the_labels_of_a_pod_name_its_job_for_its_gpus_and_for_its_metrics(
    labels: dict[str, str], job: str | None
) -> None:
    # kube-state-metrics replaces what a label of Prometheus cannot have by underscores.
    scraped = {f"label_{re.sub(r'[^a-z0-9]', '_', key)}": value for key, value in labels.items() if key in JOB_LABELS}
    sample = {"__name__": "kube_pod_labels", "namespace": "team", "pod": "any", **scraped}
    kept = relabelled(sample, relabelling("kube-state-metrics", Profile.STANDARD))
    expected = {"__name__": "kube_pod_labels", "namespace": "team", "pod": "any", "job_id": job}
    assert kept == (expected if job else None)
    (workloads,) = [
        item for item in yaml.safe_load(kubernetes_scraping("c"))["scrape_configs"] if item["job_name"] == "workloads"
    ]
    meta = "__meta_kubernetes_pod_"
    target = {f"{meta}label_{re.sub(r'[^a-z0-9]', '_', key)}": value for key, value in labels.items()}
    target |= {"__meta_kubernetes_namespace": "team", f"{meta}name": "alone-0", f"{meta}ip": "10.0.0.1"}
    target |= {f"{meta}annotation_ultracluster_metrics_port": "8000"}
    result = relabelled(target, workloads["relabel_configs"])
    assert result is not None
    assert (result["job_id"], result["__address__"]) == (job or "team/alone", "10.0.0.1:8000")


def test_kueues_second_replica_does_not_count_everything_twice() -> None:
    assert kueue.kueue_release(platform_of(clusterfile.load(str(MINIMAL)))).values["controllerManager"]["replicas"] == 2
    (job,) = [
        item for item in yaml.safe_load(kubernetes_scraping("tiny"))["scrape_configs"] if item["job_name"] == "kueue"
    ]
    rule = {"action": "drop", "source_labels": ["replica_role"], "regex": "follower"}
    assert rule in job["metric_relabel_configs"]


def test_the_page_of_kueue_is_that_of_its_metrics_alone() -> None:
    """The chart has a Service for metrics and one for its visibility server, with the same labels and port name.

    Prometheus makes targets of the other ports of the pod too, without the name of a Service's port.
    """
    (job,) = [
        item for item in yaml.safe_load(kubernetes_scraping("tiny"))["scrape_configs"] if item["job_name"] == "kueue"
    ]
    meta = "__meta_kubernetes_"
    app = {f"{meta}service_label_app_kubernetes_io_name": "kueue"}
    places = [
        (service, port)
        for service in ("kueue-controller-manager-metrics-service", "kueue-visibility-server")
        for port in ({f"{meta}endpoint_port_name": "https"}, {f"{meta}pod_container_port_name": "webhook-server"})
    ]
    kept = [
        relabelled({**app, **port, f"{meta}service_name": service}, job["relabel_configs"]) is not None
        for service, port in places
    ]
    assert kept == [True, False, False, False]


def test_claims_of_pods_make_no_new_series_of_a_gpu() -> None:
    # The attributes of dcgm-exporter with --kubernetes-enable-dra; the name of a claim is that of its pod.
    parts = ("claim_name", "claim_namespace", "driver_name", "pool_name", "device_name")
    series = [
        relabelled(
            {"__name__": "DCGM_FI_DEV_FB_USED", "gpu": "0", "pod": pod, **{f"dra_{part}": pod for part in parts}},
            relabelling("dcgm", Profile.STANDARD),
        )
        for pod in ("a-0", "b-0")
    ]
    assert series == [{"__name__": "DCGM_FI_DEV_FB_USED", "gpu": "0"}] * 2


def test_eks_watches_the_gpus_of_tainted_nodes() -> None:
    result = of_type(resources(MINIMAL.read_text(), "tiny-Cluster"), "AWS::EKS::Addon")
    (agent,) = [item for item in result if item["AddonName"] == "eks-node-monitoring-agent"]
    settings = json.loads(agent["ConfigurationValues"])["dcgmAgent"]
    assert settings["tolerations"] == [{"operator": "Exists"}]
    assert "p5en.48xlarge" in json.dumps(settings["affinity"])


def test_without_internet_there_is_an_endpoint_to_prometheus_and_no_server_that_could_not_install() -> None:
    text = PRIVATE.read_text()
    result = templates(clusterfile.loads(text, "c.yaml"))
    endpoints = of_type(list(result["vault-Network"]["Resources"].values()), "AWS::EC2::VPCEndpoint")
    services = json.dumps([item["ServiceName"] for item in endpoints])
    assert "aps-workspaces" in services
    # The platform publishes the result of each run.
    assert '.sns"' in services
    types = {item["Type"] for item in result["vault-Observability"]["Resources"].values()}
    assert "AWS::APS::Workspace" in types
    assert not types & {"AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::VPCEndpoint"}
    output = "observability: {grafana: {kind: none}}\n"
    assert output in text
    unsaid = clusterfile.loads(text.replace(output, ""), "c.yaml")
    assert unsaid.grafana == "none"
    assert "ultracluster:grafana-private" in {warning.id for warning in clusterfile.warnings(unsaid)}
    assert "ultracluster:grafana-private" not in {w.id for w in clusterfile.warnings(clusterfile.loads(text, "c.yaml"))}


def test_rejects_a_second_endpoint_and_a_workspace_that_none_leads_to() -> None:
    described = "arn:aws:aps:us-west-2:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
    more = f"vpc-endpoint: true, workspace: '{described}', grafana: {{kind: none}}"
    text = PRIVATE.read_text().replace("grafana: {kind: none}", more)
    result = "\n".join(map(str, problems(text)))
    assert "makes one already" in result
    assert "observability.workspace" in result
    assert len(problems(text)) == 2
