"""Boot of the nodes of a cluster file."""

import json
import re

import pytest

from support.boot_scripts import boots, software
from support.clusterfile_data import GOOD, NO_METRICS, bent, problems
from support.templates import by_type, of_type, template_of
from ultracluster.boot import BootScript
from ultracluster.clusterfile import loads, warnings
from ultracluster.slurm._boot import node_boot
from ultracluster.storage import Storage

SHA256 = "0123456789abcdef" * 4
PLAIN = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 8}
"""


def with_lustre(words: str, text: str = PLAIN) -> str:
    return f"{text}storage: {{lustre: {{throughput: 40 GB/s{words}}}}}\n"


def of(text: str, group: str) -> tuple[dict[str, str], list[list[str]]]:
    cluster = loads(text + NO_METRICS, "c.yaml")
    (result,) = (boot for name, boot in boots(cluster).items() if name.lower().startswith(group))
    return result


GROUPS = ("train", "login")
EFA_UNIT = "etc/systemd/system/ultracluster-lustre-efa.service"
SCRATCH_UNIT = "etc/systemd/system/ultracluster-local-scratch.service"


def test_a_node_with_local_disks_makes_its_scratch_volume_first() -> None:
    files, _ = of(PLAIN, "train")
    assert "--path /scratch --disks 8 --container-store yes" in files[SCRATCH_UNIT]
    units = files["etc/ultracluster/boot-units"].splitlines()
    # Others run what the first one fetches.
    assert units[:6] == [
        "ultracluster-node-scripts.service",
        "ultracluster-node-scripts.timer",
        "ultracluster-imds.service",
        "ultracluster-users.service",
        "ultracluster-users.timer",
        "ultracluster-local-scratch.service",
    ]


def test_imds_all_adds_no_firewall_rule() -> None:
    files, _ = of(f"{PLAIN}slurm: {{imds: all}}\n", "login")
    assert not [name for name in files if "imds" in name]
    assert "imds" not in files["etc/ultracluster/boot-units"]


FULL = f"""\
{PLAIN}storage: {{lustre: {{throughput: 40 GB/s}}, home: {{capacity: 1 TB}}}}
slurm:
  users: {{ada: {{uid: 2001}}}}
