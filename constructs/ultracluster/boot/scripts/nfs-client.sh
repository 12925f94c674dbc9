#!/usr/bin/env bash
# Install the NFS client of a node, when the image has none, before anything is mounted over NFS.
#
#   nfs-client.sh
#
# AWS's images with Amazon Linux bring it along, those with Ubuntu may not:
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/getting-started.html, step 2 (read 2026-11-21).
#
# Exit code 0: the client is there. 1: it is not, and could not be installed. 2: wrong usage. The last line of a run,
# `ok` or `failed: REASON`, is in /run/ultracluster/health/nfs-client. It may run any number of times.
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
# Ubuntu's needrestart would restart services, and those that look into /home wait for its mount, which waits for this.
export NEEDRESTART_SUSPEND=1

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# At its first boot a node updates itself, and two of apt do not go together: seconds to wait for the other one.
wait=300
# shellcheck disable=SC2034 # status.sh reads them
script=nfs-client result=$root/run/ultracluster/health/nfs-client code=1

#INCLUDE status.sh

is_there() { command -v mount.nfs4 >/dev/null; }

with_apt() { apt-get --quiet --yes --option "DPkg::Lock::Timeout=$wait" "$@"; }

# A list of packages that is older than the mirror names files that are gone; what cannot be listed may be known already.
install_apt() {
    with_apt update || log "apt-get update failed, going on with the packages that are known"
    with_apt install --no-install-recommends nfs-common
}

install_dnf() { dnf install --quiet --assumeyes nfs-utils; }

# Set package to what brings the client, and install to how.
find_installer() {
    local release=$root/etc/os-release family
    [ -r "$release" ] || fail "the image has no NFS client, and no /etc/os-release to choose one by"
    family=" $(sed -n 's/^ID\(_LIKE\)\{0,1\}=//p' "$release" | tr -d "\"'" | tr '\n' ' ')"
    case $family in
        *" ubuntu "* | *" debian "*) package=nfs-common install=install_apt ;;
        *" amzn "* | *" rhel "* | *" fedora "*) package=nfs-utils install=install_dnf ;;
        *) fail "the image has no NFS client, and its system is not known:$family; put mount.nfs4 into the image" ;;
    esac
}

main() {
    local package install try
    [ $# -eq 0 ] || usage "takes no arguments, got $*"
    if is_there; then
        log "the NFS client is there already"
        state ok
        return
    fi
    find_installer
    for try in 1 2 3; do
        if "$install" && is_there; then
            log "installed $package"
            state ok
            return
        fi
        log "could not install $package, try $try of 3" >&2
        [ "$try" -eq 3 ] || sleep 10
    done
    fail "the image has no NFS client, and $package could not be installed; put it into the image, or let the node reach its mirror"
}

main "$@"
