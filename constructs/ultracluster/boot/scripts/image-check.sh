#!/usr/bin/env bash
# Checks an image for AWS PCS on an instance that was started from it: all is there, in the version that it should have.
#
#   image-check.sh SLURM
#
# EC2 Image Builder runs it, as root; a check that fails makes no image. It needs no GPU.
set -Eeuo pipefail
export LC_ALL=C
# Where the image's / stands: nothing on an instance, a directory in a test.
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

# shellcheck disable=SC2329
package() { [[ $(dpkg-query --show --showformat '${Version}' "$1") = "$2"* ]]; }

# shellcheck disable=SC2329
masked() { [ "$(systemctl is-enabled "$1")" = masked ]; }

check "NVIDIA driver $DRIVER or newer" driver
check "EFA driver" modinfo efa
check "EFA installer $EFA_VERSION or newer" efa
check "Lustre client" modinfo lustre
check "Lustre over EFA" modinfo kefalnd
check "NFS client" command -v mount.nfs4
check "chrony, with Amazon's time" held /etc/chrony/sources.d/amazon-time-sync.sources 169.254.169.123
check "chronyc" command -v chronyc
check "PCS agent ${AGENT_VERSION%-*}" held /opt/aws/pcs/version "AGENT_VERSION='${AGENT_VERSION%-*}'"
check "Slurm ${SLURM_VERSION%-*}" held "/opt/aws/pcs/scheduler/slurm-$slurm/version" "SLURM_VERSION='${SLURM_VERSION%-*}'"
check "Enroot $ENROOT_VERSION" test "$(enroot version 2>/dev/null)" = "$ENROOT_VERSION"
check "Pyxis" test -s "$root/opt/aws/pcs/scheduler/slurm-$slurm/lib/slurm/spank_pyxis.so"
check "Pyxis is a plugin of Slurm" held "/etc/aws/pcs/scheduler/slurm-$slurm/plugstack.conf.d/pyxis.conf" spank_pyxis.so
check "DCGM" command -v dcgmi
for part in core cuda13 proprietary proprietary-cuda13; do
    check "DCGM ${DCGM_VERSION#*:}, $part" package "datacenter-gpu-manager-4-$part" "$DCGM_VERSION"
done
check "dcgm-exporter $EXPORTER_VERSION" package datacenter-gpu-manager-exporter "$EXPORTER_VERSION"
for program in prometheus node_exporter dcgm-exporter; do
    check "$program" "$root/opt/ultracluster/bin/$program" --version
done
for unit in prometheus prometheus-node-exporter nvidia-dcgm-exporter; do
    check "$unit.service leaves the ports to the node's own units" masked "$unit.service"
done
if [ "$(uname -m)" = aarch64 ]; then check "IMEX" systemctl is-enabled nvidia-imex.service; fi
exit "$failed"
