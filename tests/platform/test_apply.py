"""Apply: a fresh cluster, a second run, and every edit of a cluster file that runs jobs."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support import EXAMPLES, ROOT
from support.kubernetes_double import node
from support.platform_runs import FILE, VALUES, Clock, Run, bundle, edit
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.platform import ApplyError, Bundle, Options, _releases, apply, plan, wait_for_gate
from ultracluster.platform._objects import _explained
from ultracluster.platform._releases import MARK
from ultracluster.workloads import kubernetes_bundle


@pytest.fixture
def run() -> Run:
    result = Run()
    assert result.apply(bundle())
    return result


def test_a_fresh_cluster_ends_with_512_gpus(run: Run) -> None:
    gate = [line for line in run.lines if line.startswith("gate: ")]
    assert gate[0] == (
        "gate: train: 64 of 64 nodes ready, 512 of 512 GPUs allocatable, 1,024 of 1,024 EFA devices allocatable"
    )
    assert gate[1:3] == ["gate: queues: 3 of 3 active", "gate: volumes: 4 of 4 bound"]


def test_controllers_come_before_devices_and_devices_before_objects(run: Run) -> None:
    calls = [call for call in run.cluster.state["calls"] if "--dry-run=server" not in call]
    first = {name: index for index, call in reversed([*enumerate(calls)]) for name in call[2:4] if call[1] == "upgrade"}
    objects = next(index for index, call in enumerate(calls) if "--prune" in call)
    assert max(first["kueue"], first["jobset"]) < min(first["nvidia-device-plugin"], first["aws-efa-k8s-device-plugin"])
    assert max(first.values()) < objects
    assert not any("--wait" in call for call in calls)


def test_a_second_run_changes_nothing(run: Run) -> None:
    assert not any("upgrade" in call for call in run.cluster.state["calls"][-40:] if call[0] == "helm")
    assert sum(line.endswith("unchanged") for line in run.lines) == 6
    assert "objects: " in " ".join(run.lines)
    assert not any("pruned" in line and not line.endswith(" 0 pruned") for line in run.lines)


def test_a_dry_run_changes_nothing() -> None:
    run = Run()
    before = set(run.cluster.objects)
    text = plan(run.cluster, bundle(), Options(seconds=0))
    assert "+ release kueue" in text
    assert "+ ClusterQueue pretrain" in text
    assert set(run.cluster.objects) == before


def test_one_sick_node_is_named_and_does_not_stop_the_rest() -> None:
    run = Run(*(node(index, "train", efa=15 if index == 5 else 16) for index in range(63)))
    assert not run.apply(bundle())
    assert run.cluster.names("ClusterQueue") == {"pretrain", "research", "node-health"}
    assert "missing: ip-10-0-0-5 (i-00000000000000005): 15 of 16 EFA devices are allocatable" in run.lines
    assert "missing: 1 of 64 nodes have not joined" in run.lines


def test_the_guide_shows_an_apply_of_this_example() -> None:
    run = Run(*(node(index, "train", efa=15 if index == 5 else 16) for index in range(64)))
    assert not run.apply(bundle())
    (transcript,) = re.findall(
        r"```console\n(check: .*?)```", (ROOT / "docs/guides/kubernetes.md").read_text(), re.DOTALL
    )
    # The double has one collector.
    shown = [line for line in transcript.splitlines() if not line.startswith("gate: metrics")]
    printed = iter([line.replace(": unchanged", ": installed") for line in run.lines])
    assert [line for line in shown if line in printed] == shown


TAINTED = ("instances: 64}", "instances: 64}, taints: {dedicated: NoSchedule}")


def admit(run: Run) -> None:
    (flavor,) = run.cluster.names("ResourceFlavor")
    admission = {"clusterQueue": "pretrain", "podSetAssignments": [{"flavors": {"cpu": flavor}}]}
    metadata = {"name": "job-a", "namespace": "pretrain"}
    run.cluster.put(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": metadata,
            "status": {"admission": admission},
        }
    )


def test_an_edit_that_ends_admitted_workloads_is_refused(run: Run) -> None:
    admit(run)
    assert "1 admitted workloads use it: pretrain/job-a" in run.refused(edit(*TAINTED))


def test_a_job_that_is_admitted_while_controllers_install_keeps_its_flavor(run: Run) -> None:
    """The first check passes; the objects are not applied, and so nothing is pruned under the job."""
    before = run.cluster.names("ResourceFlavor")

    def report(line: str) -> None:
        run.lines.append(line)
        if line == "webhooks: answer":
            admit(run)

    run.lines.clear()
    with pytest.raises(ApplyError, match="1 admitted workloads use it: pretrain/job-a"):
        apply(run.cluster, edit(*TAINTED), Options(seconds=0, report=report))
    assert not any(line.startswith("objects: ") for line in run.lines)
    assert run.cluster.names("ResourceFlavor") == before
    run.cluster.objects.pop(("Workload", "pretrain", "job-a"))
    assert run.apply(edit(*TAINTED))
    assert run.cluster.names("ResourceFlavor").isdisjoint(before)


def test_a_removed_team_loses_its_quota(run: Run) -> None:
    after = edit("    research: {nodes: {train: 16}}\n", "")
    run.cluster.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "research"}, "spec": {}})
    assert "Namespace research: it has 1 running pods (a)" in run.refused(after)
    del run.cluster.objects["Pod", "research", "a"]
    waiting = {"name": "jobset-b", "namespace": "research"}
    run.put({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": waiting})
    assert "Namespace research: it has jobs that wait in its queue (jobset-b)" in run.refused(after)
    finished = {"conditions": [{"type": "Finished", "status": "True"}]}
    run.put({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": waiting, "status": finished})
    assert run.apply(after)
    assert run.cluster.names("ClusterQueue") == {"pretrain", "node-health"}
    assert "research" not in run.cluster.names("Namespace")


def test_a_claim_that_a_gang_mounts_is_not_removed(run: Run) -> None:
    of = bundle()
    after = replace(of, objects=[item for item in of.objects if item["kind"] != "PersistentVolumeClaim"])
    (claim, *_) = (item["metadata"] for item in of.objects if item["kind"] == "PersistentVolumeClaim")
    volumes = [{"name": "fsx", "persistentVolumeClaim": {"claimName": claim["name"]}}]
    pod = {"name": "gang-0", "namespace": claim["namespace"]}
    run.put({"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": {"volumes": volumes}})
    subject = f"PersistentVolumeClaim {claim['namespace']}/{claim['name']}"
    assert f"{subject}: 1 running pods mount it (gang-0)" in run.refused(after)
    run.delete("pod", "gang-0", claim["namespace"])
    assert run.apply(after)


def test_a_new_chart_version_is_an_update_with_its_definitions(run: Run) -> None:
    run.cluster.state["calls"].clear()
    run.apply(edit("bin-packing: true", "bin-packing: true\n  charts: {jobset: 0.12.1}"))
    calls = [call for call in run.cluster.state["calls"] if call[0] == "helm"]
    assert [call[3] for call in calls if call[1] == "upgrade"] == ["jobset"]
    assert [call[1:3] for call in calls if call[1] == "show"] == [("show", "crds")]
    assert run.cluster.state["releases"]["jobset"]["chart"] == "jobset-0.12.1"


def test_another_file_system_is_refused(run: Run) -> None:
    other = kubernetes_bundle(clusterfile.loads(FILE, "c.yaml"))
    error = run.refused(Bundle.parse(other, {**VALUES, "FileSystemId": "fs-2"}))
    assert 'The PersistentVolume "pretrain-lustre" is invalid: spec.csi: field is immutable' in error


def test_a_field_of_another_manager_is_refused_unless_forced(run: Run) -> None:
    run.cluster.state["foreign"].add(("ClusterQueue", "", "pretrain"))
    assert "conflict with" in run.refused(bundle())
    assert run.apply(bundle(), force=True)


def daemon_set(image: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "theirs", "namespace": "gpu"},
        "spec": {"template": {"spec": {"containers": [{"image": image}]}}},
    }


def test_an_existing_device_plugin_is_kept_or_replaced_as_requested() -> None:
    run = Run()
    run.cluster.put(daemon_set("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"))
    error = run.refused(bundle())
    assert "DaemonSet gpu/theirs with nvcr.io/nvidia/k8s-device-plugin:v0.17.1" in error
    assert "--skip nvidia-device-plugin" in error
    assert run.apply(bundle(), skip=["nvidia-device-plugin"])
    assert "nvidia-device-plugin" not in run.cluster.state["releases"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": ["kueu"]}, "check: --skip: the file has no release 'kueu'; it has jobset, .*write --skip kueue"),
        ({"adopt": ["kai"]}, "check: --adopt: the file has no release 'kai'; .*name one of them, or leave --adopt out"),
        ({"skip": ["lws"], "adopt": ["lws"]}, "lws: --skip keeps what the cluster has, and --adopt replaces it"),
    ],
)
def test_a_release_that_the_file_does_not_have_is_neither_skipped_nor_adopted(
    options: dict[str, Any], message: str
) -> None:
    assert re.search(message, Run().refused(bundle(), **options), re.DOTALL)


@pytest.mark.parametrize(("version", "taken"), [("0.19.2", True), ("0.18.0", False)])
def test_a_release_of_the_same_version_is_taken_over(version: str, taken: bool) -> None:
    run = Run()
    row = {"name": "kueue", "namespace": "kueue-system", "status": "deployed", "chart": f"kueue-{version}"}
    run.cluster.state["releases"]["kueue"] = row
    if taken:
        assert run.apply(bundle())
    else:
        assert "the cluster has Helm release with chart kueue-0.18.0" in run.refused(bundle())
        assert run.apply(bundle(), adopt=["kueue"])


def test_a_namespace_that_does_not_end_is_named_with_the_reason() -> None:
    run = Run()
    # As kube-apiserver 1.36.2 wrote it on 2026-11-25, while no pod of Kueue served its API.
    message = "Discovery failed for some groups, 2 failing: visibility.kueue.x-k8s.io/v1beta1: stale GroupVersion"
    conditions = [
        {"type": "NamespaceDeletionDiscoveryFailure", "status": "True", "message": message},
        {"type": "NamespaceContentRemaining", "status": "False", "message": "All content successfully removed"},
    ]
    metadata = {"name": "research", "deletionTimestamp": "2026-11-25T23:49:39Z"}
    run.cluster.put(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "status": {"conditions": conditions}}
    )
    error = run.refused(bundle())
    assert f"Namespace research: an earlier apply deletes it: {message}" in error
    assert "successfully removed" not in error


def test_a_principal_without_permission_is_refused() -> None:
    run = Run()
    object.__setattr__(run.cluster, "env", {**run.cluster.state, "admin": False})
    assert "connect: API server: this principal is not an administrator" in run.refused(bundle())


def test_a_pull_that_fails_once_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, errors = Clock(), ["pod a: ErrImagePull toomanyrequests"]
    monkeypatch.setattr(_releases, "time", clock)

    def missing() -> list[tuple[str, str]]:
        return [("Deployment a", "0 of 1 pods are ready")] if errors else []

    clock.then = lambda: errors.clear() if clock.now > 60 else None
    _releases._wait(missing, "controllers", 600, lambda: errors[0] if errors else None)
    assert 60 < clock.now < 70
    errors, clock.then = ["pod a: ErrImagePull not found"], lambda: None
    with pytest.raises(ApplyError, match="not found"):
        _releases._wait(missing, "controllers", 600, lambda: errors[0] if errors else None)
    assert clock.now < 300


def test_an_image_that_cannot_be_pulled_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_releases, "time", Clock())
    run = Run()
    waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
    run.cluster.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "kueue-1", "namespace": "kueue-system"},
            "spec": {},
            "status": {"containerStatuses": [{"image": "registry/kueue:v0", "state": {"waiting": waiting}}]},
        }
    )
    run.cluster.put(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "kueue", "namespace": "kueue-system"},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "registry/other:v0"}]}}},
        }
    )
    with pytest.raises(ApplyError) as error:
        apply(run.cluster, bundle(), Options(seconds=600))
    assert "controllers: Deployment kueue-system/kueue: pod kueue-1, image registry/kueue:v0: ImagePull" in str(
        error.value
    )
    assert "copy the image" in error.value.remedy
    # In an update, the pods of the old version still answer.
    deployment = run.cluster.objects["Deployment", "kueue-system", "kueue"]
    deployment["status"] = {"replicas": 3, "updatedReplicas": 1, "availableReplicas": 2}
    with pytest.raises(ApplyError, match="pod kueue-1, image registry/kueue:v0: ImagePull"):
        apply(run.cluster, bundle(), Options(seconds=600))


def test_a_silent_webhook_is_named() -> None:
    run = Run()
    service = {"namespace": "kueue-system", "name": "kueue-webhook-service"}
    run.cluster.put(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "kueue"},
            "webhooks": [{"name": "vclusterqueue.kb.io", "clientConfig": {"service": service}}],
        }
    )
    with pytest.raises(ApplyError) as error:
        apply(run.cluster, bundle(), Options(seconds=0))
    assert "webhooks: webhook vclusterqueue.kb.io of kueue" in str(error.value)
    assert "has no ready endpoint" in error.value.reason


# Messages as kubectl 1.35.2 wrote them against kube-apiserver 1.36.2 on 2026-11-22.
@pytest.mark.parametrize(
    ("message", "phase", "subject"),
    [
        (
            'Error from server (InternalError): failed calling webhook "mclusterqueue.kb.io": connection refused',
            "webhooks",
            'webhook "mclusterqueue.kb.io"',
        ),
        (
            'W1122 23:02:37.194753 1 applyset.go:447] WARNING: 1 conflict\nThe ResourceFlavor "a" is invalid: x',
            "objects",
            'ResourceFlavor "a"',
        ),
        ('no matches for kind "Topology" in version "kueue.x-k8s.io/v1beta2"', "objects", 'kind "Topology"'),
    ],
)
def test_errors_of_kubectl_name_the_object(message: str, phase: str, subject: str) -> None:
    error = _explained(message)
    assert (error.phase, error.subject) == (phase, subject)
    assert "applyset.go" not in str(error)


def application(name: str, sync: str = "Synced", health: str = "Healthy", **status: Any) -> dict[str, Any]:
    status |= {"sync": {"status": sync, "revision": "0123456789abcdef"}, "health": {"status": health}}
    metadata = {"name": name, "namespace": "argocd"}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata, "status": status}


def test_the_gate_alone_names_what_argo_cd_has_not_synced_and_changes_nothing(run: Run) -> None:
    of = replace(bundle(), applications=("argocd/orca", "argocd/kueue"))
    run.cluster.state["calls"].clear()

    def missing() -> list[str]:
        run.lines.clear()
        passed = wait_for_gate(run.cluster, of, Options(seconds=0, report=run.lines.append))
        lines = [line for line in run.lines if line.startswith("missing: ")]
        assert passed != bool(lines)
        return lines

    fresh = Run()
    assert not wait_for_gate(fresh.cluster, bundle(), Options(seconds=0, report=fresh.lines.append))
    assert f"missing: namespace {bundle().metrics} has no collectors" in fresh.lines
    run.cluster.put(application("orca"))
    assert missing() == ["missing: application argocd/kueue: not in the cluster"]
    failed = {"phase": "Failed", "message": "chart not found"}
    run.cluster.put(application("kueue", "OutOfSync", "Missing", operationState=failed))
    assert missing() == ["missing: application argocd/kueue: OutOfSync, Missing: chart not found"]
    assert "gate: applications: 1 of 2 synced and healthy, at 0123456" in run.lines
    run.cluster.put(application("kueue"))
    assert missing() == []
    assert "gate: applications: 2 of 2 synced and healthy, at 0123456" in run.lines
    assert {call[1] for call in run.cluster.state["calls"]} == {"get"}


@pytest.mark.parametrize(
    ("sync", "health", "sick", "passed"),
    [
        ("Synced", "Progressing", 1, True),
        ("Synced", "Progressing", 0, False),
        ("Synced", "Degraded", 1, False),
        ("OutOfSync", "Progressing", 1, False),
    ],
)
def test_daemonsets_of_argo_cd_wait_for_a_few_unhealthy_nodes(sync: str, health: str, sick: int, passed: bool) -> None:
    """Its health of a DaemonSet: without the pod of a node that does not answer, it progresses."""
    run = Run()
    assert run.apply(bundle())
    for index in range(sick):
        name = f"ip-10-0-0-{index}"
        run.cluster.objects["Node", "", name]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    run.cluster.put(application("orca", sync, health))
    options = Options(seconds=0, report=run.lines.append, allow_unhealthy=True)
    assert wait_for_gate(run.cluster, replace(bundle(), applications=("argocd/orca",)), options) == passed


def test_the_command_needs_kubernetes_and_files_that_exist(tmp_path: Path) -> None:
    slurm = next(file for file in EXAMPLES if "orchestrator: slurm" in file.read_text())
    done = CliRunner().invoke(app, ["apply", str(slurm)])
    assert (done.exit_code, "apply is for orchestrator: kubernetes" in done.output) == (1, True)
    file = str(ROOT / "examples" / "eks-512-gpus.yaml")
    done = CliRunner().invoke(app, ["apply", file, "--kubeconfig", str(tmp_path / "none")])
    assert (done.exit_code, "does not exist" in done.output) == (2, True)
    done = CliRunner().invoke(app, ["apply", file, "--gate", "--dry-run"])
    assert (done.exit_code, "use one of --dry-run, --hold and --gate" in done.output) == (2, True)
    outputs = tmp_path / "outputs.json"
    outputs.write_text('{"orca-Storage": {}}')
    done = CliRunner().invoke(app, ["apply", file, "--outputs", str(outputs), "--kubeconfig", file])
    assert done.exit_code == 1
    assert "parameters: there is no value of FileSystemId, LustreDnsName" in done.output


def test_rejects_a_bundle_without_its_values_or_of_another_format(tmp_path: Path) -> None:
    data = kubernetes_bundle(clusterfile.loads(FILE, "c.yaml"))
    with pytest.raises(ApplyError, match="there is no value of FileSystemId"):
        Bundle.parse(data, {**VALUES, "FileSystemId": ""})
    with pytest.raises(ApplyError, match="its format is 2"):
        Bundle.parse({**data, "format": 2}, VALUES)
    (tmp_path / "bundle.json").write_text("{")
    with pytest.raises(ApplyError, match="render the bundle again"):
        Bundle.load(tmp_path, VALUES)


def test_only_declared_placeholders_are_replaced_and_local_charts_are_used(tmp_path: Path) -> None:
    data = kubernetes_bundle(clusterfile.loads(FILE, "c.yaml"))
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "kueue-0.19.2.tgz").write_text("")
    (tmp_path / "bundle.json").write_text(json.dumps(data))
    loaded = Bundle.load(tmp_path, VALUES)
    text = json.dumps([*loaded.objects])
    assert "${FileSystemId}" not in text
    assert "filesystemid-1" in text
    kueue = next(release for release in loaded.releases if release.name == "kueue")
    assert kueue.chart == str(tmp_path / "charts" / "kueue-0.19.2.tgz")
    assert kueue.fingerprint == next(item for item in bundle().releases if item.name == "kueue").fingerprint


def waiting() -> Bundle:
    """A group whose Capacity Block has not started."""
    return replace(bundle(), groups=[replace(bundle().groups[0], optional="its Capacity Block has not started")])


def test_a_group_that_waits_for_its_capacity_may_have_fewer_nodes_and_no_sick_ones() -> None:
    run = Run(node(0, "train"), node(1, "train"))
    assert run.apply(waiting())
    run = Run(node(0, "train"), node(1, "train", gpus=7))
    assert not run.apply(waiting())
    missing = [line for line in run.lines if line.startswith("missing: ")]
    assert missing == ["missing: ip-10-0-0-1 (i-00000000000000001): 7 of 8 GPUs are allocatable"]


@pytest.mark.parametrize(
    ("start", "end", "excuse"),
    [(1, 2, "its capacity starts at"), (-1, 1, ""), (-2, -1, "its Capacity Block ran until")],
    ids=["before", "during", "after"],
)
def test_nodes_of_a_capacity_block_are_missing_between_its_start_and_its_end(start: int, end: int, excuse: str) -> None:
    now = datetime.now(UTC)
    starts, until = (f"{now + timedelta(days=days):%Y-%m-%dT%H:%MZ}" for days in (start, end))
    block = replace(bundle().groups[0], starts=starts, until=until)
    run = Run(node(0, "another"))
    assert run.apply(replace(bundle(), groups=[block])) == bool(excuse)
    (line,) = {line for line in run.lines if line.startswith("gate: train: 0 of 64 nodes ready")}
    assert excuse in line
    assert ("missing: 64 of 64 nodes have not joined" in run.lines) == (not excuse)


@pytest.mark.parametrize(("unhealthy", "passed"), [(1, True), (3, True), (4, False)])
def test_a_few_unhealthy_nodes_fail_an_apply_and_no_deployment(unhealthy: int, passed: bool) -> None:
    run = Run(*(node(index, "train", efa=15 if index < unhealthy else 16) for index in range(64)))
    assert not run.apply(bundle())
    run.lines.clear()
    assert run.apply(bundle(), allow_unhealthy=True) == passed
    assert "missing: ip-10-0-0-0 (i-00000000000000000): 15 of 16 EFA devices are allocatable" in run.lines
    assert run.lines[-1].startswith("gate: passed with a few unhealthy nodes") == passed
    # One of two nodes is half of a cluster.
    two = replace(bundle(), groups=[replace(bundle().groups[0], nodes=2)])
    assert not Run(node(0, "train"), node(1, "train", efa=15)).apply(two, allow_unhealthy=True)


def test_an_image_of_a_device_plugin_that_is_not_pulled_is_named_beside_the_devices() -> None:
    run = Run(*(node(index, "train", gpus=0 if index == 5 else 8) for index in range(64)))
    waiting = {"reason": "ImagePullBackOff", "message": "not found"}
    run.cluster.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "nvidia-device-plugin-x", "namespace": "nvidia-device-plugin"},
            "spec": {"nodeName": "ip-10-0-0-5"},
            "status": {"containerStatuses": [{"image": "registry/plugin:v0", "state": {"waiting": waiting}}]},
        }
    )
    assert not run.apply(bundle())
    assert (
        "missing: ip-10-0-0-5 (i-00000000000000005): 0 of 8 GPUs are allocatable; pod nvidia-device-plugin-x, image "
        "registry/plugin:v0: ImagePullBackOff not found"
    ) in run.lines


def test_the_last_lines_are_those_of_the_gate() -> None:
    run = Run(*(node(index, "train", efa=15) for index in range(64)))
    assert not run.apply(bundle())
    gate = [line for line in run.lines if line.startswith("gate: ")]
    assert run.lines[-4:] == gate[:4] == gate[-4:]
    assert len([line for line in run.lines if line.startswith("missing: ")]) == 64


@pytest.mark.parametrize(
    ("marked", "status"), [(True, "pending-install"), (True, "pending-upgrade"), (False, "pending-install")]
)
def test_only_an_own_operation_that_was_interrupted_is_ended(run: Run, marked: bool, status: str) -> None:
    run.cluster.state["releases"]["jobset"]["status"] = status
    if marked:
        assert run.apply(bundle())
        assert run.cluster.state["releases"]["jobset"]["status"] == "deployed"
    else:
        del run.cluster.objects["Secret", "jobset-system", "sh.helm.release.v1.jobset.v1"]["metadata"]["labels"][MARK]
        assert "the cluster has a Helm operation (pending-install)" in run.refused(bundle())
