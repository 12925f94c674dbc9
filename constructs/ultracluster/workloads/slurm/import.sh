# shellcheck shell=bash
[ $# -gt 0 ] || set -- "${images[@]}"
[ $# -gt 0 ] || fail "name an image: none is pinned for this queue"
for image in "$@"; do
    imported "$image"
done