"""


@pytest.mark.parametrize("group", GROUPS)
def test_drop_ins_are_for_slurmd_under_any_unit_name_and_wait_for_nothing(group: str) -> None:
    """AWS PCS has a unit for each release, such as slurmd-25.11.service."""
    files, _ = of(FULL, group)
    plain, versioned = (
        {name.rpartition("/")[2]: text for name, text in files.items() if f"/{unit}.service.d/" in name}
        for unit in ("slurmd", "slurmd-")
    )
    assert plain == versioned
    assert {"ultracluster.conf", "ultracluster-users.conf", "ultracluster-containers.conf"} <= plain.keys()
    for text in plain.values():
        waits = [line for line in text.splitlines() if line.startswith(("ExecStartPre", "ExecStartPost"))]
        assert all("systemctl start --no-block " in line for line in waits)
    # An order of a unit is one of slurmd.service only, and not of those of the releases.
    ordered = [name for name, text in files.items() if re.search(r"^Before=.*slurmd", text, re.MULTILINE)]
    assert {name.rpartition("/")[2] for name in ordered} <= {SCRATCH_UNIT.rpartition("/")[2]}
    assert "After=ultracluster-imds.service" in plain["ultracluster-imds.conf"]


def test_a_node_without_local_disks_makes_none() -> None:
    assert SCRATCH_UNIT not in of(PLAIN, "login")[0]


def test_the_scratch_volume_has_the_path_of_the_file() -> None:
    files, _ = of(f"{PLAIN}storage: {{scratch: {{path: /nvme, container-store: false}}}}\n", "train")
    assert "--path /nvme --disks 8 --container-store no" in files[SCRATCH_UNIT]


@pytest.mark.parametrize("group", ["train", "login"])
def test_every_node_sets_efa_up_before_it_mounts_a_file_system_with_efa(group: str) -> None:
    files, mounts = of(with_lustre(""), group)
    (mount,) = mounts
    assert "x-systemd.after=ultracluster-lustre-efa.service" in mount[2]
    assert EFA_UNIT in files


def test_only_nodes_that_can_use_efa_are_held_to_it() -> None:
    checks = {group: of(with_lustre(""), group)[0]["etc/ultracluster/mounts"] for group in ("train", "login")}
    assert checks == {"train": "/fsx lustre yes\n", "login": "/fsx lustre no\n"}


def test_a_file_system_without_efa_is_mounted_over_tcp() -> None:
    files, mounts = of(with_lustre(", efa: false"), "train")
    assert "ultracluster-lustre-efa" not in mounts[0][2]
    assert EFA_UNIT not in files


def test_nodes_of_another_zone_mount_over_tcp_for_efa_does_not_cross_zones() -> None:
    text = PLAIN + "  far: {type: p5en.48xlarge, count: 2, zone: use2-az2}\n"
    assert EFA_UNIT in of(with_lustre("", text), "train")[0]
    files, mounts = of(with_lustre("", text), "far")
    assert EFA_UNIT not in files
    assert files["etc/ultracluster/mounts"] == "/fsx lustre no\n"
    assert "x-systemd.after=ultracluster-lustre-efa.service" not in mounts[0][2]


def test_more_nodes_than_connections_use_fewer_interfaces_each() -> None:
    files, _ = of(with_lustre("", PLAIN.replace("count: 8", "count: 129")), "train")
    assert "--interfaces 7" in files[EFA_UNIT]
    assert 129 * 7 <= 1_024 < 129 * 8


def test_interfaces_that_no_file_system_has_connections_for_are_refused() -> None:
    text = with_lustre(", client: {efa-interfaces: 8}", PLAIN.replace("count: 8", "count: 129"))
    assert problems(text) == [
        "c.yaml:7:66 storage.lustre.client.efa-interfaces: 129 nodes with at most 8 each open 1,032 EFA connections, "
        "and a file system supports 1,024; write 7, or leave it out"
    ]


def test_gpudirect_storage_takes_all_interfaces_of_a_node() -> None:
    files, _ = of(with_lustre(", client: {gpudirect-storage: true}"), "train")
    assert "--gds yes" in files[EFA_UNIT]
    many = with_lustre(", client: {gpudirect-storage: true}", PLAIN.replace("count: 8", "count: 65"))
    assert "--interfaces 15" in of(many, "train")[0][EFA_UNIT]


def test_nodes_may_read_the_bundle_and_nothing_beside_it() -> None:
    words = f", client: {{bundle: {{url: s3://tools/efa/client.zip, sha256: {SHA256}}}}}"
    policies = of_type(template_of(loads(with_lustre(words) + NO_METRICS, "c.yaml"), "Cluster"), "AWS::IAM::Policy")
    statements = [item for created in policies for item in created["Properties"]["PolicyDocument"]["Statement"]]
    results = [item for item in statements if "s3:::tools/" in json.dumps(item["Resource"])]
    # One for each role: that of the login nodes, and that of the others.
    assert len(results) == 2
    for result in results:
        assert result["Action"] == "s3:GetObject"
        assert result["Resource"] == "arn:aws:s3:::tools/efa/client.zip"


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        (f"{{url: 'http://x/y.zip', sha256: {SHA256}}}", "client.bundle.url: must be an https:// or s3:// address"),
        (
            f"{{url: 's3://tools/y;reboot', sha256: {SHA256}}}",
            "client.bundle.url: must be an https:// or s3:// address",
        ),
        ("{url: 's3://tools/y.zip', sha256: abc}", "client.bundle.sha256: must be a SHA-256 checksum"),
        ("{url: 's3://tools/y.zip'}", "client.bundle.sha256: is missing"),
    ],
)
def test_rejects_a_bundle_that_nodes_could_not_trust(bundle: str, message: str) -> None:
    (result,) = problems(with_lustre(f", client: {{bundle: {bundle}}}"))
    assert message in result


@pytest.mark.parametrize(
    "text",
    [
        bent("40 GB/s", f"40 GB/s, client: {{bundle: {{url: 's3://tools/c.zip', sha256: {SHA256}}}}}"),
        bent("40 GB/s", "40 GB/s, efa: false"),
        bent("count: 64", "count: 64, image: ami-0123456789abcdef0"),
    ],
)
def test_the_efa_tool_is_installed_only_where_it_could_lack(text: str) -> None:
    cluster = loads(text, "c.yaml")
    assert "ultracluster:lustre-efa-client" not in {warning.id for warning in warnings(cluster)}
    assert "lustre-efa-tool" not in str(software(cluster))


def test_nodes_with_the_image_of_aws_install_what_they_need_before_they_boot() -> None:
    arguments = software(loads(GOOD, "c.yaml"))
    train, login = (next(arguments[name] for name in arguments if name.lower().startswith(group)) for group in GROUPS)
    common = ["chrony", "cloudwatch-agent", "enroot", "pyxis", "prometheus", "node_exporter"]
    assert train[-8:] == [*common, "dcgm-exporter", "lustre-efa-tool"]
    assert login[-6:] == common
    for given in (train, login):
        assert given[:3] == ["--slurm", "25.11", "--bucket"]
        # The data bucket, which the role of the nodes may read and write.
        assert "Data" in str(given[3])
        assert given[4:6] == ["--region", "us-east-2"]


def test_without_a_data_bucket_and_metrics_nodes_install_less_from_its_publishers() -> None:
    less = "storage: {data-bucket: false}\nobservability: {profile: none}\n"
    arguments = software(loads(PLAIN + less, "c.yaml"))
    assert len(arguments) == 2
    assert all(
        given == ["--slurm", "25.11", "chrony", "cloudwatch-agent", "enroot", "pyxis"] for given in arguments.values()
    )


def test_rejects_required_efa_with_a_tool_that_aws_may_have_replaced() -> None:
    (result,) = problems(with_lustre(", client: {efa: required}"))
    assert "client.efa: drains train if AWS's tool cannot be installed" in result
    bundle = f"bundle: {{url: 's3://tools/c.zip', sha256: {SHA256}}}"
    required = with_lustre(f", client: {{efa: required, {bundle}}}")
    assert "--required yes" in of(required, "train")[0][EFA_UNIT]
    assert of(required, "train")[0]["etc/ultracluster/mounts"] == "/fsx lustre required\n"


def test_a_limit_on_interfaces_is_of_no_concern_to_nodes_that_have_fewer() -> None:
    text = PLAIN.replace("count: 8}", "count: 128}\n  small: {type: p5.4xlarge, count: 100}")
    assert "--interfaces 4" in of(with_lustre("", text), "train")[0][EFA_UNIT]
    assert "--interfaces" not in of(with_lustre("", text), "small")[0][EFA_UNIT]


def test_login_nodes_with_efa_take_connections_too() -> None:
    text = PLAIN.replace("count: 8", "count: 128")
    few = "slurm: {login: {type: c7i.48xlarge, count: 10}}\n"
    taken = {warning.id for warning in warnings(loads(with_lustre("", text), "c.yaml"))}
    assert "ultracluster:lustre-efa-connections" not in taken
    assert "--interfaces 7" in of(with_lustre("", text) + few, "train")[0][EFA_UNIT]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (", efa: false, client: {efa-interfaces: 2}", "client: configures EFA on nodes, and the file system has none"),
        (", backups: 91 d", "backups: daily backups are kept for whole days, 1 d to 90 d, got 91 d"),
        (", mount: /opt/dlami/nvme", "mount: '/opt/dlami/nvme' is in /opt/dlami, whose directories belong"),
        (", mount: /tmp/fsx", "mount: '/tmp/fsx' is in /tmp, whose directories belong"),
        (f", mount: /{'a' * 33}", "at most four deep and 32 characters each"),
        (", client: {bundle: {url: 's3://tools', sha256: x}}", "with a bucket and a key for s3://"),
        (f", client: {{bundle: {{url: 's3://tools/a?b', sha256: {SHA256}}}}}", "with a bucket and a key for s3://"),
    ],
)
def test_rejects_what_nodes_would_find_out_at_boot(words: str, message: str) -> None:
    assert any(message in result for result in problems(with_lustre(words)))


def test_gpudirect_storage_is_for_types_that_can() -> None:
    text = with_lustre(", efa: true, client: {gpudirect-storage: true}", PLAIN.replace("p5en.48xlarge", "p4d.24xlarge"))
    assert "FSx supports GPUDirect Storage on P5, P5e, P5en, P6-B200 and P6-B300" in problems(text)[0]


@pytest.mark.parametrize(("count", "warned"), [(2, True), (64, False)])
def test_warns_of_nodes_that_are_too_slow_for_a_checkpoint(count: int, warned: bool) -> None:
    text = PLAIN.replace("p5en.48xlarge, count: 8", f"p4d.24xlarge, count: {count}")
    text += "storage: {lustre: {checkpoint: {model: 70 B, stall: 60 s}, efa: true}}\n"
    ids = {warning.id for warning in warnings(loads(text, "c.yaml"))}
    assert ("ultracluster:lustre-checkpoint" in ids) == warned
    assert "ultracluster:lustre-efa-unused" in ids


def settings(text: str) -> dict[str, str]:
    """The settings of slurm.conf that a cluster has."""
    (created,) = of_type(template_of(loads(text + NO_METRICS, "c.yaml"), "Cluster"), "AWS::PCS::Cluster")
    given = created["Properties"]["SlurmConfiguration"].get("SlurmCustomSettings", [])
    return {item["ParameterName"]: item["ParameterValue"] for item in given}


def test_nodes_are_checked_before_each_job_unless_disabled() -> None:
    assert settings(PLAIN)["Prolog"] == "/usr/local/sbin/ultracluster-prolog"
    files, _ = of(PLAIN, "train")
    assert files["etc/ultracluster/health"].startswith("gpus 8\nnvlinks 18\nefa 16\nxids 46 48 ")
    assert "usr/local/sbin/ultracluster-prolog" in files
    off = f"{PLAIN}slurm: {{health: false}}\n"
    assert settings(off)["Prolog"] == "/usr/local/sbin/ultracluster-boot-guard"
    assert "Epilog" not in settings(off)
    without = of(off, "train")[0]
    assert "usr/local/sbin/ultracluster-prolog" not in without
    assert without["etc/ultracluster/prolog"] == ""


def test_a_custom_prolog_runs_after_the_check_of_the_boot() -> None:
    text = f"{PLAIN}slurm: {{settings: {{Prolog: /fsx/prolog.sh}}}}\n"
    assert settings(text)["Prolog"] == "/usr/local/sbin/ultracluster-boot-guard"
    assert of(text, "train")[0]["etc/ultracluster/prolog"] == "/fsx/prolog.sh\n"
    assert settings(text)["Epilog"] == "/usr/local/sbin/ultracluster-epilog"


def test_login_nodes_run_no_jobs_and_check_none() -> None:
    assert "usr/local/sbin/ultracluster-prolog" not in of(PLAIN, "login")[0]


def test_the_efa_devices_of_a_check_are_those_of_the_launch_template() -> None:
    for layout in ("all-efa", "one-ip"):
        text = PLAIN.replace("count: 8", f"count: 8, layout: {layout}")
        compute = template_of(loads(text + NO_METRICS, "c.yaml"), "Compute")
        (created,) = (
            result["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
            for name, result in by_type(compute, "AWS::EC2::LaunchTemplate").items()
            if name.startswith("train")
        )
        devices = sum(item.get("InterfaceType") in ("efa", "efa-only") for item in created)
        assert f"\nefa {devices}\n" in of(text, "train")[0]["etc/ultracluster/health"]


ULTRA = """\
name: nvl72
region: us-east-1
zone: use1-dfw2-az1
orchestrator: slurm
nodes:
  train:
    type: u-p6e-gb200x72
    count: 1
    capacity: {reservation: cr-0123456789abcdef0, kind: ultraserver, instances: 18}
