import base64
import bz2
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import local_disks
from support.cloud_config_schema import SCHEMA
from support.node_boot import AWS_TOOL, PROGRAMS, STAND_IN, Node
from support.node_boot.gpu_node import GpuNode
from ultracluster import __file__ as library
from ultracluster import compute
from ultracluster.boot import LUSTRE_EFA_UNIT, EfaBundle, LustreClient, Mount, NodeBoot, NodeFile, scripts, slurm_boot
from ultracluster.boot._node_files import mount_unit
from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.compute._boot import TOKEN_BYTES, USER_DATA_LIMIT_BYTES

P5EN = INSTANCE_TYPES["p5en.48xlarge"]
LOGIN = INSTANCE_TYPES["c7i.2xlarge"]
DEVICE = "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com@tcp:/abcdefgh"
OPTIONS = "defaults,noatime,flock,_netdev,nofail,x-systemd.automount"
FSX = Mount(device=DEVICE, path="/fsx", type="lustre", options=OPTIONS, after=(LUSTRE_EFA_UNIT,))
OVER_TCP = Mount(device=DEVICE, path="/fsx", type="lustre", options=OPTIONS)
HOME = Mount(
    device="fs-0123456789abcdef1.fsx.us-east-2.amazonaws.com:/fsx/home",
    path="/home",
    type="nfs",
    options="nfsvers=4.2,noatime,_netdev,nofail,x-systemd.automount,rsize=1048576,wsize=1048576,timeo=600",
)
BUNDLE = EfaBundle(
    url="s3://training-tools-123456789012-us-east-2/configure-efa-fsx-lustre-client.zip", sha256="0123456789abcdef" * 4
)
EVERYTHING = LustreClient(efa_interfaces=8, gpudirect_storage=True, bundle=BUNDLE)
SCRIPTS = sorted(Path(scripts.__file__).parent.glob("*.sh"))


def user_data(*mounts: Mount, lustre: LustreClient | None = None) -> str:
    boot = slurm_boot(P5EN, mounts, lustre=lustre)
    return compute.user_data(mounts=mounts, files=boot.files, units=boot.units)


