#!/usr/bin/env bash
# Drain this node of Slurm when one of its health files says `failed` twice in a row, and resumes it when all are well
# again: after a drain of its own only. Whatever anybody else drained stays as it is.
#
#   drain-on-failure.sh [--now NAME]
#
#   --now    the failure of this health file drains at once: it will not pass by itself, such as a GPU that is gone
#
# It runs after every check. Where slurmd does not run (a login node, a node that boots) it does nothing. Exit code 0:
# done, or nothing to do. 1: the controller did not answer, or does not know this node.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
health=$root/run/ultracluster/health
run=$root/run/ultracluster/drain
# Prefix of this script's reasons. A reason with another prefix is from someone else and is left alone.
mark="ultracluster: "
now=""

say() { echo "drain-on-failure: $*"; }

fail() {
    trap - ERR
    say "$*" >&2
    exit 1
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# Set well to whether no file says `failed`, and reason to those that said so twice.
read_health() {
    local file name times
    well=yes reason=""
    for file in "$health"/*; do
        [ -f "$file" ] || continue
        name=${file##*/}
        if grep -q '^failed' "$file"; then
            well=no
            times=$(cat "$run/$name.times" 2>/dev/null) || times=0
            times=$((times + 1))
            printf '%s\n' "$times" >"$run/$name.times"
            # Slurm's reason is one line, and brackets are its own.
            if [ "$times" -ge 2 ] || [ "$name" = "$now" ]; then
                reason+="${reason:+; }$name: $(sed -n '1s/^failed: *//p' "$file" | tr -d '"[]' | cut -c 1-160)"
            fi
        else
            rm -f "$run/$name.times"
        fi
    done
}

# Set pid to slurmd's process, and scontrol to the one of the release that runs: AWS PCS installs several, none on the
# path. https://docs.aws.amazon.com/pcs/latest/userguide/slurm-versions.html (read 2026-11-21)
find_slurm() {
    local program
    pid=$(systemctl show --property MainPID --value slurmd.service 2>/dev/null) || pid=0
    # Whatever its unit is called.
    [[ $pid =~ ^[1-9][0-9]*$ ]] || pid=$(pgrep --oldest --exact slurmd) || return 1
    program=$(readlink "$root/proc/$pid/exe") || return 1
    scontrol=$root${program%/*/*}/bin/scontrol
    [ -x "$scontrol" ] || scontrol=$(command -v scontrol) || fail "slurmd runs, but there is no scontrol"
}

ask() { timeout --kill-after=5 20 "$scontrol" "$@"; }

# Print the lines of the controller's output with the address or host name of this node.
of_this_node() {
    awk -v own=" $(hostname -I) $(hostname -s) $(hostname) " '
        { for (i = 1; i <= NF; i++) if ($i ~ /^Node(Addr|HostName)=./ && index(own, " " substr($i, index($i, "=") + 1) " ")) {
            print
            next
        } }'
}

# Set node to the node's name in Slurm and shown to what the controller says about it. On AWS PCS the name, such as
# train-1, is not the host name. slurmd may have it from its command line; else the controller knows whose address is
# ours. https://docs.aws.amazon.com/pcs/latest/userguide/working-with_networking_efa_test.html (read 2026-11-21)
find_node() {
    local words index
    node=""
    mapfile -d '' -t words <"$root/proc/$pid/cmdline"
    for index in "${!words[@]}"; do
        case ${words[index]} in
            -N) node=${words[index + 1]:-} ;;
            -N?*) node=${words[index]#-N} ;;
        esac
    done
    node=${node:-$(cat "$run/node" 2>/dev/null || hostname -s)}
    shown=$(ask show node "$node" --oneliner 2>/dev/null | of_this_node) || shown=""
    if [ -z "$shown" ]; then
        shown=$(ask show node --oneliner | of_this_node) || fail "the controller of Slurm does not answer"
    fi
    # An address of a node that was powered down may be ours by now.
    [ "$(grep -c . <<<"$shown")" = 1 ] ||
        fail "not one node of the controller has the address or the host name of $(hostname): ${shown:-none}"
    node=$(grep -oE '(^| )NodeName=[^ ]+' <<<"$shown" | cut -d = -f 2)
    printf '%s\n' "$node" >"$run/node"
}

# Succeed if slurmd's first minutes are on: AWS PCS restarts it a few seconds after its start, a prolog of that moment is
# lost, and the controller drains the node for it seven minutes later. No prolog of this package has failed then. See
# https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs/docs/OPERATIONS.md 6.1 (commit 95b939c of
# 2026-07-23, read 2026-11-21).
is_new() {
    local up
    [ ! -e "$root/run/ultracluster/prolog-refused" ] || return 1
    read -r up _ 2>/dev/null <"$root/proc/uptime" || return 1
    [ "${up%.*}" -lt 2700 ]
}

# Succeed if the node is drained, and whether by us: none, ours or theirs. A prolog that was lost counts as ours, once.
drained() {
    if ! grep -qE ' State=[^ ]*[+]DRAIN([+*]| |$)' <<<"$shown"; then
        echo none
    elif [[ $shown == *" Reason=$mark"* ]]; then
        echo ours
    elif [[ $shown == *" Reason=Prolog error"* ]] && is_new && [ ! -e "$run/lost-prolog" ]; then
        touch "$run/lost-prolog"
        echo ours
    else
        echo theirs
    fi
}

update() { ask update NodeName="$node" "$@" || fail "the controller refused $*"; }

main() {
    local well reason pid scontrol node shown
    case $#:${1:-} in
        0:) ;;
        2:--now) now=$2 ;;
        *) fail "takes --now NAME or nothing, got $*" ;;
    esac
    mkdir -p "$run"
    exec 9>"$run/lock"
    flock 9
    read_health
    # A healthy node without a drain by this script since the boot needs no request.
    if [ "$well" = yes ] && [ -e "$run/clear" ] && ! is_new; then return; fi
    if [ "$well" = no ] && [ -z "$reason" ]; then return; fi
    find_slurm || return 0
    find_node
    case "$well $(drained)" in
        "no none")
            rm -f "$run/clear"
            update State=DRAIN Reason="$mark$reason"
            say "drained $node: $reason"
            ;;
        "no theirs") say "$node is drained for a reason of others; left as it is" ;;
        "yes ours")
            update State=RESUME
            touch "$run/clear"
            say "resumed $node: all is well again"
            ;;
        yes*) touch "$run/clear" ;;
    esac
}

main "$@"
