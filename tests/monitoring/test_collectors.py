"""Collectors on nodes, checked with the real programs where available."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.node_boot import Node
from ultracluster.catalogue.ec2 import GPUS, INSTANCE_TYPES, InstanceType, instance_type
from ultracluster.monitoring.alerts import ALERTS, alertmanager, amp_definition, pagerduty, sns
from ultracluster.monitoring.collectors import (
    Dcgm,
    RemoteWrite,
    cluster_objects,
    kubernetes_scraping,
    node_collectors,
    node_objects,
    shared_objects,
    slurm_scraping,
)
from ultracluster.monitoring.collectors._agent import agent_configuration, kept, relabelling
from ultracluster.monitoring.collectors._counters import counters
from ultracluster.monitoring.collectors._node import node_exporter_flags
from ultracluster.monitoring.names import DCGM_METRICS, Profile, read_from_exporters

TO = RemoteWrite(region="us-east-2", parameter="/ultracluster/llama/remote-write-url")
TOPIC = sns("arn:aws:sns:us-east-2:123456789012:alerts", "us-east-2")
P5 = instance_type("p5.48xlarge")


def boot_of(kind: InstanceType) -> dict[str, str]:
    boot = node_collectors(kind, cluster="llama", group="train", efa_devices=kind.max_efa, to=TO)
    texts = {file.path: file.text for file in boot.files}
    for unit in boot.units:
        assert f"/etc/systemd/system/{unit}" in texts
    return texts


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("gpus", [True, False])
def test_prometheus_takes_the_agents_configuration(tmp_path: Path, profile: Profile, gpus: bool) -> None:
    text = agent_configuration(cluster="llama", group="train", region="us-east-2", gpus=gpus, profile=profile)
    file = tmp_path / "agent.yaml"
    file.write_text(text.replace("@URL@", "https://aps-workspaces.us-east-2.amazonaws.com/api/v1/remote_write"))
    done = subprocess.run(["promtool", "check", "config", "--agent", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("group", ["train-2", "null", "on", "1e3"])
def test_the_agent_of_a_node_group_has_its_name_beside_those_of_others(group: str) -> None:
    for name in ("train", group):
        text = agent_configuration(cluster="llama", group=name, region="us-east-2", gpus=True, slurm=True)
        jobs = YAML(typ="safe").load(text)["scrape_configs"]
        labels = [config["labels"]["group"] for job in jobs for config in job.get("static_configs", ())]
        labels += [
            rule["replacement"]
            for job in jobs
            for rule in job.get("relabel_configs", ())
            if rule["target_label"] == "group"
        ]
        assert set(labels) == {name}
        assert len(labels) == len(jobs)


def test_prometheus_takes_the_controllers_configuration(tmp_path: Path) -> None:
    (tmp_path / "slurm.yaml").write_text(slurm_scraping("llama", "10.0.0.9"))
    done = subprocess.run(["promtool", "check", "config", tmp_path / "slurm.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_prometheus_takes_the_kubernetes_configuration_but_for_the_discovery_that_debian_leaves_out(
    tmp_path: Path,
) -> None:
    result = YAML(typ="safe").load(kubernetes_scraping("llama"))
    for job in result["scrape_configs"]:
        assert job.pop("kubernetes_sd_configs")[0]["role"] in ("pod", "endpoints")
        if "authorization" in job:
            del job["authorization"]  # names a file of the pod
    (tmp_path / "kube.yaml").write_text(json.dumps(result))
    done = subprocess.run(["promtool", "check", "config", tmp_path / "kube.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("profile", [Profile.BASIC, Profile.STANDARD])
def test_everything_that_a_rule_reads_is_kept_by_one_of_the_collectors(profile: Profile) -> None:
    jobs = ("node", "dcgm", "agent", "slurm", "kube-state-metrics", "kueue", "workloads")
    everything = {name for job in jobs for name in kept(job, profile)}
    assert everything == read_from_exporters(profile)


def test_no_label_that_changes_with_driver_or_host_gets_into_a_series() -> None:
    drops = [
        re.compile(rule["regex"]) for rule in relabelling("dcgm", Profile.STANDARD) if rule["action"] == "labeldrop"
    ]
    for label in ("UUID", "Hostname", "hostname", "modelName", "pci_bus_id", "DCGM_FI_DRIVER_VERSION"):
        assert any(drop.fullmatch(label) for drop in drops), label
    for label in ("gpu", "xid", "clock_event", "GPU_I_ID", "instance"):
        assert not any(drop.fullmatch(label) for drop in drops), label


def test_one_field_of_a_gpu_keeps_its_pod_and_the_others_are_the_same_series_in_every_job() -> None:
    for name, kept_labels in (("DCGM_FI_DEV_GPU_TEMP", {"namespace", "pod"}), ("DCGM_FI_DEV_FB_USED", set())):
        sample = {"__name__": name, "gpu": "0", "namespace": "nlp", "pod": "train-0", "container": "node"}
        assert set(relabelled(sample)) == {"__name__", "gpu"} | kept_labels


def relabelled(sample: dict[str, str]) -> dict[str, str]:
    """A sample of dcgm-exporter after the rules, by their definition:
    https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config (read 2026-11-23)."""
    for rule in relabelling("dcgm", Profile.STANDARD):
        regex = re.compile(rule["regex"])
        joined = ";".join(sample.get(label, "") for label in rule.get("source_labels", ()))
        match rule["action"]:
            case "labeldrop":
                sample = {label: value for label, value in sample.items() if not regex.fullmatch(label)}
            case "labelmap":
                sample |= {matched[1]: sample[label] for label in [*sample] if (matched := regex.fullmatch(label))}
            case "replace" if matched := regex.fullmatch(joined):
                sample = sample | {rule["target_label"]: matched[1]}
            case "replace" | "keep" | "drop":
                assert rule["action"] == "replace" or bool(regex.fullmatch(joined)) == (rule["action"] == "keep")
    return sample


@pytest.mark.parametrize("gpu", GPUS.values(), ids=lambda gpu: gpu.model)
@pytest.mark.parametrize("dcgm", list(Dcgm))
def test_each_generation_is_asked_for_what_it_has(gpu: object, dcgm: Dcgm) -> None:
    text = counters(gpu, Profile.FULL, dcgm=dcgm)  # type: ignore[arg-type]
    rows = [line.split(", ", 2) for line in text.splitlines()]
    assert all(len(row) == 3 and row[1] in ("gauge", "counter") and "," not in row[2] for row in rows)
    names = [row[0] for row in rows]
    assert len(set(names)) == len(names)
    nvlink5 = any(re.search("COUNT_LINK_RECOVERY|RECOVERY_EVENT", name) for name in names)
    assert nvlink5 == (gpu.nvlink_generation == 5)  # type: ignore[attr-defined]
    assert ("DCGM_FI_DEV_SM_CLOCK" in names) == (dcgm is Dcgm.BEFORE_4_7)
    # In DCGM 4.6 this name is a percentage.
    assert ("DCGM_FI_DEV_GPU_UTIL_RATIO" in names) == (dcgm is Dcgm.FROM_4_7)


def test_gb200_is_not_asked_for_single_bit_errors() -> None:
    assert "ECC_SBE" not in counters(GPUS["GB200"], Profile.FULL)
    assert "ECC_SBE" in counters(GPUS["B200"], Profile.FULL)


def test_every_field_under_its_old_and_its_new_name_is_read_by_its_metric() -> None:
    for metric in DCGM_METRICS:
        for source in metric.sources:
            assert source.promql in metric.promql
        kinds = {source.dcgm for source in metric.sources}
        assert kinds in ({"any"}, {"old", "new"})


def test_a_node_with_192_cpus_gives_no_series_for_each() -> None:
    for profile in Profile:
        flags = node_exporter_flags(profile)
        assert "--collector.disable-defaults" in flags
        assert not {"--collector.cpu", "--collector.cpufreq", "--collector.schedstat", "--collector.softnet"} & set(
            flags
        )


@pytest.mark.parametrize("kind", INSTANCE_TYPES.values(), ids=lambda kind: kind.name)
def test_every_type_gets_what_it_has(kind: InstanceType) -> None:
    texts = boot_of(kind)
    for names in ("old", "new"):
        assert (f"/etc/ultracluster/metrics/dcgm-counters-{names}.csv" in texts) == (kind.gpus > 0)
    textfiles = texts["/usr/local/sbin/ultracluster-collect-textfiles"]
    assert f"--gpus {kind.gpus} --efa {kind.max_efa} " in textfiles


@pytest.mark.parametrize("profile", list(Profile))
def test_units_are_the_same_for_all_profiles_and_their_programs_have_the_flags(
    profile: Profile, tmp_path: Path
) -> None:
    """A changed metric must not change the boot script."""
    boot = node_collectors(P5, cluster="llama", group="train", efa_devices=16, to=TO, profile=profile)
    texts = {file.path: file.text for file in boot.files}
    standard = boot_of(P5)
    kept = {path for path, text in texts.items() if text == standard[path]}
    assert {file.path for file in boot.files if not file.in_place} <= kept
    (tmp_path / "node_exporter").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "node_exporter").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", texts["/usr/local/sbin/ultracluster-collect-node"]],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert tuple(done.stdout.splitlines()) == node_exporter_flags(profile)


def test_the_agent_has_labels_and_a_remote_write_url(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.says("metadata/instance-id", "i-0123456789abcdef0")
    node.says("metadata/availability-zone-id", "use2-az1")
    template = node.file("/template.yaml", boot_of(P5)["/etc/ultracluster/metrics/agent.yaml"])
    url = "https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write"
    written = tmp_path / "agent.yaml"
    done = node.run(
        "metrics-agent", "--template", str(template), "--url", url, "--region", "us-east-2", "--write", str(written)
    )
    assert (done.returncode, done.stderr) == (0, "")
    result = YAML(typ="safe").load(written.read_text())
    assert result["remote_write"][0]["url"] == url
    labels = result["scrape_configs"][0]["static_configs"][0]["labels"]
    assert labels == {
        "cluster": "llama",
        "group": "train",
        "instance": "i-0123456789abcdef0",
        "instance_type": "p5en.48xlarge",
        "zone": "use2-az1",
    }


def start_agent(tmp_path: Path, version: str) -> subprocess.CompletedProcess[str]:
    """Start the agent with a program that prints its version, or else its first argument."""
    node = Node(tmp_path)
    node.says("metadata/instance-id", "i-0123456789abcdef0")
    node.says("metadata/availability-zone-id", "use2-az1")
    template = node.file("/template.yaml", boot_of(P5)["/etc/ultracluster/metrics/agent.yaml"])
    program = tmp_path / "programs" / "prometheus"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "prometheus, version {version}" || echo "$1"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{node.bin}"
    url = "https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write"
    arguments = ("--template", str(template), "--url", url, "--region", "us-east-2")
    return node.run("metrics-agent", *arguments, PATH=path)


@pytest.mark.parametrize(
    ("version", "mode"),
    [
        ("2.45.3 (branch: HEAD)", "--enable-feature=agent"),
        ("2.53.3+ds1 (branch: debian/sid)", "--enable-feature=agent"),
        ("3.13.2 (branch: HEAD)", "--agent"),
        ("3.5.3+ds1 (branch: debian/sid)", "--agent"),
    ],
)
def test_prometheus_is_an_agent_in_the_words_of_its_version(tmp_path: Path, version: str, mode: str) -> None:
    done = start_agent(tmp_path, version)
    assert (done.returncode, done.stdout) == (0, f"{mode}\n"), done.stderr


def test_the_agent_notes_where_its_address_is_from(tmp_path: Path) -> None:
    """`node-scripts.sh` restarts it if the parameter has another one."""
    node = Node(tmp_path)
    node.says("metadata/instance-id", "i-0123456789abcdef0")
    node.says("metadata/availability-zone-id", "use2-az1")
    (node.state / "aws").symlink_to(Path(__file__).parents[1] / "support/node_boot/aws")
    (node.state / "parameters.json").write_text('{"/ultracluster/llama/url": "https://new"}')
    (node.bin / "prometheus").write_text("#!/bin/sh\n")
    (node.bin / "prometheus").chmod(0o755)
    template = node.file("/template.yaml", "url: @URL@\n")
    done = node.run(
        *("metrics-agent", "--template", str(template), "--parameter", "/ultracluster/llama/url"),
        *("--region", "us-east-2"),
    )
    assert done.returncode == 0, done.stderr
    assert node.read("/run/ultracluster/metrics/agent.yaml") == "url: https://new\n"
    assert node.read("/run/ultracluster/metrics/address") == "/ultracluster/llama/url https://new\n"


@pytest.mark.parametrize("version", ["2.42.0+ds (branch: debian/sid)", "2.45.3+ds (branch: debian/sid)"])
def test_a_package_that_does_not_sign_is_refused(tmp_path: Path, version: str) -> None:
    done = start_agent(tmp_path, version)
    assert done.returncode == 1
    assert "does not sign what it sends; install upstream's release, or 2.53 or newer" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--template", "/none", "--url", "u", "--region", "us-east-2"), "there is no template '/none'"),
        (("--template", "/dev/null", "--region", "us-east-2"), "give one of --url and --parameter"),
        (("--template", "/dev/null", "--parameter", "u"), "--region is a region such as us-east-2, got ''"),
        (("--template", "/dev/null", "--url", "u", "--region", "x"), "--region is a region such as us-east-2, got 'x'"),
        (("--tmplate", "x"), "unknown argument --tmplate"),
    ],
)
def test_the_agent_rejects_wrong_usage(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = Node(tmp_path).run("metrics-agent", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"metrics-agent: {message}")


def test_rejects_a_destination_that_is_none_or_two() -> None:
    with pytest.raises(ValueError, match="one of url and parameter"):
        RemoteWrite(region="us-east-2")
    with pytest.raises(ValueError, match="one of url and parameter"):
        RemoteWrite(region="us-east-2", url="https://x", parameter="/x")
    with pytest.raises(ValueError, match="a parameter is read in a region"):
        RemoteWrite(parameter="/x")


@pytest.mark.parametrize(
    "wrong",
    [
        {"region": "us-east-2", "url": "https://x; reboot"},
        {"region": "us-east-2", "url": "https://x\nExecStart=/bin/sh"},
        {"region": 'us-east-2"', "parameter": "/x"},
        {"region": "us-east-2", "parameter": "/x y"},
        {"region": "", "parameter": "/x"},
    ],
)
def test_rejects_a_destination_that_would_be_more_than_an_argument(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be one word"):
        RemoteWrite(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cluster": 'a"\n b'}, "is not a valid name"),
        ({"group": ""}, "is not a valid name"),
        ({"efa_devices": -1}, "0 or more, got -1"),
    ],
)
def test_rejects_a_node_that_is_none(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        node_collectors(P5, **({"cluster": "llama", "group": "train", "efa_devices": 32, "to": TO} | wrong))  # type: ignore[arg-type]


def test_the_pods_of_a_group_have_all_their_volumes_and_the_same_configuration() -> None:
    config, daemons = node_objects(
        P5, cluster="llama", group="train", efa_devices=32, to=TO, selector={"group": "train"}
    )
    assert config["data"]["agent.yaml"] == boot_of(P5)["/etc/ultracluster/metrics/agent.yaml"]
    pod = daemons["spec"]["template"]["spec"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in [*pod["initContainers"], *pod["containers"]]:
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert re.fullmatch(r"[a-z0-9./-]+:v?[0-9][\w.-]+", container["image"])
    assert {container["name"] for container in pod["containers"]} == {"textfiles", "node", "agent", "dcgm"}
    assert [item["kind"] for item in shared_objects()] == ["Namespace", "ServiceAccount"]


@pytest.mark.parametrize("url", ["https://other", "${RemoteWriteUrl}"])
def test_a_changed_configuration_restarts_the_pods_that_read_it(url: str) -> None:
    # The programs read their files when they start, and the name of the ConfigMap stays.
    group: dict[str, Any] = {"cluster": "llama", "group": "train", "efa_devices": 32, "selector": {"group": "train"}}

    def templates(to: RemoteWrite, profile: Profile) -> list[Any]:
        created = [
            *node_objects(P5, to=to, profile=profile, **group),
            *cluster_objects(cluster="llama", to=to, profile=profile),
        ]
        return [item["spec"]["template"] for item in created if "template" in item.get("spec", {})]

    before = RemoteWrite(region="us-east-2", url="https://one")
    first = templates(before, Profile.STANDARD)
    assert len(first) == 2
    assert templates(before, Profile.STANDARD) == first
    for changed in (templates(RemoteWrite(region="us-east-2", url=url), Profile.STANDARD),
                    templates(before, Profile.FULL)):  # fmt: skip
        assert all(new != old for new, old in zip(changed, first, strict=True))
    # A bundle has the placeholder of the address, which `apply` fills in: the template must change with its value.
    for template in templates(RemoteWrite(region="us-east-2", url="${RemoteWriteUrl}"), Profile.STANDARD):
        assert "${RemoteWriteUrl}" in json.dumps(template)


def test_gpus_of_claims_get_their_pods_from_an_exporter_that_reads_slices() -> None:
    group: dict[str, Any] = {"cluster": "llama", "group": "train", "efa_devices": 32, "selector": {"group": "train"}}
    results = {}
    for claims in (False, True):
        _, daemons = node_objects(P5, to=TO, claims=claims, **group)
        (dcgm,) = [c for c in daemons["spec"]["template"]["spec"]["containers"] if c["name"] == "dcgm"]
        to = RemoteWrite(region="us-east-2", url="https://one")
        created = cluster_objects(cluster="llama", to=to, claims=claims)
        (role,) = [item for item in created if item["kind"] == "ClusterRole"]
        slices = [rule for rule in role["rules"] if "resourceslices" in rule.get("resources", [])]
        results[claims] = (dcgm["image"].rpartition(":")[2], "--kubernetes-enable-dra" in dcgm["command"], slices)
    # Earlier releases wait without end for resource.k8s.io/v1beta1, which Kubernetes 1.34 no longer serves by default.
    reads = {"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": ["get", "list", "watch"]}
    assert results == {
        False: ("4.5.3-4.8.2-distroless", False, []),
        True: ("4.6.0-4.8.3-distroless", True, [reads]),
    }


def test_amtool_takes_the_configuration_and_routes_by_severity(tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yaml"
    file.write_text(alertmanager(warning=TOPIC))
    checked = subprocess.run(["amtool", "check-config", file], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    for name, alert in ALERTS.items():
        command = ["amtool", "config", "routes", "test", f"--config.file={file}"]
        labels = [f"alertname={name}", f"severity={alert.severity}", "cluster=llama"]
        done = subprocess.run([*command, *labels], capture_output=True, text=True)
        wanted = {"critical": "critical", "warning": "warning", "info": "nobody"}[alert.severity]
        assert done.stdout.strip() == ("watchdog" if name == "Watchdog" else wanted), name
    watchdog = YAML(typ="safe").load(file)["route"]["routes"][0]
    # A group is sent at its intervals, if the repeat interval is over since the last message had been sent, which was a
    # moment after its interval: with 5m, Alertmanager 0.25 sends at the fifth or the sixth.
    assert (watchdog["group_interval"], watchdog["repeat_interval"]) == ("1m", "270s")
    caused = subprocess.run([*command, "alertname=NodeUnhealthy", "severity=critical", "cause=GpuXidFatal"],
                            capture_output=True, text=True)  # fmt: skip
    assert caused.stdout.strip() == "nobody"


@pytest.mark.parametrize(("base", "shown"), [("http://localhost:3000", True), ("https://grafana.example.com", False)])
def test_a_message_names_the_output_that_opens_links_to_localhost(tmp_path: Path, base: str, shown: bool) -> None:
    annotations = {"summary": "a fault", "runbook_url": f"{base}/d/x", "dashboard_url": f"{base}/d/y"}
    alert = {"status": "firing", "labels": {}, "annotations": annotations, "startsAt": "2026-11-27T23:00:00Z"}
    (tmp_path / "data.json").write_text(json.dumps({"alerts": [alert], "commonLabels": {"cluster": "llama"}}))
    (tmp_path / "none.tmpl").write_text("")
    incident = pagerduty("arn:aws:secretsmanager:us-east-2:123456789012:secret:x")["pagerduty_configs"][0]
    for text in (TOPIC["sns_configs"][0]["message"], incident["details"]["runbook"]):
        command = ["amtool", "template", "render", "--template.glob", str(tmp_path / "none.tmpl")]
        command += ["--template.data", str(tmp_path / "data.json"), "--template.text", text]
        done = subprocess.run(command, capture_output=True, text=True)
        assert f"{base}/d/x" in done.stdout, done.stderr
        assert ("read the output Dashboards of the stack llama-Observability" in done.stdout) == shown


def test_inhibitions_name_alerts_that_there_are() -> None:
    for rule in YAML(typ="safe").load(alertmanager(warning=TOPIC))["inhibit_rules"]:
        for matcher in [*rule["source_matchers"], *rule["target_matchers"]]:
            label, names = re.fullmatch(r'(\w+)(?:=~|!~|!=|=)"(.*)"', matcher).groups()  # type: ignore[union-attr]
            assert label in ("instance", "job_id", "severity", "cause") or set(names.split("|")) <= set(ALERTS)


def test_amps_wrapper_holds_the_same() -> None:
    text = alertmanager(warning=TOPIC, critical=pagerduty("arn:aws:secretsmanager:us-east-2:123456789012:secret:x"))
    assert YAML(typ="safe").load(amp_definition(text))["alertmanager_config"] == text


def test_rejects_a_route_that_leads_nowhere() -> None:
    with pytest.raises(ValueError, match="the route for warning alerts has no target"):
        alertmanager(warning={})
    with pytest.raises(ValueError, match="the route for critical alerts has no target"):
        alertmanager(warning=TOPIC, critical={"sns_configs": []})