def config(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return result


def file(boot: NodeBoot, end: str) -> str:
    (result,) = (file.text for file in boot.files if file.path.endswith(end))
    return result


def unit(boot: NodeBoot, name: str) -> RawConfigParser:
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(file(boot, f"/{name}"))
    return parser


def test_scripts_pass_shellcheck() -> None:
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin"
    shellcheck = shutil.which("shellcheck", path=path) or shutil.which("shellcheck")
    assert shellcheck, "shellcheck is missing: install the group dev"
    pods = sorted((Path(library).parent / "workloads/kubernetes").glob("*.sh"))
    files = [*SCRIPTS, *pods, STAND_IN, *PROGRAMS.iterdir(), STAND_IN.with_name("aws"), AWS_TOOL, local_disks.STAND_IN]
    done = subprocess.run([shellcheck, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_no_script_fails_on_a_node_whose_root_directory_has_no_name() -> None:
    """ULTRACLUSTER_ROOT is a directory in tests, and empty on a node, where `${root:?}` ends the script."""
    assert [path.name for path in SCRIPTS if re.search(r"\$\{(root|ULTRACLUSTER_ROOT):?\?", path.read_text())] == []


def test_no_download_waits_for_a_server_without_limit() -> None:
    """A server that stalls would hold a boot, a build or a job for ever."""
    unlimited = []
    # The unit of lustre-efa.sh ends it after 15 minutes, and nodes then mount over TCP.
    assert "TimeoutStartSec=15min" in file(slurm_boot(P5EN, [FSX], lustre=EVERYTHING), f"/{LUSTRE_EFA_UNIT}")
    for path in {*Path(library).parent.rglob("*.sh")} - {SCRIPTS[0].with_name("lustre-efa.sh")}:
        for line in path.read_text().replace("\\\n", " ").splitlines():
            call = re.search(r"(within )?\bcurl (-|\"\$)[^|]*", line.partition(" # ")[0])
            if call and not call[1] and not re.search(r"--max-time|--speed-time|again\[@\]", call[0]):
                unlimited.append(f"{path.name}: {line.strip()}")
    assert unlimited == []


def test_scripts_lose_their_comments_and_stay_scripts() -> None:
    programs = [file.text for file in slurm_boot(P5EN, [FSX]).files if file.mode == "0755"]
    assert len(programs) == 4
    for text in programs:
        assert text.startswith("#!/usr/bin/env bash\n")
        assert not re.search(r"^\s*#[^!]", text, re.MULTILINE)
        assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0


def test_everything_fits_into_user_data_with_room_for_two_more_mounts() -> None:
    text = user_data(FSX, HOME, lustre=EVERYTHING)
    more = [Mount(device=DEVICE, path=f"/fsx{n}", type="lustre", options=OPTIONS, after=FSX.after) for n in (2, 3)]
    assert len(user_data(FSX, HOME, *more, lustre=EVERYTHING)) < USER_DATA_LIMIT_BYTES
    assert len(text) < 0.9 * USER_DATA_LIMIT_BYTES


def test_cloud_init_takes_it() -> None:
    for text in (
        compute.user_data(),
        compute.user_data(mounts=[OVER_TCP]),
        user_data(FSX, HOME, lustre=EVERYTHING),
        user_data(),
        compute.user_data(units=["chronyd.service"]),
    ):
        jsonschema.validate(config(text), SCHEMA, cls=jsonschema.Draft4Validator)


def test_mounts_alone_add_no_message() -> None:
    text = compute.user_data(mounts=[OVER_TCP])
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "026b98f6a9e21131cb0fb238880a704b3ce5bc73b555dbc861d1ed633fa7bd29"
    )


def test_the_same_files_give_the_same_bytes_on_every_machine() -> None:
    """Other bytes replace nodes. The fixture was recorded on one machine; others read it."""
    files = [NodeFile(path=f"/opt/{n}", text=f"{n}\n" * 400, mode="0644") for n in range(9)]
    text = compute.user_data(files=files)
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "8889ef97c4af6fa060bdbea8ee82b466563f7dbcb7caf4184c3933a87623b695"
    )


def test_cloud_init_writes_the_files_as_they_are(tmp_path: Path) -> None:
    boot = slurm_boot(P5EN, [FSX, HOME])
    (written,) = config(user_data(FSX, HOME))["write_files"]
    packed = base64.b64decode(written["content"])
    (tmp_path / "boot").write_bytes(packed)
    (tmp_path / "root").mkdir()
    unpack = config(user_data(FSX, HOME))["runcmd"][0].partition(" && ")[0]
    command = f"python3 -m tarfile -e {tmp_path}/boot {tmp_path}/root"
    assert unpack == f"python3 -m tarfile -e {written['path']} /"
    for _ in range(2):
        subprocess.run(command.split(), check=True)
    for expected in boot.files:
        result = tmp_path / "root" / expected.path.removeprefix("/")
        assert result.read_text() == expected.text
        assert result.stat().st_mode & 0o7777 == int(expected.mode, 8)
    with tarfile.open(fileobj=io.BytesIO(bz2.decompress(packed))) as archive:
        assert {(member.uid, member.gid, member.mtime) for member in archive} == {(0, 0, 0)}


def test_files_come_first_then_automounts_then_units_then_the_mode_of_new_file_systems() -> None:
    lines = config(user_data(FSX))["runcmd"]
    assert [line.split()[0] for line in lines] == ["python3", "systemctl", "for", "if"]
    assert lines[0].endswith("&& systemctl daemon-reload")
    assert lines[1] == "systemctl start fsx.automount"
    assert lines[2].startswith(
        f"for unit in {LUSTRE_EFA_UNIT} ultracluster-mount-check.service ultracluster-mount-check.timer "
        "ultracluster-lustre-tuning@fsx.service; do"
    )
    for line in lines:
        assert subprocess.run(["bash", "-n", "-c", line], capture_output=True).returncode == 0, line


def test_a_unit_that_fails_at_boot_does_not_stop_the_next_and_is_named(tmp_path: Path) -> None:
    fake = tmp_path / "systemctl"
    fake.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n[ "$3" != a.service ]\n')
    fake.chmod(0o755)
    (line,) = config(compute.user_data(units=["a.service", "b@x\\x2dy.service"]))["runcmd"]
    done = subprocess.run(
        ["sh", "-c", line], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    assert done.stderr == "a.service failed, see journalctl -u a.service\n"
    assert (tmp_path / "calls").read_text() == "enable --now a.service\nenable --now b@x\\x2dy.service\n"


def test_a_mount_over_efa_waits_for_efa_and_is_not_mounted_by_cloud_init() -> None:
    (line,) = config(user_data(FSX))["mounts"]
    options = line[3].split(",")
    assert set(options) >= {
        "nosuid",
        "nodev",
        "noauto",
        "_netdev",
        "x-systemd.automount",
        f"x-systemd.after={LUSTRE_EFA_UNIT}",
    }
    assert len(options) == len(set(options))
    assert config(user_data(FSX))["bootcmd"] == ["mkdir -p /fsx && { mountpoint -q /fsx || chattr +i /fsx; }"]


def test_the_user_of_the_image_can_be_made_below_home_before_it_is_mounted() -> None:
    home = Mount(device="fs-1.fsx.us-east-2.amazonaws.com:/fsx/home", path="/home", type="nfs", options="nfsvers=4.2")
    assert "bootcmd" not in config(user_data(home))


def test_a_mount_over_tcp_is_written_as_before() -> None:
    (line,) = config(user_data(OVER_TCP))["mounts"]
    assert line == [DEVICE, "/fsx", "lustre", OPTIONS, "0", "0"]
    boot = slurm_boot(P5EN, [OVER_TCP])
    assert LUSTRE_EFA_UNIT not in boot.units
    assert file(boot, "/etc/ultracluster/mounts") == "/fsx lustre no\n"


def test_home_stays_closed_and_lustre_opens() -> None:
    assert not [line for line in config(user_data(HOME))["runcmd"] if "chmod" in line]
    assert [line for line in config(user_data(FSX, HOME))["runcmd"] if "chmod" in line] == [
        'if findmnt -n -t lustre /fsx >/dev/null && [ "$(stat -c %U:%a /fsx)" = root:755 ]; then chmod 1777 /fsx; fi'
    ]


def test_efa_is_expected_where_the_type_can_and_the_file_system_has_it() -> None:
    assert file(slurm_boot(P5EN, [FSX, HOME]), "/etc/ultracluster/mounts") == "/fsx lustre yes\n/home nfs no\n"
    required = slurm_boot(P5EN, [FSX], lustre=LustreClient(efa="required"))
    assert file(required, "/etc/ultracluster/mounts") == "/fsx lustre required\n"
    assert "--required yes" in file(required, f"/etc/systemd/system/{LUSTRE_EFA_UNIT}")


@pytest.mark.parametrize("name", ["c7i.2xlarge", "p4d.24xlarge"])
def test_a_type_that_cannot_mounts_the_same_file_system_over_tcp_and_nothing_is_expected(name: str) -> None:
    boot = slurm_boot(INSTANCE_TYPES[name], [FSX])
    assert LUSTRE_EFA_UNIT in boot.units, "the mount requires it, so it must be there"
    assert file(boot, "/etc/ultracluster/mounts") == "/fsx lustre no\n"


@pytest.mark.parametrize(
    ("name", "client", "connections"),
    [
        ("p5.48xlarge", LustreClient(), 8),
        ("p5.48xlarge", LustreClient(gpudirect_storage=True), 32),
        ("p5.48xlarge", EVERYTHING, 8),
        ("p5en.48xlarge", LustreClient(gpudirect_storage=True), 16),
        ("p6-b300.48xlarge", LustreClient(), 16),
        ("p6-b300.48xlarge", LustreClient(efa_interfaces=4), 4),
        ("p6e-gb200.36xlarge", LustreClient(gpudirect_storage=True), 4),
        ("p5.4xlarge", LustreClient(efa_interfaces=4), 1),
        ("p4d.24xlarge", LustreClient(), 0),
        ("c7i.2xlarge", EVERYTHING, 0),
    ],
)
def test_a_node_takes_so_many_of_the_connections_of_a_file_system(
    name: str, client: LustreClient, connections: int
) -> None:
    assert client.connections(INSTANCE_TYPES[name]) == connections


def test_the_unit_runs_the_script_with_arguments_that_it_takes(tmp_path: Path) -> None:
    boot = slurm_boot(P5EN, [FSX], lustre=EVERYTHING)
    command = unit(boot, LUSTRE_EFA_UNIT)["Service"]["ExecStart"].split()
    assert command[0] in {file.path for file in boot.files}
    node = Node(tmp_path, efa=0)
    assert node.run("lustre-efa", *command[1:]).returncode == 0
    assert command[1:] == (f"--gds yes --interfaces 8 --bundle {BUNDLE.url} --sha256 {BUNDLE.sha256}".split())


def test_gpudirect_storage_is_asked_of_types_that_support_it_only() -> None:
    client = LustreClient(gpudirect_storage=True)
    for name, wanted in (("p5en.48xlarge", "yes"), ("p6e-gb200.36xlarge", "no"), ("c7i.2xlarge", "no")):
        boot = slurm_boot(INSTANCE_TYPES[name], [FSX], lustre=client)
        assert f"--gds {wanted}" in file(boot, LUSTRE_EFA_UNIT)


def test_the_check_reads_the_list_that_is_written(tmp_path: Path) -> None:
    node = Node(tmp_path, efa=0)
    mounts = [OVER_TCP, HOME]
    node.should_mount(*file(slurm_boot(LOGIN, mounts), "/etc/ultracluster/mounts").splitlines())
    assert node.run("mount-check").returncode == 0
    assert (node.root / "run/ultracluster/health/mounts").read_text() == "ok\n"
    assert (node.root / "var/lib/node_exporter/textfile_collector/ultracluster_mounts.prom").is_file()


def test_efa_then_mounts_then_check_then_slurmd() -> None:
    boot = slurm_boot(P5EN, [FSX])
    check = unit(boot, "ultracluster-mount-check.service")["Unit"]["After"].split()
    assert {LUSTRE_EFA_UNIT, "remote-fs.target", "network-online.target"} <= set(check)
    slurmd = unit(boot, "slurmd.service.d/ultracluster.conf")
    for key in ("Wants", "After"):
        assert {"ultracluster-mount-check.service", "ultracluster-local-scratch.service"} <= set(
            slurmd["Unit"][key].split()
        )
    # What jobs with --propagate=NONE have.
    assert slurmd["Service"]["LimitMEMLOCK"] == "infinity"


def test_a_mount_that_failed_five_times_in_ten_seconds_is_tried_again() -> None:
    """systemd would end its automount for good: a node has no /home after a moment without its file server."""
    boot = slurm_boot(P5EN, [FSX, HOME])
    assert unit(boot, "mount.d/ultracluster.conf")["Unit"] == {"StartLimitIntervalSec": "0"}


def test_the_start_of_slurmd_does_not_wait_for_the_controller(tmp_path: Path) -> None:
    """systemd stops a service whose ExecStartPost takes 90 s; a drain asks the controller five times, 20 s each."""
    boot = slurm_boot(P5EN, [FSX])
    start = unit(boot, "slurmd.service.d/ultracluster.conf")["Service"]["ExecStartPost"]
    assert start == "-/usr/bin/systemctl start --no-block ultracluster-drain.service"
    service = unit(boot, "ultracluster-drain.service")["Service"]
    assert (service["Type"], service["SuccessExitStatus"], service["TimeoutStartSec"]) == ("oneshot", "3", "5min")
    node = GpuNode(tmp_path)
    node.file("/run/ultracluster/health/devices", "failed: 7 of 8 GPUs are there\n")
    program, *arguments = service["ExecStart"].split()
    assert node.start(node.root / program.lstrip("/"), *arguments).returncode == 0
    assert node.slurm()["Reason"] == "ultracluster: devices: 7 of 8 GPUs are there"


def test_a_failed_check_is_followed_by_the_drain_all_the_same() -> None:
    text = file(slurm_boot(P5EN, [FSX]), "/ultracluster-mount-check.service")
    starts = [line.removeprefix("ExecStart=") for line in text.splitlines() if line.startswith("ExecStart=")]
    assert starts == ["-/usr/local/sbin/ultracluster-mount-check", "/usr/local/sbin/ultracluster-drain-on-failure"]
    assert "KillMode=process" in text


def test_every_started_unit_exists_and_has_an_install_section() -> None:
    boot = slurm_boot(P5EN, [FSX, HOME], lustre=EVERYTHING)
    for name in boot.units:
        assert unit(boot, re.sub("@.*\\.", "@.", name))["Install"]["WantedBy"]


def test_every_program_that_a_unit_starts_is_there() -> None:
    boot = slurm_boot(P5EN, [FSX, HOME], lustre=EVERYTHING)
    programs = {file.path for file in boot.files if file.mode == "0755"}
    started = {match[1] for file in boot.files for match in re.finditer(r"^Exec\w+=-?(\S+)", file.text, re.MULTILINE)}
    assert started - {"/usr/bin/systemctl"} == programs


@pytest.mark.parametrize(("name", "tuned"), [("p5en.48xlarge", True), ("p5.4xlarge", False), ("c7i.2xlarge", False)])
def test_module_options_are_for_more_than_64_vcpus(name: str, tuned: bool) -> None:
    boot = slurm_boot(INSTANCE_TYPES[name], [FSX])
    assert any(file.path == "/etc/modprobe.d/ultracluster-lustre.conf" for file in boot.files) == tuned


def test_only_lustre_is_tuned() -> None:
    assert not [name for name in slurm_boot(P5EN, [HOME]).units if "tuning" in name]


@pytest.mark.parametrize(
    ("cpus", "kib", "expected"),
    [
        (
            "192",
            2113534976,
            {"lru_max_age=600000", "lru_size=19200", "max_rpcs_in_flight=32", "max_mod_rpcs_in_flight=50"},
        ),
        ("64", 2113534976, {"lru_max_age=600000", "lru_size=6400"}),
        ("8", 64 * 2**20, set()),
    ],
)
def test_the_client_is_tuned_by_its_cpus_and_memory(tmp_path: Path, cpus: str, kib: int, expected: set[str]) -> None:
    node = Node(tmp_path)
    node.says("cpus", cpus)
    node.file("/proc/meminfo", f"MemTotal: {kib} kB\n")
    assert node.run("lustre-tuning").returncode == 0
    result = {call.split()[2].split(".")[-1] for call in node.calls("lctl") if "set_param" in call}
    always = {"statahead_max=512", "statahead_agl=1", "statahead_xattr=1"}
    assert result - {"max_rpcs_in_flight=64"} == expected | always


def test_a_rejected_setting_is_reported_and_the_others_are_applied(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.says("refused", "mdc.*.max_rpcs_in_flight=64")
    node.says("old-client")
    done = node.run("lustre-tuning")
    assert done.returncode == 1
    assert "could not set mdc.*.max_rpcs_in_flight=64" in done.stderr
    assert "lctl set_param llite.*.statahead_agl=1" in node.calls("lctl")
    assert not [call for call in node.calls("lctl") if "set_param llite.*.statahead_xattr" in call]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/fsx", "fsx.mount"),
        ("/data/sets", "data-sets.mount"),
        ("/my-data", "my\\x2ddata.mount"),
        ("/.hidden", "\\x2ehidden.mount"),
        ("/a b", "a\\x20b.mount"),
        ("/é", "\\xc3\\xa9.mount"),
        ("/", "-.mount"),
    ],
)
def test_a_mount_s_unit_is_named_as_systemd_names_it(path: str, name: str) -> None:
    assert mount_unit(path) == name


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=9), min_size=1))
def test_different_paths_have_different_units(parts: list[str]) -> None:
    name = mount_unit("/" + "/".join(parts)).removesuffix(".mount")
    unescaped = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), name.replace("-", "/").encode())
    assert unescaped.decode() == "/".join(parts)


