"""An image on a machine: what its build cannot install in a test, as commands that refuse what the real ones refuse."""

from support import ROOT
from support.root_file_system import Machine
from support.root_file_system.publishers import HOME, SLURM
from ultracluster.compute._image_pipeline import _versions

AGENT = "/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl"
TOOLS = "/usr/local/sbin/"
VERSIONS = _versions("25.11")
# A library with the one function, and the answer of a driver.
CUDA = "int cuDriverGetVersion(int *version) { *version = 13000; return 0; }"
SYSTEMD = """\
#!/bin/sh
case "$*" in
    "is-enabled nvidia-dcgm-exporter.service") echo masked; exit 1 ;;
    "is-enabled nvidia-imex.service") echo enabled ;;
    "start nvidia-dcgm.service") ;;
    *) echo "Unit $2 not found." >&2; exit 5 ;;
esac
"""
# A module is there for one kernel, and nvidia is refused without a GPU.
MODPROBE = """\
#!/bin/sh
case "$*" in
    "--show-depends nvidia-uvm" | "--show-depends kefalnd") echo "insmod /lib/modules/$2.ko" ;;
    efa | lustre | nfsv4) ;;
    --showconfig) cat /etc/modprobe.d/*.conf ;;
    *) echo "modprobe: FATAL: Module $1 not found in directory /lib/modules/$(uname -r)" >&2; exit 1 ;;
esac
"""
FILES = {
    f"{HOME}/version": "SLURM_VERSION='25.11.8'\n",
    f"{TOOLS}modprobe": MODPROBE,
    f"{TOOLS}modinfo": '#!/bin/sh\n[ "$*" = "--field version nvidia" ] && echo 580.95.05\n',
    f"{TOOLS}nvidia-container-cli": (
        "#!/bin/sh\necho 'nvidia-container-cli: initialization error: nvml error: driver not loaded' >&2\nexit 1\n"
    ),
    f"{TOOLS}lctl": '#!/bin/sh\n[ "$1" = list_nids ] && echo 10.0.0.5@tcp\n',
    f"{TOOLS}lfs": '#!/bin/sh\n[ "$1" = --version ] && echo lfs 2.15.6\n',
    f"{TOOLS}mount.nfs4": (
        '#!/bin/sh\n[ -d "$2" ] && [ "$3 $4" = "-o retry=0" ] || exit 1\n'
        'echo "mount.nfs4: Connection refused for $1 on $2" >&2\nexit 32\n'
    ),
    f"{TOOLS}losetup": (
        '#!/bin/sh\ncase "$1 $2" in "--find --show") [ -s "$3" ] && echo "/dev/loop${3##*/disk}" ;; '
        '"--detach /dev/loop1") ;; *) exit 1 ;; esac\n'
    ),
    # A level needs its devices, and nothing is asked.
    f"{TOOLS}mdadm": (
        '#!/bin/sh\ncase "$1 $2" in "--stop /dev/md/check") exit ;; esac\n'
        '[ "$*" = "--create /dev/md/check --run --level=0 --raid-devices=2 /dev/loop1 /dev/loop2" ]\n'
    ),
    f"{TOOLS}mkfs.xfs": '#!/bin/sh\n[ "$*" = "-q -K -l su=32k /dev/md/check" ]\n',
    # Runs until the server of the file answers.
    f"{TOOLS}chronyd": (
        '#!/bin/sh\n[ "$1 $2 $3 $4" = "-Q -t 60 -f" ] && grep -q "^server 169.254.169.123 " "$5" ||'
        " { echo Timeout reached >&2; exit 1; }\necho 'System clock wrong by -0.000001 seconds (ignored)'\n"
    ),
    f"{TOOLS}chronyc": '#!/bin/sh\n[ "$*" = "-n sources" ] && echo "^* 169.254.169.123   3   4   377"\n',
    f"{TOOLS}dcgmi": '#!/bin/sh\n[ "$*" = "discovery --list" ] && echo "0 GPUs found (Active)."\n',
    f"{TOOLS}systemctl": SYSTEMD,
    # Prometheus sends ten seconds after it starts; the check waits a minute. What has ended answers no more.
    f"{TOOLS}sleep": (
        "#!/bin/sh\nread children </proc/$PPID/task/$PPID/children\n"
        '[ "${children%% }" = $$ ] && exit || exec /usr/bin/sleep 0.5\n'
    ),
    # The image of the stand-in for Enroot.
    f"{TOOLS}mksquashfs": '#!/bin/sh\n{ printf hsqs; tar -c -C "$1" .; } >"$2"\n',
    # UltraServers have more to check.
    f"{TOOLS}uname": '#!/bin/sh\n[ "$1" = -m ] && echo aarch64 || exec /usr/bin/uname "$@"\n',
    "/opt/amazon/efa/bin/fi_info": "#!/bin/sh\n[ \"$1\" = --list ] && printf 'tcp:\\n    version: 203.0\\nefa:\\n'\n",
    "/opt/amazon/efa_installed_packages": f"# EFA installer version: {VERSIONS['EFA_VERSION']}\n",
    "/opt/aws/pcs/version": "AGENT_VERSION='1.5.1'\nAGENT_RELEASE='1'\n",
    AGENT: (
        '#!/bin/sh\n[ "$1 $2 $3 $4 $5" = "-a fetch-config -m ec2 -c" ] && python3 -m json.tool "${6#file:}" || exit 1\n'
        "echo Configuration validation succeeded\n"
    ),
    # It starts DCGM and ends, because there is no GPU.
    "/opt/ultracluster/bin/dcgm-exporter": (
        '#!/bin/sh\n[ -s "$4" ] && echo \'level=INFO msg="DCGM successfully initialized!"\'\nexit 1\n'
    ),
}


def complete(machine: Machine) -> None:
    """Write what the build of an image installs from AWS and NVIDIA, and link the programs here: Slurm, Prometheus."""
    for path, text in FILES.items():
        machine.write(path, text, 0o755)
    machine.write("/cuda.c", CUDA)
    done = machine.run(
        "bash",
        "-euc",
        f"mkdir -p {HOME}/bin {HOME}/sbin\n"
        f"ln -s /usr/bin/srun {HOME}/bin/\n"
        f"ln -s /usr/sbin/slurmd {HOME}/sbin/\n"
        "ln -sf /usr/bin/prometheus-node-exporter /opt/ultracluster/bin/node_exporter\n"
        f"ln -sf {ROOT}/.prometheus/bin/prometheus /opt/ultracluster/bin/\n"
        "gcc -shared -fPIC /cuda.c -o /usr/local/lib/libcuda.so.1\n"
        "ldconfig",
    )
    assert done.returncode == 0, done.stderr


def check(machine: Machine, script: str = "/image-check.sh", **versions: str) -> tuple[int, list[str]]:
    """Run the check of an image, and return its exit code and what it says that fails."""
    done = machine.run("bash", "-e", script, SLURM, **VERSIONS | versions)
    print(done.stdout)
    assert done.stderr == ""
    return done.returncode, [line for line in done.stdout.splitlines() if not line.startswith(("ok: ", "    "))]
