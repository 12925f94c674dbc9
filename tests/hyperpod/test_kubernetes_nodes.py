"""HyperPod clusters of an EKS cluster, task governance, and what the service refuses of both."""

import json
from typing import Any

import pytest
from aws_cdk import aws_eks_v2 as eks_v2
from aws_cdk.assertions import Template
from botocore.session import get_session

from support.contracts import World
from support.contracts.hyperpod import cluster, stack
from ultracluster import compute, hyperpod
from ultracluster.boot import Taint
from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.catalogue.schedulers import hyperpod_kubernetes as facts
from ultracluster.rules import Refusal

EKS = "arn:aws:eks:us-east-2:123456789012:cluster/llama"
HYPERPOD = "arn:aws:sagemaker:us-east-2:123456789012:cluster/abcdefghijkl"
PLAN = compute.TrainingPlan(arn="arn:aws:sagemaker:us-east-2:123456789012:training-plan/p6")


def group(**more: Any) -> hyperpod.HyperPodInstanceGroup:
    arguments: dict[str, Any] = {"name": "train", "instance_type": "p5en.48xlarge", "count": 2, **more}
    return hyperpod.HyperPodInstanceGroup(**arguments)


def template(groups: list[hyperpod.HyperPodInstanceGroup], **more: Any) -> Template:
    parent = stack()
    arguments: dict[str, Any] = {"cluster_arn": EKS, **more}
    kubernetes = hyperpod.HyperPodKubernetes(**arguments)
    cluster(parent, "llama", World(parent), groups=groups, kubernetes=kubernetes)
    return Template.from_stack(parent)


def properties(result: Template, type: str = "AWS::SageMaker::Cluster") -> dict[str, Any]:
    (resource,) = result.find_resources(type).values()
    return dict(resource["Properties"])


@pytest.fixture(scope="module")
def full() -> Template:
    restricted = hyperpod.HyperPodRestrictedGroup(
        name="nova", instance_type="p5.48xlarge", count=4, capacity=PLAN, lustre_gib=4800, lustre_mb_per_s_tib=250
    )
    groups = [
        group(capacity=PLAN, deep_health_checks=True, labels={"team": "a"}, minimum=2),
        group(name="spot", capacity=compute.Spot(), taints=[Taint(key="spot", effect="NoSchedule")]),
        group(name="elastic", count=0),
    ]
    return template(groups, autoscaling=True, checkpoint_memory_percent=40, restricted_groups=[restricted])


