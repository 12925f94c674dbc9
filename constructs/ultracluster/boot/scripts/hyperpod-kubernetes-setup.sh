#!/usr/bin/env bash
# Set a node of SageMaker HyperPod with Kubernetes up, before it joins: HyperPod runs this once on each new node, as root.
#
#   hyperpod-kubernetes-setup.sh
#
# Images are kept on the second volume, as AWS's own script does: https://github.com/awslabs/awsome-distributed-ai,
# 1.architectures/7.sagemaker-hyperpod-eks/LifecycleScripts/base-config/on_create_main.sh (commit 95b939c of 2026-07-23,
# read 2026-11-27)
#
# Exit code 0: the node can join. Another: HyperPod launches another node, for which it charges, without limit:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-eks.html (read 2026-11-27)
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
volume=@VOLUME@
images=$volume/containerd/data-root
settings=$root/etc/eks/containerd/containerd-config.toml

is_mounted() { grep -q " $volume " "$root/proc/mounts"; }

# When the node joins, nodeadm replaces containerd's configuration; an option of the daemon goes before it. AWS's
# image has the pause container in its directory. Read in https://github.com/awslabs/amazon-eks-ami (commit 81fec2e),
# nodeadm/internal/containerd, and https://github.com/containerd/containerd, docs/ops.md (2026-11-27)
move_images() {
    local running=no drop_in=$root/etc/systemd/system/containerd.service.d
    if systemctl is-active --quiet containerd.service; then
        running=yes
        systemctl stop containerd.service
    fi
    rm -rf "$root$images"
    mkdir -p "$root$images" "$drop_in"
    [ ! -d "$root/var/lib/containerd" ] || cp -a "$root/var/lib/containerd/." "$root$images"
    printf '%s\n' "[Unit]" "RequiresMountsFor=$volume" "[Service]" "ExecStart=" \
        "ExecStart=/usr/bin/containerd --root $images" >"$drop_in/50-ultracluster.conf"
    systemctl daemon-reload
    [ $running = no ] || systemctl start containerd.service
}

for _ in {1..12}; do
    ! is_mounted || break
    sleep "${ULTRACLUSTER_PAUSE:-5}"
done
if ! is_mounted; then
    echo "$volume is not mounted: images stay on the root volume"
elif [ -f "$settings" ]; then
    # Amazon Linux 2
    sed -i -E "s|^[# ]*root *=.*|root = \"$images\"|" "$settings"
else
    move_images
fi
