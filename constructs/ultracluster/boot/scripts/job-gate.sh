#!/usr/bin/env bash
# Find the nodes of a job that must not be part of it, before a long job starts on them. The job runs it, as its user.
#
#   job-gate.sh --gpus N --efa N [--nccl yes|no]
#
#   --gpus   GPUs of a node
#   --efa    EFA devices of a node
#   --nccl   whether pairs of nodes run an all-reduce (default: yes). NCCL_TEST names its program; else nccl-judge finds
#            it.
#
# Each node: GPUs, EFA devices, the results of its own health checks, also those with which the circuit breaker keeps it
# in service, and Lustre over EFA. Then all pairs of nodes at once: 2 and 16 GiB, against the published floor of the type
# for two nodes, or else against four fifths of the median of the pairs. Each node of a slow pair is tested again, with a
# node of a good pair: the one that is slow again is bad.
#
# The nodes of an UltraServer share an NVLink domain, which is several times as fast as EFA. So the two nodes of a pair are
# in one domain; then all pairs run once more over EFA alone.
#
# It changes no node. It prints `NODE REASON` for each bad node. Exit code 0: the nodes were tested. 1: a test did not run,
# and the reason is on standard error. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
# A node, its own copy: tests have several nodes on a machine.
own=$root/usr/local/sbin/ultracluster-job-gate
judge=$root/usr/local/sbin/ultracluster-nccl-judge
# Seconds for the nodes to answer, and for a pair: the first all-reduce of a node loads its libraries.
limit=${ULTRACLUSTER_GATE_LIMIT:-300}
gpus="" efa="" nccl=yes part=job
# Whether the tasks of the job run in a container: the job sets it.
image=${ULTRACLUSTER_GATE_IMAGE:-}
size=17179869184

usage() {
    echo "job-gate: $*" >&2
    exit 2
}

log() { echo "job-gate: $*" >&2; }

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --gpus) gpus=$2 ;;
            --efa) efa=$2 ;;
            --nccl) nccl=$2 ;;
            --part) part=$2 ;;
            *) usage "unknown argument $1; known: --gpus, --efa, --nccl" ;;
        esac
        shift 2
    done
    [[ $gpus =~ ^[1-9][0-9]?$ ]] || usage "--gpus is a number of GPUs, got '$gpus'"
    [[ $efa =~ ^[0-9]{1,2}$ ]] || usage "--efa is a number of EFA devices, got '$efa'"
    [[ $nccl =~ ^(yes|no)$ ]] || usage "--nccl is yes or no, got '$nccl'"
}

