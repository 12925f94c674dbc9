#!/usr/bin/env bash
# Compare the software of this node, or of the container in which it runs, with the oldest versions that its type needs.
# VERSION of driver-below is the oldest driver that is too new.
#
#   software-check.sh [--state] [NAME=VERSION ...]
#
#   --state   also write /run/ultracluster/software/NAME, which the metrics of the node report; as root
#
# Without arguments, the versions are those of /etc/ultracluster/software. Exit code 0: nothing is older, as far as is
# known. 1: something is older. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
state=no
known="driver|driver-below|efa-installer|libfabric|aws-ofi-nccl|gdrcopy|cuda|nccl|pytorch|transformer-engine|nixl"
host=${SLURMD_NODENAME:-$(uname -n)}

# Print the version of a package of Python, if there is one.
python_package() {
    python3 -c 'import importlib.metadata as m, sys
for name in sys.argv[1:]:
    try:
        print(m.version(name).partition("+")[0])
        break
    except m.PackageNotFoundError:
        pass' "$@" 2>/dev/null
}

# The installer of EFA lists its packages, as libfabric-aws-bin_2.4.0amzn5.0_amd64 or libnccl-ofi-1.20.0-1.x86_64.
of_efa() {
    grep -oE "(^|[ /])$1[_-][0-9][0-9a-z.]*" "$root/opt/amazon/efa_installed_packages" 2>/dev/null |
        sed -E "s/.*[_-]([0-9][0-9a-z.]*)$/\1/" | head -n 1
}

installed() {
    case $1 in
        driver | driver-below) nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 ;;
        efa-installer) sed -n 's/.*EFA installer version: *//p' "$root/opt/amazon/efa_installed_packages" 2>/dev/null ;;
        libfabric) of_efa 'libfabric-aws(-bin)?' ;;
        aws-ofi-nccl) of_efa 'libnccl-ofi(-ngc(-v[0-9])?)?' ;;
        gdrcopy) modinfo --field version gdrdrv 2>/dev/null ;;
        cuda) nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' ;;
        nccl) python_package nvidia-nccl-cu13 nvidia-nccl-cu12 ;;
        pytorch) python_package torch ;;
        transformer-engine) python_package transformer-engine transformer_engine ;;
        nixl) python_package nixl nixl-cu13 nixl-cu12 ;;
    esac
}

# The first version is the second, or newer.
is_newest() { [ "$(printf '%s\n' "$1" "$2" | sort --version-sort | head -n 1)" = "$2" ]; }

record() {
    [ "$state" = yes ] || return 0
    mkdir -p "$root/run/ultracluster/software"
    printf '%s\n' "$2" >"$root/run/ultracluster/software/.$1"
    mv "$root/run/ultracluster/software/.$1" "$root/run/ultracluster/software/$1"
}

main() {
    local item name oldest found why code=0
    if [ "${1:-}" = --state ]; then
        state=yes
        shift
    fi
    # shellcheck disable=SC2046  # a word for each version
    [ $# -gt 0 ] || set -- $(cat "$root/etc/ultracluster/software")
    for item in "$@"; do
        name=${item%%=*} oldest=${item#*=}
        if [[ ! $name =~ ^($known)$ ]]; then
            echo "software-check: unknown name $name" >&2
            exit 2
        fi
        found=$(installed "$name") || true
        if [ -z "$found" ]; then
            [ "$state" = yes ] || echo "$host: the version of $name is not known"
        elif [ "$name" = driver-below ]; then
            # Not an oldest version: the first with which EFA does not access the memory of the GPUs.
            if is_newest "$found" "$oldest"; then
                why="driver $found: EFA needs one older than $oldest to access the memory of the GPUs"
                echo "FAILED: $host: $why"
                record "$name" "failed: $why"
                code=1
            else
                record "$name" "ok: $found"
            fi
        elif is_newest "$found" "$oldest"; then
            record "$name" "ok: $found"
        else
            echo "FAILED: $host: $name $found is older than $oldest"
            record "$name" "failed: $found is older than $oldest"
            code=1
        fi
    done
    return "$code"
}

main "$@"
