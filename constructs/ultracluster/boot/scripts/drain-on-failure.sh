#!/usr/bin/env bash
# Drain this node of Slurm when one of its health files has `failed` twice in a row, and resume it when all are well
# three times in a row: after a drain of its own only. Whatever anybody else drained stays as it is.
#
# A circuit breaker protects the cluster from a check that is wrong on many nodes. Of a node group (on HyperPod, of a
# partition) at most 2 nodes or 5 % are drained within an hour, whichever is more, and at most 2 or 10 % stay drained by
# checks; further nodes report, and stay in service until others are resumed. A node that is drained three times within a
# day stays drained. The controller keeps what this needs, in the comments of the nodes:
# ultracluster:EPOCH:TIMES of a drain, and ultracluster:EPOCH:TIMES:claim of a node that is about to be drained.
#
# Mode at run time: the SSM parameter of /etc/ultracluster/breaker is enforce, observe (report only) or off (not even
# that). If it cannot be read, the last value is used, and enforce before the first.
#
#   drain-on-failure.sh [--now NAME]
#
#   --now    the failure of this health file drains at once: it will not pass by itself, such as a GPU that is gone
#
# It runs after every check. Where slurmd does not run (a login node, a node that boots) it does nothing. Exit code 0:
# done, or nothing to do. 1: the controller did not answer, or has no such node. 3: the node stays in service
# although a check failed, because of the breaker or the mode.
set -Eeuo pipefail
# Nodes that fail at once, such as with their file system, read the mode at once.
export LC_ALL=C AWS_RETRY_MODE=adaptive

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
health=$root/run/ultracluster/health
run=$root/run/ultracluster/drain
# Prefix of this script's reasons. A reason with another prefix is from someone else and is left alone.
mark="ultracluster: "
replace=$root/usr/local/sbin/ultracluster-replace
now=""
metrics=$root/var/lib/node_exporter/textfile_collector
hour=3600
# For awk: the group of a record. HyperPod names nodes by their addresses; there, it is the partitions of the node, without
# the one that it has during deep health checks: https://docs.aws.amazon.com/sagemaker/latest/dg/
# sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html (excerpt, read 2026-11-27).
group_of='function group_of(record, name) {
    name = record
    sub(/^NodeName=/, "", name)
    sub(/ .*/, "", name)
    if (name ~ /^ip-[0-9]+-[0-9]+-[0-9]+-[0-9]+$/) {
        if (!match(record, / Partitions=[^ ]+/)) return "no partition"
        name = "," substr(record, RSTART + 12, RLENGTH - 12) ","
        sub(/,hyperpod-system-maintenance,/, ",", name)
        return substr(name, 2, length(name) - 2)
    }
    sub(/-[^-]*$/, "", name)
    return name
}'
# Seconds between a claim and the count of the others: more than the drain that follows a count takes.
settle=${ULTRACLUSTER_SETTLE:-3}

log() { echo "drain-on-failure: $*"; }

