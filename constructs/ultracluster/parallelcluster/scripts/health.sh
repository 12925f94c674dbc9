#!/usr/bin/env bash
# Custom action OnNodeConfigured of compute nodes: install the health check, and run it before slurmd starts.
#
#   health.sh NAME VALUE...
#
# Names and values are those of health-check.sh, such as gpus 8. If the check fails, the node does not join, and
# ParallelCluster replaces it.
set -Eeuo pipefail

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
program=$root/usr/local/sbin/ultracluster-health-check
install -d -m 755 "$root/etc/ultracluster" "$root/usr/local/sbin"
while [ $# -gt 1 ]; do
    printf '%s %s\n' "$1" "$2"
    shift 2
done >"$root/etc/ultracluster/health"
cat >"$program" <<'END_OF_HEALTH_CHECK'
HEALTH_CHECK
END_OF_HEALTH_CHECK
chmod 755 "$program"
"$program" --patience 180
