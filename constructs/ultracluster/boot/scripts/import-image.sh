#!/usr/bin/env bash
# Import a container image for all users of the cluster, once, as root: a user may run it with sudo, and chooses the image,
# but not what is in its file.
#
#   import-image.sh [--arch x86_64|aarch64] IMAGE
#
#   --arch   architecture of the nodes that run it. Default: that of this node
#   IMAGE    [REGISTRY#]IMAGE[:TAG][@sha256:DIGEST]; no credentials, for every user may read the file
#
# It prints the path of the file, in the directory `containers` of the file system in /etc/ultracluster/images. Enroot runs
# as a user of its own, that no job has. A file that is there is never fetched again; root removes it.
#
# Exit code 0: the file is there. 1: it cannot be imported. 2: wrong usage. 3: other users could replace files there.
set -Eeuo pipefail
export LC_ALL=C
umask 022

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
if [ -n "${SUDO_UID:-}" ]; then root=""; fi
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
importer=ultracluster-images
arch=$(uname -m)

log() { echo "import-image: $*" >&2; }

fail() {
    log "$2"
    exit "$1"
}

# Succeed if only root can rename or replace what root has in a directory.
is_roots() {
    local owner mode
    [ -d "$1" ] && [ ! -L "$1" ] || return 1
    read -r owner mode < <(stat -c '%u %a' "$1")
    [ "$owner" = 0 ] && (((8#$mode & 8#022) == 0 || (8#$mode & 8#1000) != 0))
}

# Enroot as a user without rights: it unpacks what a user chose.
import() {
    local work=$1 image=$2
    if [ "$importer" != root ] && ! id "$importer" >/dev/null 2>&1; then
        useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$importer" ||
            fail 1 "the user $importer cannot be created"
    fi
    chown "$importer" "$work"
    # Not the directories of enroot.conf: other users could have made them, and Enroot takes layers from there unchecked.
    setpriv --reuid="$importer" --regid="$(id -g "$importer")" --clear-groups --reset-env -- \
        env PATH="$PATH" HOME="$work" ENROOT_CACHE_PATH="$work/cache" ENROOT_DATA_PATH="$work/data" \
        ENROOT_RUNTIME_PATH="$work/run" "${settings[@]}" enroot import --arch "$arch" --output "$work/image.sqsh" "docker://$image" >&2
}

main() {
    local image directory name file work settings=()
    if [ "${1:-}" = --arch ] && [ $# -ge 2 ]; then
        arch=$2
        shift 2
    fi
    [[ $arch =~ ^(x86_64|aarch64)$ ]] || fail 2 "--arch is x86_64 or aarch64, got '$arch'"
    [ $# -eq 1 ] || fail 2 "name one image"
    image=${1#docker://}
    # No user before the registry: its password would be the user's.
    [[ ${#image} -le 200 && $image != *//* && $image =~ ^[a-z0-9][a-z0-9._/:-]*(#[a-z0-9][a-z0-9._/-]*)?(:[A-Za-z0-9._-]+)?(@sha256:[0-9a-f]{64})?$ ]] ||
        fail 2 "'$image' is not a public image; import one with credentials as yourself"
    [ "$(id -u)" -eq 0 ] || fail 2 "must run as root"
    # Test settings reach Enroot; sudo removes them.
    if [ -n "$root" ]; then settings=("ENROOT_LOG=${ENROOT_LOG:-}") importer=${ULTRACLUSTER_IMPORTER:-$importer}; fi
    read -r directory <"$root/etc/ultracluster/images"
    directory=$root$directory
    # Each letter has a substitute that no image has: two images never have one file.
    name=$(tr '/:#@' '+=%~' <<<"$image")-$arch.sqsh
    file=$directory/containers/$name
    is_roots "$directory" || fail 3 "$directory is not root's, or others may rename what is in it"
    mkdir -m 0755 "$directory/containers" 2>/dev/null || true
    is_roots "$directory/containers" || fail 3 "$directory/containers is not root's; move it away, and make one of root's"
    # Only root can open a lock, and so keep it. The kernel releases that of a process that was killed, and Lustre and NFS
    # that of a node that was lost.
    mkdir -m 0700 "$directory/containers/.locks" 2>/dev/null || true
    # Enroot's user may pass it, and writes into a directory of its own below.
    mkdir -m 0711 "$directory/containers/.parts" 2>/dev/null || true
    exec 9>>"$directory/containers/.locks/$name"
    flock --nonblock 9 || { log "waits for the import of $image" && flock 9; }
    if [ ! -e "$file" ]; then
        command -v enroot >/dev/null || fail 1 "no Enroot on $(hostname): its image runs no containers"
        work=$directory/containers/.parts/$name
        # What a killed import left.
        rm -rf "$work"
        mkdir -m 0700 "$work"
        if ! import "$work" "$image" 9>&-; then
            rm -rf "$work"
            fail 1 "cannot import docker://$image"
        fi
        # First the directory, so that nothing in it can be replaced between a check and its use.
        chown root:root "$work"
        if [ -L "$work/image.sqsh" ] || [ "$(head -c 4 "$work/image.sqsh" 2>/dev/null)" != hsqs ]; then
            rm -rf "$work"
            fail 1 "cannot import docker://$image"
        fi
        chown -h root:root "$work/image.sqsh"
        chmod 0444 "$work/image.sqsh"
        mv -T "$work/image.sqsh" "$file"
        rm -rf "$work"
    fi
    echo "$file"
}

main "$@"
