#!/usr/bin/env bash
# Create an image for AWS PCS of AWS's Deep Learning AMI for Ubuntu 24.04: EFA, PCS agent, Slurm, Enroot, Pyxis, DCGM
# and what collects metrics.
#
#   image-build.sh REGION SLURM
#
# EC2 Image Builder runs it, as root, and gives all versions by its environment. What is downloaded is checked against a
# checksum; what is built comes from a commit. Steps follow AWS's own:
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_custom.html and
# https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs/assets/scripts/install-enroot-pyxis.sh (commit
# 95b939c of 2026-07-23; both read 2026-11-21).
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
region=$1
slurm=$2
home=/opt/aws/pcs/scheduler/slurm-$slurm
etc=/etc/aws/pcs/scheduler/slurm-$slurm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt() { apt-get --quiet --yes --option DPkg::Lock::Timeout=600 "$@"; }

# Download a file, and verify its checksum.
fetch_file() {
    curl --fail --silent --show-error --location --retry 5 --output "$2" "$1"
    echo "$3  $2" | sha256sum --check --strict
}

# Download an archive, verify its checksum, and unpack it.
fetch() {
    fetch_file "$@"
    tar -xf "$2"
}

# Check out a commit, with its submodules.
source_of() {
    git init --quiet "$3"
    git -C "$3" fetch --quiet --depth 1 "$1" "$2"
    git -C "$3" checkout --quiet FETCH_HEAD
    [ "$(git -C "$3" rev-parse HEAD)" = "$2" ]
    git -C "$3" submodule --quiet update --init --recursive
}

# Another kernel than that of the parent has neither its driver nor its Lustre client.
apt-mark hold linux-aws linux-image-aws linux-headers-aws "linux-image-$(uname -r)" || true
systemctl disable --now unattended-upgrades.service || true
apt update
apt install --no-install-recommends build-essential chrony curl fuse-overlayfs gawk git jq libcap2-bin libmd-dev libtool \
    automake nfs-common parallel pigz squashfs-tools squashfuse zstd libnvidia-container-tools

# The health check asks chrony for the time: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configure-ec2-ntp.html
# (read 2026-11-21); sources.d is read by Ubuntu's chrony.conf.
echo "server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4" >/etc/chrony/sources.d/amazon-time-sync.sources

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

source_of "$ENROOT_REPOSITORY" "$ENROOT_COMMIT" enroot
make -C enroot install prefix=/usr sysconfdir=/etc
make -C enroot setcap prefix=/usr sysconfdir=/etc
ln -sf /usr/share/enroot/hooks.d/50-slurm-pmi.sh /usr/share/enroot/hooks.d/50-slurm-pytorch.sh /etc/enroot/hooks.d/

# Slurm loads no plugin of another release: each gets its own.
source_of "$PYXIS_REPOSITORY" "$PYXIS_COMMIT" pyxis
CPPFLAGS="-I$home/include" make -C pyxis install prefix=/usr/local libdir="$home/lib"
install -d "$etc/plugstack.conf.d"
echo "required $home/lib/slurm/spank_pyxis.so" >"$etc/plugstack.conf.d/pyxis.conf"
# The hooks of Enroot call scontrol, and must not find one of another release.
echo "PATH=$home/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" >/etc/default/slurmd

# The parent need not have kept NVIDIA's package source. Its architectures have names of their own there.
case $(uname -m) in aarch64) nvidia=sbsa debian=arm64 ;; *) nvidia=x86_64 debian=amd64 ;; esac
fetch_file "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/$nvidia/cuda-keyring_${CUDA_KEYRING_VERSION}_all.deb" \
    cuda-keyring.deb "$CUDA_KEYRING_SHA256"
dpkg --install cuda-keyring.deb
apt update

# The parent has a DCGM of its own, newer than the exporter: 4.7.0 on 2026-10-09, by
# https://docs.aws.amazon.com/dlami/latest/devguide/aws-deep-learning-ami-gpubaseossarm64-ul2404-2026-10-09.html (read
# 2026-11-21). Whatever of it stayed would want its own version of the rest.
mapfile -t theirs < <(dpkg-query --show --showformat '${Package}\n' 'datacenter-gpu-manager*' || true)
if [ "${#theirs[@]}" -gt 0 ]; then apt purge --allow-change-held-packages "${theirs[@]}"; fi
if [[ $(apt-cache madison datacenter-gpu-manager-4-core) != *"$DCGM_VERSION"* ]]; then
    echo "the parent's repositories have no DCGM $DCGM_VERSION: it needs NVIDIA's own for Ubuntu" >&2
    exit 1
fi
# Each package wants the others in its own version, and apt takes the
# newest of what is not named. Without the proprietary ones DCGM silently skips diagnostics, and has no profiling of
# A100: https://github.com/NVIDIA/dcgm-exporter, README.md and docker/Dockerfile (commit d5e5f51 of 2026-05-12).
dcgm=()
for part in core cuda13 proprietary proprietary-cuda13; do dcgm+=("datacenter-gpu-manager-4-$part=$DCGM_VERSION*"); done
# NVIDIA's repository signs it.
apt install --no-install-recommends "${dcgm[@]}" "datacenter-gpu-manager-exporter=$EXPORTER_VERSION*"
systemctl enable nvidia-dcgm.service
# A unit of the node's own starts it; that of the package would take its port.
systemctl mask --now nvidia-dcgm-exporter.service
install -d /opt/ultracluster/bin
ln -sf /usr/bin/dcgm-exporter /opt/ultracluster/bin/
# Upstream's own: Ubuntu's prometheus does not sign what it sends.
releases=https://github.com/prometheus
name=prometheus-$PROMETHEUS_VERSION.linux-$debian
fetch "$releases/prometheus/releases/download/v$PROMETHEUS_VERSION/$name.tar.gz" prometheus.tar.gz "$PROMETHEUS_SHA256"
install -m 0755 "$name/prometheus" /opt/ultracluster/bin/
name=node_exporter-$NODE_EXPORTER_VERSION.linux-$debian
fetch "$releases/node_exporter/releases/download/v$NODE_EXPORTER_VERSION/$name.tar.gz" node_exporter.tar.gz "$NODE_EXPORTER_SHA256"
install -m 0755 "$name/node_exporter" /opt/ultracluster/bin/
# UltraServers only: the prolog starts it for each job.
if [ "$(uname -m)" = aarch64 ]; then systemctl enable nvidia-imex.service; fi
