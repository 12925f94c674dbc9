# shellcheck shell=bash
fail() {
    echo "${SLURM_JOB_NAME:-import}: $*" >&2
    exit 2
}

# Succeed if a file or a directory is this user's, and others may not write it. Another user may have created it first.
is_own() { [ -O "$1" ] && [ ! -L "$1" ] && (((8#$(stat -c %a "$1") & 8#002) == 0)); }

# Root creates the directory of a user, but not everywhere.
if [ -n "$shared" ] && ! mkdir "$shared/$USER" 2>/dev/null && { [ -e "$shared/$USER" ] || [ -L "$shared/$USER" ]; }; then
    is_own "$shared/$USER" || fail "$shared/$USER is not yours alone, and this job uses nothing in it: have your administrator see it"
fi

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
    mkdir -p "$directory" || fail "cannot make $directory: have your administrator make your directory in $shared"
    is_own "$directory" || fail "$directory is not yours alone, and this job must not run images of others"
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
    is_own "$file" || fail "$file is not yours alone, and this job must not run images of others"
    echo "$file"
}
