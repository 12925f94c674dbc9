#!/usr/bin/env bash
# Prepare a Slurm node for its node group, before slurmd starts: write its files, mount file systems, start units.
#
#   node-boot.sh [NODE_GROUP=NAME] [DEVICE ...]
#
# The name is written to /etc/ultracluster/node-group, for units: the nodes of equal groups run the same script.
# The files follow its last line, as a tar in base64. /etc/ultracluster/boot-mounts is one of them, with a path, a
# type, options and the unit that mounts on each line; the devices are for these lines, in their order.
# /etc/ultracluster/boot-units names the units, in the order in which they start; those that a mount comes after start
# before it is mounted on first use.
#
# Exit code 0: the files are there. What else went wrong is in /run/ultracluster/health/boot, and the node is
# drained for it. 1: they are not, nor is the prolog, for which Slurm drains the node. It may run any number of times.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
settings=$root/etc/ultracluster
health=$root/run/ultracluster/health
# A node has about 30 minutes to join Slurm: all of this must have ended, well or not, in less.
# https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-best-practices.html (read 2026-11-21)
limit=${ULTRACLUSTER_BOOT_LIMIT:-1200}
problems=""

state() {
    mkdir -p "$health"
    printf '%s\n' "$1" >"$health/.boot"
    mv "$health/.boot" "$health/boot"
}

log() { echo "node-boot: $*"; }

# Record an error. The steps after it still run.
problem() {
    problems+="${problems:+; }$*"
    log "$*" >&2
}

# Run a command for as long as the boot has left.
within() {
    local left=$((limit - SECONDS))
    [ "$left" -ge 1 ] || return 124
    timeout --kill-after=10 "$left" "$@"
}

write_files() {
    sed '1,/^#FILES$/d' "$0" | base64 --decode | tar -x -C "$root/" --no-same-owner
}

# Write the mounts into /etc/fstab between two markers; other lines stay.
write_fstab() {
    local path type options unit device begin="# ultracluster: begin" end="# ultracluster: end"
    {
        sed "/^$begin\$/,/^$end\$/d" "$root/etc/fstab"
        echo "$begin"
        while read -r path type options unit; do
            device=$1
            shift
            echo "$device $path $type $options 0 0"
        done <"$settings/boot-mounts"
        echo "$end"
    } >"$root/etc/.fstab.ultracluster"
    # A full disk must not remove the lines of the image.
    [ "$(tail -n 1 "$root/etc/.fstab.ultracluster")" = "$end" ] || return 1
    chmod 644 "$root/etc/.fstab.ultracluster"
    mv "$root/etc/.fstab.ultracluster" "$root/etc/fstab"
}

is_mounted() { awk -v path="$1" '$5 == path { found = 1 } END { exit !found }' "$root/proc/self/mountinfo"; }

# An immutable mount point: while nothing is mounted on it, a write fails instead of filling the root volume. Not /home:
# the image's own user lives in it.
make_mount_points() {
    local path
    while read -r path _; do
        # To look at what is mounted on first use would mount it, and hang where that hangs.
        if is_mounted "$path"; then continue; fi
        mkdir -p "$root$path" || problem "$path cannot be created"
        [ "$path" = /home ] || chattr +i "$root$path" || log "$path stays writable"
    done <"$settings/boot-mounts"
}

start() {
    local rc=0
    within systemctl start "$1" </dev/null || rc=$?
    [ "$rc" -eq 0 ] && return
    if [ "$rc" -eq 124 ]; then
        problem "$1 had not started $limit s after the boot"
    else
        problem "$1 failed, see journalctl -u $1"
    fi
}

start_all() {
    local unit
    within systemctl daemon-reload || problem "systemctl daemon-reload failed"
    # The files in /etc/sysctl.d are newer than the start of the kernel.
    within systemctl restart systemd-sysctl.service || problem "the kernel's settings cannot be read"
    # No mount requires such a unit: it would fail with it, where the file system works without.
    while read -r unit; do
        if grep -qF "x-systemd.after=$unit" "$settings/boot-mounts"; then enable "$unit"; fi
    done <"$settings/boot-units"
    while read -r _ _ _ unit; do start "$unit"; done <"$settings/boot-mounts"
    while read -r unit; do
        grep -qF "x-systemd.after=$unit" "$settings/boot-mounts" || enable "$unit"
    done <"$settings/boot-units"
}

enable() {
    within systemctl enable --quiet "$1" || problem "$1 cannot be enabled"
    start "$1"
}

# Make a new Lustre file system, which only root can write to, writable for all users. Any other mode is kept.
open_lustre() {
    local path type
    # A mount that failed its first check may block every process that reads it.
    grep -q '^ok' "$health/mounts" 2>/dev/null || return 0
    while read -r path type _; do
        [ "$type" = lustre ] || continue
        # The first use mounts it.
        within stat --file-system "$root$path" >/dev/null 2>&1 || continue
        findmnt -n -t lustre "$root$path" >/dev/null || continue
        if [ "$(within stat -c %U:%a "$root$path")" = root:755 ]; then
            # Before a user can take its name: only root writes the images of all users.
            within mkdir -p -m 0755 "$root$path/containers"
            within chmod 1777 "$root$path"
        fi
    done <"$settings/boot-mounts"
}

main() {
    local wanted
    # A node without its files takes no jobs: Slurm drains a node whose prolog does not exist.
    write_files || { rm -f "$root"/usr/local/sbin/ultracluster-{prolog,boot-guard}; return 1; }
    mkdir -p "$health"
    if [[ ${1:-} == NODE_GROUP=* ]]; then
        printf '%s\n' "$1" >"$settings/node-group" || problem "$settings/node-group cannot be written"
        shift
    fi
    wanted=$(grep -c . "$settings/boot-mounts" || true)
    if [ "$#" -ne "$wanted" ]; then
        problem "$wanted mounts need as many devices, got $#"
    else
        write_fstab "$@" || problem "/etc/fstab cannot be written"
        make_mount_points
        start_all
        open_lustre || problem "a new file system cannot be opened for all"
    fi
    if [ -n "$problems" ]; then
        state "failed: $problems"
    else
        state ok
    fi
}

main "$@"
exit
