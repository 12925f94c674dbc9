#!/usr/bin/env bash
# Check an image for AWS PCS on an instance that was started from it: programs and their versions.
#
#   image-check.sh SLURM
#
# EC2 Image Builder runs it, as root; a check that fails makes no image. It needs no GPU.
set -Eeuo pipefail
export LC_ALL=C
# Root directory: empty on an instance, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
slurm=$1
failed=0

check() {
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then
        echo "ok: $what"
    else
        echo "FAILED: $what"
        failed=1
    fi
}

# `check` calls both by name.
# shellcheck disable=SC2329
driver() {
    local version
    version=$(modinfo --field version nvidia)
    [ "${version%%.*}" -ge "$DRIVER" ]
}

# shellcheck disable=SC2329
efa() {
    local there
    there=$(sed -n 's/.*EFA installer version: *//p' "$root/opt/amazon/efa_installed_packages")
    [ -n "$there" ] && [ "$(printf '%s\n' "$EFA_VERSION" "$there" | sort -V | tail -n 1)" = "$there" ]
}

# shellcheck disable=SC2329
held() { grep -qF "$2" "$root$1"; }

# Check that dcgm-exporter is the one that NVIDIA released with the DCGM of the image.
# shellcheck disable=SC2329
pair() {
    local dcgm exporter
    dcgm=$(dpkg-query --show --showformat '${Version}' datacenter-gpu-manager-4-core)
    exporter=$(dpkg-query --show --showformat '${Version}' datacenter-gpu-manager-exporter)
    dcgm=${dcgm#*:}
    [[ " $DCGM_PAIRS " = *" ${dcgm%%-*}=${exporter%%-*} "* ]]
}

# shellcheck disable=SC2329
masked() { [ "$(systemctl is-enabled "$1")" = masked ]; }

# Succeed if Prometheus signs what it sends: with invented keys, to a local server that keeps the first header. Packages of
# Debian and Ubuntu before 2.53 do not, and AWS refuses every sample.
# shellcheck disable=SC2329
signs() (
    program=$root/opt/ultracluster/bin/prometheus server="" agent=""
    here=$(mktemp -d)
    # shellcheck disable=SC2086  # none, one or two
    trap 'kill $server $agent 2>/dev/null; rm -rf "$here"' EXIT
    python3 -c '
import http.server, sys
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open(sys.argv[1] + "/header", "w") as file:
            file.write(self.headers.get("Authorization", "none") + "\n")
        self.send_response(204)
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 0), Server)
with open(sys.argv[1] + "/port", "w") as file:
    file.write(f"{server.server_port}\n")
server.serve_forever()' "$here" &
    server=$!
    for _ in {1..100}; do [ ! -s "$here/port" ] || break; sleep 0.1; done
    read -r port <"$here/port"
    cat >"$here/agent.yaml" <<EOF
global: {scrape_interval: 1s}
scrape_configs: [{job_name: self, static_configs: [{targets: ["127.0.0.1:$((port + 1))"]}]}]
remote_write: [{url: "http://127.0.0.1:$port/", sigv4: {region: us-east-1, access_key: AKIAEXAMPLE, secret_key: example}}]
EOF
    mode=--agent
    case $("$program" --version 2>&1) in *"version 2."*) mode=--enable-feature=agent ;; esac
    "$program" "$mode" --config.file="$here/agent.yaml" --storage.agent.path="$here/data" \
        --web.listen-address="127.0.0.1:$((port + 1))" &
    agent=$!
    for _ in {1..600}; do
        if [ -s "$here/header" ] || ! kill -0 "$agent" 2>/dev/null; then break; fi
        sleep 0.1
    done
    grep -q '^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/' "$here/header"
)

check "NVIDIA driver $DRIVER or newer" driver
check "EFA driver" modinfo efa
check "EFA installer $EFA_VERSION or newer" efa
check "Lustre client" modinfo lustre
check "Lustre over EFA" modinfo kefalnd
check "AWS's tool for Lustre over EFA" test -s "$root/opt/ultracluster/configure-efa-fsx-lustre-client/setup.sh"
check "CloudWatch agent" test -x "$root/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent"
check "NFS client" command -v mount.nfs4
check "chrony, with Amazon's time" held /etc/chrony/sources.d/amazon-time-sync.sources 169.254.169.123
check "chronyc" command -v chronyc
check "PCS agent ${AGENT_VERSION%-*}" held /opt/aws/pcs/version "AGENT_VERSION='${AGENT_VERSION%-*}'"
check "Slurm ${SLURM_VERSION%-*}" held "/opt/aws/pcs/scheduler/slurm-$slurm/version" "SLURM_VERSION='${SLURM_VERSION%-*}'"
check "Enroot $ENROOT_VERSION" test "$(enroot version 2>/dev/null)" = "$ENROOT_VERSION"
check "Enroot for users who are not root" runuser --user nobody -- env HOME=/tmp enroot list
check "Pyxis" test -s "$root/opt/aws/pcs/scheduler/slurm-$slurm/lib/slurm/spank_pyxis.so"
check "Pyxis is a plugin of Slurm" held "/etc/aws/pcs/scheduler/slurm-$slurm/plugstack.conf.d/pyxis.conf" spank_pyxis.so
check "DCGM" command -v dcgmi
check "DCGM and dcgm-exporter, one of $DCGM_PAIRS" pair
for program in prometheus node_exporter dcgm-exporter; do
    check "$program" "$root/opt/ultracluster/bin/$program" --version
done
check "prometheus signs remote_write" signs
check "nvidia-dcgm-exporter.service leaves its port to the node's own unit" masked nvidia-dcgm-exporter.service
if [ "$(uname -m)" = aarch64 ]; then check "IMEX" systemctl is-enabled nvidia-imex.service; fi
exit "$failed"
