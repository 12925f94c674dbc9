#!/usr/bin/env bash
# Check whether jobs can run in containers: Enroot, and Pyxis built for the Slurm that this node runs.
#
#   containers.sh --slurm VERSION
#
# Slurm loads no plugin that was built for another release, and a slurmd or an srun that is configured to load one does not
# start: https://slurm.schedmd.com/spank.html (read 2026-11-21). Nor does one whose plugin is not there, or names no
# release. Such a Pyxis is taken out of Slurm's list of plugins, and the reason is reported, so that jobs without
# containers run. The reason is kept in /var/lib/ultracluster/pyxis-removed for later boots, until a Pyxis is listed that
# Slurm can load.
#
# Exit code 0: `srun --container-image` works, or the image has neither Enroot nor Pyxis, which is its right. 1: it has
# half of them, their installation failed, Enroot does not run for users, or Pyxis is for another Slurm; the reason is in
# /run/ultracluster/containers, and in /run/ultracluster/software/containers for a metric. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
run=$root/run/ultracluster
removed=$root/var/lib/ultracluster/pyxis-removed
slurm=""

# Write a state: FILE TEXT.
write() {
    mkdir -p "$run/software"
    printf '%s\n' "$2" >"$run/.containers"
    mv "$run/.containers" "$run/$1"
}

# Not in the folder of health: a node that cannot run containers runs all other jobs. The gate of a job in a container
# reads the first file.
state() {
    write containers "$1"
    write software/containers "${1/#none:/ok: none:}"
    echo "containers: $1"
}

fail() {
    state "failed: $*" >&2
    exit 1
}

# The image lacks something: a failure only if install-software.sh should have installed it, or this script removed it.
lacks() {
    local item text
    for item in enroot pyxis; do
        read -r text 2>/dev/null <"$run/software/$item" || text=""
        [[ $text != failed:* ]] || fail "$item could not be installed: ${text#failed: }"
    done
    read -r text 2>/dev/null <"$removed" || text=""
    [ -z "$text" ] || fail "$text"
    state "none: $*"
}

# Print the release that a plugin was built for, year and month each in a byte: 25.11.x is 0x190Bxx.
# https://github.com/SchedMD/slurm, slurm/slurm.h.in (SLURM_VERSION_NUM, read 2026-11-21). Read from the file: loading
# it would need all of Slurm around it.
built_for() {
    python3 - "$1" <<'PYTHON'
import struct
import sys

data = open(sys.argv[1], "rb").read()
assert data[:6] == b"\x7fELF\x02\x01", "no 64-bit little-endian ELF"
program, sections = struct.unpack_from("<QQ", data, 32)
size, count, section_size, section_count = struct.unpack_from("<4H", data, 54)
segments = [struct.unpack_from("<IIQQQQ", data, program + n * size) for n in range(count)]
headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + n * section_size) for n in range(section_count)]
for _, kind, _, _, offset, length, link, *_ in headers:
    for at in range(offset, offset + length, 24) if kind == 11 else ():
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        start = headers[link][4] + name
        if data[start : data.index(b"\0", start)] != b"plugin_version":
            continue
        for load, _, begin, address, _, held in segments:
            if load == 1 and address <= value < address + held:
                (number,) = struct.unpack_from("<I", data, begin + value - address)
                print(f"{number >> 16:02d}.{number >> 8 & 255:02d}")
                sys.exit()
sys.exit("no plugin_version")
PYTHON
}

# Print the lines of Slurm's plugstack that name Pyxis, as FILE:PLUGIN. Its installation links them, so links are followed.
listed() {
    grep -RHsE '^[[:space:]]*(required|optional)[[:space:]]+[^[:space:]]*spank_pyxis\.so' \
        "$root/etc/aws/pcs/scheduler/slurm-$slurm/plugstack.conf.d/" "$root/etc/aws/pcs/scheduler/slurm-$slurm/plugstack.conf" |
        awk '{ file = $1; sub(/:.*/, "", file); print file ":" $2 }'
}

# Run Enroot as a user who is not root: it makes its directories first. Print why it fails.
as_user() {
    local home code=0
    home=$(mktemp -d)
    chown nobody "$home"
    { runuser --user nobody -- env --ignore-environment PATH="$PATH" HOME="$home" enroot list >/dev/null; } 2>&1 || code=$?
    rm -rf "$home"
    return "$code"
}

# Load the modules of the driver and make their devices, which a user who starts a container may not do: Enroot warns that
# nvidia_uvm is not loaded, and the container has no GPU. As AWS's sample does: https://github.com/awslabs/awsome-distributed-ai,
# architectures/aws-pcs/assets/scripts/install-enroot-pyxis.sh (commit 95b939c, read 2026-11-23). Nodes without GPU have none.
load_modules() {
    command -v nvidia-container-cli >/dev/null || return 0
    timeout --kill-after=5 60 nvidia-container-cli --load-kmods info >/dev/null 2>&1 || return 0
}

main() {
    local file plugin version problem reason found=0 enroot=no
    if [ "${1:-}" != --slurm ] || ! [[ ${2:-} =~ ^[0-9]{2}\.[0-9]{2}$ ]]; then
        echo "containers: takes --slurm and a version such as 25.11, got '$*'" >&2
        exit 2
    fi
    slurm=$2
    if command -v enroot >/dev/null; then enroot=yes; fi
    while IFS=: read -r file plugin; do
        found=1
        [[ $plugin == /* ]] || plugin=/opt/aws/pcs/scheduler/slurm-$slurm/lib/slurm/$plugin
        [ -f "$root$plugin" ] || plugin=/usr/local/lib/slurm/${plugin##*/}
        version=$(built_for "$root$plugin" 2>/dev/null) || version=""
        if [ "$version" != "$slurm" ]; then
            reason="Pyxis is built for Slurm $version, and this node runs $slurm: rebuild it in the image"
            [ -n "$version" ] || reason="$plugin is not there, or does not name the Slurm that it is built for"
            # On a full disk too, slurmd has to start.
            { mkdir -p "${removed%/*}" && echo "$reason" >"$removed"; } || true
            # A link is removed, a file is set aside: what it points to belongs to the image.
            if [ -L "$file" ]; then rm -f "$file"; else sed -i -E '/spank_pyxis\.so/s/^/# /' "$file"; fi
            fail "$reason"
        fi
    done < <(listed)
    [ "$found" = 0 ] || rm -f "$removed"
    case $enroot$found in
        no0) lacks "the image has neither Enroot nor Pyxis" ;;
        yes1)
            load_modules
            problem=$(as_user) || fail "Enroot does not run for users, who need paths of their own in enroot.conf: $problem"
            state ok
            ;;
        no1)
            lacks "Pyxis is there, and Enroot is not"
            fail "Pyxis is there, and Enroot is not: put it into the image" ;;
        yes0) lacks "Enroot is there, but no plugstack.conf.d of Slurm $slurm names Pyxis" ;;
    esac
}

main "$@"
