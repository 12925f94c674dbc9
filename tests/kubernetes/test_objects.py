"""Every object that is rendered, against the schemas of Kubernetes, and the projects' own definitions as recorded."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from hypothesis import given, settings
from hypothesis import strategies as st

from support.generations import GENERATIONS, support
from support.generations import cluster as cluster_of_table
from support.kubernetes_data import GPU_TYPES, HOME, KARPENTER, LUSTRE, PLATFORMS, cluster, everything, gb200, nodes
from support.kubernetes_schemas import validate
from support.kubernetes_shapes import RECORD, definitions, is_core, problems, shape, texts, words
from ultracluster.boot import Taint
from ultracluster.catalogue.ec2 import interfaces
from ultracluster.kubernetes import (
    DynamicVolumes,
    HelmRelease,
    Object,
    Platform,
    PlatformNodes,
    Team,
    node_monitoring_values,
    node_pod,
    platform,
    platform_bundle,
    to_yaml,
)
from ultracluster.kubernetes._files import object_files, platform_files
from ultracluster.kubernetes._kueue import kueue_release
from ultracluster.kubernetes._resources import node_resources
from ultracluster.workloads import WORKLOADS
from ultracluster.workloads._kubernetes_jobs import job_objects

TEAMS = [team.name for team in PLATFORMS["teams"].teams]

CHECKED = json.loads(RECORD.read_text())
every_platform = pytest.mark.parametrize("item", PLATFORMS.values(), ids=PLATFORMS.keys())


def of_kind(objects: list[Object] | tuple[Object, ...], kind: str) -> list[Object]:
    return [item for item in objects if item["kind"] == kind]


@every_platform
def test_kubernetes_takes_every_core_object(item: Platform) -> None:
    core = [created for created in everything(item) if is_core(created["apiVersion"])]
    assert core
    for created in core:
        validate(created, item.kubernetes)


@every_platform
def test_every_field_of_a_custom_object_was_held_against_its_definition(item: Platform) -> None:
    for created in everything(item):
        if not is_core(created["apiVersion"]):
            hold_against_definition(created)


def hold_against_definition(created: Object) -> None:
    known = CHECKED[f"{created['apiVersion']} {created['kind']}"]
    assert set(shape(created)) <= set(known["fields"]), created["metadata"]["name"]
    for path, text in texts(created):
        assert text in known["words"].get(path, [text]), f"{created['metadata']['name']}: {path}"


def test_kubernetes_takes_the_job_files_of_each_generation_that_the_table_of_the_docs_has() -> None:
    taken = 0
    for row in WORKLOADS.values():
        for generation in GENERATIONS:
            status, files = support(row, "kubernetes", generation)
            assert (status == "accepted") == bool(files)
            for created in (item for file in files for item in yaml.safe_load_all(file.text)):
                taken += 1
                if is_core(created["apiVersion"]):
                    validate(created, cluster_of_table("kubernetes").kubernetes.version)
                else:
                    hold_against_definition(created)
    assert taken > 100


def test_the_check_refuses_what_a_definition_does_not_know(tmp_path: Path) -> None:
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    schema = {"type": "object", "properties": {"spec": spec, "metadata": {}}}
    crd = {
        "spec": {
            "group": "example.com",
            "names": {"kind": "Thing"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
        }
    }
    file = tmp_path / "crd.yaml"
    file.write_text(yaml.safe_dump(crd))
    ((kind, read),) = definitions(file)
    assert kind == ("example.com/v1", "Thing")
    assert problems({"spec": {"size": 3}}, read) == []
    assert len(problems({"spec": {"size": "3"}}, read)) == 1
    assert len(problems({"spec": {}}, read)) == 1
    assert len(problems({"spec": {"size": 3, "sise": 3}}, read)) == 1


def test_the_words_of_an_enumeration_are_kept_by_the_path_of_their_field() -> None:
    kind = {"type": "string", "enum": ["Soft", "Hard"]}
    schema = {
        "properties": {"spec": {"properties": {"pods": {"type": "array", "items": {"properties": {"kind": kind}}}}}}
    }
    created = {"spec": {"pods": [{"kind": "Soft"}, {"kind": "Firm"}]}}
    ((path, allowed),) = words(schema)
    assert [text in allowed for result, text in texts(created) if result == path] == [True, False]


@every_platform
def test_no_two_objects_are_the_same_one(item: Platform) -> None:
    metadata = [(m["kind"], m["metadata"].get("namespace"), m["metadata"]["name"]) for m in platform(item).objects]
    assert [result for result, times in Counter(metadata).items() if times > 1] == []


@every_platform
def test_the_same_platform_gives_the_same_files_and_each_reads_back(item: Platform) -> None:
    files = platform_files(platform(item))
    assert files == platform_files(platform(item))
    objects = [yaml.safe_load(text) for path, text in files.items() if path.startswith("objects/")]
    assert sorted(map(json.dumps, map(_sorted, objects))) == sorted(
        map(json.dumps, map(_sorted, platform(item).objects))
    )


def _sorted(item: Object) -> Object:
    result: Object = json.loads(json.dumps(item, sort_keys=True))
    return result


@given(
    st.recursive(
        st.text(max_size=12) | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    )
)
@settings(max_examples=400, deadline=None)
def test_yaml_means_the_same_to_readers_of_version_1_1(value: object) -> None:
    text = to_yaml([{"value": value}])
    assert yaml.safe_load(text) == {"value": value}


@pytest.mark.parametrize(
    "word", ["on", "Off", "y", "No", "1:30", "0x10", "1_000", "2026-11-21", "null", "~", ".5", "1e3", "="]
)
def test_a_name_that_yaml_takes_for_something_else_stays_a_name(word: str) -> None:
    assert yaml.safe_load(to_yaml([{word: word}])) == {word: word}


def test_what_others_need_comes_first() -> None:
    files = list(object_files(platform(PLATFORMS["elastic"]).objects))
    kinds = [name.split("-")[1] for name in files]
    assert kinds.index("namespace") < kinds.index("networkpolicy")
    assert kinds.index("persistentvolume") < kinds.index("persistentvolumeclaim")
    assert kinds.index("resourceflavor") < kinds.index("clusterqueue") < kinds.index("localqueue")
    # The budget for drifted nodes, before the change that makes them drifted.
    assert kinds.index("nodepool") < kinds.index("ec2nodeclass")


@every_platform
def test_controllers_are_installed_before_devices(item: Platform) -> None:
    phases = [release["phase"] for release in platform_bundle(item, platform(item), metrics=None)["releases"]]
    assert phases == sorted(phases)
    assert set(phases) <= {"controllers", "devices"}


def test_growing_a_file_system_changes_no_object() -> None:
    volumes = [item for item in platform(cluster()).objects if item["kind"].startswith("PersistentVolume")]
    sizes = {str(item["spec"].get("capacity") or item["spec"]["resources"]["requests"]) for item in volumes}
    assert sizes == {"{'storage': '1Ti'}"}


def test_what_cannot_be_changed_has_a_name_of_its_own_for_each_content() -> None:
    before, after = (
        cluster(nodes(), efa="dranet"),
        cluster(nodes(taints=(Taint(key="dedicated", effect="NoSchedule"),)), gpu="dra-driver"),
    )
    for kind in ("ResourceFlavor", "ResourceClaimTemplate"):
        names = [{item["metadata"]["name"] for item in of_kind(platform(of).objects, kind)} for of in (before, after)]
        assert names[0].isdisjoint(names[1])
    queue = of_kind(platform(after).objects, "ClusterQueue")[0]
    (flavor,) = of_kind(platform(after).objects, "ResourceFlavor")
    assert queue["spec"]["resourceGroups"][0]["flavors"][0]["name"] == flavor["metadata"]["name"]


@every_platform
def test_every_device_plugin_runs_on_the_types_of_the_cluster_and_tolerates_their_taints(item: Platform) -> None:
    values = {r.name: r.values for r in platform(item).releases if isinstance(r, HelmRelease)}
    everywhere = [{"operator": "Exists"}]
    efa = {group.instance_type.name for group in item.nodes if item.efa_way(group)}
    served: set[str] = set()
    # One at a time by default, which a thousand nodes never finish.
    tenth = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}
    if "gpu-operator" in values:
        assert values["gpu-operator"]["daemonsets"]["rollingUpdate"] == tenth["rollingUpdate"]
    for name in ("aws-efa-k8s-device-plugin", "aws-dranet"):
        if name in values:
            assert values[name]["tolerations"] == everywhere
            assert values[name]["updateStrategy"] == tenth
            served |= set(values[name]["supportedInstanceLabels"]["values"])
    assert served == efa
    if "nvidia-device-plugin" in values:
        assert values["nvidia-device-plugin"]["tolerations"] == everywhere
        assert values["nvidia-device-plugin"]["updateStrategy"] == tenth
        chosen = json.dumps(values["nvidia-device-plugin"]["affinity"])
        assert all(group.instance_type.name in chosen for group in item.gpu_groups)
        assert "pci-10de" not in chosen


def test_one_release_owns_the_gpus() -> None:
    owners = {"nvidia-device-plugin", "gpu-operator", "nvidia-dra-driver"}
    for item in PLATFORMS.values():
        result = {release.name for release in platform(item).releases} & owners
        if item.gpu_groups and not any(group.ultraserver for group in item.nodes):
            assert len(result) == 1


def test_on_gb200_the_dra_driver_has_the_domains_and_leaves_the_gpus_to_the_plugin() -> None:
    rendered = platform(PLATFORMS["GB200"])
    values = {r.name: r.values for r in rendered.releases if isinstance(r, HelmRelease)}
    assert values["nvidia-dra-driver"]["resources"] == {"computeDomains": {"enabled": True}, "gpus": {"enabled": False}}
    assert "nvidia-device-plugin" in values
    assert values["nvidia-device-plugin"]["gfd"]["enabled"]
    domains = of_kind(rendered.objects, "ComputeDomain")
    assert {item["metadata"]["namespace"] for item in domains} == {"research", "node-health"}


def test_bottlerocket_gets_no_second_device_plugin() -> None:
    rendered = platform(cluster(nodes(os="bottlerocket")))
    assert "nvidia-device-plugin" not in {release.name for release in rendered.releases}


def test_the_device_plugin_stays_off_bottlerocket_nodes_of_a_type_that_it_serves() -> None:
    rendered = platform(cluster(nodes(), nodes(count=2, name="serve", os="bottlerocket")))
    (plugin,) = [
        item for item in rendered.releases if item.name == "nvidia-device-plugin" and isinstance(item, HelmRelease)
    ]
    required = plugin.values["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = required["nodeSelectorTerms"]
    assert {"key": "ultracluster.dev/group", "operator": "NotIn", "values": ["serve"]} in term["matchExpressions"]


def test_trainer_does_not_install_a_jobset_of_its_own() -> None:
    releases = [r for r in platform(cluster()).releases if isinstance(r, HelmRelease)]
    names = [release.name for release in releases]
    assert names.index("jobset") < names.index("kubeflow-trainer")
    trainer = next(release for release in releases if release.name == "kubeflow-trainer")
    assert trainer.values["jobset"] == {"install": False}


def test_the_dcgm_agent_watches_tainted_nodes_and_gb200() -> None:
    values = node_monitoring_values(cluster(nodes(), gb200(name="big")))
    agent = values["dcgmAgent"]
    assert agent["tolerations"] == [{"operator": "Exists"}]
    assert "amd64" not in json.dumps(agent)
    assert "p6e-gb200.36xlarge" in json.dumps(agent)
    assert node_monitoring_values(cluster(nodes("m7i.8xlarge", 2))) == {}


@given(type=st.sampled_from(GPU_TYPES), count=st.integers(min_value=2, max_value=600), spare=st.integers(0, 1))
@settings(max_examples=60, deadline=None)
def test_quotas_are_what_the_nodes_have_without_the_spare_ones(type: str, count: int, spare: int) -> None:
    group = nodes(type, count, spare=spare)
    item = cluster(group)
    queue = next(q for q in of_kind(platform(item).objects, "ClusterQueue") if q["metadata"]["name"] == "research")
    (flavor,) = queue["spec"]["resourceGroups"][0]["flavors"]
    quotas = {row["name"]: row["nominalQuota"] for row in flavor["resources"]}
    efa = sum(row.kind != "interface" for row in interfaces(type, "one-ip"))
    assert quotas["nvidia.com/gpu"] == str((count - spare) * group.instance_type.gpus)
    assert quotas["vpc.amazonaws.com/efa"] == str((count - spare) * efa)
    resources = node_resources(group)
    assert quotas["cpu"] == str((count - spare) * resources.cores)
    assert quotas["memory"] == f"{(count - spare) * resources.memory_mib}Mi"
    assert quotas["hugepages-2Mi"] == f"{(count - spare) * resources.huge_pages_mib}Mi"
    assert 0 < resources.cores < group.instance_type.vcpus
    together = resources.memory_mib + resources.huge_pages_mib
    assert group.instance_type.memory_gib * 1024 * 0.85 < together < group.instance_type.memory_gib * 1024 * 0.93


@given(
    count=st.integers(min_value=1, max_value=200),
    stated=st.lists(st.integers(min_value=0, max_value=40), max_size=4),
    equal=st.integers(min_value=0, max_value=4),
)
@settings(max_examples=60, deadline=None)
def test_teams_and_what_is_shared_add_up_to_the_nodes_or_are_refused(count: int, stated: list[int], equal: int) -> None:
    teams = [Team(name=f"s{i}", nodes={"train": n}) for i, n in enumerate(stated)]
    teams += [Team(name=f"e{i}") for i in range(equal)]
    item = cluster(nodes(count=count), teams=tuple(teams))
    if not teams or sum(stated) > count:
        with pytest.raises(ValueError, match=r"there is no team|were promised"):
            platform(item)
        return
    objects = platform(item).objects
    total = 0
    for holder in [*of_kind(objects, "ClusterQueue"), *of_kind(objects, "Cohort")]:
        for group in holder["spec"].get("resourceGroups", []):
            for row in group["flavors"][0]["resources"]:
                total += int(row["nominalQuota"]) if row["name"] == "nvidia.com/gpu" else 0
    assert total == count * 8


def test_every_resource_that_a_job_asks_for_is_covered_by_its_queue() -> None:
    for item in PLATFORMS.values():
        if item.scheduler != "kueue":
            continue
        objects = everything(item)
        covered = set(of_kind(objects, "ClusterQueue")[0]["spec"]["resourceGroups"][0]["coveredResources"])
        for created in objects:
            for requested in _requests(created):
                assert set(requested) <= covered, created["kind"]


def _requests(value: object) -> list[dict[str, str]]:
    if isinstance(value, list):
        return [result for item in value for result in _requests(item)]
    if isinstance(value, dict):
        here = [value["requests"]] if isinstance(value.get("requests"), dict) and "cpu" in value["requests"] else []
        return here + [result for item in value.values() for result in _requests(item)]
    return []


def test_a_team_that_may_not_borrow_has_a_limit_of_zero() -> None:
    queues = {q["metadata"]["name"]: q for q in of_kind(platform(PLATFORMS["teams"]).objects, "ClusterQueue")}
    limits = {
        name: {
            row.get("borrowingLimit")
            for flavor in q["spec"]["resourceGroups"][0]["flavors"]
            for row in flavor["resources"]
        }
        for name, q in queues.items()
    }
    assert limits == {"pretraining": {None}, "research": {"0"}, "guests": {None}, "node-health": {None}}


def test_a_weight_of_a_team_shares_idle_nodes_by_weights() -> None:
    first, *others = PLATFORMS["teams"].teams
    weighted = replace(PLATFORMS["teams"], teams=(replace(first, weight=3), *others))
    for item, weights, policy, shared in (
        (PLATFORMS["teams"], {None}, "Any", None),
        # A gang of many nodes does not end for a job of one.
        (weighted, {"3", "1"}, "Never", {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}),
    ):
        queues = {q["metadata"]["name"]: q["spec"] for q in of_kind(platform(item).objects, "ClusterQueue")}
        assert {spec.get("fairSharing", {}).get("weight") for spec in queues.values()} == weights
        # The checks of nodes have no quota to take back, and preempt no borrower.
        assert queues.pop("node-health")["preemption"]["reclaimWithinCohort"] == policy
        assert {spec["preemption"]["reclaimWithinCohort"] for spec in queues.values()} == {"Any"}
        assert kueue_settings(item).get("fairSharing") == shared
    assert queues["pretraining"]["fairSharing"] == {"weight": "3"}
    kai = replace(PLATFORMS["kai"], teams=(Team(name="a", weight=3), Team(name="b")))
    gpus = {q["metadata"]["name"]: q["spec"]["resources"]["gpu"] for q in of_kind(platform(kai).objects, "Queue")}
    assert {name: row["overQuotaWeight"] for name, row in gpus.items()} == {"all": 1, "a": 3, "b": 1, "node-health": 1}
    with pytest.raises(ValueError, match="weight is at least 1, got 0"):
        Team(name="a", weight=0)


def kueue_settings(item: Platform) -> Any:
    release = next(r for r in platform(item).releases if isinstance(r, HelmRelease) and r.name == "kueue")
    return yaml.safe_load(release.values["managerConfig"]["controllerManagerConfigYaml"])


def test_gangs_that_are_not_ready_give_their_nodes_back() -> None:
    settings = kueue_settings(cluster())
    assert settings["waitForPodsReady"]["timeout"] == "1200s"
    # A server that loads its model for longer than it may at its start would do so after each restart too.
    assert settings["waitForPodsReady"]["recoveryTimeout"] == "1200s"
    assert settings["managedJobsNamespaceSelector"]["matchExpressions"][0]["values"] == ["research", "node-health"]


def test_what_is_claimed_is_mapped_for_kueue() -> None:
    for name, classes in {
        "DRA": {"efa.networking.k8s.aws", "gpu.nvidia.com"},
        "GB200": {"compute-domain-default-channel.nvidia.com"},
        "512 GPUs": set[str](),
    }.items():
        releases = platform(PLATFORMS[name]).releases
        release = next(r for r in releases if isinstance(r, HelmRelease) and r.name == "kueue")
        settings = yaml.safe_load(release.values["managerConfig"]["controllerManagerConfigYaml"])
        mappings = settings.get("resources", {}).get("deviceClassMappings", [])
        assert {item for mapping in mappings for item in mapping["deviceClassNames"]} == classes


def test_a_volume_is_kept_and_only_the_claim_of_its_team_may_have_it() -> None:
    objects = platform(PLATFORMS["teams"]).objects
    volumes = of_kind(objects, "PersistentVolume")
    claims = of_kind(objects, "PersistentVolumeClaim")
    assert len(volumes) == len(claims) == 6
    assert {volume["spec"]["persistentVolumeReclaimPolicy"] for volume in volumes} == {"Retain"}
    handles = [volume["spec"]["csi"]["volumeHandle"] for volume in volumes]
    assert len(set(handles)) == len(handles)
    for claim in claims:
        volume = next(item for item in volumes if item["metadata"]["name"] == claim["spec"]["volumeName"])
        bound = volume["spec"]["claimRef"]
        assert (bound["namespace"], bound["name"]) == (claim["metadata"]["namespace"], claim["metadata"]["name"])


def test_a_namespace_denies_everything_and_names_what_it_allows() -> None:
    policies = {p["metadata"]["name"]: p["spec"] for p in of_kind(platform(cluster()).objects, "NetworkPolicy")}
    assert policies["default-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert set(policies) == {"default-deny", "allow-dns", "allow-https", "allow-pod-identity", "allow-metrics"}
    assert [name for name, spec in policies.items() if "ingress" in spec] == ["allow-metrics"]


def test_members_of_a_team_may_edit_its_namespace_and_each_object_of_its_job_files() -> None:
    of = PLATFORMS["teams"]
    objects = platform(of).objects
    bindings = [item for item in of_kind(objects, "RoleBinding") if item["metadata"]["namespace"] in TEAMS]
    groups = {(b["metadata"]["namespace"], b["roleRef"]["name"], b["subjects"][0]["name"]) for b in bindings}
    assert groups == {(team, role, f"ultracluster-{team}") for team in TEAMS for role in ("team", "edit")}
    (role, *_) = (item for item in of_kind(objects, "Role") if item["metadata"]["namespace"] in TEAMS)
    create = {group for rule in role["rules"] if "create" in rule["verbs"] for group in rule["apiGroups"]}
    # Of the ClusterRole `edit`: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go of Kubernetes.
    create |= {"", "apps", "autoscaling", "batch", "networking.k8s.io", "policy"}
    for each in (of, replace(of, scheduler="volcano"), replace(of, training_operator=True)):
        jobs = [item for _, _, items in job_objects(each) for item in items]
        of_teams = [item for item in jobs if item["metadata"]["namespace"] in TEAMS]
        assert of_teams
        assert {item["apiVersion"].rpartition("/")[0] for item in of_teams} <= create


def test_only_the_checks_and_gangs_under_a_policy_may_cordon_and_they_may_do_nothing_else() -> None:
    objects = platform(cluster()).objects
    allowed = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]}]
    assert [role["rules"] for role in of_kind(objects, "ClusterRole")] == [allowed, allowed]
    checks, gangs = of_kind(objects, "ClusterRoleBinding")
    assert [item["namespace"] for item in checks["subjects"]] == ["node-health"]
    policy = next(p for p in of_kind(objects, "ValidatingAdmissionPolicy") if p["metadata"]["name"] == "gang-gate")
    (condition,) = policy["spec"]["matchConditions"]
    users = ", ".join(f"'system:serviceaccount:{item['namespace']}:{item['name']}'" for item in gangs["subjects"])
    assert condition["expression"] == f"request.userInfo.username in [{users}]"


def test_karpenter_launches_nodes_with_the_interfaces_of_our_launch_templates() -> None:
    objects = platform(PLATFORMS["elastic"]).objects
    classes = {item["metadata"]["name"]: item["spec"] for item in of_kind(objects, "EC2NodeClass")}
    rows = [
        (r["networkCardIndex"], r["deviceIndex"], r["interfaceType"]) for r in classes["spill"]["networkInterfaces"]
    ]
    assert rows == [(row.card, row.device, row.kind) for row in interfaces("p5.48xlarge", "one-ip")]
    assert classes["spill"]["capacityReservationSelectorTerms"] == [{"id": "cr-0123456789abcdef0"}]
    assert classes["spill"]["instanceStorePolicy"] == "RAID0"
    assert classes["spill"]["tags"] == {"Name": "llama-spill", "team": "a"}
    assert classes["spill"]["blockDeviceMappings"][0]["ebs"]["volumeSize"] == "1000Gi"
    assert classes["spill"]["kubelet"] == {"maxPods": 60}
    assert classes["spill"]["placementGroupSelector"] == {"name": "training"}
    # Without settings, a node class is that of earlier releases, and its nodes are not drifted.
    assert classes["burst"]["blockDeviceMappings"][0]["ebs"]["volumeSize"] == "500Gi"
    assert not {"kubelet", "placementGroupSelector"} & set(classes["burst"])
    pools = {item["metadata"]["name"]: item["spec"] for item in of_kind(objects, "NodePool")}
    assert pools["spill"]["limits"]["nvidia.com/gpu"] == "64"
    template = pools["spill"]["template"]
    assert template["metadata"]["labels"]["purpose"] == "serving"
    # Pods with Lustre wait for its driver; a taint of the template would keep all others away for ever.
    assert template["spec"]["startupTaints"] == [{"effect": "NoExecute", "key": "fsx.csi.aws.com/agent-not-ready"}]
    without = platform(replace(PLATFORMS["elastic"], volumes={"/home": HOME})).objects
    assert all("startupTaints" not in pool["spec"]["template"]["spec"] for pool in of_kind(without, "NodePool"))
    disruption = pools["spill"]["disruption"]
    assert disruption["consolidationPolicy"] == "WhenEmpty"
    # An edit of a group makes its nodes drifted, and Karpenter would drain them under their gangs.
    assert {"nodes": "0", "reasons": ["Drifted"]} in disruption["budgets"]


@pytest.mark.parametrize("group", PLATFORMS["elastic"].gpu_groups, ids=lambda group: str(group.name))
def test_pods_ask_karpenter_for_nothing_that_it_or_its_nodes_do_not_have(group: PlatformNodes) -> None:
    pod = node_pod(PLATFORMS["elastic"], group, container="node", image="none:0")
    (main,) = pod["containers"]
    assert ("hugepages-2Mi" in main["resources"]["requests"]) is not group.elastic
    assert any("hostPath" in volume for volume in pod["volumes"]) is not group.elastic


def pod_templates(of: Object, kind: str) -> Iterator[Object]:
    """The templates of the pods of a job, as Kueue has one set of pods for each."""
    spec = of["spec"]
    if kind in ("Job", "Deployment", "StatefulSet"):
        yield spec["template"]
    elif kind in ("JobSet", "ClusterTrainingRuntime"):
        inner = spec["template"]["spec"] if kind == "ClusterTrainingRuntime" else spec
        yield from (job["template"]["spec"]["template"] for job in inner["replicatedJobs"])
    elif kind == "MPIJob":
        yield from (replica["template"] for replica in spec["mpiReplicaSpecs"].values())
    elif kind == "LeaderWorkerSet":
        sets = spec["leaderWorkerTemplate"]
        yield from (sets[name] for name in ("leaderTemplate", "workerTemplate") if name in sets)


@pytest.mark.parametrize("name", ["elastic", "inference"])
def test_kueue_tries_again_for_as_long_as_there_is_no_capacity(name: str) -> None:
    values = kueue_release(PLATFORMS[name]).values
    settings = yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])
    strategy = settings["waitForPodsReady"]["requeuingStrategy"]
    # A day of UpdateRequeueState and triggerDeactivation of Kueue, which never counts from zero again.
    minutes, attempts = 0.0, 0
    while minutes < 24 * 60:
        minutes += PLATFORMS[name].ready_seconds / 60
        limit = strategy.get("backoffLimitCount")
        assert limit is None or attempts + 1 <= limit, f"inactive after {minutes:.0f} min"
        attempts += 1
        pause = min(strategy["backoffBaseSeconds"] * 2 ** (attempts - 1), strategy.get("backoffMaxSeconds", 3_600))
        assert pause <= 900
        minutes += pause / 60


@pytest.mark.parametrize("name", [name for name, item in PLATFORMS.items() if item.scheduler == "kueue"])
def test_kueue_admits_every_pod_to_the_flavor_of_its_group_and_to_no_other(name: str) -> None:
    item = PLATFORMS[name]
    flavors = {f["metadata"]["name"]: f["spec"] for f in of_kind(platform(item).objects, "ResourceFlavor")}
    levels = {
        t["metadata"]["name"]: [level["nodeLabel"] for level in t["spec"]["levels"]]
        for t in of_kind(platform(item).objects, "Topology")
    }
    only_with_topology = all("topologyName" in spec for spec in flavors.values())
    checked = 0
    for created in everything(item):
        for template in pod_templates(created, created["kind"]) if "spec" in created else ():
            selector = template["spec"].get("nodeSelector", {})
            if not {key for spec in flavors.values() for key in spec["nodeLabels"]} & set(selector):
                continue
            annotations = template.get("metadata", {}).get("annotations", {})
            requested = {key: value for key, value in annotations.items() if "topology" in key}
            admitted = []
            for flavor, spec in flavors.items():
                # By the keys of the flavor alone: flavorassigner.go of Kueue.
                if any(selector.get(key, value) != value for key, value in spec["nodeLabels"].items()):
                    continue
                # tas_flavorassigner.go of Kueue: all flavors have a topology, or the pod asks where there is one.
                has = spec.get("topologyName")
                preferred = requested.get("kueue.x-k8s.io/podset-preferred-topology")
                if only_with_topology or bool(has) == bool(requested):
                    assert preferred is None or preferred in levels[has], created["metadata"]["name"]
                    admitted.append(flavor.rpartition("-")[0])
            assert admitted == [selector["ultracluster.dev/group"]], created["metadata"]["name"]
            checked += 1
    assert checked


@pytest.mark.parametrize(
    ("type", "region", "layers"),
    [
        ("p5en.48xlarge", "us-east-2", 3),
        ("p6-b300.48xlarge", "us-east-2", 4),
        # EC2 describes no topology of these, and in this Region of none: no node has such labels.
        ("p5.4xlarge", "us-east-2", 0),
        ("c7i.48xlarge", "us-east-2", 0),
        ("p5en.48xlarge", "ca-west-1", 0),
    ],
)
def test_a_topology_has_the_labels_that_nodes_have(type: str, region: str, layers: int) -> None:
    (topology,) = of_kind(platform(cluster(nodes(type), region=region)).objects, "Topology")
    labels = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    layer = "topology.k8s.aws/network-node-layer-{}"
    assert labels == [*(layer.format(index + 1) for index in range(layers)), "kubernetes.io/hostname"]


def test_kueue_places_no_pods_on_nodes_that_are_not_there_yet() -> None:
    flavors = {
        f["metadata"]["name"].rpartition("-")[0]: f["spec"]
        for f in of_kind(platform(PLATFORMS["elastic"]).objects, "ResourceFlavor")
    }
    assert "topologyName" in flavors["train"]
    assert "topologyName" not in flavors["spill"]


REFUSED: dict[str, tuple[Platform, str]] = {
    "both ways of EFA on one type": (
        cluster(nodes(), nodes(name="other", efa="dranet")),
        "give the same device to two pods",
    ),
    "DRANET on 1.33": (cluster(efa="dranet", kubernetes="1.33"), "DRANET needs Kubernetes 1.34"),
    "GB200 on 1.32": (cluster(gb200(), kubernetes="1.32"), "GB200 needs Kubernetes 1.33 or newer, got 1.32"),
    "GB200 with GPUs of the DRA driver": (cluster(gb200(), gpu="dra-driver"), "a device plugin has the GPUs"),
    "GPU operator on Bottlerocket": (cluster(nodes(os="bottlerocket"), gpu="gpu-operator"), "brings a device plugin"),
    "a device plugin that breaks EFA": (cluster(versions={"nvidia-device-plugin": "0.19.1"}), "use 0.19.3 or newer"),
    "a GPU operator that brings such a plugin": (
        cluster(gpu="gpu-operator", versions={"gpu-operator": "v26.3.2"}),
        "use 26.3.3 or newer",
    ),
    "an EFA plugin without P6": (
        cluster(nodes("p6-b200.48xlarge"), versions={"aws-efa-k8s-device-plugin": "v0.5.5"}),
        "use 0.5.6 or newer",
    ),
    "an EFA plugin without GB200": (
        cluster(gb200(), versions={"aws-efa-k8s-device-plugin": "v0.5.13"}),
        "use 0.5.14 or newer",
    ),
    "a DRA driver without domains": (cluster(gb200(), versions={"nvidia-dra-driver": "25.3.2"}), "use 25.8.0"),
    "no version of a chart": (cluster(versions={"kueue": ""}), "the exact version of the chart"),
    "a range of versions": (cluster(versions={"kueue": "^0.19"}), "the exact version of the chart"),
    "a chart nobody knows": (cluster(versions={"kueu": "0.19.2"}), "is no release of this"),
    "DRANET on elastic nodes": (
        cluster(nodes(elastic=True), efa="dranet", karpenter=KARPENTER),
        "use device plugins",
    ),
    "an elastic UltraServer": (cluster(gb200(elastic=True), karpenter=KARPENTER), "not elastic"),
    "elastic without Karpenter": (cluster(nodes(elastic=True)), "elastic groups need karpenter"),
    "Karpenter without elastic": (cluster(karpenter=KARPENTER), "karpenter has no elastic group"),
    "interfaces that Karpenter cannot make": (
        cluster(nodes(elastic=True, layout="all-efa"), karpenter=KARPENTER),
        "got all-efa",
    ),
    "an image that moves": (
        cluster(nodes(elastic=True, image="al2023@latest"), karpenter=KARPENTER),
        "al2023@ and an exact version",
    ),
    "an image of another system": (
        cluster(nodes(elastic=True, os="bottlerocket"), karpenter=KARPENTER),
        "bottlerocket@ and an exact version, got 'al2023@v20261101'",
    ),
    "a team twice": (cluster(teams=(Team(name="a"), Team(name="a"))), "the team a is there twice"),
    "a team called like the checks": (cluster(teams=(Team(name="node-health"),)), "choose another name"),
    "a team with a group that is not there": (cluster(teams=(Team(name="a", nodes={"b": 1}),)), "is no node group"),
    "a volume over the devices": (cluster(volumes={"/dev/shm": LUSTRE}), "a directory such as /fsx"),
    "a volume where the scratch is": (cluster(volumes={"/scratch": LUSTRE}), "a directory such as /fsx"),
    "selectors by different labels": (
        cluster(nodes(), nodes(name="other", selector={"karpenter.sh/nodepool": "other"})),
        "all selectors have the same keys, got karpenter.sh/nodepool and ultracluster.dev/group",
    ),
    "two claims of one name": (cluster(volumes={"/a": LUSTRE, "/b": LUSTRE}), "the volume lustre is there twice"),
}


@pytest.mark.parametrize(("item", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_rejects(item: Platform, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        platform(item)


def test_reports_all_errors_at_once() -> None:
    item = cluster(nodes(), nodes(), efa="dranet", kubernetes="1.30", versions={"x": "1"})
    with pytest.raises(ValueError, match=r"(?s)train is there twice.*is no release of this.*DRANET needs"):
        platform(item)


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", "a" * 64, "kube-system", "default", "x-system", "ä", "a.b"]
)
def test_rejects_a_team_whose_name_kubernetes_or_the_platform_would_refuse(name: str) -> None:
    with pytest.raises(ValueError, match="team"):
        Team(name=name)


def test_rejects_a_team_with_less_than_no_nodes() -> None:
    with pytest.raises(ValueError, match="at least 0, got -1"):
        Team(name="a", nodes={"train": -1})


def test_rejects_a_group_of_nothing_but_spare_nodes() -> None:
    with pytest.raises(ValueError, match="less than count, got 2 of 2"):
        nodes(count=2, spare=2)


@pytest.mark.parametrize("version", ["", "latest", "1", "1.2", "^1.2.3", ">=1.2.3", "1.2.x"])
def test_rejects_a_chart_without_an_exact_version(version: str) -> None:
    with pytest.raises(ValueError, match="exact version"):
        HelmRelease(name="a", chart="oci://example.com/a", version=version, namespace="a")


def test_rejects_a_chart_that_comes_from_nowhere_or_from_two_places() -> None:
    for chart, repository in (("a", None), ("oci://example.com/a", "https://example.com"), ("a", "http://example.com")):
        with pytest.raises(ValueError, match="chart a"):
            HelmRelease(name="a", chart=chart, version="1.2.3", namespace="a", repository=repository)


def test_storage_classes_priorities_and_image_caches_are_valid() -> None:
    image = "public.ecr.aws/deep-learning-containers/pytorch:2.13.0-cu133-amzn2023"
    dynamic = DynamicVolumes(lustre_subnet="subnet-0", lustre_security_group="sg-0")
    of = cluster(nodes(), dynamic_volumes=dynamic, images=(image,))
    objects = platform(of).objects
    for kind in ("StorageClass", "PriorityClass", "DaemonSet"):
        for item in of_kind(objects, kind):
            validate(item, of.kubernetes)
    default, scratch = of_kind(objects, "StorageClass")
    assert default["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert scratch["parameters"]["securityGroupIds"] == "sg-0"
    assert {item["preemptionPolicy"] for item in of_kind(objects, "PriorityClass")} == {"Never"}
    (cache,) = of_kind(objects, "DaemonSet")
    assert [container["image"] for container in cache["spec"]["template"]["spec"]["containers"]] == [image]


def test_a_cluster_with_its_own_classes_gets_none() -> None:
    objects = platform(cluster(nodes())).objects
    assert of_kind(objects, "StorageClass") == of_kind(objects, "DaemonSet") == []