fail() {
    trap - ERR
    log "$*" >&2
    exit 1
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# Print the count in a file; what is no number counts as 0.
count() {
    local number=""
    read -r number 2>/dev/null <"$1" || true
    [[ $number =~ ^[0-9]{1,9}$ ]] || number=0
    echo "$((10#$number))"
}

# Set well to `yes` if no file has `failed`, and reason to those that had it twice.
read_health() {
    local file name text times
    well=yes reason=""
    for file in "$health"/*; do
        [ -f "$file" ] || continue
        name=${file##*/} text=""
        IFS= read -r text 2>/dev/null <"$file" || true
        if [[ $text == failed* ]]; then
            well=no
            times=$(($(count "$run/$name.times") + 1))
            printf '%s\n' "$times" >"$run/$name.times"
            # Slurm's reason is one line, and brackets are its own.
            if [ "$times" -ge 2 ] || [ "$name" = "$now" ]; then
                text=${text//[]\"[]/} text=${text#failed:} text=${text#"${text%%[! ]*}"}
                reason+="${reason:+; }$name: ${text::160}"
            fi
        else
            [ ! -e "$run/$name.times" ] || rm "$run/$name.times"
        fi
    done
}

#INCLUDE slurm-node.sh
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

# Print who drained the node: none, library, flapping, other, or lost for a prolog that was lost, once.
drained() {
    if [[ ! $shown =~ \ State=[^[:space:]]*[+]DRAIN([+*]|\ |$) ]]; then
        echo none
    elif [[ $shown == *" Reason=$mark"* ]]; then
        echo library
    elif [[ $shown == *" Reason=ultracluster, flapping"* ]]; then
        echo flapping
    elif [[ $shown == *" Reason=Prolog error"* ]] && is_new && [ ! -e "$run/lost-prolog" ]; then
        echo lost
    else
        echo other
    fi
}

# Set group, and comment, epoch and times to this node's last drain; note to what others wrote into the comment, which has
# an end only where it is not on one line with the rest.
read_comment() {
    group=$(awk "$group_of"'{ print group_of($0) }' <<<"$shown") comment=""
    [[ ! $shown =~ \ Comment=(ultracluster:[0-9]+:[0-9]+) ]] || comment=${BASH_REMATCH[1]}
    IFS=: read -r _ epoch times <<<"$comment"
    epoch=${epoch:-0} times=${times:-0}
    note=$(query show node "$node" | sed -nE 's/^ *Comment=(ultracluster:[0-9]+:[0-9]+(:claim)?( |$))?//p') || note=""
    note=${note:+ $note}
}

# Succeed if the breaker allows the drain of this node, which has claimed it; else set held to the limit that is reached.
# Claims before its own count as drains. A claim that is older than a minute belongs to a check that was interrupted.
may_drain() {
    local all nodes recent drained claims hourly most
    all=$(query show node --oneliner) || fail "the controller of Slurm does not answer"
    read -r nodes recent drained claims < <(awk -v group="$group" -v node="$node" -v claim="$1" -v now="$EPOCHSECONDS" -v hour="$hour" \
        "$group_of"'
        group_of($0) == group {
            name = $1
            sub(/^NodeName=/, "", name)
            nodes++
            if (name == node) next
            if (/ State=[^ ]*[+]DRAIN([+*]| |$)/ && / Reason=ultracluster[:,] /) drained++
            if (!match($0, /Comment=ultracluster:[0-9]+:[0-9]+(:claim)?/)) next
            count = split(substr($0, RSTART, RLENGTH), words, ":")
            if (count == 3 && words[2] > now - hour) recent++
            else if (count == 4 && words[2] > now - 60 && (words[2] < claim || words[2] == claim && name < node)) claims++
        }
        END { print nodes + 0, recent + 0, drained + 0, claims + 0 }' <<<"$all")
    hourly=$((nodes / 20 > 2 ? nodes / 20 : 2)) most=$((nodes / 10 > 2 ? nodes / 10 : 2)) held=""
    if [ $((recent + claims)) -ge "$hourly" ]; then
        held="$hourly nodes of $group were drained within an hour"
    elif [ $((drained + claims)) -ge "$most" ]; then
        held="$most nodes of $group are drained by checks; others follow when they are resumed"
    fi
    [ -z "$held" ]
}

# Set mode.
read_mode() {
    local name value parameter="" region=""
    mode=enforce
    [ -r "$root/etc/ultracluster/breaker" ] || return 0
    while read -r name value; do
        case $name in parameter) parameter=$value ;; region) region=$value ;; esac
    done <"$root/etc/ultracluster/breaker"
    if value=$(timeout --kill-after=1 15 aws ssm get-parameter --name "$parameter" --region "$region" \
        --query Parameter.Value --output text 2>/dev/null); then
        printf '%s\n' "$value" >"$run/mode"
    else
        value=$(cat "$run/mode" 2>/dev/null) || value=enforce
        log "$parameter cannot be read; the mode is $value"
    fi
    case $value in
        enforce | observe | off) mode=$value ;;
        *) log "$parameter is '$value', and not enforce, observe or off; the mode is enforce" ;;
    esac
}

# Write the metric on which the alert of the breaker is based: 1 while the breaker, or the mode, holds an action back. A
# full disk must not turn a report into a failure, for which Slurm would drain the node.
write_metric() { metric "$1" || log "the metric cannot be written" >&2; }

metric() {
    [ -d "$metrics" ] || mkdir -p "$metrics" || return 1
    printf '# HELP %s %s\n# TYPE %s gauge\n%s{action="drain"} %s\n' ultracluster_health_breaker_open \
        "Whether the circuit breaker holds an action of the health checks back (1) or not (0)." \
        ultracluster_health_breaker_open ultracluster_health_breaker_open "$1" >"$metrics/.ultracluster_drain" || return 1
    chmod 644 "$metrics/.ultracluster_drain" || return 1
    mv "$metrics/.ultracluster_drain" "$metrics/ultracluster_drain.prom"
}

