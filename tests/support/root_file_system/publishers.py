"""Publishers of the software of a node, small and local, with real checksums and signatures."""

import re
import subprocess
from functools import cache
from pathlib import Path

from support.root_file_system import Machine, Repository, Server, tarball, zipped
from ultracluster.boot import SoftwareItem, software_script
from ultracluster.catalogue.ec2 import image_software as software

PLUGIN = (Path(__file__).parents[1] / "real_slurm/containers.c").read_text()
STATE = "/run/ultracluster/software/"
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
    # Each command makes the directories of its user first: enroot.in of v4.1.2, read 2026-11-23. An image of its
    # squashfs-tools is a tar here.
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
case "$1 ${2:-}" in
    "version ") echo 4.1.2 ;;
    "list ") ls "$ENROOT_DATA_PATH" ;;
    "create --force")
        # unsquashfs -s
        [ "$(head -c 4 "$5")" = hsqs ] || { echo "[ERROR] Invalid image format: $5" >&2; exit 1; }
        rm -rf "${ENROOT_DATA_PATH:?}/$4"
        mkdir "$ENROOT_DATA_PATH/$4"
        tail -c +5 "$5" | tar -x -C "$ENROOT_DATA_PATH/$4"
        ;;
    # enroot-switchroot calls the shell of the container.
    "start image-check")
        exec unshare --user --map-current-user --root="$ENROOT_DATA_PATH/$2" /bin/sh "${@:4}"
        ;;
    "remove --force") rm -r "$ENROOT_DATA_PATH/$3" ;;
    *) exit 2 ;;
esac
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
# Its options, and what it needs: bin/configure-efa-fsx-lustre-client.py of the pinned zip, read 2026-11-23.
TOOL = {
    "configure-efa-fsx-lustre-client/setup.sh": "#!/bin/sh\n",
    "configure-efa-fsx-lustre-client/bin/configure-efa-fsx-lustre-client.py": """\
import shutil, sys
if missing := [name for name in ("lfs", "lctl", "ip", "curl", "modinfo") if not shutil.which(name)]:
    sys.exit(f"Error: {missing}")
if set(sys.argv[1:]) != {"--internal-check-only", "--allow-no-efa", "--disable-dmesg"}:
    sys.exit("Error: No EFA device found")
""",
}
# Commands that the host may lack; the packages bring them.
COMMANDS = ("gawk", "jq", "parallel", "mksquashfs", "zstd", "column", "pigz", "setcap", "squashfuse", "fuse-overlayfs")
PACKAGES = {"mksquashfs": "squashfs-tools", "column": "bsdextrautils", "setcap": "libcap2-bin"}
DATABASE = Path("/var/lib/dpkg/status")
_FIELDS = ("Package", "Essential", "Status", "Maintainer", "Architecture", "Multi-Arch", "Version", "Description")
DCGM = "datacenter-gpu-manager-4-"


def slurm_release() -> str:
    """Release of the Slurm whose headers are here."""
    header = Path("/usr/include/slurm/slurm_version.h").read_text()
    major, minor = re.search(r"SLURM_VERSION_NUMBER 0x(..)(..)", header).groups()  # type: ignore[union-attr]
    return f"{int(major, 16):02d}.{int(minor, 16):02d}"


SLURM = slurm_release()
HOME = f"/opt/aws/pcs/scheduler/slurm-{SLURM}"


@cache
def _packages_of(machine: Path, names: frozenset[str]) -> str:
    """The database of dpkg with the essential packages of a machine, and with these names, without what they need.

    Each start of apt-get and of dpkg reads all of it, and the list of the files of each package.
    """
    kept = []
    for package in machine.read_text().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in package.splitlines() if not line.startswith(" ") and ": " in line)
        if fields.get("Essential") == "yes" or fields.get("Package") in names:
            kept.append("".join(f"{name}: {fields[name]}\n" for name in _FIELDS if name in fields))
    return "\n".join(kept)


class World:
    """Publishers of software, and machines."""

    def __init__(self, directory: Path) -> None:
        self.server = Server()
        self.ubuntu = Repository(self.server, directory, "ubuntu")
        for command in COMMANDS:
            name = PACKAGES.get(command, command)
            self.ubuntu.add(name, files={f"/usr/bin/{command}": "#!/bin/sh\n"})
        self.ubuntu.add("chrony", files={"/usr/bin/chronyc": "#!/bin/sh\n"})
        self.ubuntu.add("nfs-common", "9:99.0", files={"/sbin/mount.nfs4": "#!/bin/sh\n"})
        self.ubuntu.add("linux-aws")
        # A machine that has them keeps its own.
        for name in ("curl", "mdadm", "xfsprogs", "sssd-ldap", "sssd-tools", "libnss-sss", "libpam-sss"):
            self.ubuntu.add(name, "0")
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
        self.nvidia.add("libnvidia-container-tools", files={"/usr/bin/nvidia-container-cli": "#!/bin/sh\n"})
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
            item._replace(url=url, sha256=checksum)
            for item in software.artefacts("x86_64")
            for url, checksum in [self.server.put(f"/files/{item.file}", files[item.name])]
        )
        self.paths = {item.name: f"/files/{item.file}" for item in self.artefacts}

    def machine(self, directory: Path) -> Machine:
        """A machine with Slurm's headers, and the repository of the distribution."""
        machine = Machine(directory)
        names = frozenset((*self.ubuntu.names, *self.nvidia.names))
        machine.write(str(DATABASE), _packages_of(DATABASE, names))
        machine.write("/etc/apt/keyrings/ubuntu.gpg", self.ubuntu.key)
        machine.write("/etc/apt/keyrings/nvidia.gpg", self.nvidia.key)
        done = machine.run(
            "bash",
            "-euc",
            # Hooks of this machine, such as debconf's, have nothing to do for packages of a test.
            f"rm -rf /etc/apt/apt.conf.d/* /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*\n"
            f"echo '{self.ubuntu.source.strip()}' >/etc/apt/sources.list\n"
            f"mkdir -p {HOME}/include && ln -s /usr/include/slurm {HOME}/include/slurm",
        )
        assert done.returncode == 0, done.stderr
        return machine


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
