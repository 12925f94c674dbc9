#!/usr/bin/env bash
# Run a node's Prometheus agent: fill values of the node into its configuration, and execute the agent.
#
#   metrics-agent.sh --template FILE (--url URL | --parameter NAME) [--region REGION] [--write FILE]
#
#   --template   the configuration, with @INSTANCE@, @INSTANCE_TYPE@, @ZONE@ and @URL@ in it
#   --url        where it writes to: https://.../api/v1/remote_write
#   --parameter  the parameter of Systems Manager that holds it
#   --region     its region, and that of the workspace; without one nothing is signed
#   --write      only write the configuration there
#
# Exit code 1: something is missing, and systemd tries again. 2: wrong usage.
set -euo pipefail
export LC_ALL=C

template="" url="" parameter="" region="" write=""
run=${ULTRACLUSTER_ROOT:-}/run/ultracluster/metrics

fail() {
    local code=$1
    shift
    echo "metrics-agent: $*" >&2
    exit "$code"
}

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || fail 2 "$1 needs a value"
        case $1 in
            --template) template=$2 ;;
            --url) url=$2 ;;
            --parameter) parameter=$2 ;;
            --region) region=$2 ;;
            --write) write=$2 ;;
            *) fail 2 "unknown argument $1; known: --template, --url, --parameter, --region, --write" ;;
        esac
        shift 2
    done
    [ -r "$template" ] || fail 2 "there is no template '$template'"
    [ "${url:+given}" != "${parameter:+given}" ] || fail 2 "give one of --url and --parameter"
    [ -z "$region" ] && [ -n "$url" ] || [[ $region =~ ^[a-z]{2,4}(-[a-z]+)+-[0-9]$ ]] || fail 2 "--region is a region such as us-east-2, got '$region'"
}

metadata() {
    local token again=(--silent --show-error --fail --max-time 3 --retry 40 --retry-delay 3 --retry-connrefused)
    token=$(curl "${again[@]}" --request PUT --header "X-aws-ec2-metadata-token-ttl-seconds: 60" \
        http://169.254.169.254/latest/api/token) || return 1
    curl "${again[@]}" --header "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"
}

main() {
    local text instance type zone
    read_arguments "$@"
    instance=$(metadata instance-id) || fail 1 "the instance metadata service did not return the instance id"
    type=$(metadata instance-type) || fail 1 "the instance metadata service did not return the instance type"
    zone=$(metadata placement/availability-zone-id) || fail 1 "the instance metadata service did not return the zone"
    if [ -n "$parameter" ]; then
        url=$(aws ssm get-parameter --region "$region" --name "$parameter" --query Parameter.Value --output text) ||
            fail 1 "the parameter $parameter cannot be read"
    fi
    [[ $url =~ ^https?://[A-Za-z0-9./_:-]+$ ]] || fail 1 "'$url' is no address to write to"
    text=$(<"$template")
    text=${text//@INSTANCE@/$instance} text=${text//@INSTANCE_TYPE@/$type} text=${text//@ZONE@/$zone}
    text=${text//@URL@/$url}
    if [ -n "$write" ]; then
        printf '%s\n' "$text" >"$write"
        return
    fi
    mkdir -p "$run"
    printf '%s\n' "$text" >"$run/agent.yaml"
    # The agent is restarted if the parameter has another value.
    [ -z "$parameter" ] || printf '%s %s\n' "$parameter" "$url" >"$run/address"
    # The agent was a feature to enable before version 3.
    mode=--agent output=$(prometheus --version 2>&1)
    case $output in *"version 2."*) mode=--enable-feature=agent ;; esac
    # Debian's and Ubuntu's own packages before 2.53 never sign what they send, and AWS refuses every sample.
    if [ -n "$region" ] && [[ $output =~ version\ 2\.([0-9]+)\.[0-9]+\+ds ]] && [ "${BASH_REMATCH[1]}" -lt 53 ]; then
        fail 1 "$(command -v prometheus) does not sign what it sends; install upstream's release, or 2.53 or newer"
    fi
    exec prometheus "$mode" --config.file="$run/agent.yaml" --storage.agent.path=/var/lib/ultracluster/metrics \
        --storage.agent.retention.max-time=2h --web.listen-address=127.0.0.1:9090
}

main "$@"
