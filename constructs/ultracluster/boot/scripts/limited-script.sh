#!/usr/bin/env bash
# Run a script of the cluster file. If it fails, the node is terminated, as often within an hour as there are parameters
# /ultracluster/NAME/failed-scripts/NODES/1, 2, ... After that, a node on which it fails stays, and takes no jobs.
#
#   limited-script.sh [ARGUMENT ...]
#
# The arguments are those of the script, which follows the last line, or is at a URL.
#
# The node terminates itself: if AWS PCS did it for the exit code, it would do it for a script that it cannot download as
# well, without limit.
#
# Exit code 0: the script succeeded. 1: its failure is in /run/ultracluster/health/script, for which Slurm drains the node.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
name=@NAME@
url=@URL@
sha256=@SHA256@
every_boot=@EVERY_BOOT@
slots=@SLOTS@
most=@MOST@
region=@REGION@
health=$root/run/ultracluster/health
program=$root/opt/ultracluster/scripts/$name
hour=3600
metadata=http://169.254.169.254/latest
# Seconds in which other nodes take the same parameter.
settle=${ULTRACLUSTER_SETTLE:-3}

log() { echo "limited-script: $name: $*" >&2; }

call() { timeout --kill-after=1 30 aws "$@" --region "$region"; }

fetch() {
    mkdir -p "${program%/*}" || return 1
    case $url in
        "") sed '1,/^#SCRIPT$/d' "$0" >"$program.part" || return 1 ;;
        s3://*) timeout --kill-after=5 300 aws s3 cp --only-show-errors --region "$region" "$url" "$program.part" || return 1 ;;
        # A server that stalls must not hold the boot until AWS PCS replaces the node, without limit.
        *)
            timeout --kill-after=5 300 curl --silent --show-error --fail --location --connect-timeout 10 --retry 5 \
                --speed-limit 50000 --speed-time 20 --output "$program.part" "$url" || return 1
            ;;
    esac
    sha256sum --check --status <<<"$sha256  $program.part" || { log "has another checksum" && return 1; }
    chmod 700 "$program.part" && mv "$program.part" "$program"
}

# Take one of the parameters for this node; 1: none is free, or AWS refused.
take_slot() {
    local slot value own options
    own="$EPOCHSECONDS $(hostname) $name"
    for ((slot = 1; slot <= most; slot++)); do
        options=()
        if value=$(call ssm get-parameter --name "$slots/$slot" --query Parameter.Value --output text 2>/dev/null); then
            value=${value%% *}
            [[ $value =~ ^[0-9]+$ ]] && [ "$value" -le $((EPOCHSECONDS - hour)) ] || continue
            options=(--overwrite)
        fi
        # Without --overwrite it is refused if another node was faster.
        call ssm put-parameter --name "$slots/$slot" --type String --value "$own" "${options[@]}" >/dev/null || continue
        sleep "$settle"
        value=$(call ssm get-parameter --name "$slots/$slot" --query Parameter.Value --output text) || continue
        [ "$value" != "$own" ] || return 0
    done
    return 1
}

terminate() {
    local token instance
    token=$(curl --silent --fail --max-time 5 --request PUT --header "X-aws-ec2-metadata-token-ttl-seconds: 60" \
        "$metadata/api/token") || return 1
    instance=$(curl --silent --fail --max-time 5 --header "X-aws-ec2-metadata-token: $token" \
        "$metadata/meta-data/instance-id") || return 1
    call ec2 terminate-instances --instance-ids "$instance" >/dev/null
}

# The first failure of the node is the reason of its drain.
report() {
    log "$1"
    [ -e "$health/script" ] || {
        mkdir -p "$health"
        printf '%s\n' "$1" >"$health/.script"
        mv "$health/.script" "$health/script"
    }
}

main() {
    local result rc=0
    # After a reboot of the node a script that runs once has the result of its only run.
    if [ "$every_boot" = no ] && result=$(cat "$program.result" 2>/dev/null); then
        if [ "$result" = ok ]; then return 0; fi
        report "$result"
        return 1
    fi
    if fetch; then
        "$program" "$@" || rc=$?
        result="failed: the script $name exited with code $rc"
    else
        rc=1 result="failed: the script $name cannot be downloaded, or has another checksum"
    fi
    if [ "$rc" -eq 0 ]; then
        result=ok
    else
        # Also where the node is terminated: until it is, it takes no jobs.
        report "$result"
        rc=1
        if take_slot; then
            if terminate; then log "the node is terminated"; else log "EC2 did not terminate the node; it stays"; fi
        fi
    fi
    printf '%s\n' "$result" >"$program.result" || log "the result cannot be stored"
    return "$rc"
}

main "$@"
exit
