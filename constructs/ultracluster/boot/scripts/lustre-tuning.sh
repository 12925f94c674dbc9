#!/usr/bin/env bash
# Tune the Lustre client as AWS recommends, after a mount: the settings do not outlive it.
#
#   lustre-tuning.sh
#
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-tips.html (read 2026-11-21). The options of kernel
# modules that belong to it are in /etc/modprobe.d. Exit code 0: all is set. 1: something could not be set.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
cpus=$(nproc)
memory_gib=$(($(awk '$1 == "MemTotal:" { print $2 }' "$root/proc/meminfo") / 1024 / 1024))
code=0

set_parameter() {
    # The patterns are lctl's.
    if ! timeout 20 lctl set_param "$1"; then
        echo "lustre-tuning: could not set $1" >&2
        code=1
    fi
}

if [ "$memory_gib" -gt 64 ]; then
    set_parameter "ldlm.namespaces.*.lru_max_age=600000"
    set_parameter "ldlm.namespaces.*.lru_size=$((100 * cpus))"
fi
if [ "$cpus" -gt 64 ]; then
    set_parameter "osc.*OST*.max_rpcs_in_flight=32"
    set_parameter "mdc.*.max_rpcs_in_flight=64"
    set_parameter "mdc.*.max_mod_rpcs_in_flight=50"
fi
set_parameter "llite.*.statahead_max=512"
set_parameter "llite.*.statahead_agl=1"
# Clients before the latest 2.15 do not have it.
if timeout 20 lctl get_param "llite.*.statahead_xattr" >/dev/null 2>&1; then
    set_parameter "llite.*.statahead_xattr=1"
fi
exit "$code"
