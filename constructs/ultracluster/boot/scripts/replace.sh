#!/usr/bin/env bash
# Terminate this instance, so that AWS PCS starts another one: when Slurm has drained the node for a fault of the hardware,
# no job has been on it for ten minutes, and fewer instances of its node group were terminated within an hour than allowed.
#
#   replace.sh NODE MODE <LINE
#
# LINE is what `scontrol show node --oneliner` prints. MODE is enforce, or another one that only reports. The parameters
# /ultracluster/NAME/replaced/GROUP/1, /2, ... are as many as instances may be terminated within an hour; each has the
# time, the node and the instance that took it last.
#
# Exit code 0: nothing to do. 1: AWS refused. 2: wrong usage. 3: the budget or the mode does not allow it. 4: the instance is
# terminated.
set -Eeuo pipefail
export LC_ALL=C

# Where the node's / stands: nothing on a node, a directory in a test.
root=${ULTRACLUSTER_ROOT:-}
run=$root/run/ultracluster/replace
metrics=$root/var/lib/node_exporter/textfile_collector
hour=3600
# Seconds for which a node must be drained and without jobs, and in which others take the same parameter.
after=${ULTRACLUSTER_REPLACE_AFTER:-600}
settle=${ULTRACLUSTER_SETTLE:-3}
# What neither time nor a reboot repairs, in the words of the checks.
fatal='XID [0-9]|uncorrected ECC errors|could not remap a row|of [0-9]+ (GPUs|EFA devices|local disks) are there|NVLinks up'
slots="" most=0 region="" topic="" limits=""
metadata=http://169.254.169.254/latest

log() { echo "replace: $*" >&2; }

fail() {
    trap - ERR
    log "$*"
    exit 1
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# LIMITS is a list of GROUP=NUMBER.
read_settings() {
    local name value
    while read -r name value; do
        case $name in
            slots) slots=$value ;;
            region) region=$value ;;
            topic) topic=$value ;;
            limits) limits=$value ;;
            *) fail "/etc/ultracluster/replace: unknown name $name" ;;
        esac
    done <"$root/etc/ultracluster/replace"
    for value in $limits; do
        if [ "${value%=*}" = "$1" ]; then most=${value#*=}; fi
    done
}

# A full disk must not keep a bad node in service.
write_metric() { metric "$1" || log "the metric cannot be written"; }

metric() {
    [ -d "$metrics" ] || mkdir -p "$metrics" || return 1
    printf '# HELP %s %s\n# TYPE %s gauge\n%s{action="replace"} %s\n' ultracluster_health_breaker_open \
        "Whether the circuit breaker holds an action of the health checks back (1) or not (0)." \
        ultracluster_health_breaker_open ultracluster_health_breaker_open "$1" >"$metrics/.ultracluster_replace" || return 1
    chmod 644 "$metrics/.ultracluster_replace" || return 1
    mv "$metrics/.ultracluster_replace" "$metrics/ultracluster_replace.prom"
}

held() {
    write_metric 1
    log "$node is not replaced: $*"
    exit 3
}

# Succeed if the node is idle: drained, and not draining.
is_idle() { grep -qE ' State=(IDLE|DOWN)[^ ]*[+]DRAIN' <<<"$line" && ! grep -qE ' State=[^ ]*COMPLETING' <<<"$line"; }

call() { timeout --kill-after=1 30 aws "$@" --region "$region"; }

instance_id() {
    local token
    token=$(curl --silent --fail --max-time 5 --request PUT --header "X-aws-ec2-metadata-token-ttl-seconds: 60" \
        "$metadata/api/token")
    curl --silent --fail --max-time 5 --header "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/instance-id"
}

# Take one of the parameters for this instance; 1: none is free.
take_slot() {
    local all slot value own="$EPOCHSECONDS $node $instance" options
    all=$(call ssm get-parameters-by-path --path "$slots/$group" --query 'Parameters[].[Name,Value]' --output text) ||
        fail "the parameters below $slots/$group cannot be read"
    # Asked for before, and the instance still runs.
    if grep -q " $instance\$" <<<"$all"; then return 0; fi
    for ((slot = 1; slot <= most; slot++)); do
        value=$(awk -v name="$slots/$group/$slot" '$1 == name { print $2 }' <<<"$all")
        options=()
        if [ -n "$value" ]; then
            [ "$value" -le $((EPOCHSECONDS - hour)) ] || continue
            options=(--overwrite)
        fi
        # Without --overwrite it is refused if another node was faster.
        call ssm put-parameter --name "$slots/$group/$slot" --type String --value "$own" "${options[@]}" >/dev/null ||
            continue
        sleep "$settle"
        value=$(call ssm get-parameter --name "$slots/$group/$slot" --query Parameter.Value --output text) || value=""
        [ "$value" = "$own" ] || continue
        notify
        return 0
    done
    return 1
}

notify() {
    local arn
    arn=$(call ssm get-parameter --name "$topic" --query Parameter.Value --output text) || arn=""
    if [ -z "$arn" ] || ! call sns publish --topic-arn "$arn" --subject "Node $node is replaced" --message \
        "The instance $instance of the node $node is terminated, and AWS PCS starts another one: $reason" >/dev/null; then
        log "no notification could be sent"
    fi
}

main() {
    local node mode line group reason instance since
    [ $# -eq 2 ] || { log "takes NODE and MODE, got $*" && exit 2; }
    node=$1 mode=$2
    line=$(cat)
    group=${node%-*}
    read_settings "$group"
    mkdir -p "$run"
    reason=$(sed -nE 's/.* Reason=([^[]*).*/\1/p' <<<"$line" | cut -c 1-300)
    if ! grep -qE "$fatal" <<<"$reason" || ! is_idle; then
        rm -f "$run/since"
        return 0
    fi
    since=$(cat "$run/since" 2>/dev/null) || since=""
    if [ -z "$since" ]; then
        since=$EPOCHSECONDS
        printf '%s\n' "$since" >"$run/since"
    fi
    [ $((EPOCHSECONDS - since)) -ge "$after" ] || return 0
    [ "$mode" = enforce ] || held "the mode is $mode"
    instance=$(instance_id) || fail "the metadata service does not answer"
    take_slot || held "$most instances of $group were terminated within an hour: $reason"
    write_metric 0
    call ec2 terminate-instances --instance-ids "$instance" >/dev/null || fail "EC2 did not terminate $instance"
    log "terminated $instance, $node: $reason"
    exit 4
}

main "$@"
