#!/usr/bin/env bash
# Check an image for AWS PCS on an instance that was started from it: run each program, as far as it runs without GPU, EFA
# device and file system.
#
#   image-check.sh SLURM
#
# EC2 Image Builder runs it, as root. A check that fails makes no image, and the log has what its program printed. The
# instance is terminated afterwards, so nothing is undone. `CHECKS_NOT_RUN` of catalogue.ec2 lists what is not run.
#
# `check` calls the functions by name.
# shellcheck disable=SC2329
set -uo pipefail
# All checks run, also in a shell that ends at the first command that fails.
set +e
export LC_ALL=C
slurm=$1
home=/opt/aws/pcs/scheduler/slurm-$slurm
own=/opt/ultracluster
failed=0
here=$(mktemp -d)
chmod 755 "$here"
trap 'rm -rf "$here"' EXIT

# A check ends at its first command that fails: not as a condition, which would let it go on.
check() {
    (
        set -e
        "${@:2}"
    ) >"$here/log" 2>&1
    # shellcheck disable=SC2181
    if [ $? -eq 0 ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1"
        tail -n 5 "$here/log" | sed 's/^/    /'
        failed=1
    fi
}

# Repeat a command for a minute, until it succeeds and prints a line that matches.
answers() {
    local try
    for try in {1..30}; do
        if timeout 60 "${@:2}" >"$here/answer" 2>&1 && grep -E -e "$1" "$here/answer"; then return; fi
        echo "no answer, $try of 30"
        sleep 2
    done
    cat "$here/answer"
    return 1
}

# Run a program in the background until the check ends.
start() {
    "$@" &
    # shellcheck disable=SC2064  # those that run now
    trap "kill $(jobs -p | tr '\n' ' ') 2>/dev/null || true" EXIT
}

# Print a port that is free.
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

held() { grep -F -e "$2" "$1"; }

driver() {
    local version
    version=$(modinfo --field version nvidia)
    [ "${version%%.*}" -ge "$DRIVER" ]
    if [ -n "$DRIVER_BELOW" ]; then
        echo "The driver is $version. From $DRIVER_BELOW on, EFA does not access GPU memory: name an older parent"
        [ "$(printf '%s\n' "$version" "$DRIVER_BELOW" | sort -V | head -n 1)" != "$DRIVER_BELOW" ]
        modprobe --showconfig | grep '^options nvidia .*NVreg_GrdmaPciTopoCheckOverride=1'
    fi
    # With all that it depends on, for this kernel. Without a GPU it cannot be loaded.
    modprobe --show-depends nvidia-uvm
}

# The library of the driver has a version of CUDA, without a GPU too.
cuda() {
    python3 -c '
import ctypes, sys
version = ctypes.c_int()
error = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
sys.exit(f"error {error}, version {version.value}" if error or not version.value else 0)'
}

# Without a GPU, the answer is that the driver is not loaded.
container_tools() { { nvidia-container-cli info || true; } 2>&1 | grep -E 'nvml error|NVRM version'; }

efa() {
    local there
    there=$(sed -n 's/.*EFA installer version: *//p' /opt/amazon/efa_installed_packages)
    [ "$(printf '%s\n' "$EFA_VERSION" "${there:-0}" | sort -V | tail -n 1)" = "$there" ]
    modprobe efa
    # Without a device libfabric lists its provider: prov/efa/src/efa_prov.c, from v2.1.0 (read 2026-11-23).
    answers '^efa:' /opt/amazon/efa/bin/fi_info --list
}

# As a mount does.
lustre() {
    modprobe --show-depends kefalnd
    modprobe lustre
    lctl list_nids
    lfs --version
}

# AWS's tool has a dry run, which checks commands, versions and the network interface.
lustre_efa() {
    local tool=configure-efa-fsx-lustre-client program
    # The tool, or the copy that its unit runs.
    for program in "$own/$tool/bin/$tool.py" "/usr/local/sbin/$tool.py"; do
        [ ! -f "$program" ] || break
    done
    timeout 300 python3 "$program" --internal-check-only --allow-no-efa --disable-dmesg
}

# Mount from this instance, which is no server: it refuses the connection.
nfs() {
    modprobe nfsv4
    mkdir "$here/mount"
    { timeout 120 mount.nfs4 127.0.0.1:/ "$here/mount" -o retry=0 || true; } 2>&1 | tee /dev/stderr | grep -i refused
}

# As for local disks: two files instead of them.
stripe() {
    local part disks=()
    for part in 1 2; do
        truncate --size 512M "$here/disk$part"
        disks+=("$(losetup --find --show "$here/disk$part")")
    done
    mdadm --create /dev/md/check --run --level=0 --raid-devices=2 "${disks[@]}"
    mkfs.xfs -q -K -l su=32k /dev/md/check
    mdadm --stop /dev/md/check
    losetup --detach "${disks[@]}"
}

# The agent validates a configuration before it starts.
cloudwatch() {
    echo '{"metrics": {"metrics_collected": {"mem": {"measurement": ["mem_used_percent"]}}}}' >"$here/agent.json"
    /opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl -a fetch-config -m ec2 -c "file:$here/agent.json" |
        tee /dev/stderr | grep 'Configuration validation succeeded'
}

# Ask the server of the image's file once, and the chronyd that runs.
time_source() {
    local file=/etc/chrony/sources.d/amazon-time-sync.sources
    held "$file" 169.254.169.123
    chronyd -Q -t 60 -f "$file"
    answers 169.254.169.123 chronyc -n sources
}

# Slurm prints the options of the plugins that it loaded; a plugin of another release is an error.
pyxis() {
    local auth=munge
    # PCS authenticates with a key of Slurm, and its Slurm need not have the plugin for munge.
    [ ! -e "$home/lib/slurm/auth_slurm.so" ] || auth=slurm
    "$home/sbin/slurmd" -C
    printf '%s\n' ClusterName=check SlurmctldHost=localhost "AuthType=auth/$auth" "PlugStackConfig=$here/plugstack.conf" \
        >"$here/slurm.conf"
    echo "include /etc/aws/pcs/scheduler/slurm-$slurm/plugstack.conf.d/*" >"$here/plugstack.conf"
    SLURM_CONF=$here/slurm.conf "$home/bin/srun" --help >"$here/help"
    held "$here/help" --container-image
}

# Start a container as a user who is not root. Its root file system is the shell of this instance.
enroot_starts() {
    local root=$here/root file as
    as=(runuser --user nobody -- env HOME=/tmp timeout 60 enroot)
    [ "$(enroot version)" = "$ENROOT_VERSION" ]
    mkdir -p "$root"/{dev,etc,proc,sys,tmp,run}
    install -D /bin/bash "$root/bin/sh"
    for file in /bin/bash $(ldd /bin/bash | grep -oE '/[^ ]+'); do install -D "$file" "$root$file"; done
    mksquashfs "$root" "$here/image.sqsh" -quiet -no-progress
    chmod 644 "$here/image.sqsh"
    "${as[@]}" create --force --name image-check "$here/image.sqsh"
    # shellcheck disable=SC2016  # the shell of the container expands it
    "${as[@]}" start image-check /bin/bash -c 'echo "container of $UID"' >"$here/container"
    "${as[@]}" remove --force image-check
    held "$here/container" "container of $(id -u nobody)"
}

# Without a driver DCGM manages no GPU, and answers.
dcgm() {
    systemctl start nvidia-dcgm.service
    answers 'GPUs? found|GPU list' dcgmi discovery --list
}

# dcgm-exporter is the one that NVIDIA released with the DCGM of the image.
pair() {
    local dcgm exporter
    dcgm=$(dpkg-query --show --showformat '${Version}' datacenter-gpu-manager-4-core)
    exporter=$(dpkg-query --show --showformat '${Version}' datacenter-gpu-manager-exporter)
    dcgm=${dcgm#*:}
    [[ " $DCGM_PAIRS " = *" ${dcgm%%-*}=${exporter%%-*} "* ]]
}

# It starts DCGM in its own process. Without a GPU it may end then.
exporter() {
    echo 'DCGM_FI_DEV_GPU_TEMP, gauge, Temperature.' >"$here/counters.csv"
    start "$own/bin/dcgm-exporter" --address "127.0.0.1:$(port)" --collectors "$here/counters.csv" >"$here/exporter" 2>&1
    answers 'DCGM successfully initialized' cat "$here/exporter"
}

node_exporter() {
    local at
    at=127.0.0.1:$(port)
    start "$own/bin/node_exporter" --web.listen-address="$at"
    answers '^node_uname_info' curl --fail --silent --show-error --max-time 10 "http://$at/metrics"
}

# Send samples, signed with invented keys, to a local server that keeps the header. Packages of Debian and Ubuntu before
# 2.53 do not sign, and AWS refuses every sample.
prometheus() {
    local program=$own/bin/prometheus mode=--agent receiver own_port
    receiver=$(port)
    own_port=$(port)
    start python3 -c '
import http.server, sys
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open(sys.argv[1], "w") as file:
            file.write(self.headers.get("Authorization", "none") + "\n")
        self.send_response(204)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Server).serve_forever()' "$here/header" "$receiver"
    cat >"$here/agent.yaml" <<END
global: {scrape_interval: 1s}
scrape_configs: [{job_name: self, static_configs: [{targets: ["127.0.0.1:$own_port"]}]}]
remote_write: [{url: "http://127.0.0.1:$receiver/", sigv4: {region: us-east-1, access_key: AKIAEXAMPLE, secret_key: example}}]
END
    case $("$program" --version 2>&1) in *"version 2."*) mode=--enable-feature=agent ;; esac
    start "$program" "$mode" --config.file="$here/agent.yaml" --storage.agent.path="$here/data" \
        --web.listen-address="127.0.0.1:$own_port"
    answers '^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/' cat "$here/header"
}