def test_nodes_join_the_eks_cluster_with_labels_taints_and_checks(full: Template) -> None:
    written = properties(full)
    assert written["Orchestrator"] == {"Eks": {"ClusterArn": EKS}}
    assert (written["NodeProvisioningMode"], written["NodeRecovery"]) == ("Continuous", "Automatic")
    train, spot, _ = written["InstanceGroups"]
    assert train["KubernetesConfig"] == {"Labels": {"team": "a"}}
    assert (train["MinInstanceCount"], train["TrainingPlanArn"]) == (2, PLAN.arn)
    assert train["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert spot["KubernetesConfig"] == {"Taints": [{"Effect": "NoSchedule", "Key": "spot"}]}
    assert spot["CapacityRequirements"] == {"Spot": {}}


def test_hyperpod_runs_karpenter_with_a_role_that_it_assumes(full: Template) -> None:
    written = properties(full)
    assert written["AutoScaling"] == {"AutoScalerType": "Karpenter", "Mode": "Enable"}
    roles = full.find_resources("AWS::IAM::Role")
    role = roles[written["ClusterRole"]["Fn::GetAtt"][0]]["Properties"]["AssumeRolePolicyDocument"]
    assert role["Statement"][0]["Principal"] == {"Service": "hyperpod.sagemaker.amazonaws.com"}


def test_checkpoints_have_a_part_of_the_memory(full: Template) -> None:
    assert properties(full)["TieredStorageConfig"] == {"InstanceMemoryAllocationPercentage": 40, "Mode": "Enable"}


def test_a_restricted_group_has_no_script_and_its_own_file_system(full: Template) -> None:
    (nova,) = properties(full)["RestrictedInstanceGroups"]
    assert nova["EnvironmentConfig"] == {"FSxLustreConfig": {"PerUnitStorageThroughput": 250, "SizeInGiB": 4800}}
    assert nova["TrainingPlanArn"] == PLAN.arn
    assert "LifeCycleConfig" not in nova


def test_a_cluster_of_restricted_groups_alone_is_not_provisioned_continuously() -> None:
    """As in AWS's Terraform module."""
    nova = hyperpod.HyperPodRestrictedGroup(name="nova", instance_type="p5.48xlarge", count=4)
    written = properties(template([], restricted_groups=[nova]))
    assert "NodeProvisioningMode" not in written
    assert "InstanceGroups" not in written


def test_the_role_gives_pods_addresses_images_and_roles_of_its_cluster_alone(full: Template) -> None:
    """Actions of the page of AWS, each: nodes of Slurm have none of them."""
    policies = full.find_resources("AWS::IAM::Policy").values()
    (nodes,) = [each for each in policies if "ssmmessages:OpenDataChannel" in json.dumps(each)]
    statements = nodes["Properties"]["PolicyDocument"]["Statement"]
    (identity,) = [each for each in statements if each["Action"] == "eks-auth:AssumeRoleForPodIdentity"]
    assert identity["Resource"] == EKS
    allowed = {
        action
        for each in statements
        for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
    }
    assert allowed >= {*facts.POD_NETWORK_ACTIONS, *facts.IMAGE_ACTIONS}
    parent = stack()
    hyperpod.HyperPodRole(parent, "Slurm")
    slurm = json.dumps(Template.from_stack(parent).to_json())
    assert not any(action in slurm for action in ("ecr:", "eks-auth:", "AssignPrivateIpAddresses"))


def test_addresses_are_those_of_the_page_of_aws() -> None:
    assert facts.kubernetes_addresses(INSTANCE_TYPES["p5.48xlarge"]) == 81


def test_the_service_model_has_each_word() -> None:
    model = get_session().get_service_model("sagemaker")
    limit = model.shape_for("BorrowLimit").metadata
    assert (limit["min"], limit["max"]) == (facts.BORROW_LIMITS[0], facts.BORROW_LIMITS[-1])
    weights = model.shape_for("PriorityWeight").metadata
    assert (weights["min"], weights["max"]) == (facts.WEIGHTS[0], facts.WEIGHTS[-1])
    assert model.shape_for("ClusterKubernetesTaints").metadata["max"] == facts.MOST_TAINTS


@pytest.mark.parametrize(
    ("groups", "more", "message"),
    [
        ([{"node_type": "Login"}], {}, "groups have a node_type, which is Slurm's"),
        ([{}], {"autoscaling": True}, "autoscaling needs a group with count=0"),
        ([{"count": 0, "deep_health_checks": True}], {"autoscaling": True}, "no group with deep health checks: train"),
        (
            [{"count": 0, "capacity": PLAN}],
            {"autoscaling": True},
            "Karpenter scales groups on demand and of Spot only: train",
        ),
        (
            [{"count": 0, "instance_type": "c7g.16xlarge"}],
            {"autoscaling": True},
            "Karpenter scales no group with Arm nodes: train",
        ),
        ([{}], {"checkpoint_memory_percent": 10}, "checkpoint_memory_percent must be 20 to 100, got 10"),
        ([{}], {"cluster_arn": "llama"}, "kubernetes.cluster_arn must be"),
        ([{"minimum": 3}], {}, "minimum must be 0 to count, 2, got 3"),
        (
            [{"deep_health_checks": True, "taints": [Taint(key="a", effect="NoSchedule")]}],
            {},
            "nodes with taints cannot have deep health checks",
        ),
    ],
)
def test_refuses_what_the_service_refuses(groups: list[dict[str, Any]], more: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        template([group(**each) for each in groups], **more)
    assert message in str(refusal.value)


def test_refuses_settings_of_kubernetes_on_nodes_of_slurm() -> None:
    parent = stack()
    with pytest.raises(Refusal, match="labels, taints or Spot instances, which Kubernetes alone has"):
        cluster(parent, "llama", World(parent), groups=[group(labels={"a": "b"})])


def test_refuses_a_restricted_group_with_half_a_file_system() -> None:
    with pytest.raises(Refusal, match="must be given together"):
        hyperpod.HyperPodRestrictedGroup(name="nova", instance_type="p5.48xlarge", count=1, lustre_gib=1200)


def test_inference_uses_the_provider_that_the_account_has_for_the_issuer() -> None:
    """IAM refuses a second one for a URL with EntityAlreadyExists."""

    def created(**more: Any) -> Template:
        parent = stack()
        hyperpod.HyperPodInferenceAddOn(
            parent,
            "Inference",
            cluster=eks_v2.Cluster.from_cluster_attributes(parent, "Plane", cluster_name="llama"),
            issuer_url="https://oidc.eks.us-east-2.amazonaws.com/id/0123456789ABCDEF",
            hyperpod_cluster_arn=HYPERPOD,
            **more,
        )
        return Template.from_stack(parent)

    arn = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-2.amazonaws.com/id/0123456789ABCDEF"
    existing = created(provider_arn=arn)
    existing.resource_count_is("AWS::IAM::OIDCProvider", 0)
    assert arn in str(existing.find_resources("AWS::IAM::Role"))
    created().resource_count_is("AWS::IAM::OIDCProvider", 1)
    with pytest.raises(Refusal, match="provider_arn must be"):
        created(provider_arn="oidc.eks.us-east-2.amazonaws.com")


def test_teams_have_quotas_and_tasks_priorities() -> None:
    parent = stack()
    teams = {"vision": hyperpod.TeamQuota(nodes={"p5en.48xlarge": 4}, weight=10, borrow_limit=100)}
    hyperpod.HyperPodTaskGovernance(
        parent, "Governance", cluster_arn=HYPERPOD, name="llama", teams=teams, priorities={"training": 90}
    )
    result = Template.from_stack(parent)
    policy = properties(result, "AWS::SageMaker::ClusterSchedulerConfig")
    assert policy["SchedulerConfig"] == {
        "FairShare": "Enabled",
        "IdleResourceSharing": "Enabled",
        "PriorityClasses": [{"Name": "training", "Weight": 90}],
    }
    quota = properties(result, "AWS::SageMaker::ComputeQuota")
    assert quota["ComputeQuotaTarget"] == {"FairShareWeight": 10, "TeamName": "vision"}
    assert quota["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [{"Count": 4, "InstanceType": "ml.p5en.48xlarge"}],
        "PreemptTeamTasks": "LowerPriority",
        "ResourceSharingConfig": {"BorrowLimit": 100, "Strategy": "LendAndBorrow"},
    }


@pytest.mark.parametrize(
    ("quota", "more", "message"),
    [
        ({"weight": 101}, {}, "weight must be 0 to 100, got 101"),
        ({"sharing": "Lend", "borrow_limit": 5}, {}, "borrow_limit needs sharing='LendAndBorrow'"),
        ({"nodes": {"p9.48xlarge": 1}}, {}, "HyperPod has no ml.p9.48xlarge"),
        ({}, {"priorities": {"Training": 1}}, "named by lowercase letters"),
        ({}, {"priorities": {"a": 101}}, "the weight of a must be 0 to 100"),
        ({}, {"teams": {}}, "teams must hold at least one team"),
        ({}, {"cluster_arn": EKS}, "cluster_arn must be"),
    ],
)
def test_refuses_quotas_that_the_service_refuses(quota: dict[str, Any], more: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        governance(quota, **more)
    assert message in str(refusal.value)


def governance(quota: dict[str, Any], **more: Any) -> None:
    nodes: dict[str, Any] = {"nodes": {"p5.48xlarge": 1}, **quota}
    teams = {"vision": hyperpod.TeamQuota(**nodes)}
    arguments: dict[str, Any] = {"cluster_arn": HYPERPOD, "name": "llama", "teams": teams, **more}
    hyperpod.HyperPodTaskGovernance(stack(), "Governance", **arguments)
