#!/usr/bin/env bash
# Judge a run of nccl-tests' all_reduce_perf by its output.
#
#   nccl-judge.sh --type INSTANCE_TYPE --nodes N --gpus-per-node N <OUTPUT
#   nccl-judge.sh --program    print the path of all_reduce_perf: NCCL_TEST, or where AWS's images have it
#
# Floors are in /etc/ultracluster/nccl-floors: a type, nodes, bytes and the bus bandwidth in GB/s on each line. Each is
# for one type, number of nodes and message size; for every other size it prints `no floor known`.
#
# Exit code 0: nothing is wrong, as far as is known. 1: a size is below its floor, a result is wrong, ranks are missing,
# or NCCL did not run over EFA, as its log shows with NCCL_DEBUG=INFO. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
floors=$root/etc/ultracluster/nccl-floors
type="" nodes="" gpus=""

usage() {
    echo "nccl-judge: $*" >&2
    exit 2
}

if [ "${1:-}" = --program ]; then
    for program in "${NCCL_TEST:-}" "$root"/opt/nccl-tests/build/all_reduce_perf \
        "$root"/usr/local/cuda*/efa/test-cuda*/all_reduce_perf; do
        [ ! -x "$program" ] || { echo "$program" && exit; }
    done
    exit 1
fi
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage "$1 needs a value"
    case $1 in
        --type) type=$2 ;;
        --nodes) nodes=$2 ;;
        --gpus-per-node) gpus=$2 ;;
        *) usage "unknown argument $1; known: --type, --nodes, --gpus-per-node" ;;
    esac
    shift 2
done
[[ $type =~ ^[a-z0-9.-]+$ ]] || usage "--type is an instance type, got '$type'"
[[ $nodes =~ ^[1-9][0-9]{0,4}$ ]] || usage "--nodes is a number of nodes, got '$nodes'"
[[ $gpus =~ ^[1-9][0-9]?$ ]] || usage "--gpus-per-node is a number of GPUs, got '$gpus'"
[ -r "$floors" ] || usage "there is no $floors"

# A line of results has a size, a count, a type, an operation, a root, and for out of place and in place each a time, two
# bandwidths and the number of wrong values: https://github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md (read 2026-11-21).
# What is judged is out of place.
awk -v type="$type" -v nodes="$nodes" -v gpus="$gpus" -v floors="$floors" '
    function bad(what) { print "FAILED: " what; failed = 1 }
    BEGIN {
        while ((getline line < floors) > 0) {
            split(line, word, " ")
            if (word[1] == type && word[2] == nodes) floor[word[3]] = word[4]
        }
    }
    $1 == "#" && $2 == "Rank" { ranks++; for (i = 3; i < NF; i++) if ($i == "on") host[$(i + 1)] = 1 }
    tolower($0) ~ /net\/ofi selected provider is efa/ { efa = 1 }
    /Using network Socket/ || /NET\/Socket : Using/ { socket = 1 }
    /Out of bounds values/ && !/: 0 / { out = 1 }
    $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ && NF >= 13 {
        sizes++
        if ($9 ~ /^[1-9]/ || $13 ~ /^[1-9]/) bad($1 " bytes: wrong results")
        if ($8 !~ /^[0-9.]+$/) bad($1 " bytes: no bandwidth, but " $8)
        else if (!($1 in floor)) printf "%15d bytes  %8.2f GB/s  no floor known\n", $1, $8
        else if ($8 + 0 >= floor[$1] + 0) { judged++; printf "%15d bytes  %8.2f GB/s  at least %s\n", $1, $8, floor[$1] }
        else bad($1 " bytes: " $8 " GB/s, and " floor[$1] " is the floor for " nodes " x " type)
    }
    END {
        for (name in host) hosts++
        if (!sizes) bad("all_reduce_perf printed no result")
        if (out) bad("values are out of bounds")
        if (ranks != nodes * gpus) bad(ranks + 0 " ranks ran, not " nodes " x " gpus)
        else if (hosts != nodes) bad(hosts + 0 " nodes took part, not " nodes)
        if (socket && nodes > 1) bad("NCCL ran over TCP, not over EFA")
        else if (!efa && nodes > 1) bad("the log of NCCL does not show EFA")
        if (!failed && !judged) print "ok, but no floor is known for " nodes " x " type " and these sizes"
        else if (!failed) print "ok"
        exit failed
    }'
