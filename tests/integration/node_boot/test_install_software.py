"""The installation of software in a real root file system, with real apt, dpkg, make and gcc.

Files are small, and are served with real checksums and signatures; see `support.root_file_system`.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.root_file_system import Machine, Repository, Server, tarball, zipped
from ultracluster.boot import SoftwareItem, scripts, software_script
from ultracluster.catalogue.ec2 import image_software as software

PLUGIN = (Path(__file__).parents[2] / "support/real_slurm/containers.c").read_text()
STATE = "/run/ultracluster/software/"
BUCKET = "/bucket/ultracluster/software"
ALL: tuple[SoftwareItem, ...] = (
    *("chrony", "enroot", "pyxis", "prometheus", "node_exporter", "dcgm-exporter", "lustre-efa-tool"),
)
# The targets that upstream's Makefiles have, and a `deps` that needs what git would fetch.
ENROOT = {
    "Makefile": """\
.PHONY: deps install setcap
bin/enroot-nsenter: | deps
\t[ "$(FORCE_GLIBC)$(DEPS)" = 1 ] && mkdir -p bin && echo 'int main(void) { return 0; }' | gcc -x c - -o $@
deps:
\tfalse
install: bin/enroot-nsenter
\tinstall -D bin/enroot-nsenter $(prefix)/bin/enroot-nsenter
\tinstall -D -m 755 enroot.in $(prefix)/bin/enroot
\tinstall -D -m 644 /dev/null $(prefix)/share/enroot/apparmor.profile
\tinstall -d $(sysconfdir)/enroot/hooks.d
setcap:
\ttrue
""",
    "deps/Makefile": "libbsd:\n\ttrue\n",
    # Each command makes the directories of its user first: enroot.in of v4.1.2, read 2026-11-23.
    "enroot.in": """\
#!/bin/bash
set -euo pipefail
ENROOT_RUNTIME_PATH=${XDG_RUNTIME_DIR:-/run}/enroot
ENROOT_CACHE_PATH=${HOME:-/root}/.cache/enroot
ENROOT_DATA_PATH=${HOME:-/root}/.local/share/enroot
while read -r key value; do
    case $key in ENROOT_*_PATH) eval "$key=$value" ;; esac
done </etc/enroot/enroot.conf
(umask 077 && mkdir -p "$ENROOT_CACHE_PATH" "$ENROOT_DATA_PATH" "$ENROOT_RUNTIME_PATH")
echo 4.1.2
""",
}
PYXIS = {
    "Makefile": """\