# Print whether this node can be part of a job, `NODE ok` or `NODE bad REASON`, and `NODE domain NAME`. A node on which
# `srun` would start tasks outside their container prints `NODE containers REASON` first: a job counts other reasons.
check_node() {
    local found=0 device status file problems=""
    found=$(timeout 60 nvidia-smi --format=csv,noheader,nounits --query-gpu=index 2>/dev/null | grep -c '^[0-9]') || true
    [ "${found:-0}" -ge "$gpus" ] || problems+="; ${found:-0} of $gpus GPUs are there"
    found=0
    for device in "$root"/sys/class/infiniband/*; do
        [ "$device/device/driver" -ef "$root/sys/bus/pci/drivers/efa" ] && found=$((found + 1))
    done
    [ "$found" -ge "$efa" ] || problems+="; $found of $efa EFA devices are there"
    for file in devices mounts; do
        read -r status 2>/dev/null <"$root/run/ultracluster/health/$file" || status=""
        case $status in
            failed:*) problems+="; ${status#failed: }" ;;
            ok:*"over TCP"*) problems+="; ${status#ok: }" ;;
        esac
    done
    read -r status 2>/dev/null <"$root/run/ultracluster/containers" || status=""
    [[ $status != failed:* ]] || echo "$SLURMD_NODENAME containers ${status#failed: }"
    echo "$SLURMD_NODENAME ${problems:+bad }${problems:-ok}" | sed 's/bad ; /bad /'
    echo "$SLURMD_NODENAME domain $(domain_of_node)"
}

# Print the NVLink domain of this node, as NCCL compares it, or none: GPUs whose domain is their node have zeros, or N/A.
# https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/626 shows the lines (read 2026-11-27).
domain_of_node() {
    timeout 60 nvidia-smi --query --id=0 2>/dev/null | awk '
        $1 == "CliqueId" { clique = $NF }
        $1 == "ClusterUUID" && $NF ~ /^[0-9a-f-]+$/ && $NF ~ /[1-9a-f]/ { cluster = $NF }
        END { print cluster == "" ? "none" : cluster "." clique }' || true
}

# Print the bad nodes of those that the job has.
check_nodes() {
    local answers node name word text
    local -A verdict=()
    answers=$(timeout --kill-after=5 "$limit" srun --ntasks="${#nodes[@]}" --ntasks-per-node=1 --cpu-bind=none \
        --kill-on-bad-exit=0 "$own" --part node --gpus "$gpus" --efa "$efa") || true
    [ -n "$answers" ] || return 1
    [ -z "$image" ] || answers=$(sed -E 's/^([^ ]+) containers /\1 bad no containers: /' <<<"$answers")
    : >"$here/domains"
    while read -r name word text; do
        case $word:$text in
            bad:*) [[ ${verdict[$name]:-} == bad* ]] || verdict[$name]="bad $text" ;;
            ok:) verdict[$name]=${verdict[$name]:-ok} ;;
            domain:*) echo "$name $text" >>"$here/domains" ;;
        esac
    done <<<"$answers"
    for node in "${nodes[@]}"; do
        case ${verdict[$node]:-} in
            bad*) echo "$node ${verdict[$node]#bad }" ;;
            "") echo "$node does not answer within $limit s" ;;
        esac
    done
}

# Run the all-reduce on a pair. The verdict is in $here/PAIR.judged, and the bandwidth of the largest in .found.
run_pair() {
    local first=$1 second=$2 name=$1,$2
    rm -f "$here/$name.rc"
    NCCL_DEBUG=INFO timeout --kill-after=5 "$limit" srun --nodes=2 --ntasks="$((2 * gpus))" --ntasks-per-node="$gpus" \
        --nodelist="$first,$second" --mpi=pmix --cpu-bind=none --kill-on-bad-exit=1 \
        "$program" -b 2G -e 16G -f 8 -g 1 -c 1 -n 20 >"$here/$name.log" 2>&1 || echo "ended with $?" >"$here/$name.rc"
    "$judge" --type "$type" --nodes 2 --gpus-per-node "$gpus" <"$here/$name.log" >"$here/$name.judged" || true
    awk -v size="$size" '$1 == size && $8 ~ /^[0-9.]+$/ { found = $8 } END { print found }' "$here/$name.log" >"$here/$name.found"
}

# Print why a pair is slow, or nothing.
slow() {
    local name=$1 found
    if [ -e "$here/$name.rc" ]; then
        echo "all-reduce with ${name#*,} $(cat "$here/$name.rc")"
    elif grep -q '^FAILED' "$here/$name.judged"; then
        sed -n 's/^FAILED: //p' "$here/$name.judged" | head -n 1
    elif read -r found <"$here/$name.found" && [ -n "$found" ] && awk -v found="$found" -v least="$least" 'BEGIN { exit !(found < least) }'; then
        echo "all-reduce of 16 GiB at $found GB/s, below $least, four fifths of the median"
    fi
}

# Run pairs at once.
run_pairs() {
    local pair
    for pair in "$@"; do run_pair "${pair%,*}" "${pair#*,}" & done
    wait
}

# Print four fifths of the median of three pairs or more, else 0.
median() {
    local pair
    for pair in "$@"; do cat "$here/$pair.found"; done | { grep . || true; } | sort -n |
        awk '{ value[NR] = $1 } END { print NR < 3 ? 0 : 0.8 * value[int((NR + 1) / 2)] }'
}

# Print the slow nodes of those that are given. A pair is in one of the domains of `domain`.
check_pairs() {
    local pairs=() good=() suspects=() again=() left=() free=() pair node number reason least=0
    local -A alone=()
    for node in "$@"; do
        number=${domain[$node]:-none}
        if [ -n "${alone[$number]:-}" ]; then
            pairs+=("${alone[$number]},$node")
            unset "alone[$number]"
        else
            alone[$number]=$node
        fi
    done
    [ "${#pairs[@]}" -gt 0 ] || return 0
    # The one that is left over is tested with a node of a good pair.
    for node in "$@"; do
        if [ "${alone[${domain[$node]:-none}]:-}" = "$node" ]; then suspects+=("$node"); fi
    done
    run_pairs "${pairs[@]}"
    least=$(median "${pairs[@]}")
    for pair in "${pairs[@]}"; do
        if [ -n "$(slow "$pair")" ]; then suspects+=("${pair%,*}" "${pair#*,}"); else good+=("${pair%,*}" "${pair#*,}"); fi
    done
    if [ "${#good[@]}" -eq 0 ]; then
        log "the all-reduce fails on each pair, which shows no bad node: $(slow "${pairs[0]}")"
        tail -n 5 "$here/${pairs[0]}.log" | sed 's/^/    /' >&2
        return 1
    fi
    # Each at once with another good one of its domain, as far as there are any.
    while [ "${#suspects[@]}" -gt 0 ]; do
        again=() left=() free=("${good[@]}")
        for node in "${suspects[@]}"; do
            for number in "${!free[@]}"; do
                if [ "${domain[$node]:-none}" = "${domain[${free[number]}]:-none}" ]; then
                    again+=("$node,${free[number]}")
                    unset "free[$number]"
                    continue 2
                fi
            done
            left+=("$node")
        done
        if [ "${#again[@]}" -eq 0 ]; then
            log "no good pair is in the NVLink domain of ${left[*]}"
            return 0
        fi
        run_pairs "${again[@]}"
        for pair in "${again[@]}"; do
            reason=$(slow "$pair")
            [ -z "$reason" ] || echo "${pair%,*} $reason$how"
        done
        suspects=("${left[@]}")
    done
}

# Print the nodes of the arguments that are not in a list of bad ones.
without() {
    local bad=$'\n'$1 node
    shift
    for node in "$@"; do [[ $bad == *$'\n'"$node "* ]] || echo "$node"; done
}

main() {
    local nodes bad type program here rest=() node name shared how=""
    local -A domain=()
    read_arguments "$@"
    if [ "$part" = node ]; then
        check_node
        return
    fi
    : "${SLURM_JOB_NODELIST:?run it in a job}"
    here=$(mktemp -d)
    # shellcheck disable=SC2064  # the directory of now
    trap "rm -rf '$here'" EXIT
    mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
    bad=$(check_nodes) || {
        log "srun started nothing"
        exit 1
    }
    [ -z "$bad" ] || echo "$bad"
    [ "$nccl" = yes ] || return 0
    mapfile -t rest < <(without "$bad" "${nodes[@]}")
    [ "${#rest[@]}" -gt 1 ] || return 0
    type=$(cat "$root/etc/ultracluster/instance-type")
    program=$("$judge" --program) || {
        log "no all_reduce_perf on $(uname -n): set NCCL_TEST to one that all nodes have"
        exit 1
    }
    # Those of two nodes or more: others pair over EFA.
    shared=$'\n'$(cut -d ' ' -f 2 "$here/domains" | sort | uniq -d)$'\n'
    while read -r node name; do
        if [[ $name != none && $shared == *$'\n'"$name"$'\n'* ]]; then domain[$node]=$name; fi
    done <"$here/domains"
    bad=$(check_pairs "${rest[@]}")
    [ -z "$bad" ] || echo "$bad"
    [ "${#domain[@]}" -gt 0 ] || return 0
    mapfile -t rest < <(without "$bad" "${rest[@]}")
    domain=()
    how=", without NVLink between nodes"
    export NCCL_MNNVL_ENABLE=0
    check_pairs "${rest[@]}"
}

main "$@"
