"""HyperPod with Kubernetes of a cluster file: what comes first, and what nodes of HyperPod have of their own."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from support import ROOT
from support.templates import synth, template_of, templates
from ultracluster import clusterfile
from ultracluster.kubernetes import platform_of, required_bundle
from ultracluster.workloads import job_files, kubernetes_bundle, kubernetes_files

FILE = ROOT / "examples" / "hyperpod-kubernetes.yaml"
Resources = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def stacks() -> Mapping[str, Resources]:
    return {name: template["Resources"] for name, template in templates(clusterfile.load(FILE)).items()}


def of_type(resources: Resources, type: str) -> Resources:
    return {id: resource for id, resource in resources.items() if resource["Type"] == type}


def cluster(stacks: Mapping[str, Resources]) -> dict[str, Any]:
    (resource,) = of_type(stacks["lyra-Compute"], "AWS::SageMaker::Cluster").values()
    return resource


def test_the_charts_come_after_system_nodes_and_before_the_cluster(stacks: Mapping[str, Resources]) -> None:
    """The service refuses an EKS cluster that does not have them."""
    compute = stacks["lyra-Compute"]
    (run,) = [id for id in of_type(compute, "AWS::SSM::Association") if id.startswith("ChartsRun")]
    (wait,) = [id for id in of_type(compute, "AWS::CloudFormation::WaitCondition") if id.startswith("ChartsWait")]
    (system,) = of_type(compute, "AWS::EKS::Nodegroup")
    assert {run, wait} <= {*cluster(stacks)["DependsOn"]}
    assert system in compute[run]["DependsOn"]


def test_the_end_of_observability_takes_no_nodes() -> None:
    """`cdk destroy NAME-Observability` also deletes each stack that depends on it."""
    assembly = synth(clusterfile.load(FILE))
    ended = {"lyra-Observability"}
    for stack in assembly.stacks:
        if ended & {*stack.dependencies}:
            ended.add(stack.stack_name)
    assert ended == {"lyra-Observability", "lyra-Platform"}
    assert "sns:Publish" in json.dumps(
        of_type(templates(clusterfile.load(FILE))["lyra-Platform"]["Resources"], "AWS::IAM::Policy")
    )


def test_one_host_applies_the_charts_and_then_the_platform(stacks: Mapping[str, Resources]) -> None:
    assert len(of_type(stacks["lyra-Compute"], "AWS::EC2::Instance")) == 1
    assert not of_type(stacks["lyra-Platform"], "AWS::EC2::Instance")
    assert of_type(stacks["lyra-Platform"], "AWS::SSM::Association")


def test_nodes_are_in_the_groups_of_the_cluster_and_of_the_control_plane(stacks: Mapping[str, Resources]) -> None:
    groups = json.dumps(cluster(stacks)["Properties"]["VpcConfig"]["SecurityGroupIds"])
    assert "ClusterSecurityGroupId" in groups
    assert "NodesGroupId" in groups or "Nodes" in groups


def test_an_ultraserver_of_a_training_plan_is_one_group_with_labels_and_checks(stacks: Mapping[str, Resources]) -> None:
    (train,) = cluster(stacks)["Properties"]["InstanceGroups"]
    assert (train["InstanceType"], train["InstanceCount"]) == ("ml.p6e-gb200.36xlarge", 18)
    assert train["TrainingPlanArn"].endswith("training-plan/lyra-2026")
    assert train["KubernetesConfig"] == {
        "Labels": {
            "nvidia.com/gpu.present": "true",
            "ultracluster.dev/group": "train",
            "ultracluster.dev/ultraserver": "u-p6e-gb200x72",
            "vpc.amazonaws.com/efa.present": "true",
        }
    }, "no taint: deep health checks exclude such nodes"
    assert train["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert train["LifeCycleConfig"]["OnCreate"] == "train.sh"
    assert cluster(stacks)["Properties"]["TieredStorageConfig"]["InstanceMemoryAllocationPercentage"] == 40


def test_pods_take_single_addresses_as_the_table_of_aws_counts_them(stacks: Mapping[str, Resources]) -> None:
    rows = of_type(stacks["lyra-Cluster"], "AWS::EKS::Addon").values()
    (cni,) = [row["Properties"] for row in rows if row["Properties"]["AddonName"] == "vpc-cni"]
    assert json.loads(cni["ConfigurationValues"]) == {"enableNetworkPolicy": "true"}
    control_plane = json.dumps(of_type(stacks["lyra-Cluster"], "AWS::EKS::Cluster"))
    assert '"AuthenticationMode": "API"' in control_plane


def test_hyperpod_attaches_the_volumes_of_the_ebs_driver(stacks: Mapping[str, Resources]) -> None:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html (read 2026-11-27)."""
    assert actions_of_ebs_driver(stacks["lyra-Compute"]) == VOLUME_ACTIONS
    cluster = clusterfile.load(ROOT / "examples" / "eks-minimal.yaml")
    assert not actions_of_ebs_driver(template_of(cluster, "Compute")["Resources"]), "EC2 attaches them there"