masked() { [ "$(systemctl is-enabled "$1")" = masked ]; }

check "NVIDIA driver $DRIVER or newer, for this kernel" driver
check "CUDA of the driver" cuda
check "NVIDIA's tools for containers" container_tools
check "EFA installer $EFA_VERSION or newer" efa
check "Lustre client, with EFA" lustre
check "AWS's tool for Lustre over EFA" lustre_efa
check "NFS client" nfs
check "stripe of local disks" stripe
check "CloudWatch agent" cloudwatch
check "chrony, with Amazon's time" time_source
check "PCS agent ${AGENT_VERSION%-*}" held /opt/aws/pcs/version "AGENT_VERSION='${AGENT_VERSION%-*}'"
check "Slurm ${SLURM_VERSION%-*}" held "$home/version" "SLURM_VERSION='${SLURM_VERSION%-*}'"
check "Pyxis in Slurm $slurm" pyxis
check "Enroot $ENROOT_VERSION" enroot_starts
check "DCGM" dcgm
check "DCGM and dcgm-exporter, one of $DCGM_PAIRS" pair
check "dcgm-exporter" exporter
check "nvidia-dcgm-exporter.service leaves its port to the node's own unit" masked nvidia-dcgm-exporter.service
check "node_exporter" node_exporter
check "prometheus signs remote_write" prometheus
if [ "$(uname -m)" = aarch64 ]; then check "IMEX" systemctl is-enabled nvidia-imex.service; fi
exit "$failed"
