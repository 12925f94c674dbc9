#!/usr/bin/env bash
# Slurm's prolog where the cluster has no health checks, or a Prolog of its own: a node whose boot failed, or that has read
# no users yet, takes no jobs, so
# that AWS PCS need not terminate it and launch another one, without limit. Then it runs the Prolog of the cluster.
#
#   boot-guard.sh [--scripts]
#
#   --scripts    only report the scripts of the cluster file that did not run, in /run/ultracluster/health/script
#
# /etc/ultracluster/scripts has the scripts without which a node takes no jobs: the minutes from the start of the node
# after which each must have ended, and its name. /etc/ultracluster/prolog has the Prolog of the cluster, a path or a
# pattern; it is empty if there is none.
#
# Exit code 0: the job may start here. Any other: Slurm drains the node, and the job starts on others.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
settings=$root/etc/ultracluster
health=$root/run/ultracluster/health

log() { echo "boot-guard: $*" >&2; }

# AWS PCS could not download a script, or ended before it. The node would have started without it.
find_missing() {
    local minutes name uptime
    # Without a state, or on a node of a deployment that wrote no such list, there is nothing to find.
    [ ! -e "$health/script" ] && [ -r "$settings/scripts" ] || return 0
    read -r uptime _ <"$root/proc/uptime"
    while read -r minutes name; do
        if [ -e "$root/opt/ultracluster/scripts/$name.result" ] || [ "${uptime%.*}" -lt $((minutes * 60)) ]; then
            continue
        fi
        mkdir -p "$health"
        printf 'failed: AWS PCS did not run the script %s, or could not download it\n' "$name" >"$health/.script"
        mv "$health/.script" "$health/script"
        return 0
    done <"$settings/scripts"
}

# The drain gives the reason; without it Slurm drains the node for its prolog.
refuse() {
    log "refused: $1: $(sed -n 1p "$health/$1" 2>/dev/null || true)"
    timeout --kill-after=5 45 "$root/usr/local/sbin/ultracluster-drain-on-failure" --now "$1" >&2 || true
    exit 1
}

main() {
    local file prolog
    find_missing
    [ "${1:-}" != --scripts ] || return 0
    for file in boot script users; do
        if grep -qs '^failed' "$health/$file"; then refuse "$file"; fi
    done
    # Without a state the boot did not end: a failed boot script leaves none.
    [ -e "$health/boot" ] || { log "refused: the boot of the node did not end" && exit 1; }
    prolog=$(cat "$settings/prolog")
    [ -n "$prolog" ] || return 0
    # As Slurm does: in the order of the names, and all must succeed. None is as bad as one that fails.
    for file in $prolog; do
        "$file" || { log "the Prolog $file exited with code $?" && exit 1; }
    done
}

main "$@"
