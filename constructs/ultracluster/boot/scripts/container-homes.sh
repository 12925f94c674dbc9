#!/usr/bin/env bash
# Create the directories of Enroot for users, before another user can: Enroot starts what it finds in them.
#
#   container-homes.sh UID ...
#
# /etc/enroot/enroot.conf names them, below directories in which every user may write. One that belongs to somebody else is
# deleted with its content. In the prolog and the epilog of a job, containers of this job are deleted too: Pyxis leaves them
# when the node or slurmstepd ended first, and a requeued job has the same id, with which Enroot creates no second one.
# https://github.com/NVIDIA/pyxis, pyxis_slurmstepd.c (v0.24.0), and NVIDIA/enroot, src/runtime.sh (v4.1.2; read 2026-11-28)
#
# Exit code 0: all belong to their users, or there is no Enroot. 1: one does not.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
conf=$root/etc/enroot/enroot.conf
code=0

# Succeed if a directory belongs to a user, who alone could have created it.
belongs() { [ ! -L "$1" ] && [ "$(stat -c '%u %F' "$1" 2>/dev/null)" = "$2 directory" ]; }

create() {
    belongs "$1" "$2" && return
    if [ -e "$1" ] || [ -L "$1" ]; then
        echo "container-homes: $1 does not belong to user $2, and is deleted" >&2
        rm -rf "$1"
    fi
    # With root as its owner, nobody can replace it before it has the right one.
    mkdir -m 0700 "$1" && chown "$2" "$1" && belongs "$1" "$2"
}

main() {
    local base uid
    [ -r "$conf" ] || return 0
    while read -r base; do
        [ -d "$base" ] || continue
        for uid in "$@"; do
            create "$base/user-$uid" "$uid" || { code=1 && continue; }
            [ -z "${SLURM_JOB_ID:-}" ] || rm -rf --one-file-system "$base/user-$uid/pyxis_$SLURM_JOB_ID."* || code=1
        done
    done < <(sed -nE 's,^ENROOT_(RUNTIME|CACHE|DATA)_PATH[ =]+(/[^ ]*)/user-\$\(id -u\)$,\2,p' "$conf")
    return "$code"
}

main "$@"
