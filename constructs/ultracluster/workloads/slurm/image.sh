# shellcheck shell=bash
fail() {
    echo "${SLURM_JOB_NAME:-import}: $*" >&2
    exit 2
}

# Succeed if a file or a directory is this user's, and others may not write it. Another user may have created it first. A
# link is the user's or root's. Ubuntu gives each user a group of the same name, which has no other members.
is_own() {
    local others
    case $(stat -c %u "$1") in 0 | "$EUID") ;; *) return 1 ;; esac
    [ -O "$1" ] || return 1
    others=$((8#$(stat -L -c %a "$1") & 8#022))
    [ "$others" -eq 0 ] || { [ "$others" -eq $((8#020)) ] && [ -G "$1" ] && [ "$(id -gn)" = "$(id -un)" ]; }
}

# Fail if this job must not use a file or a directory, because another user may have written it.
require_own() {
    local fix="run chmod go-w $1"
    ! is_own "$1" || return 0
    [ -O "$1" ] || fix="have your administrator run chown -h $USER $1"
    [ ! -L "$1" ] || fix="have your administrator replace the link"
    fail "$1 must be yours, and writable for you alone; it has $(stat -c 'owner %U, group %G, mode %a' "$1"): $fix${2:-}"
}

# Print a line. A full disk does not end the job, whose program goes on.
log() { echo "$SLURM_JOB_NAME: $*" || true; }

# Create the directory of this user's images. Root creates the one above it, but not everywhere.
make_images() {
    (umask go-w && mkdir -p "$1") || fail "cannot make $1: have your administrator make your directory in $shared"
    require_own "$shared/$USER"
    require_own "$1"
}

# Succeed if a file is root's, in a directory where nobody else can replace it, as the node's own program checks too.
for_all() {
    local mode
    [ "$(stat -c %u "$1" 2>/dev/null)" = 0 ] && [ ! -L "${1%/*}" ] || return 1
    [ "$(stat -c %u "${1%/*}")" = 0 ] || return 1
    mode=$(stat -c %a "${1%/*}")
    (((8#$mode & 8#022) == 0)) || return 1
    [ "$(stat -c %u "$shared")" = 0 ] || return 1
    mode=$(stat -c %a "$shared")
    (((8#$mode & 8#022) == 0 || (8#$mode & 8#1000) != 0))
}

# Ask the node to import an image for all users: root does it, once in the cluster.
import_for_all() {
    local program=/usr/local/sbin/ultracluster-import-image
    [ -x "$program" ] || return 1
    if [ "$(id -u)" -eq 0 ]; then "$program" "$1"; else sudo --non-interactive "$program" "$1"; fi >&2
}

# Print the file of a container image on the file system that all nodes share, and import what is not there yet, under a
# lock. Nobody runs what another user imported: the file is root's, or the user's own where the image needs the
# user's credentials, or root cannot write. A moved tag is fetched again once its file is gone.
imported() {
    local image=${1#docker://} directory=$shared/$USER/containers name file
    name=$(tr '/:#@' '+=%~' <<<"$image")-$(uname -m).sqsh
    file=$shared/containers/$name
    if for_all "$file" || { import_for_all "$image" && for_all "$file"; }; then
        echo "$file"
        return
    fi
    file=$directory/$name
    make_images "$directory"
    {
        flock --nonblock 9 || { echo "${SLURM_JOB_NAME:-import}: waits for the import of $1" >&2 && flock 9; }
        if [ ! -e "$file" ]; then
            command -v enroot >/dev/null || fail "no Enroot on $(hostname): the image of this node runs no containers"
            # Enroot writes to no file that exists, and leaves half of one when it fails or is killed.
            rm -f "$file.part"
            enroot import --output "$file.part" "docker://$image" >&2 && mv "$file.part" "$file" || {
                rm -f "$file.part"
                fail "cannot import docker://$image"
            }
        fi
    } 9>>"$file.lock" || fail "cannot lock $file"
    require_own "$file"
    echo "$file"
}
