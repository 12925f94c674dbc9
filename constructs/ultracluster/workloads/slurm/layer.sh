# shellcheck shell=bash
# Print the file of an image with the layer of this job. Each user makes it once, as root of a container.
layered() {
    local base=$1 directory=$shared/$USER/containers name file
    name=$(basename "$base" .sqsh)~$({ declare -f layer && echo "${parts[@]}"; } | sha256sum | cut -c1-16)
    file=$directory/$name.sqsh
    make_images "$directory"
    {
        flock --nonblock 9 || { echo "$SLURM_JOB_NAME: waits for another job, which makes $file" >&2 && flock 9; }
        if [ ! -e "$file" ]; then
            rm -f "$file.part"
            enroot create --force --name "$name" "$base" >&2 &&
                enroot start --root --rw "$name" bash -c "$(declare -f layer); layer \"\$@\"" layer "${parts[@]}" >&2 &&
                enroot export --force --output "$file.part" "$name" >&2 && mv "$file.part" "$file" || {
                rm -f "$file.part"
                fail "cannot make $file from $base"
            }
            enroot remove --force "$name" >&2
        fi
    } 9>>"$file.lock" || fail "cannot lock $file"
    require_own "$file"
    echo "$file"
}

# An image that you name has what it needs.
if [ -n "$IMAGE" ] && [ "$IMAGE" = "$pinned" ] && [ -z "${PAYLOAD:-}" ]; then
    [ -n "$shared" ] || fail "IMAGE must be set: without a file system that all nodes share, no layer can be kept"
    IMAGE=$(imported "$IMAGE")
    IMAGE=$(layered "$IMAGE")
fi
