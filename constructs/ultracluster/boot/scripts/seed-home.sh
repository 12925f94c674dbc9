#!/usr/bin/env bash
# Keep the image's own user (ubuntu, ec2-user) as it is where shared home directories hide its home: its SSH keys open this
# node, and the first node of the cluster copies the home to the shared one.
#
#   seed-home.sh MOUNT
#
# The home of the image is on the root volume, below the mount: a bind mount of / shows it. The keys are copied on every
# node, to /etc/ultracluster/authorized_keys: those of a login node are of its key pair, those of others may be none.
# No file of the shared home is changed. Exit code 0: done, or nothing to do. 1: not done. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C

# Where the node's / stands: nothing on a node, a directory in a test.
root=${ULTRACLUSTER_ROOT:-}
below=$root/run/ultracluster/root-volume

fail() {
    trap - ERR
    echo "seed-home: $*" >&2
    exit 1
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# Set name, uid, gid and home of the image's user.
find_user() {
    local user
    for user in ubuntu ec2-user; do
        IFS=: read -r name _ uid gid _ home _ < <(getent passwd "$user" || true) || true
        if [ "$name" = "$user" ]; then return 0; fi
    done
    return 1
}

copy_keys() {
    local keys=$root/etc/ultracluster/authorized_keys sshd=$root/etc/ssh/sshd_config.d/50-ultracluster.conf
    local line="AuthorizedKeysFile .ssh/authorized_keys /etc/ultracluster/authorized_keys/%u"
    [ -s "$below$home/.ssh/authorized_keys" ] || return 0
    mkdir -p "$keys"
    # sshd reads it as the user, and takes it from root only if nobody else may write it.
    cp "$below$home/.ssh/authorized_keys" "$keys/.$name"
    chmod 0644 "$keys/.$name"
    mv "$keys/.$name" "$keys/$name"
    # As users.sh has it.
    if [ -d "${sshd%/*}" ] && [ "$(cat "$sshd" 2>/dev/null)" != "$line" ]; then
        printf '%s\n' "$line" >"$sshd"
        systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || true
    fi
}

copy_home() {
    local from=$below$home shared=$root$1
    # The first use mounts it.
    stat --file-system "$shared" >/dev/null
    exec 8>"$shared/.ultracluster-seed.lock"
    chmod 600 "$shared/.ultracluster-seed.lock"
    flock --wait 60 8 || fail "another node has held $1/.ultracluster-seed.lock for a minute"
    # A directory that somebody else made is not touched; one that another node made has a mark when it is complete.
    if [ -d "$root$home" ] && [ ! -e "$shared/.ultracluster-seeding-$name" ]; then return 0; fi
    touch "$shared/.ultracluster-seeding-$name"
    mkdir -p "$root$home"
    [ -d "$from" ] || from=$below/etc/skel
    # The key of this node's instance is for this node: it is read from /etc/ultracluster/authorized_keys.
    cp --recursive --no-dereference --no-clobber --preserve=mode,timestamps --no-target-directory "$from" "$root$home"
    chown --no-dereference --recursive "$uid:$gid" "$root$home"
    rm "$shared/.ultracluster-seeding-$name"
    echo "seed-home: copied the home of $name to $1"
}

main() {
    local name="" uid="" gid="" home=""
    if [ $# -ne 1 ]; then
        echo "seed-home: takes the mount of the home directories, got $*" >&2
        exit 2
    fi
    if ! find_user || [ "${home%/*}" != "$1" ]; then return 0; fi
    mkdir -p "$below"
    mountpoint --quiet "$below" || mount --bind "${root:-/}" "$below"
    copy_keys
    copy_home "$1"
    umount "$below"
}

main "$@"
