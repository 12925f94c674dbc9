"""Kubernetes in the cluster file: what it takes, what it refuses, and where it says so."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.clusterfile_data import RESERVATION, bent, problem, problems, read
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType
from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile import ClusterFileError, loads, variant, warnings
from ultracluster.clusterfile.rules._kubernetes_nodes import _KUBECTL_MINOR
from ultracluster.clusterfile.sections._capacity import write_capacity
from ultracluster.planning.capacity import TargetedReservation
from ultracluster.platform._tools import PACKAGE

GOOD = f"""name: llama
region: us-east-2
zone: use2-az1
orchestrator: kubernetes
kubernetes: {{admins: ["arn:aws:iam::123456789012:role/platform"]}}
nodes:
  train: {{type: p5en.48xlarge, count: 64, capacity: {RESERVATION}}}
"""
ULTRA = f"""name: nvl72
region: us-east-1
zone: use1-dfw2-az1
orchestrator: kubernetes
kubernetes: {{version: "1.33"}}
nodes:
  train: {{type: u-p6e-gb200x72, count: 1, capacity: {{reservation: {RESERVATION}, kind: ultraserver}}}}
network: {{control-plane-zone: use1-az4}}
"""
OWN = f"""name: guest
region: us-east-2
zone: use2-az1
orchestrator: kubernetes
kubernetes:
  existing: {{name: guest, endpoint: https://a.example.io, certificate-authority: LS0t, security-group: sg-01234567}}
network: {{existing: {{vpc: vpc-01234567, subnet: subnet-01234567}}}}
nodes:
  train: {{type: p5en.48xlarge, count: 8, capacity: {RESERVATION}}}
"""
LATER = f'{{reservation: {RESERVATION}, kind: odcr, starts: "2026-12-04T08:00:00Z"}}'
ARGO_CD = (
    "identity-center: 'arn:aws:sso:::instance/ssoins-0123456789abcdef', "
    "admins: [906749b5-c0a1-70b4-1b2c-0123456789ab], repository: 'https://github.com/acme/clusters.git'"
)


def test_a_short_file_describes_a_cluster() -> None:
    cluster = loads(GOOD, "c.yaml")
    (group,) = cluster.node_groups
    assert (group.layout, group.pods, group.os) == ("one-ip", 30, "al2023")
    assert cluster.instances == 66
    assert cluster.second_zone == "use2-az2"
    assert cluster.other_zones == ("use2-az2",)


def test_pods_take_addresses_in_prefixes_with_one_to_spare() -> None:
    (group,) = read("count: 64", "count: 64, pods: 33", GOOD).node_groups
    assert group.addresses_per_node == 1 + 16 * (3 + 1)


@given(st.integers(1, 250))
def test_a_node_has_an_address_for_every_pod_and_itself(pods: int) -> None:
    taken = eks.pod_addresses(pods)
    assert taken % eks.ADDRESSES_PER_PREFIX == 0
    assert pods + 16 <= taken < pods + 2 * 16


@pytest.mark.parametrize("record", INSTANCE_TYPES.values(), ids=INSTANCE_TYPES)
def test_no_node_runs_more_pods_than_eks_allows(record: InstanceType) -> None:
    assert 1 <= eks.most_pods(record) <= (110 if record.vcpus < 30 else 250)


def test_rejects_ultraservers_before_dynamic_resource_allocation() -> None:
    error = problem('"1.33"', '"1.32"', ULTRA)
    assert error.startswith("c.yaml:5:23 kubernetes.version: UltraServers need Kubernetes 1.33 or newer, got 1.32")
    loads(ULTRA, "c.yaml")


def test_rejects_ultraservers_on_bottlerocket() -> None:
    assert "nodes.train.os: UltraServers run Amazon Linux 2023" in problem(
        "count: 1,", "count: 1, os: bottlerocket,", ULTRA
    )


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            '"1.31"',
            "1.31 is at its end: EKS updates such clusters automatically; this release supports 1.32, 1.33, ",
        ),
        ('"1.40"', "1.40 is not known to this release; this release supports"),
        ("latest", "a version of Kubernetes is one of 1."),
        ("1", "a version of Kubernetes is one of 1."),
    ],
)
def test_rejects_versions_that_eks_does_not_run(version: str, message: str) -> None:
    assert message in problem("admins:", f"version: {version}, admins:", GOOD)


def test_a_version_without_quotes_means_what_is_written() -> None:
    assert read("admins:", "version: 1.36, admins:", GOOD).kubernetes.version == "1.36"


def test_an_old_version_is_warned_of_with_its_dates() -> None:
    cluster = read("admins:", 'version: "1.33", admins:', GOOD)
    (message,) = (
        warning.message for warning in warnings(cluster) if warning.id == "ultracluster:kubernetes-version-support"
    )
    assert "2026-07-29" in message
    assert "2027-07-29" in message


@pytest.mark.parametrize(("version", "warned"), [("1.33", True), ("1.34", False), ("1.36", False)])
def test_kubectl_supports_control_planes_of_its_own_age(version: str, warned: bool) -> None:
    cluster = read("admins:", f'version: "{version}", admins:', GOOD)
    assert ("kubectl-skew" in {warning.rule for warning in warnings(cluster)}) == warned
    assert f"-kubectl-v{_KUBECTL_MINOR}" in PACKAGE


def test_rejects_dranet_before_1_34() -> None:
    error = problem("admins:", 'version: "1.33", efa: dranet, admins:', GOOD)
    assert "kubernetes.efa: dranet needs Kubernetes 1.34 or newer, got 1.33" in error


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "scheduler: kai, ready-timeout: 1 h",
            "is a setting of the Kueue of scheduler: kueue, and scheduler is kai; re",
        ),
        ("ready-timeout: 4 min", "must be from 5 min, in which a node pulls an image, to 24 h, got 4 min"),
        ("ready-timeout: 2 d", "must be from 5 min, in which a node pulls an image, to 24 h, got 2 d"),
    ],
)
def test_rejects_a_time_that_pods_cannot_have(given: str, message: str) -> None:
    assert f"kubernetes.ready-timeout: {message}" in problem("admins:", f"{given}, admins:", GOOD)
    assert read("admins:", "ready-timeout: 2 h, admins:", GOOD).kubernetes.ready_timeout.seconds == 7_200


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ("public", "must be a list of ranges beside the VPC, as in [203.0.113.0/24], [] for none, or anywhere"),
        (
            "[0.0.0.0/0]",
            "0.0.0.0/0 is the whole world; name the ranges that you come from, or write public-access",
        ),
        ("[0.0.0.0/1]", "0.0.0.0/1 is 2,147,483,648 addresses, a large part of the world"),
        ("[10.1.0.0/16]", "10.1.0.0/16 holds private addresses"),
        (f"[{', '.join(f'198.51.{n}.0/24' for n in range(41))}]", "EKS accepts at most 40 ranges, got 41"),
        ("[203.0.113.7]", "which has no prefix length"),
    ],
)
def test_rejects_a_public_endpoint_without_anywhere(endpoint: str, message: str) -> None:
    assert message in problem("admins:", f"public-access-cidrs: {endpoint}, admins:", GOOD)


def test_anywhere_opens_the_endpoint_with_a_warning() -> None:
    cluster = read("admins:", "public-access-cidrs: anywhere, admins:", GOOD)
    assert "ultracluster:kubernetes-open" in {warning.id for warning in warnings(cluster)}


def test_warns_of_a_cluster_without_administrators() -> None:
    cluster = loads(GOOD.replace('kubernetes: {admins: ["arn:aws:iam::123456789012:role/platform"]}\n', ""), "c.yaml")
    assert "ultracluster:kubernetes-no-admins" in {warning.id for warning in warnings(cluster)}


def test_rejects_more_pods_than_a_node_runs() -> None:
    error = problem("count: 64", "count: 64, pods: 251", GOOD)
    assert error.startswith("c.yaml:7:49 nodes.train.pods: p5en.48xlarge runs at most 250 pods")


def test_rejects_pods_beyond_the_addresses_of_the_subnet() -> None:
    text = bent("count: 64", "count: 64, pods: 250", GOOD) + "network: {training-subnet: 10.0.128.0/20}\n"
    (error,) = problems(text)
    assert "nodes.train.count: 64 nodes of 273 addresses need 17,472" in error
    assert "pods: 32 lets 80 fit" in error


@pytest.mark.parametrize(
    ("pods", "cidr", "fits", "remedy"),
    [
        ("", "", "at most 665 such nodes fit, pods: 16 lets 987 fit, or use ", "an existing subnet of a /16"),
        (", pods: 16", "", "at most 987 such nodes fit, or use ", "an existing subnet of a /16"),
        (", pods: 16", "100.64.0.0/17", "at most 987 such nodes fit, or use ", "a larger range: an existing subnet of"),
        (", pods: 16", "100.64.0.0/16", "at most 1,980 such nodes fit, or use ", "a second cluster, for no subnet"),
    ],
)
def test_only_remedies_that_exist_are_named_for_too_many_nodes(pods: str, cidr: str, fits: str, remedy: str) -> None:
    text = bent("count: 64", f"count: 2000{pods}", GOOD)
    if cidr:
        existing = f"{{vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, cidr: {cidr}}}"
        text += f"network: {{existing: {existing}}}\n"
    errors = problems(text)
    (error,) = (each for each in errors if "nodes.train.count" in each)
    assert f"{fits}{remedy}" in error


def test_rejects_an_image_of_the_other_architecture() -> None:
    image = "image: {id: ami-0123456789abcdef0, architecture: arm64}"
    assert "p5en.48xlarge is x86_64, and the image is for arm64" in problem("count: 64", f"count: 64, {image}", GOOD)


def test_rejects_an_image_of_another_service() -> None:
    image = "image: /aws/service/pcs/ami/dlami-base-ubuntu2404/x86_64/latest/ami-id"
    assert "not ready for EKS" in problem("count: 64", f"count: 64, {image}", GOOD)


def test_rejects_a_custom_image_with_bottlerocket() -> None:
    error = problem("count: 64", "count: 64, os: bottlerocket, image: ami-0123456789abcdef0", GOOD)
    assert "nodes.train.image:" in error


def test_rejects_auto_mode_with_the_reasons() -> None:
    error = problem("admins:", "auto-mode: true, admins:", GOOD)
    assert error.startswith("c.yaml:5:14 kubernetes.auto-mode: EKS Auto Mode is not for training nodes: ")
    assert "21 days" in error


def test_rejects_a_chart_without_a_version() -> None:
    assert "kubernetes.charts.kueue: must be a version" in problem("admins:", "charts: {kueue: latest}, admins:", GOOD)


def test_rejects_add_ons_of_hyperpod() -> None:
    error = problem("admins:", "add-ons: {amazon-sagemaker-hyperpod-taskgovernance: default}, admins:", GOOD)
    assert "kubernetes.add-ons.amazon-sagemaker-hyperpod-taskgovernance: is for clusters of SageMaker HyperPod" in error


def test_rejects_misspelt_add_ons_and_warns_of_unknown_ones() -> None:
    error = problem("admins:", "add-ons: {cordns: default}, admins:", GOOD)
    assert "kubernetes.add-ons.cordns: EKS has no such add-on; did you mean coredns?" in error
    known = read("admins:", "add-ons: {datadog_operator: default, fluent-bit: default}, admins:", GOOD)
    assert "ultracluster:kubernetes-add-on" not in {warning.id for warning in warnings(known)}
    cluster = read("admins:", "add-ons: {of-tomorrow: default}, admins:", GOOD)
    (unknown,) = [warning for warning in warnings(cluster) if warning.id == "ultracluster:kubernetes-add-on"]
    assert unknown.message.startswith("of-tomorrow: no page of AWS names such an add-on")


@pytest.mark.parametrize(
    "setting",
    [
        *(
            "charts: {kueue: 00.19.2}",
            "charts: {kueue: 0.19.2-}",
            "charts: {kueue: 0.19.2-a..b}",
            "charts: {kueue: 0.19}",
        ),
        *("add-ons: {coredns: v1.012.4-eksbuild.1}", "add-ons: {coredns: v1.12.4-eksbuild.0}"),
    ],
)
def test_rejects_versions_that_are_none(setting: str) -> None:
    assert "must be a version, such as" in problem("admins:", f"{setting}, admins:", GOOD)


def test_rejects_a_team_with_nodes_of_no_group() -> None:
    error = problem("admins:", "teams: {research: {nodes: {tune: 3}}}, admins:", GOOD)
    assert "kubernetes.teams.research.nodes.tune: there is no node group tune; there are train" in error


def test_rejects_a_weight_that_has_no_effect() -> None:
    for setting, message in (
        ("teams: {chat: {weight: 2, borrow: false}}", "divides the idle nodes that teams borrow, and borrow is false"),
        ("scheduler: volcano, teams: {chat: {weight: 2}}", "the queues of Volcano have resources here, and no weights"),
        ("teams: {chat: {weight: 0}}", "must be 1 to 100"),
    ):
        error = problem("admins:", f"{setting}, admins:", GOOD)
        assert "kubernetes.teams.chat.weight: " in error
        assert message in error
    assert (
        read("{admins:", "{scheduler: kai, teams: {chat: {weight: 2}}, admins:", GOOD).kubernetes.teams["chat"].weight
    )


def test_rejects_slurm_beside_kubernetes_and_the_reverse() -> None:
    (error,) = problems(GOOD + "slurm: {accounting: false}\n")
    assert error.startswith("c.yaml:8:9 slurm.accounting: is for Slurm, and orchestrator is kubernetes: no equivalent")
    (error,) = problems(bent("orchestrator: kubernetes", "orchestrator: slurm", GOOD))
    assert error.startswith("c.yaml:5:14 kubernetes.admins: is for Kubernetes, and orchestrator is slurm: administra")


@pytest.mark.parametrize(
    ("taints", "message"),
    [
        ("{dedicated: Never}", "what a taint does is one of NoSchedule, PreferNoSchedule, NoExecute, got 'Never'"),
        ("{'a b': NoSchedule}", "must be the key of a taint, 1 to 63 letters, digits, dots, hyphens and underscores"),
        ("{nvidia.com/gpu: NoSchedule}", "nvidia.com/gpu is on these nodes where it belongs; remove it"),
        (
            "{node.kubernetes.io/not-ready: NoExecute}",
            "is added and removed by its own controller; choose another key",
        ),
        ("{karpenter.sh/disrupted: NoSchedule}", "is added and removed by its own controller; choose another key"),
        (f"{{{'a' * 64}: NoSchedule}}", "perhaps after a domain and a slash, 253 in all, got 'aaa"),
        (f"{{{'a.' * 100}example.com/{'b' * 63}: NoSchedule}}", "253 in all, got 'a.a."),
        ("{A.example.com/a: NoSchedule}", "perhaps after a domain and a slash"),
        ("{a: NO_SCHEDULE}", "what a taint does is one of NoSchedule, PreferNoSchedule, NoExecute, got 'NO_SCHEDULE'"),
        ("{a: [NoSchedule]}", "what a taint does is one of NoSchedule, PreferNoSchedule, NoExecute, got a list"),
        (f"{{{', '.join(f'a{n}: NoSchedule' for n in range(49))}}}", "has at most 48 entries, got 49; remove some"),
        ("[dedicated]", "must be a mapping, got a list; write for example taints: {dedicated: NoSchedule}"),
    ],
)
def test_rejects_taints_that_kubernetes_would_not_take(taints: str, message: str) -> None:
    assert message in problem("count: 64", f"count: 64, taints: {taints}", GOOD)


@pytest.mark.parametrize("key", ["dedicated", "team/dedicated", "team.example.com/a_B.c", "a" * 63])
def test_accepts_the_keys_of_taints_that_kubernetes_accepts(key: str) -> None:
    (group,) = read("count: 64", f"count: 64, taints: {{{key}: NoExecute}}", GOOD).node_groups
    assert [(taint.key, taint.effect) for taint in group.kubernetes_taints][1:] == [(key, "NoExecute")]


@pytest.mark.parametrize("key", ["os: bottlerocket", "pods: 30", "taints: {dedicated: NoSchedule}"])
def test_rejects_keys_of_kubernetes_under_slurm(key: str) -> None:
    assert "is for nodes of Kubernetes, and orchestrator is slurm" in problem("count: 64", f"count: 64, {key}")


def test_rejects_services_inside_the_vpc() -> None:
    error = problem("admins:", "service-cidr: 10.0.0.0/16, admins:", GOOD)
    assert "kubernetes.service-cidr: Services have 10.0.0.0/16, which overlaps 10.0.0.0/16, the range of" in error


def test_proposes_services_outside_the_vpc() -> None:
    text = GOOD.replace("nodes:", "network: {cidr: 172.20.0.0/16}\nnodes:")
    assert any("write another, such as 10.100.0.0/16" in row for row in problems(text)), problems(text)


@pytest.mark.parametrize("zone", ["use2-az1", "use1-az4"])
def test_rejects_an_invalid_second_zone(zone: str) -> None:
    assert "kubernetes.second-zone:" in problem("admins:", f"second-zone: {zone}, admins:", GOOD)


def test_a_zone_without_control_planes_is_never_the_second() -> None:
    text = GOOD.replace("us-east-2", "us-west-1").replace("use2-az1", "usw1-az1")
    assert loads(text, "c.yaml").second_zone == "usw1-az3"


def test_an_existing_vpc_requires_subnets_in_two_zones() -> None:
    network = "network: {existing: {vpc: vpc-01234567, subnet: subnet-01234567}}\n"
    (error,) = problems(GOOD + network)
    assert "network.existing: EKS requires subnets in two zones" in error
    loads(GOOD + network.replace("}}", ", subnets: {use2-az2: subnet-89abcdef}}}"), "c.yaml")


def test_an_existing_cluster_gets_no_system_nodes() -> None:
    assert loads(OWN, "c.yaml").instances == 8


@pytest.mark.parametrize("key", ["bin-packing: true", "admins: []", "scaling-tier: tier-xl", "system: {count: 3}"])
def test_rejects_settings_of_new_clusters_for_an_existing_cluster(key: str) -> None:
    error = problem("  existing: {name", f"  {key}\n  existing: {{name", OWN)
    assert "describes a new cluster, and kubernetes.existing names an existing one" in error


def test_rejects_an_existing_cluster_in_a_new_vpc() -> None:
    (error,) = problems(OWN.replace("network: {existing: {vpc: vpc-01234567, subnet: subnet-01234567}}\n", ""))
    assert "kubernetes.existing: is in an existing VPC" in error


def test_rejects_drains_that_eks_does_itself() -> None:
    block = f"capacity: {{reservation: {RESERVATION}, kind: capacity-block}}"
    (error,) = problems(bent(f"capacity: {RESERVATION}", block, GOOD) + "notifications: {drain: 2 h}\n")
    assert "notifications.drain: is for Slurm: EKS scales a node group in by itself" in error


@pytest.mark.parametrize(("settings", "warned"), [("230", False), ("260", True), ("260, pods: 16", False)])
def test_warns_if_scattered_addresses_leave_no_blocks_for_pods(settings: str, warned: bool) -> None:
    cluster = read("count: 64", f"count: {settings}", GOOD)
    assert cluster.subnets.capacity == 16_379
    assert ("network-prefixes" in [warning.rule for warning in warnings(cluster)]) == warned


ELASTIC = "count: 64, elastic: true, image: ami-0123456789abcdef0"


def test_an_elastic_group_counts_as_if_it_were_full() -> None:
    (group,) = read("count: 64", ELASTIC, GOOD).node_groups
    assert group.elastic
    assert group.addresses == 64 * 49


def test_rejects_an_elastic_group_without_a_pinned_image() -> None:
    assert "pin the one of this group" in problem("count: 64", "count: 64, elastic: true", GOOD)


@pytest.mark.parametrize(
    "capacity", [f"{{reservation: {RESERVATION}, kind: interruptible}}", "{reservation: open}"], ids=["lent", "open"]
)
def test_rejects_elastic_groups_of_capacity_that_karpenter_does_not_buy(capacity: str) -> None:
    text = bent("count: 64", ELASTIC, GOOD)
    error = problem(f"capacity: {RESERVATION}", f"capacity: {capacity}", text)
    assert "nodes.train.elastic: Karpenter launches on-demand" in error


def test_rejects_an_elastic_group_in_another_zone_or_in_an_existing_cluster() -> None:
    assert "are in the cluster's own zone" in problem(
        "count: 64", f"{ELASTIC.replace('64', '4')}, zone: use2-az3", GOOD
    )
    assert "Karpenter belongs to the existing cluster" in problem("count: 8", ELASTIC.replace("64", "8"), OWN)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ("placement-group: cluster", "nodes.train.placement-group: Karpenter creates no placement group, got cluster"),
        ("tags: {karpenter.sh/nodepool: a}", "nodes.train.tags.karpenter.sh/nodepool: Karpenter sets this tag itself"),
        ("tags: {kubernetes.io/cluster/a: owned}", "Karpenter sets this tag itself"),
    ],
)
def test_rejects_settings_of_an_elastic_group_that_karpenter_does_not_take(settings: str, error: str) -> None:
    bought = bent(f"capacity: {RESERVATION}", "capacity: on-demand", GOOD)
    assert error in problem("count: 64", f"{ELASTIC}, {settings}", bought)
    named = read("count: 64", f"{ELASTIC}, placement-group: {{name: training}}, tags: {{team: a}}", GOOD)
    assert named.node_groups[0].elastic


def test_rejects_an_elastic_group_where_karpenter_reaches_no_iam() -> None:
    (error,) = problems(bent("count: 64", ELASTIC, GOOD) + 'account: "123456789012"\nnetwork: {internet: false}\n')
    assert "nodes.train.elastic: Karpenter calls IAM" in error


def test_warns_of_the_efa_tool_on_kubernetes_only_where_a_unit_runs_it() -> None:
    lustre = "storage: {lustre: {throughput: 40 GB/s}}\n"

    def asked(text: str) -> list[str]:
        cluster = loads(text + lustre, "c.yaml")
        return [warning.message for warning in warnings(cluster) if warning.id == "ultracluster:lustre-efa-client"]

    (message,) = asked(GOOD)
    assert "without it they mount the file system over TCP" in message
    assert asked(bent("count: 64", "count: 64, os: bottlerocket", GOOD)) == []


def test_every_way_to_a_cluster_file_checks_its_platform() -> None:
    text = GOOD.replace("kubernetes: {", "kubernetes: {teams: {a-team: {nodes: {train: 99}}}, ")
    expected = r"kubernetes\.teams: teams were promised 99 nodes of train.*\[kubernetes-platform\]"
    with pytest.raises(ClusterFileError, match=expected):
        loads(text, "c.yaml")
    with pytest.raises(ClusterFileError, match=expected):
        variant(loads(GOOD, "c.yaml"), {"kubernetes": {"teams": {"a-team": {"nodes": {"train": 99}}}}})


@pytest.mark.parametrize(
    ("add_ons", "path", "reason"),
    [
        ("external-dns: default", "external-dns", "needs a role, whose permissions depend on the hosted zones"),
        ("aws-mountpoint-s3-csi-driver: default", "aws-mountpoint-s3-csi-driver", "the file has no data bucket"),
        ("coredns: {service-account: dns}", "coredns.service-account", "needs a role of your account"),
        ("fluent-bit: {role: 'arn:aws:iam::123456789012:role/logs'}", "fluent-bit.role", "needs the service account"),
    ],
)
def test_rejects_an_add_on_without_permissions(add_ons: str, path: str, reason: str) -> None:
    error = problem("admins:", f"add-ons: {{{add_ons}}}, admins:", GOOD + "storage: {data-bucket: false}\n")
    assert f"kubernetes.add-ons.{path}: " in error
    assert reason in error


@pytest.mark.parametrize(
    ("settings", "group", "reason"),
    [
        ("release: 1.36.1-20261105", "", "nodes must not be newer than the control plane"),
        ("release: 1.31.9-20261105", "", "nodes may be 3 minor versions older at most"),
        ("version: '1.35'", ", os: bottlerocket, release: 1.35.2-20261105", "names an image of Amazon Linux 2023"),
        ("version: '1.35'", ", release: 1.47.0-6154605b", "names an image of Bottlerocket, and os is al2023"),
        ("version: '1.35'", ", image: ami-0123456789abcdef0, release: 1.35.2-20261105", "has an image of its own"),
    ],
)
def test_rejects_a_release_that_does_not_go_with_the_rest(settings: str, group: str, reason: str) -> None:
    text = bent("count: 64", f"count: 64{group}", bent("admins:", f"{settings}, admins:", GOOD))
    with pytest.raises(ClusterFileError) as caught:
        loads(text, "c.yaml")
    assert {problem.rule for problem in caught.value.problems} == {"kubernetes-release"}
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (", elastic: true, image: ami-0123456789abcdef0", "Karpenter launches these nodes"),
        (", capacity: {reservation: cr-0123456789abcdef0, kind: interruptible}", "these are an Auto Scaling group"),
    ],
)
@pytest.mark.parametrize("update", ["all", "10%"])
def test_rejects_how_nodes_are_updated_where_eks_does_not(group: str, reason: str, update: str) -> None:
    with pytest.raises(ClusterFileError) as caught:
        loads(bent("count: 64", f"count: 64, update: {update}{group}", GOOD), "c.yaml")
    assert ("kubernetes-update", True) in {(each.rule, reason in str(each)) for each in caught.value.problems}


@pytest.mark.parametrize("update", ["0", "101", "0%", "101%", "10 %", "half", "true", "1.5"])
def test_rejects_a_number_of_nodes_that_eks_does_not_update_at_once(update: str) -> None:
    with pytest.raises(ClusterFileError) as caught:
        loads(bent("count: 64", f"count: 64, update: {update}", GOOD), "c.yaml")
    assert "nodes.train.update: must be one-by-one, all, a number of nodes from 1 to 100" in str(caught.value)


@pytest.mark.parametrize(
    ("count", "update", "hours"),
    [
        (180, "one-by-one", None),
        (181, "one-by-one", "about 30 hours, of 10 minutes for each of 181 rounds"),
        (500, "one-by-one", "about 83 hours, of 10 minutes for each of 500 rounds"),
        (500, "2", "about 41 hours, of 10 minutes for each of 250 rounds"),
        (500, "3", None),
        (500, "10%", None),
        (500, "all", None),
    ],
)
def test_warns_of_an_update_that_takes_longer_than_cloudformation_waits(
    count: int, update: str, hours: str | None
) -> None:
    file = loads(bent("count: 64", f"count: {count}, update: {update}", GOOD), "c.yaml")
    messages = [warning.message for warning in warnings(file) if warning.id == "ultracluster:kubernetes-update-time"]
    assert len(messages) == (hours is not None)
    if hours:
        assert f"train: an update of {count} nodes takes {hours}" in messages[0]
        assert f"nodes.train.update: {-(-count // 180)} or more" in messages[0]


def test_warns_of_the_updates_of_equal_node_groups_once() -> None:
    groups = "\n".join(f"  train-{number}: {{type: p5.48xlarge, count: 190, pods: 4}}" for number in range(4))
    head = GOOD.partition("nodes:")[0]
    file = loads(f"{head}nodes:\n{groups}\n", "c.yaml")
    (message,) = [each.message for each in warnings(file) if each.rule == "kubernetes-update-time"]
    assert message.startswith("train-0, train-1, train-2, train-3: an update of 190 nodes takes")
    assert "write nodes.NAME.update: 2 or more" in message


@pytest.mark.parametrize("release", ["1.35.2", "1.35.2-20261305", "latest", "1.35-20261105"])
def test_rejects_what_is_no_release(release: str) -> None:
    assert "must be a release of AWS's image for EKS" in problem("admins:", f"release: {release}, admins:", GOOD)


def test_warns_of_nodes_that_the_control_plane_left_behind_and_of_images_that_are_not_pinned() -> None:
    ids = {
        release: {warning.rule for warning in warnings(read("admins:", f"{release}admins:", GOOD))}
        for release in ("", "release: 1.35.2-20261105, ", "release: 1.34.4-20261105, ")
    }
    behind, unpinned = "kubernetes-nodes-behind", "kubernetes-release-unpinned"
    unpinned_only, pinned, old = ids.values()
    assert (unpinned in unpinned_only, behind in unpinned_only) == (True, False)
    assert not {unpinned, behind} & pinned
    assert (unpinned in old, behind in old) == (False, True)


def test_support_follows_the_day() -> None:
    day = eks.VERSIONS["1.34"].standard_until
    assert eks.support_on("1.34", day).endswith(f"in standard support until {day}, 0 days from today")
    assert "out of standard support" in eks.support_on("1.34", day + timedelta(days=1))
    assert "EKS updates the control plane itself" in eks.support_on("1.34", day + timedelta(days=800))
    assert "not in this release" in eks.support_on("9.9", day)
    assert eks.release_age("1.35.2-20261105", date(2026, 11, 22)) == 17


def test_a_block_starts_before_it_ends() -> None:
    def block(times: str) -> str:
        return f"{{reservation: {RESERVATION}, kind: capacity-block, instances: 64, {times}}}"

    cluster = read(RESERVATION, block("starts: 2026-12-04, ends: 2026-12-18"), GOOD)
    (group,) = cluster.node_groups
    assert getattr(group.capacity, "starts", None) == datetime(2026, 12, 4, 11, 30, tzinfo=UTC)
    for today, count in ((date(2026, 12, 18), 0), (date(2026, 12, 19), 1)):
        ended = [item.message for item in warnings(cluster, today) if item.rule == "capacity-ended"]
        assert (
            ended
            == [
                "train: its Capacity Block ended on 2026-12-18, and it gets no nodes; remove the group, and add a "
                "group with another name for the next block"
            ][:count]
        )
    error = problem(RESERVATION, block("starts: 2026-12-18, ends: 2026-12-04"), GOOD)
    assert "nodes.train.capacity.starts: starts must be before ends" in error
    slurm = GOOD.replace("orchestrator: kubernetes", "orchestrator: slurm").replace("kubernetes: {admins", "#")
    other = read(RESERVATION, block("ends: 2026-12-18"), slurm)
    (message,) = [item.message for item in warnings(other, date(2026, 12, 19)) if item.rule == "capacity-ended"]
    assert (
        "write slurm: {queues: {train: {nodes: [NEXT]}}}. Until then, AWS PCS rejects updates of this group" in message
    )
    read(RESERVATION, block("starts: 2026-12-04, ends: 2026-12-18"), slurm)
    error = problem(RESERVATION, block("active: true"), slurm)
    assert "nodes.train.capacity.active: is for nodes of Kubernetes" in error


def test_a_reservation_that_starts_later_has_a_start() -> None:
    (group,) = read(f"capacity: {RESERVATION}", f"capacity: {LATER}", GOOD).node_groups
    start = datetime(2026, 12, 4, 8, tzinfo=UTC)
    assert group.capacity == TargetedReservation(reservation_id=RESERVATION, starts=start)
    assert write_capacity(group.capacity) == {
        "reservation": RESERVATION,
        "kind": "odcr",
        "starts": "2026-12-04T08:00:00Z",
    }
    # A block without its kind would be an ODCR.
    error = problem(f"capacity: {RESERVATION}", f"capacity: {LATER.replace(' kind: odcr,', '')}", GOOD)
    assert "capacity.starts: belongs to what starts later, or ends: write kind: capacity-block or ultraserver" in error


def test_a_block_is_not_longer_than_aws_sells_any() -> None:
    def block(times: str) -> str:
        return f"{{reservation: {RESERVATION}, kind: capacity-block, instances: 64, {times}}}"

    read(RESERVATION, block("starts: 2026-12-04, ends: 2027-06-05"), GOOD)
    error = problem(RESERVATION, block("starts: 2026-12-04, ends: 2027-12-18"), GOOD)
    assert "nodes.train.capacity.ends: is 379 days after starts, and a Capacity Block has at most 182" in error
    accepted = read(RESERVATION, block("starts: 2026-12-04, ends: 2027-12-18"), GOOD + "accept: {block-length: new}\n")
    assert [item.rule for item in warnings(accepted) if item.accepted] == ["block-length"]


@pytest.mark.parametrize(
    ("times", "rules"),
    [
        ("starts: 2026-12-04, ends: 2026-12-18", []),
        # 56 days to the start, 182 of the block, and a day each for zones of time and of the hour of the end.
        ("ends: 2027-07-25", []),
        ("ends: 2027-07-26", ["block-not-yet-sold"]),
        ("ends: 2031-12-18", ["block-not-yet-sold"]),
        ("starts: 2027-12-04, ends: 2027-12-18", ["block-not-yet-sold"]),
        ("starts: 2026-06-01", []),
        ("starts: 2026-05-01", ["capacity-ended"]),
    ],
)
def test_a_block_begins_and_ends_when_aws_sells_one(times: str, rules: list[str]) -> None:
    block = f"{{reservation: {RESERVATION}, kind: capacity-block, instances: 64, {times}}}"
    cluster = read(RESERVATION, block, GOOD)
    of_blocks = ("block-not-yet-sold", "capacity-ended")
    assert [item.rule for item in warnings(cluster, date(2026, 11, 27)) if item.rule in of_blocks] == rules
    assert not [item for item in warnings(cluster) if item.rule in of_blocks]


def test_rejects_an_admin_host_of_an_existing_cluster() -> None:
    error = problem("  existing:", "  platform: admin-host\n  existing:", OWN)
    assert "kubernetes.platform: describes a new cluster" in error


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("platform: argo-cd", "kubernetes.platform: needs the key argo-cd, such as"),
        (f"argo-cd: {{{ARGO_CD}}}", "kubernetes.argo-cd: has no effect with platform: admin-host"),
        (f"platform: pipeline, argo-cd: {{{ARGO_CD}}}", "kubernetes.platform"),
        (
            f"platform: argo-cd, argo-cd: {{{ARGO_CD.replace('[906749b5-c0a1-70b4-1b2c-0123456789ab]', '[]')}}}",
            "kubernetes.argo-cd.admins: needs at least one entry",
        ),
        (
            f"platform: argo-cd, argo-cd: {{{ARGO_CD}, path: ../elsewhere}}",
            "kubernetes.argo-cd.path: must be a directory of the repository",
        ),
    ],
)
def test_rejects_keys_of_argo_cd_without_it(keys: str, message: str) -> None:
    assert message in problem("kubernetes: {", f"kubernetes: {{{keys}, ", GOOD)


@pytest.mark.parametrize(("day", "words"), [("2026-10-01", None), ("2026-11-27", "in 5 days"), ("2026-12-03", "left ")])
def test_the_end_of_standard_support_is_announced(day: str, words: str | None) -> None:
    advice = eks.version_advice("1.34", date.fromisoformat(day))
    assert (advice is None) if words is None else (advice is not None and words in advice)


def test_a_newer_version_is_refused_without_a_claim_about_eks() -> None:
    (error,) = eks.check_version("1.37")
    assert error.startswith(
        "1.37 is not known to this release; this release supports 1.32, 1.33, 1.34, 1.35, 1.36. EKS"
    )


def test_rejects_members_without_an_access_entry_to_give_them() -> None:
    member = 'teams: {chat: {members: ["arn:aws:iam::123456789012:role/%s"]}}'
    assert read("{admins:", f"{{{member % 'chat'}, admins:", GOOD).kubernetes.teams["chat"].members
    twice = problem("{admins:", f"{{{member % 'platform'}, admins:", GOOD)
    assert "kubernetes.teams.chat.members[0]: arn:aws:iam::123456789012:role/platform administers the cluster" in twice
    china = (member % "chat").replace("arn:aws:", "arn:aws-cn:")
    assert "kubernetes.teams.chat.members[0]: " in problem("{admins:", f"{{{china}, admins:", GOOD)
    existing = problem("kubernetes:\n", f"kubernetes:\n  {member % 'chat'}\n", OWN)
    assert "create-access-entry --kubernetes-groups ultracluster-chat" in existing


@pytest.mark.parametrize(
    ("team", "message"),
    [
        ("{gpus: 64}", "chat.gpus: unknown key; allowed are nodes, borrow, weight, members"),
        ("{nodes: 8}", "chat.nodes: must be a mapping, got 8; write for example nodes: {train: 8}"),
    ],
)
def test_errors_in_a_team_show_its_form(team: str, message: str) -> None:
    assert message in problem("{admins:", f"{{teams: {{chat: {team}}}, admins:", GOOD)
