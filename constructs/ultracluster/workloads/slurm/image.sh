# shellcheck shell=bash
fail() {
    echo "${SLURM_JOB_NAME:-import}: $*" >&2
    exit 2
}

# Print the file of a container image on the file system that all nodes share. What is not there yet is imported under
# a lock, once, and not by every node for itself. Only root's files and the user's own count: a job of this user runs
# what is in them. A moved tag is fetched again once its file is gone.
imported() {
    local uri=docker://${1#docker://} directory=$shared/$USER/containers name file
    name=${1#docker://}
    name=${name//[^A-Za-z0-9._-]/+}-$(uname -m).sqsh
    file=$shared/containers/$name
    if [ "$(stat -c %u "$file" 2>/dev/null)" = 0 ]; then
        echo "$file"
        return
    fi
    [ "$(id -u)" -ne 0 ] || directory=$shared/containers
    file=$directory/$name
    mkdir -p "$directory" || fail "cannot make $directory: have your administrator make your directory in $shared"
    [ -O "$directory" ] || fail "$directory belongs to another user, whose images this job must not run"
    {
        flock --nonblock 9 || { echo "${SLURM_JOB_NAME:-import}: waits for the import of $1" >&2 && flock 9; }
        if [ ! -e "$file" ]; then
            command -v enroot >/dev/null || fail "no Enroot on $(hostname): the image of this node runs no containers"
            # Enroot writes to no file that exists, and leaves half of one when it fails or is killed.
            rm -f "$file.part"
            enroot import --output "$file.part" "$uri" >&2 && mv "$file.part" "$file" || {
                rm -f "$file.part"
                fail "cannot import $uri"
            }
        fi
    } 9>>"$file.lock" || fail "cannot lock $file"
    echo "$file"
}