# Drain the node for a reason, or reports it only.
drain() {
    local held group comment epoch times note claim
    read_mode
    claim=$EPOCHSECONDS
    if [ "$mode" = off ]; then exit 3; fi
    if [ "$mode" = observe ]; then report "the mode is observe"; fi
    read_comment
    # A node whose drain of the last hour counts already takes no second place.
    if [ "$epoch" -le $((claim - hour)) ]; then
        update Comment="ultracluster:$claim:$times:claim$note"
        sleep "$settle"
        if ! may_drain "$claim"; then
            note=$comment$note
            update Comment="${note# }"
            report "$held"
        fi
    fi
    if [ "$epoch" -gt $((claim - 86400)) ]; then times=$((times + 1)); else times=1; fi
    rm -f "$run/clear" "$run/drained"
    # Another prefix: nothing resumes a node that fails again and again.
    if [ "$times" -ge 3 ]; then reason="flapping, drained $times times within a day; $reason"; mark="ultracluster, "; fi
    update State=DRAIN Reason="$mark$reason" Comment="ultracluster:$claim:$times$note"
    # For the prologs of other jobs.
    touch "$run/drained"
    write_metric 0
    log "drained $node: $reason"
}

# The drains of a node that flapped were those of the instance that ends: the next one is resumed when all is well. Its last
# drain still counts for the breaker.
release_flapping() {
    local group comment epoch times note
    [ "$state" = flapping ] || return 0
    read_comment
    update Reason="$mark$reason" Comment="ultracluster:$epoch:0$note"
}

report() {
    write_metric 1
    log "$node stays in service although a check failed, for $1: $reason" >&2
    exit 3
}

update() { query update NodeName="$node" "$@" || fail "the controller refused $*"; }

main() {
    # shellcheck disable=SC2034  # of slurm-node.sh
    local mode well reason pid scontrol node shown passed state rc file
    case $#:${1:-} in
        0:) ;;
        2:--now) now=$2 ;;
        *) fail "takes --now NAME or nothing, got $*" ;;
    esac
    [ -d "$run" ] || mkdir -p "$run"
    # Others could hold a lock that they may read.
    exec 9>"$run/lock"
    chmod 600 "$run/lock"
    flock 9
    read_health
    # Their age is that of this run, also when it has nothing new: without it, an old value looks like a new one.
    for file in "$metrics"/ultracluster_{drain,replace}.prom; do [ ! -e "$file" ] || touch "$file" || true; done
    if [ "$well" = yes ]; then
        passed=$(($(count "$run/passed") + 1))
        [ ! -e "$metrics/ultracluster_drain.prom" ] || write_metric 0
        rm -f "$metrics/ultracluster_replace.prom"
    else
        passed=0
    fi
    printf '%s\n' "$passed" >"$run/passed"
    # A healthy node without a drain by this script since the boot needs no request.
    if [ "$well" = yes ] && [ -e "$run/clear" ] && ! is_new; then return; fi
    if [ "$well" = no ] && [ -z "$reason" ]; then return; fi
    find_slurm || return 0
    find_node
    state=$(drained)
    case "$well $state" in
        "no none") drain ;;
        "no library" | "no flapping")
            # Where bad nodes are replaced.
            if [ -x "$replace" ]; then
                read_mode
                rc=0
                "$replace" "$node" "$mode" <<<"$shown" || rc=$?
                case $rc in
                    0) ;;
                    4) release_flapping ;;
                    *) log "$node was not replaced" ;;
                esac
            fi
            ;;
        "no other" | "no lost") log "$node is drained for a reason of others; left as it is" ;;
        "yes library" | "yes lost")
            # Mounts that come and go would resume and drain it every minute.
            [ "$passed" -ge 3 ] || [[ $shown != *" Reason=$mark"* ]] || return 0
            [[ $shown == *" Reason=$mark"* ]] || touch "$run/lost-prolog"
            update State=RESUME
            touch "$run/clear"
            rm -f "$run/drained"
            log "resumed $node: all is well again"
            ;;
        yes*) touch "$run/clear" ;;
    esac
}

main "$@"