install:
\tgcc -shared -fPIC -D_GNU_SOURCE $(CPPFLAGS) plugin.c -o spank_pyxis.so
\tinstall -D -m 644 spank_pyxis.so $(libdir)/slurm/spank_pyxis.so
""",
    "plugin.c": PLUGIN,
}
TOOL = {"configure-efa-fsx-lustre-client/setup.sh": "#!/bin/sh\n"}
# Commands that the host may lack; the packages bring them.
COMMANDS = ("gawk", "jq", "parallel", "mksquashfs", "zstd", "column", "pigz", "setcap", "squashfuse", "fuse-overlayfs")
PACKAGES = {"mksquashfs": "squashfs-tools", "column": "bsdextrautils", "setcap": "libcap2-bin"}
DCGM = "datacenter-gpu-manager-4-"


def slurm_release() -> str:
    """Release of the Slurm whose headers are here."""
    header = Path("/usr/include/slurm/slurm_version.h").read_text()
    major, minor = re.search(r"SLURM_VERSION_NUMBER 0x(..)(..)", header).groups()  # type: ignore[union-attr]
    return f"{int(major, 16):02d}.{int(minor, 16):02d}"


SLURM = slurm_release()
HOME = f"/opt/aws/pcs/scheduler/slurm-{SLURM}"


class World:
    """Publishers of software, and machines."""

    def __init__(self, directory: Path) -> None:
        self.server = Server()
        self.ubuntu = Repository(self.server, directory, "ubuntu")
        for command in COMMANDS:
            name = PACKAGES.get(command, command)
            self.ubuntu.add(name, files={f"/usr/bin/{command}": "#!/bin/sh\n"})
        self.ubuntu.add("chrony", files={"/usr/bin/chronyc": "#!/bin/sh\n"})
        self.ubuntu.publish()
        self.nvidia = Repository(self.server, directory, "nvidia")
        for dcgm, exporter in (("4.5.3", "4.8.2"), ("4.7.0", "4.9.0"), ("5.0.0", "5.0.0")):
            for part in ("core", "cuda13", "proprietary", "proprietary-cuda13"):
                self.nvidia.add(f"{DCGM}{part}", f"1:{dcgm}-1")
            program = f"#!/bin/sh\necho dcgm-exporter version {exporter}\n"
            depends = f"{DCGM}core"
            self.nvidia.add(
                "datacenter-gpu-manager-exporter", f"{exporter}-1", depends, {"/usr/bin/dcgm-exporter": program}
            )
        self.nvidia.add(f"{DCGM}cuda12", "1:5.0.0-1")
        self.nvidia.publish()
        keyring = Repository(self.server, directory, "keyring").add(
            "cuda-keyring", "1.1-1", files={"/etc/apt/sources.list.d/cuda.list": self.nvidia.source}
        )
        files = {
            "enroot": tarball("enroot-4.1.2", ENROOT),
            "pyxis": tarball("pyxis-0.24.0", PYXIS),
            "prometheus": tarball("prometheus-3", {"prometheus": "#!/bin/sh\necho prometheus, version 3.13.2\n"}),
            "node_exporter": tarball("node_exporter-1", {"node_exporter": "#!/bin/sh\necho node_exporter\n"}),
            "cuda-keyring": keyring,
            "configure-efa-fsx-lustre-client": zipped(TOOL),
        }
        self.artefacts = tuple(
            replace(item, url=url, sha256=checksum)
            for item in software.artefacts("x86_64")
            for url, checksum in [self.server.put(f"/files/{item.file}", files[item.name])]
        )
        self.paths = {item.name: f"/files/{item.file}" for item in self.artefacts}

    def machine(self, directory: Path) -> Machine:
        """A machine with Slurm's headers, and the repository of the distribution."""
        machine = Machine(directory)
        machine.write("/etc/apt/keyrings/ubuntu.gpg", self.ubuntu.key)
        machine.write("/etc/apt/keyrings/nvidia.gpg", self.nvidia.key)
        done = machine.run(
            "bash",
            "-euc",
            f"rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*\n"
            f"echo '{self.ubuntu.source.strip()}' >/etc/apt/sources.list\n"
            f"mkdir -p {HOME}/include && ln -s /usr/include/slurm {HOME}/include/slurm",
        )
        assert done.returncode == 0, done.stderr
        return machine


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    created = World(tmp_path_factory.mktemp("publishers"))
    yield created
    created.server.close()


@pytest.fixture
def machine(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(software, "ARTEFACTS", world.artefacts)
    world.server.requests.clear()
    return world.machine(tmp_path / "machine")


def install(
    machine: Machine, *items: SoftwareItem, bucket: bool = True, internet: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run the script as AWS PCS does."""
    where = {"bucket": "cluster-data", "region": "us-east-2"} if bucket else {}
    script = software_script(*items, architecture="x86_64", slurm_version=SLURM, internet=internet, **where)
    machine.write("/var/lib/pcs/software.sh", script.text, 0o755)
    return machine.run("/var/lib/pcs/software.sh", *script.arguments)


def states(machine: Machine) -> dict[str, str]:
    return {path.name: path.read_text().strip() for path in (machine.upper / STATE.lstrip("/")).iterdir()}


def test_a_fresh_node_gets_all_of_it_and_a_second_run_changes_nothing(machine: Machine, world: World) -> None:
    done = install(machine, *ALL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(machine) == dict.fromkeys(ALL, "ok: installed")
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


def test_without_internet_an_empty_bucket_is_a_state_with_the_remedy(machine: Machine, world: World) -> None:
    done = install(machine, "prometheus", "chrony", internet=False)
    assert (done.returncode, world.server.requests) == (1, [])
    assert re.fullmatch(
        r"failed: install-software: s3://cluster-data has no prometheus 3.13.2 \(.*Not Found\); "
        r"run: ultracluster image bundle",
        states(machine)["prometheus"],
    )
    assert machine.has("/usr/bin/chronyc") or "take an image that has them" in states(machine)["chrony"]


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
