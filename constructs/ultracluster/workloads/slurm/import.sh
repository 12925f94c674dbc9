# shellcheck shell=bash
[ $# -gt 0 ] || set -- "${images[@]}"
for image in "$@"; do
    imported "$image"
done
