#!/usr/bin/env bash
# Print a login node's agent where Slurm's controller is, from the slurm.conf that Slurm itself keeps on the node.
#
#   slurm-target.sh
#
# Run it as often as you like: the file is only replaced if the address has changed, as after a controller was
# replaced. Exit code 1: Slurm has not fetched its configuration yet, or it names no controller; the file stays.
set -euo pipefail
export LC_ALL=C

root=${ULTRACLUSTER_ROOT:-}
conf=$root/run/slurm/conf/slurm.conf
out=$root/run/ultracluster/metrics/slurm.json

fail() {
    echo "slurm-target: $*" >&2
    exit 1
}

# Print the value of the first line with a setting: names are case-insensitive, and # starts a comment.
setting() {
    awk -v name="$1" '{
        sub(/#.*/, "")
        at = index($0, "=")
        key = substr($0, 1, at - 1)
        gsub(/[ \t]/, "", key)
        if (at && tolower(key) == tolower(name)) {
            value = substr($0, at + 1)
            gsub(/[ \t\r]/, "", value)
            print value
            exit
        }
    }' "$conf"
}

main() {
    local host address port text
    [ -r "$conf" ] || fail "there is no $conf yet"
    # The first controller is the one that answers: NAME, or NAME(ADDRESS).
    host=$(setting SlurmctldHost)
    address=$(setting SlurmctldAddr)
    [ -n "$address" ] || address=$host
    case $address in *\(*\)) address=${address#*\(} address=${address%\)} ;; esac
    [[ $address =~ ^[A-Za-z0-9.:_-]+$ ]] || fail "$conf names no controller: '$address'"
    port=$(setting SlurmctldPort)
    port=${port%%-*}
    [[ ${port:=6817} =~ ^[0-9]{1,5}$ ]] || fail "$conf has no port: '$port'"
    case $address in *:*) address="[$address]" ;; esac
    text="[{\"targets\": [\"$address:$port\"]}]"
    if [ -r "$out" ] && [ "$(<"$out")" = "$text" ]; then
        return
    fi
    mkdir -p "${out%/*}"
    # In one step: the agent reads it whenever it changes.
    printf '%s\n' "$text" >"$out.new"
    mv -f "$out.new" "$out"
}

main
