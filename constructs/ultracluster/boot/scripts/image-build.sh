#!/usr/bin/env bash
# Prepare an image for AWS PCS from AWS's Deep Learning AMI for Ubuntu 24.04: EFA, PCS agent and Slurm.
#
#   image-build.sh REGION SLURM
#
# EC2 Image Builder runs it, as root, with all versions in its environment; install-software.sh follows. Steps follow
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_custom.html (read 2026-11-21).
set -Eeuo pipefail
trap 'echo "image-build: failed: $BASH_COMMAND" >&2' ERR
export LC_ALL=C DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
root=${ULTRACLUSTER_ROOT:-}
region=$1
slurm=$2
# Enroot's packages need the glibc of Ubuntu 24.04, and the NFS and directory clients below are named as there.
if ! grep -qs '^VERSION_ID="24.04"' "$root/etc/os-release" || ! grep -qs '^ID=ubuntu' "$root/etc/os-release"; then
    name=$(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release" || true)
    echo "The parent is ${name:-of an unknown release}, and this build needs Ubuntu 24.04: name another parent" >&2
    exit 1
fi
# AWS builds the client of Lustre for some kernels only, and its module for EFA with it. Nothing here installs them:
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html (read 2026-11-24)
for module in lustre kefalnd; do
    modinfo "$module" >/dev/null 2>&1 && continue
    echo "The kernel $(uname -r) of the parent has no module $module, which file systems need: name another parent," \
        "with a kernel of the table 'Ubuntu clients' in the guide of FSx for Lustre" >&2
    exit 1
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Configuration files that the parent edited stay: a question would have no answer.
apt() {
    apt-get --quiet --yes --option DPkg::Lock::Timeout=600 --option Acquire::Retries=3 \
        --option Dpkg::Options::=--force-confdef --option Dpkg::Options::=--force-confold "$@"
}

# Neither apt-get update nor apt-mark waits for another program of apt, as apt-daily.service is after the start of an instance.
again() {
    local try
    for try in {1..10}; do
        if "$@"; then return; fi
        sleep "$((6 * try))"
    done
    return 1
}

# Download a file, verify it and unpack it.
fetch() {
    echo "image-build: $1"
    curl --fail --silent --show-error --location --connect-timeout 10 --retry 5 --speed-limit 50000 --speed-time 20 \
        --output "$2" "$1"
    echo "$3  $2" | sha256sum --check --strict
    tar -xf "$2"
}

# The build only: nodes update themselves, but for kernel and driver. An update that runs already is waited for.
systemctl stop apt-daily.timer apt-daily-upgrade.timer || true
# Another kernel than that of the parent has neither its driver nor its Lustre client.
dpkg-query --show --showformat '${db:Status-Abbrev} ${Package}\n' 'linux-*' | awk '$1 == "ii" { print $2 }' |
    grep -E '^linux-(aws|image|headers|modules)' >packages || true
mapfile -t packages <packages
if [ "${#packages[@]}" -gt 0 ]; then again apt-mark hold "${packages[@]}"; fi
again apt update
apt install --no-install-recommends curl mdadm xfsprogs nfs-common sssd-ldap sssd-tools libnss-sss libpam-sss

# The parent's may be newer, and stays.
there=$(sed -n 's/.*EFA installer version: *//p' /opt/amazon/efa_installed_packages || true)
if [ "$(printf '%s\n' "$EFA_VERSION" "${there:-0}" | sort -V | tail -n 1)" != "${there:-0}" ]; then
    fetch "https://efa-installer.amazonaws.com/aws-efa-installer-$EFA_VERSION.tar.gz" efa.tar.gz "$EFA_SHA256"
    (cd aws-efa-installer && ./efa_installer.sh --yes)
fi

repository=https://aws-pcs-repo-$region.s3.$region.amazonaws.com
fetch "$repository/aws-pcs-agent/aws-pcs-agent-v$AGENT_VERSION.tar.gz" agent.tar.gz "$AGENT_SHA256"
(cd aws-pcs-agent && ./installer.sh)
fetch "$repository/aws-pcs-slurm/aws-pcs-slurm-$slurm-installer-$SLURM_VERSION.tar.gz" slurm.tar.gz "$SLURM_SHA256"
(cd "aws-pcs-slurm-$slurm-installer" && ./installer.sh -y)

# UltraServers only: the prolog starts IMEX for each job. Before 595, which has no such parameter, the driver needs one
# for EFA to access GPU memory: https://github.com/NVIDIA/aicr/pull/668 and issues/2459 (read 2026-11-27)
if [ "$(uname -m)" = aarch64 ]; then
    systemctl enable nvidia-imex.service
    driver=$(modinfo --field version nvidia)
    if [ "${driver%%.*}" -lt 595 ]; then
        mkdir -p "$root/etc/modprobe.d"
        echo "options nvidia NVreg_GrdmaPciTopoCheckOverride=1" >"$root/etc/modprobe.d/ultracluster-gpudirect.conf"
    fi
fi
