#!/usr/bin/env bash
# Create the directory of a job on the local disks of a node, or remove it: /scratch/JOB.
#
#   job-scratch.sh create JOB UID
#   job-scratch.sh remove JOB
#
# Users may write to the volume, so they can take any name: what is there is renamed, and a link is never followed. It is
# deleted in the background with low priority: terabytes take minutes, and the node has other jobs.
# Exit code 0: done, or there is no volume. 1: not done.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# Slurm gives its prolog no path to rely on.
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
scratch=$root$(<"$root/etc/ultracluster/scratch")

remove() {
    local aside
    [ -e "$scratch/$1" ] || [ -L "$scratch/$1" ] || return 0
    # Its name is new, and only root can enter it.
    aside=$(mktemp --directory "$scratch/.removed-XXXXXXXX")
    mv --no-target-directory "$scratch/$1" "$aside/job"
    # Slurm ends the process group of its scripts. What a reboot left is deleted too; an empty directory is just in use.
    setsid --fork nice -n 19 ionice -c 3 find "$scratch" -mindepth 1 -maxdepth 1 -type d -name '.removed-*' \
        -uid "$EUID" -not -empty -exec rm -rf --one-file-system -- {} + </dev/null >/dev/null 2>&1
}

main() {
    [[ ${2:-} =~ ^[0-9]+$ && ${3:-0} =~ ^[0-9]+$ ]] || return 1
    # Without the volume the directory is that of the root volume.
    [ "$(cat "$root/run/ultracluster/health/local-scratch" 2>/dev/null)" = ok ] || return 0
    # Of a job that was requeued, too.
    remove "$2"
    [ "$1" = create ] || return 0
    # With root as its owner, nobody can replace it before it has the right one.
    mkdir -m 0700 "$scratch/$2" && chown "${3:?}" "$scratch/$2"
}

main "$@"
