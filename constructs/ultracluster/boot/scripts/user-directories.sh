#!/usr/bin/env bash
# Create the directories of users on the shared file system, before another user can: jobs start what is in them.
#
#   user-directories.sh UID ...
#
# The image's own user has one too. /etc/ultracluster/shared names the file system; without it there is nothing to do. A directory, file or link that
# belongs to somebody else is kept, and reported: jobs of that user refuse it. Exit code 0: all belong to their users, or
# root can create none. 1: one does not.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
code=0

log() { echo "user-directories: $*" >&2; }

# Succeed if the file system is mounted. The first use mounts it.
is_mounted() {
    [ -d "$root$1" ] && stat --file-system "$root$1" >/dev/null &&
        awk -v path="$1" '$5 == path { type = $0 } END { exit type == "" || type ~ / - autofs / }' \
            "$root/proc/self/mountinfo"
}

# Succeed if only root can rename or replace what root has in a directory.
is_roots() {
    local is
    is=$(stat -c '%u %F %a' "$1") && [[ $is =~ ^0\ directory\ ([0-7]+)$ ]] || return 1
    (((8#${BASH_REMATCH[1]} & 8#022) == 0 || (8#${BASH_REMATCH[1]} & 8#1000) != 0))
}

create() {
    local directory=$1 uid=$2 gid=$3 is
    if ! mkdir -m 0700 "$directory" 2>/dev/null; then
        is=$(stat -c '%u %F' "$directory" 2>/dev/null) || is=""
        [ "$is" != "$uid directory" ] || return 0
        # Another node hands it over, or was lost before: in this directory nobody else can create one of root's.
        if [ "$is" != "0 directory" ] || [ -n "$(ls -A "$directory")" ]; then
            log "$directory does not belong to user $uid: move it away, or give it to the user"
            return 1
        fi
    fi
    chown -h "$uid:$gid" "$directory"
}

main() {
    local shared user name uid gid
    [ -r "$root/etc/ultracluster/shared" ] || return 0
    read -r shared <"$root/etc/ultracluster/shared"
    # Not below the mount point.
    is_mounted "$shared" || return 0
    # Where users may rename what root creates, nothing that root does here is safe.
    is_roots "$root$shared" || return 0
    for user in "$@" ubuntu ec2-user; do
        IFS=: read -r name _ uid gid _ < <(getent passwd "$user") || continue
        # Names of a directory of users may be any; these are directories of the cluster.
        [[ $name =~ ^[A-Za-z0-9_][A-Za-z0-9._@-]*$ ]] && [ "$uid" -ge 1000 ] || continue
        case $name in containers | jobs) continue ;; esac
        create "$root$shared/$name" "$uid" "$gid" || code=1
    done
    return "$code"
}

main "$@"
