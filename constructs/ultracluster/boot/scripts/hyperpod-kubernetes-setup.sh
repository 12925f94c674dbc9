#!/usr/bin/env bash
# Set a node of SageMaker HyperPod with Kubernetes up, before it joins: HyperPod runs this once on each new node, as root.
#
#   hyperpod-kubernetes-setup.sh
#
# Images are kept on the second volume, as AWS's own script does: https://github.com/aws/sagemaker-hyperpod-cluster-setup,
# eks/cloudformation/resources/lifecycle-script/base-config/on_create.sh (commit b920fcf of 2025-08-29, read 2026-11-23)
#
# Exit code 0: the node can join. Another: HyperPod replaces it.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
volume=@VOLUME@
settings=$root/etc/eks/containerd/containerd-config.toml

if grep -q " $volume " "$root/proc/mounts" && [ -f "$settings" ]; then
    sed -i -E "s|^[# ]*root *=.*|root = \"$volume/containerd/data-root\"|" "$settings"
fi