network: {control-plane-zone: use1-az4}
"""


@pytest.mark.parametrize(
    ("slurm", "warned"),
    [("", False), ("slurm: {health: false}\n", True), ("slurm: {health: false, settings: {Prolog: /a}}\n", False)],
)
def test_warns_of_ultraservers_without_a_prolog_for_imex(slurm: str, warned: bool) -> None:
    cluster = loads(ULTRA + slurm, "c.yaml")
    assert ("ultracluster:imex-prolog" in {warning.id for warning in warnings(cluster)}) == warned
    assert ("usr/local/sbin/ultracluster-imex" in of(ULTRA + slurm, "train")[0]) == ("health" not in slurm)


def exports(words: str) -> tuple[BootScript, str | None]:
    """Return the boot script of a node of a file, and its list of directories that export."""
    cluster = loads(with_lustre(words), "c.yaml")
    group = cluster.node_groups[0]
    boot = node_boot(cluster, Storage(), group.instance_type, group=group.name, zone=group.zone, layout=group.layout)
    texts = {file.path: file.text for file in boot.in_place}
    return boot.script, texts.get("/etc/ultracluster/exports")


def test_an_association_that_exports_is_listed_for_nodes_and_replaces_none() -> None:
    associations = "/data: {bucket: tokens, import: [NEW]}, /runs/logs: {export: [NEW]}, /checkpoints: {export: [NEW]}"
    script, listed = exports(f", mount: /shared, data-repository-associations: {{{associations}}}")
    assert listed == "/shared /runs/logs\n/shared /checkpoints\n"
    assert (script, None) == exports(", mount: /shared")