VOLUME_ACTIONS = {
    ("sagemaker:AttachClusterNodeVolume", "cluster/*"),
    ("sagemaker:DetachClusterNodeVolume", "cluster/*"),
    ("eks:DescribeCluster", "Kubernetes"),
}


def actions_of_ebs_driver(resources: Resources) -> set[tuple[str, str]]:
    """Actions of the role beside its managed policy, each with the part of its resource that tells it."""
    (add_on,) = (
        row["Properties"]
        for row in of_type(resources, "AWS::EKS::Addon").values()
        if row["Properties"]["AddonName"] == "aws-ebs-csi-driver"
    )
    (association,) = add_on["PodIdentityAssociations"]
    role = association["RoleArn"]["Fn::GetAtt"][0]
    return {
        (action, next(part for part in ("cluster/*", "Kubernetes") if part in json.dumps(statement["Resource"])))
        for policy in of_type(resources, "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }


def test_the_charts_are_those_of_one_commit_without_what_the_platform_installs_itself() -> None:
    bundle = required_bundle(platform_of(clusterfile.load(FILE)))
    assert bundle["partial"] is True
    names = [release["name"] for release in bundle["releases"]]
    assert names == [
        *("deep-health-check", "health-monitoring-agent", "job-auto-restart", "hyperpod-patching"),
        "training-operators",
    ], "the first creates the namespace of the others"
    assert len({release["archive"] for release in bundle["releases"]}) == 1
    assert bundle["releases"][1]["values"] == {"region": "us-east-1"}


def test_the_platform_finds_the_nodes_by_the_labels_and_types_of_hyperpod() -> None:
    bundle = kubernetes_bundle(clusterfile.load(FILE))
    (group,) = bundle["groups"]
    assert group["labels"] == {"ultracluster.dev/group": "train"}
    assert group["optional"], "nodes are tested for an hour before they join"
    names = [release["name"] for release in bundle["releases"]]
    assert names[:5] == [
        release["name"] for release in required_bundle(platform_of(clusterfile.load(FILE)))["releases"]
    ]
    (plugin,) = [release for release in bundle["releases"] if release["name"] == "aws-efa-k8s-device-plugin"]
    assert plugin["values"]["supportedInstanceLabels"]["values"] == ["ml.p6e-gb200.36xlarge"]
    assert plugin["values"]["tolerations"] == [{"operator": "Exists"}], "also of nodes whose health is tested"


def test_rendered_objects_select_no_node_by_a_label_of_eks() -> None:
    text = "".join(kubernetes_files(clusterfile.load(FILE), {}).values())
    assert "eks.amazonaws.com/nodegroup: train" not in text
    assert "ultracluster.dev/group: train" in text


def with_add_on(name: str, *, more: str = "") -> str:
    return FILE.read_text().replace("kubernetes:\n", f"kubernetes:\n  add-ons: {{{name}: default}}\n{more}")


OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
INFERENCE = "amazon-sagemaker-hyperpod-inference"
SERVE = "  serve: {type: g6e.12xlarge, count: 6, capacity: spot, elastic: true, zone: use1-az4}\n"


@pytest.fixture(scope="module")
def operated() -> Mapping[str, Resources]:
    more = "".join(f"    {name}: default\n" for name in (OPERATOR, OBSERVABILITY, INFERENCE))
    text = FILE.read_text().replace("kubernetes:\n", f"kubernetes:\n  add-ons:\n{more}")
    text = text.replace("nodes:\n", f"nodes:\n{SERVE}", 1)
    cluster_file = clusterfile.loads(text, "lyra.yaml")
    return {name: template["Resources"] for name, template in templates(cluster_file).items()}


def add_ons(resources: Resources) -> dict[str, str]:
    return {row["Properties"]["AddonName"]: id for id, row in of_type(resources, "AWS::EKS::Addon").items()}


def test_the_operator_has_its_permissions_before_it_and_queues_and_nodes_before_it(
    operated: Mapping[str, Resources],
) -> None:
    resources = operated["lyra-Platform"]
    operator = resources[add_ons(resources)[OPERATOR]]
    (association,) = of_type(resources, "AWS::EKS::PodIdentityAssociation")
    assert "trainingoperator" in association
    properties = resources[association]["Properties"]
    assert (properties["Namespace"], properties["ServiceAccount"]) == (
        "aws-hyperpod",
        "hp-training-operator-controller-manager",
    )
    waits = [id for id in of_type(resources, "AWS::CloudFormation::WaitCondition") if id.startswith("Platform")]
    assert {association, *waits} <= {*operator["DependsOn"]}
    assert "PodIdentityAssociations" not in operator["Properties"], "its version v1.2.1-eksbuild.1 refuses them"
    policies = json.dumps(of_type(resources, "AWS::IAM::Role"))
    assert "policy/AmazonSageMakerHyperPodTrainingOperatorAccess" in policies


def test_the_operator_brings_cert_manager_with_the_add_ons_of_system_nodes(operated: Mapping[str, Resources]) -> None:
    assert "cert-manager" in add_ons(operated["lyra-Compute"])
    assert OPERATOR not in add_ons(operated["lyra-Compute"])


def test_eks_accepts_add_ons_of_a_cluster_with_the_tag(stacks: Mapping[str, Resources]) -> None:
    assert {"Key": "SageMaker", "Value": "true"} in cluster(stacks)["Properties"]["Tags"]


def test_the_operator_works_with_kueue_alone() -> None:
    with pytest.raises(clusterfile.ClusterFileError, match="supports Kueue only, got volcano"):
        clusterfile.loads(with_add_on(OPERATOR, more="  scheduler: volcano\n"), "lyra.yaml")


def test_warns_that_nodes_must_join_before_the_add_on() -> None:
    def warned(text: str) -> bool:
        return "hyperpod-add-on-nodes" in str(clusterfile.warnings(clusterfile.loads(text, "lyra.yaml")))

    assert warned(with_add_on(OPERATOR))
    services = "nodes:\n  services: {type: m5.2xlarge, count: 2, zone: use1-az4}\n"
    assert not warned(FILE.read_text())
    assert not warned(with_add_on(OPERATOR).replace("nodes:\n", services, 1))


def values(resources: Resources, name: str) -> dict[str, Any]:
    """Settings of an add-on, with a word for each value of another resource."""
    text = resources[add_ons(resources)[name]]["Properties"]["ConfigurationValues"]
    parts = text["Fn::Join"][1]
    return json.loads("".join(part if isinstance(part, str) else "RESOURCE" for part in parts))  # type: ignore[no-any-return]


def test_metrics_of_jobs_go_to_the_workspace_of_the_cluster_and_gpus_have_one_exporter(
    operated: Mapping[str, Resources],
) -> None:
    resources = operated["lyra-Platform"]
    settings = values(resources, OBSERVABILITY)
    assert settings["ampWorkspace"]["arn"].startswith("arn:aws:aps:us-east-1:")
    levels = {kind: each["level"] for kind, each in settings["metricsProvider"].items()}
    assert {kind for kind, level in levels.items() if level == "DISABLED"} == {
        *("acceleratedComputeMetrics", "networkMetrics", "nodeMetrics")
    }
    add_on = resources[add_ons(resources)[OBSERVABILITY]]
    (association,) = add_on["Properties"]["PodIdentityAssociations"]
    assert association["ServiceAccount"] == "hyperpod-observability-operator-otel-collector"
    (policy,) = (id for id in of_type(resources, "AWS::IAM::Policy") if "observability" in id)
    assert policy in add_on["DependsOn"]
    (statement,) = resources[policy]["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "aps:RemoteWrite"


def test_the_inference_operator_has_its_roles_bucket_and_cluster_before_it(operated: Mapping[str, Resources]) -> None:
    resources = operated["lyra-Platform"]
    settings = values(resources, INFERENCE)
    assert {*settings} == {
        *("alb", "executionRoleArn", "hyperpodClusterArn", "jumpstartGatedModelDownloadRoleArn", "keda"),
        "tlsCertificateS3Bucket",
    }
    waits = {*resources[add_ons(resources)[INFERENCE]]["DependsOn"]}
    roles = {id: role for id, role in of_type(resources, "AWS::IAM::Role").items() if "inference" in id}
    assert len(roles) == 4
    policies = {id for id in of_type(resources, "AWS::IAM::Policy") if "inference" in id}
    assert len(policies) == 3, "the fourth has a policy of AWS alone"
    assert policies <= waits
    statements = {id: resources[id]["Properties"]["PolicyDocument"]["Statement"] for id in policies}
    (passed,) = (each for rows in statements.values() for each in rows if each["Action"] == "iam:PassRole")
    # AWS's policy allows it for names that begin with SageMakerHyperPodInference, and roles here have generated names.
    operator = resources[add_ons(resources)[INFERENCE]]["Properties"]["ConfigurationValues"]
    assert passed["Resource"] in operator["Fn::Join"][1]
    assert passed["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    # https://github.com/kubernetes-sigs/aws-load-balancer-controller, docs/install/iam_policy.json
    assert "elasticloadbalancing:SetWebACL" in json.dumps(statements)
    assert [id for id in waits if id.startswith("PlatformWait")]
    required = {"cert-manager", "aws-mountpoint-s3-csi-driver", "aws-fsx-csi-driver", "metrics-server"}
    assert required <= {*add_ons(operated["lyra-Compute"])}
    # The operator may write certificates before its add-on fails, and S3 deletes no bucket with objects.
    (bucket,) = of_type(resources, "AWS::S3::Bucket").values()
    assert bucket["DeletionPolicy"] == "Retain"


def test_pods_of_inference_take_their_roles_by_the_issuer_of_the_cluster(operated: Mapping[str, Resources]) -> None:
    roles = of_type(operated["lyra-Platform"], "AWS::IAM::Role").items()
    (role,) = (role for id, role in roles if "inferenceAccessKeda" in id)
    text, variables = role["Properties"]["AssumeRolePolicyDocument"]["Fn::Sub"]
    (statement,) = json.loads(text.replace("${Issuer}", "issuer"))["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {"issuer:aud": "sts.amazonaws.com"},
        "StringLike": {"issuer:sub": "system:serviceaccount:hyperpod-inference-system:keda-operator"},
    }
    assert {*variables} == {"Provider", "Issuer"}


def test_karpenter_of_the_service_scales_elastic_groups_from_zero(operated: Mapping[str, Resources]) -> None:
    properties = cluster(operated)["Properties"]
    assert properties["AutoScaling"] == {"AutoScalerType": "Karpenter", "Mode": "Enable"}
    assert "AutoscalerRole" in properties["ClusterRole"]["Fn::GetAtt"][0]
    groups = {group["InstanceGroupName"]: group for group in properties["InstanceGroups"]}
    assert (groups["serve"]["InstanceCount"], groups["train"]["InstanceCount"]) == (0, 18)
    assert "OnStartDeepHealthChecks" not in groups["serve"], "pods would wait for an hour"
    assert groups["serve"]["CapacityRequirements"] == {"Spot": {}}


def test_an_elastic_group_is_a_node_class_and_a_pool_of_the_service() -> None:
    text = FILE.read_text().replace("nodes:\n", f"nodes:\n{SERVE}", 1)
    cluster_file = clusterfile.loads(text, "lyra.yaml")
    bundle = kubernetes_bundle(cluster_file)
    paths = [path for path in kubernetes_files(cluster_file, {}) if path.endswith("-serve.yaml")]
    assert [path.rpartition("/")[2] for path in paths][:2] == [
        "01-nodepool-serve.yaml",
        "02-hyperpodnodeclass-serve.yaml",
    ]
    assert "karpenter" not in [release["name"] for release in bundle["releases"]], "the service runs it"
    objects = {each["kind"]: each for each in bundle["objects"] if "karpenter" in each["apiVersion"]}
    assert objects["HyperpodNodeClass"]["spec"] == {"instanceGroups": ["serve"]}
    pool = objects["NodePool"]["spec"]
    assert pool["limits"] == {"cpu": "288", "nvidia.com/gpu": "24"}
    assert pool["template"]["spec"]["nodeClassRef"]["group"] == "karpenter.sagemaker.amazonaws.com"
    assert [row["key"] for row in pool["template"]["spec"]["requirements"]] == ["node.kubernetes.io/instance-type"]
    (labels,) = [group["labels"] for group in bundle["groups"] if group["name"] == "serve"]
    assert labels == {"ultracluster.dev/group": "serve"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("18", "18", ""),
        ("capacity: spot", "capacity: cr-0123456789abcdef0", "reservation"),
        ("hyperpod: {", "hyperpod: {node-recovery: false, ", "needs the recovery of nodes"),
        ("capacity: {training-plan", "elastic: true\n    capacity: {training-plan", "launches on-demand and Spot"),
        ("g6e.12xlarge", "c7g.16xlarge", "launches no arm64 nodes"),
    ],
)
def test_rejects_what_karpenter_of_the_service_does_not_scale(old: str, new: str, message: str) -> None:
    text = FILE.read_text().replace("nodes:\n", f"nodes:\n{SERVE}", 1)
    if not message:
        assert clusterfile.loads(text, "lyra.yaml")
        return
    with pytest.raises(clusterfile.ClusterFileError, match=message):
        clusterfile.loads(text.replace(old, new, 1), "lyra.yaml")


def test_other_add_ons_of_hyperpod_are_refused_with_what_to_do() -> None:
    with pytest.raises(clusterfile.ClusterFileError, match=f"not one of those that this release creates, {OPERATOR}"):
        clusterfile.loads(with_add_on("amazon-sagemaker-hyperpod-other"), "lyra.yaml")


def test_metrics_of_hyperpod_need_a_workspace() -> None:
    text = with_add_on(OBSERVABILITY) + "observability: {profile: none}\n"
    with pytest.raises(clusterfile.ClusterFileError, match="creates no workspace; remove one of the two"):
        clusterfile.loads(text, "lyra.yaml")


def governed_file(**keys: str) -> str:
    more = "".join(f"  {name}: {value}\n" for name, value in {"scheduler": "task-governance", **keys}.items())
    text = FILE.read_text().replace("vision: {", "vision: {weight: 2, ")
    return text.replace("kubernetes:\n", f"kubernetes:\n{more}")


@pytest.fixture(scope="module")
def governed() -> Mapping[str, Resources]:
    return {
        name: template["Resources"]
        for name, template in templates(clusterfile.loads(governed_file(), "lyra.yaml")).items()
    }


def test_teams_have_quotas_of_task_governance_before_the_platform(governed: Mapping[str, Resources]) -> None:
    resources = governed["lyra-Platform"]
    quotas = {
        row["Properties"]["ComputeQuotaTarget"]["TeamName"]: id
        for id, row in of_type(resources, "AWS::SageMaker::ComputeQuota").items()
    }
    weights = {
        team: resources[id]["Properties"]["ComputeQuotaTarget"]["FairShareWeight"] for team, id in quotas.items()
    }
    assert weights == {"language": 1, "vision": 2}
    nodes = {
        team: resources[id]["Properties"]["ComputeQuotaConfig"]["ComputeQuotaResources"] for team, id in quotas.items()
    }
    assert nodes == {
        "language": [{"InstanceType": "ml.p6e-gb200.36xlarge", "Count": 12}],
        "vision": [{"InstanceType": "ml.p6e-gb200.36xlarge", "Count": 6}],
    }
    limits = {
        team: resources[id]["Properties"]["ComputeQuotaConfig"]["ResourceSharingConfig"].get("BorrowLimit")
        for team, id in quotas.items()
    }
    assert limits == {"language": None, "vision": 200}, "each may have all nodes: 50 % is the default"
    (policy,) = of_type(resources, "AWS::SageMaker::ClusterSchedulerConfig")
    add_on = add_ons(resources)["amazon-sagemaker-hyperpod-taskgovernance"]
    assert add_on in resources[policy]["DependsOn"]
    assert policy in resources[quotas["vision"]]["DependsOn"]
    (run,) = of_type(resources, "AWS::SSM::Association")
    assert {*quotas.values(), policy} <= {*resources[run]["DependsOn"]}


def test_with_task_governance_the_platform_has_no_kueue_and_no_queues() -> None:
    bundle = kubernetes_bundle(clusterfile.loads(governed_file(), "lyra.yaml"))
    assert "kueue" not in [release["name"] for release in bundle["releases"]]
    assert not [each for each in bundle["objects"] if "kueue" in each["apiVersion"]]
    namespaces = {each["metadata"]["name"] for each in bundle["objects"] if each["kind"] == "Namespace"}
    assert {"hyperpod-ns-language", "hyperpod-ns-vision"} <= namespaces


def test_jobs_name_the_queue_and_the_priority_of_task_governance() -> None:
    files = {file.path: file.text for file in job_files(clusterfile.loads(governed_file(), "lyra.yaml"))}
    assert "train/train-job.yaml" not in files, "its Kueue manages no TrainJob"
    text = files["train/job-set.yaml"]
    assert "kueue.x-k8s.io/queue-name: hyperpod-ns-language-localqueue\n" in text
    assert "kueue.x-k8s.io/priority-class: research-priority\n" in text
    assert "topology: topology.k8s.aws/ultraserver-id\n" in text
    assert "queue-name" not in files["train/dcgm.yaml"], "checks of nodes have no quota"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (with_add_on("amazon-sagemaker-hyperpod-taskgovernance"), "write scheduler: task-governance"),
        (governed_file().replace("vision:", "vision_1:"), "vision_1"),
        (
            governed_file().replace("us-east-1", "ca-central-1").replace("zone: use1-dfw2-az1", "zone: cac1-az1"),
            "is not available in ca-central-1",
        ),
        (
            governed_file().replace("hyperpod-kubernetes", "kubernetes"),
            "task-governance is a part of SageMaker HyperPod",
        ),
    ],
)
def test_two_queues_and_unknown_names_of_teams_are_refused(text: str, message: str) -> None:
    with pytest.raises(clusterfile.ClusterFileError, match=message):
        clusterfile.loads(text, "lyra.yaml")
