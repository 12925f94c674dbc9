#!/usr/bin/env bash
# The commands of Enroot for a machine without containers and registries: options, addresses and refusals are those
# of enroot.in, src/runtime.sh and src/docker.sh of https://github.com/NVIDIA/enroot (commit 8ea147d, read 2026-11-22).
# Each import is a line of $ENROOT_LOG. While $ENROOT_LOG.hold is there, an import waits; with $ENROOT_LOG.fail, it fails
# halfway, as mksquashfs does on a full disk: half a file stays.
set -euo pipefail

usage() {
    echo "Usage: enroot import [options] [--] URI"
    exit 1
}

error() {
    echo "[ERROR] $*" >&2
    exit 1
}

# Containers are files in $ENROOT_LOG.d, and a command of one runs on this machine.
case ${1:-} in
    create)
        [ "$2 $3" = "--force --name" ] && [ $# -eq 5 ] && [ -f "$5" ] || usage
        mkdir -p "$ENROOT_LOG.d" && cp "$5" "$ENROOT_LOG.d/$4"
        exit ;;
    start)
        [ "$2 $3" = "--root --rw" ] && [ -f "$ENROOT_LOG.d/$4" ] || usage
        "${@:5}" || exit
        echo "${*: -4}" >>"$ENROOT_LOG.d/$4"
        exit ;;
    export)
        [ "$2 $3" = "--force --output" ] && [ -f "$ENROOT_LOG.d/$5" ] || usage
        cp "$ENROOT_LOG.d/$5" "$4"
        exit ;;
    remove)
        [ "$2" = --force ] && rm "$ENROOT_LOG.d/$3"
        exit ;;
esac
[ "${1:-}" = import ] || usage
shift
filename=""
while [ $# -gt 0 ]; do
    case $1 in
        -a | --arch) [ -n "${2-}" ] || usage; shift 2 ;;
        --arch=*) [ -n "${1#*=}" ] || usage; shift ;;
        -o | --output) [ -n "${2-}" ] || usage; filename=$2; shift 2 ;;
        --output=*) [ -n "${1#*=}" ] || usage; filename=${1#*=}; shift ;;
        --) shift; break ;;
        -?*) usage ;;
        *) break ;;
    esac
done
[ $# -eq 1 ] || usage
uri=$1
[[ $uri == docker://* ]] || error "Invalid argument: $uri"

user="[[:alnum:]_.!~*'()%;:&=+\$,-@]+"
image="[[:lower:][:digit:]/._-]+"
version="(:[[:alnum:]._:-]+)?(@sha256:[[:alnum:]]+)?"
[[ $uri =~ ^docker://(($user)@)?[^/#]+/$image$version$ || $uri =~ ^docker://(($user)@)?[^/@#:]+$version$ ||
    $uri =~ ^docker://(($user)@)?[^#/@]+#$image$version$ ]] || error "Invalid image reference: $uri"

filename=$(readlink -f "${filename:-${uri##*[/#]}.sqsh}" 2>/dev/null) || error "No such file or directory: $filename"
[ ! -e "$filename" ] || error "File already exists: $filename"

echo "$uri" >>"$ENROOT_LOG"
printf 'hs' >"$filename"
while [ -e "$ENROOT_LOG.hold" ]; do sleep 0.1; done
[ ! -e "$ENROOT_LOG.fail" ] || error "Write failed because No space left on device"
printf 'qs of %s\n' "$uri" >>"$filename"
