"""The installation of software in a real root file system, with real apt, dpkg, make and gcc.

Files are small, and are served with real checksums and signatures; see `support.root_file_system`.
"""

import re

import pytest

from support.root_file_system import Machine, tarball
from support.root_file_system.publishers import DCGM, HOME, SLURM, World, install, states
from ultracluster.boot import SoftwareItem, scripts, software_script
from ultracluster.catalogue.ec2 import image_software as software

BUCKET = "/bucket/ultracluster/software"
ALL: tuple[SoftwareItem, ...] = (
    *("chrony", "enroot", "pyxis", "prometheus", "node_exporter", "dcgm-exporter", "lustre-efa-tool"),
)


def test_a_fresh_node_gets_all_of_it_and_a_second_run_changes_nothing(machine: Machine, world: World) -> None:
    done = install(machine, *ALL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(machine) == dict.fromkeys(ALL, "ok: installed")
    assert re.search(r"^install-software: ends after \d+ s$", done.stdout, re.MULTILINE)
    for program in ("prometheus", "node_exporter", "dcgm-exporter"):
        assert machine.run(f"/opt/ultracluster/bin/{program}", "--version").returncode == 0
    # The check before slurmd accepts what gcc made: a plugin for the Slurm of this machine.
    machine.write("/containers.sh", scripts.text("containers.sh"), 0o755)
    assert machine.run("/containers.sh", "--slurm", SLURM).stdout == "containers: ok\n"
    assert "169.254.169.123" in machine.read("/etc/chrony/sources.d/amazon-time-sync.sources")
    assert machine.has("/opt/ultracluster/configure-efa-fsx-lustre-client/setup.sh")
    assert "systemctl mask --now nvidia-dcgm-exporter.service" in machine.calls
    # Copies for the other nodes.
    for item in world.artefacts:
        assert machine.has(f"{BUCKET}/{item.sha256}/{item.file}")
    machine.reboot()
    world.server.requests.clear()
    machine.write("/calls", "")
    done = install(machine, *ALL)
    assert (done.returncode, world.server.requests) == (0, [])
    assert set(states(machine).values()) == {"ok: in the image, or installed before"}
    assert not [call for call in machine.calls if not call.startswith("systemctl is-enabled")]


def test_a_node_takes_the_copies_and_asks_no_publisher(machine: Machine, world: World) -> None:
    for item in world.artefacts:
        machine.write(f"{BUCKET}/{item.sha256}/{item.file}", world.server.files[f"/files/{item.file}"])
    done = install(machine, "prometheus", "node_exporter", "lustre-efa-tool", internet=False)
    assert (done.returncode, world.server.requests) == (0, []), done.stdout


def test_without_internet_the_copies_and_a_mirror_of_the_packages_are_enough(machine: Machine, world: World) -> None:
    """The sources of the image are answered by a mirror in the VPC, with the names of the publishers."""
    for item in world.artefacts:
        machine.write(f"{BUCKET}/{item.sha256}/{item.file}", world.server.files[f"/files/{item.file}"])
    machine.write("/usr/bin/nvidia-smi", "#!/bin/sh\n", 0o755)
    machine.write("/etc/apt/sources.list.d/nvidia.list", world.nvidia.source)
    done = install(machine, *ALL, internet=False)
    assert states(machine) == dict.fromkeys(ALL, "ok: installed"), done.stdout
    assert done.returncode == 0
    repositories = {path.split("/")[1] for path in world.server.requests}
    assert repositories == {"ubuntu", "nvidia"}, "files come from the bucket"


def test_without_internet_and_mirror_a_missing_package_is_a_state_with_the_remedy(
    machine: Machine, world: World
) -> None:
    """In a network namespace of its own the machine reaches nobody, as nodes without a route."""
    machine.write("/etc/apt/sources.list", world.ubuntu.source)
    machine.write("/etc/apt/sources.list.d/nvidia.list", world.nvidia.source)
    script = software_script(
        *("chrony", "dcgm-exporter", "prometheus"),
        **{"bucket": "cluster-data", "region": "us-east-2"},
        architecture="x86_64",
        slurm_version=SLURM,
        internet=False,
    )
    machine.write("/var/lib/pcs/software.sh", script.text, 0o755)
    (copy,) = (item for item in world.artefacts if item.name == "prometheus")
    machine.write(f"{BUCKET}/{copy.sha256}/{copy.file}", world.server.files[f"/files/{copy.file}"])
    done = machine.run("unshare", "--net", "/var/lib/pcs/software.sh", *script.arguments)
    assert (done.returncode, world.server.requests) == (1, [])
    there = states(machine)
    assert there.pop("prometheus") == "ok: installed"
    assert {name: "take an image that has them" in state for name, state in there.items()} == {
        "chrony": True,
        "dcgm-exporter": True,
    }, there


def test_without_internet_an_empty_bucket_is_a_state_with_the_remedy(machine: Machine, world: World) -> None:
    done = install(machine, "prometheus", internet=False)
    assert (done.returncode, world.server.requests) == (1, [])
    assert re.fullmatch(
        r"failed: install-software: s3://cluster-data has no prometheus 3.13.2 \(.*Not Found\); "
        r"run: ultracluster image bundle",
        states(machine)["prometheus"],
    )


@pytest.mark.parametrize("where", ["upstream", "bucket"])
def test_a_file_with_another_checksum_is_never_used(
    machine: Machine, world: World, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (item,) = (item for item in world.artefacts if item.name == "prometheus")
    evil = tarball("prometheus-3", {"prometheus": "#!/bin/sh\ntouch /evil\n"})
    copy = f"{BUCKET}/{item.sha256}/{item.file}"
    if where == "bucket":
        machine.write(copy, evil)
    else:
        monkeypatch.setitem(world.server.files, world.paths["prometheus"], evil)
    done = install(machine, "prometheus")
    assert "has another checksum" in done.stdout
    assert not machine.has("/evil")
    # A bad copy costs a fetch from the publisher, and a bad publisher the program.
    assert done.returncode == (0 if where == "bucket" else 1)
    assert machine.has("/opt/ultracluster/bin/prometheus") == (where == "bucket")
    assert machine.has(copy) == (where == "bucket")


def test_one_missing_file_is_one_state_and_the_rest_is_installed(
    machine: Machine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(world.server.files, world.paths["enroot"])
    assert install(machine, "enroot", "node_exporter", bucket=False).returncode == 1
    assert states(machine)["node_exporter"] == "ok: installed"
    assert "enroot 4.1.2 cannot be fetched from http" in states(machine)["enroot"]
    # The next boot tries again.
    monkeypatch.undo()
    monkeypatch.setattr(software, "ARTEFACTS", world.artefacts)
    assert install(machine, "enroot", "node_exporter", bucket=False).returncode == 0
    assert states(machine)["enroot"] == "ok: installed"


def test_a_node_waits_for_the_copy_that_another_one_fetches(machine: Machine, world: World) -> None:
    (item,) = (item for item in world.artefacts if item.name == "prometheus")
    machine.write(f"{BUCKET}/{item.sha256}/{item.file}.claim", "")
    machine.write(f"/later/{item.file}", world.server.files[f"/files/{item.file}"])
    assert install(machine, "prometheus").returncode == 0
    assert world.server.requests == []
    assert machine.calls.count("sleep 2") == 2


def test_a_node_without_access_to_the_bucket_fetches_for_itself(machine: Machine, world: World) -> None:
    machine.write("/bucket-errors", "")
    assert install(machine, "prometheus").returncode == 0
    assert "sleep 2" not in machine.calls
    assert world.server.requests == [world.paths["prometheus"]]


@pytest.mark.parametrize(("there", "dcgm", "exporter"), [("4.7.0", "4.7.0", "4.9.0"), ("5.0.0", "4.5.3", "4.8.2")])
def test_dcgm_of_the_image_stays_if_its_exporter_is_known(
    machine: Machine, world: World, there: str, dcgm: str, exporter: str
) -> None:
    for name in (f"{DCGM}core_1_{there}-1", f"{DCGM}cuda12_1_5.0.0-1"):
        machine.write(f"/{name}.deb", world.server.files[f"/nvidia/{name}.deb"])
        assert machine.run("dpkg", "--install", f"/{name}.deb").returncode == 0
    done = install(machine, "dcgm-exporter")
    assert done.returncode == 0, done.stdout
    shown = machine.run("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", "datacenter-gpu-manager*")
    versions = dict(line.split() for line in shown.stdout.splitlines() if len(line.split()) == 2)
    assert versions[f"{DCGM}core"] == f"1:{dcgm}-1"
    assert versions["datacenter-gpu-manager-exporter"] == f"{exporter}-1"
    # With a DCGM of its own come the parts without which diagnostics are skipped.
    assert (f"{DCGM}proprietary-cuda13" in versions) == (there != dcgm)
    assert (f"{DCGM}cuda12" in versions) == (there == dcgm)


def test_a_machine_with_a_driver_gets_nvidias_tools_for_containers(machine: Machine) -> None:
    """Ubuntu has no such package; two items that need NVIDIA's repository add it once."""
    machine.write("/usr/bin/nvidia-smi", "#!/bin/sh\n", 0o755)
    done = install(machine, "enroot", "dcgm-exporter")
    assert set(states(machine).values()) == {"ok: installed"}, done.stdout
    assert machine.has("/usr/bin/nvidia-container-cli")


def test_sources_of_the_image_for_the_same_packages_are_replaced(machine: Machine, world: World) -> None:
    """Apt stops at a repository with two keys, for all packages."""
    uri, key = f"{world.server.url}/nvidia", "/etc/apt/keyrings/gpu.gpg"
    machine.write("/etc/apt/sources.list.d/gpu.list", f"deb [signed-by={key}] {uri} ./\n")
    machine.write("/etc/apt/sources.list.d/gpu.sources", f"Types: deb\nURIs: {uri}\nSuites: ./\nSigned-By: {key}\n")
    done = install(machine, "dcgm-exporter")
    assert states(machine) == {"dcgm-exporter": "ok: installed"}, done.stdout
    assert machine.run("apt-get", "update").returncode == 0


# Keep the lock of a file while the arguments run.
LOCKED = """\
python3 -c 'if 1:
    import fcntl, os, sys, time
    file = open(sys.argv[1], "w")
    fcntl.lockf(file, fcntl.LOCK_EX)
    open("/holder", "w").write(str(os.getpid()))
    time.sleep(60)' "$0" &
while [ ! -s /holder ]; do :; done
"$@"
rc=$?
kill $!
exit $rc
"""


def test_a_node_waits_for_another_program_that_updates_the_lists_and_completes_its_installation(
    machine: Machine, world: World
) -> None:
    """At a first boot apt-daily.service updates them; a boot that was interrupted leaves a journal of dpkg."""
    machine.write("/core.deb", world.server.files[f"/nvidia/{DCGM}core_1_4.5.3-1.deb"])
    assert machine.run("dpkg", "--unpack", "/core.deb").returncode == 0
    machine.write("/var/lib/dpkg/updates/0000", machine.run("dpkg-query", "--status", f"{DCGM}core").stdout)
    assert "dpkg was interrupted" in machine.run("apt-get", "install", "--yes", "chrony").stderr
    # The other program has ended when the script waits for the first time.
    machine.write("/usr/local/sbin/sleep", '#!/bin/sh\necho "sleep $*" >>/calls\nkill "$(cat /holder)"\n', 0o755)
    script = software_script("chrony", architecture="x86_64", slurm_version=SLURM)
    machine.write("/var/lib/pcs/software.sh", script.text, 0o755)
    done = machine.run("bash", "-c", LOCKED, "/var/lib/apt/lists/lock", "/var/lib/pcs/software.sh", *script.arguments)
    assert states(machine) == {"chrony": "ok: installed"}, done.stdout
    assert "sleep 5" in machine.calls


def test_the_limit_is_of_all_items_together(machine: Machine) -> None:
    script = software_script("chrony", "enroot", architecture="x86_64", slurm_version=SLURM)
    machine.write("/var/lib/pcs/software.sh", script.text, 0o755)
    command = ("bash", "-c", LOCKED, "/var/lib/dpkg/lock-frontend", "/var/lib/pcs/software.sh", *script.arguments)
    done = machine.run(*command, ULTRACLUSTER_SOFTWARE_LIMIT="5")
    assert done.returncode == 1
    # One waited for dpkg until the end, and the other one does not begin.
    assert "no time is left for apt-get" in done.stdout


def test_pyxis_without_the_headers_of_slurm_is_a_state(machine: Machine) -> None:
    machine.run("rm", "-r", f"{HOME}/include")
    assert install(machine, "pyxis").returncode == 1
    assert states(machine)["pyxis"] == f"failed: install-software: {HOME} has no headers of Slurm {SLURM}"
    assert not machine.has(f"/etc/aws/pcs/scheduler/slurm-{SLURM}/plugstack.conf.d/pyxis.conf")


def test_time_that_has_run_out_is_a_state(machine: Machine) -> None:
    script = software_script("prometheus", architecture="x86_64", slurm_version=SLURM)
    machine.write("/var/lib/pcs/software.sh", script.text, 0o755)
    done = machine.run("/var/lib/pcs/software.sh", *script.arguments, ULTRACLUSTER_SOFTWARE_LIMIT="0")
    assert done.returncode == 1
    assert "cannot be fetched" in states(machine)["prometheus"]


@pytest.mark.parametrize("arguments", [[], ["--slurm", "25"], ["--slurm", "25.11"], ["--slurm", "25.11", "vim"]])
def test_rejects_wrong_usage(machine: Machine, arguments: list[str]) -> None:
    script = software_script("chrony", architecture="x86_64", slurm_version=SLURM)
    machine.write("/var/lib/pcs/software.sh", script.text, 0o755)
    assert machine.run("/var/lib/pcs/software.sh", *arguments).returncode == 2