@pytest.mark.parametrize("path", ["/my data", "fsx", "/", "/fsx\nfoo", "/fsx/../etc", "/a;reboot"])
def test_rejects_a_path_that_the_check_could_not_read(path: str) -> None:
    with pytest.raises(ValueError, match="must be directories of letters"):
        slurm_boot(P5EN, [Mount(device=DEVICE, path=path, type="lustre", options=OPTIONS)])


def test_rejects_all_at_once() -> None:
    with pytest.raises(ValueError, match=r"(?s)mount path .*mount path .*mount type"):
        slurm_boot(P5EN, [Mount(device="d", path=path, type=path, options="") for path in ("x y", "z\n")])


@pytest.mark.parametrize(
    ("url", "sha256", "problem"),
    [
        ("http://example.com/a.zip", "0" * 64, "url must be"),
        ("https://example.com/$(reboot).zip", "0" * 64, "url must be"),
        ("https://example.com/100%.zip", "0" * 64, "url must be"),
        ("s3://bucket/a.zip", "latest", "sha256 must be 64"),
        ("a.zip", "A" * 64, "(?s)url must be .*\\nsha256 must be"),
    ],
)
def test_rejects_a_bundle_that_moves_or_that_a_shell_would_read(url: str, sha256: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        EfaBundle(url=url, sha256=sha256)


@pytest.mark.parametrize("number", [0, -1, 100])
def test_rejects_a_number_of_interfaces_that_no_node_has(number: int) -> None:
    with pytest.raises(ValueError, match="efa_interfaces must be 1 to 99"):
        LustreClient(efa_interfaces=number)


def test_rejects_a_file_with_a_token() -> None:
    held = NodeFile(path="/etc/x", text="${Token[TOKEN.12]}", mode="0644")
    with pytest.raises(ValueError, match="must not hold tokens of the CDK, got some in /etc/x"):
        compute.user_data(files=[held])


def test_rejects_files_over_the_limit_of_ec2() -> None:
    noise = "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(600))
    with pytest.raises(ValueError, match="at most 16384 bytes"):
        compute.user_data(files=[NodeFile(path="/etc/x", text=noise, mode="0644")])


@given(st.integers(100, 400))
def test_a_token_counts_for_what_it_may_become(units: int) -> None:
    """CloudFormation makes another text of it, and EC2 counts that one."""
    names = [f"unit{number:03}.service" for number in range(units)]
    token = "${Token[TOKEN.7]}"

    def fits(device: str) -> bool:
        mounts = [Mount(device=device, path=f"/fs{n}", type="lustre", options=OPTIONS) for n in range(6)]
        try:
            text = compute.user_data(mounts=mounts, units=names)
        except ValueError:
            return False
        resolved = text.replace(token, "fs-0123456789abcdef0.fsx.us-gov-west-1.amazonaws.com.cn")
        assert len(resolved.encode()) <= USER_DATA_LIMIT_BYTES
        return True

    assert fits(f"{token}@tcp:/fsx") == fits(f"{'x' * TOKEN_BYTES}@tcp:/fsx")
