#!/usr/bin/env bash
# Report to CloudFormation whether the canary of a node group is well. The other nodes of the group get its image and its
# scripts after that, or never.
#
#   canary.sh PARAMETER REGION CHECKSUM
#
# AWS PCS runs it once, when the node has joined Slurm. The parameter holds CHECKSUM URL: that of what the deployment
# changes, and the wait condition of CloudFormation. A node with another checksum belongs to no deployment that waits.
#
# Exit code 0: reported, or nothing to report. 1: CloudFormation or the parameter cannot be reached. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C AWS_RETRY_MODE=adaptive AWS_MAX_ATTEMPTS=10

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
health=$root/run/ultracluster/health
check=$root/usr/local/sbin/ultracluster-health-check
# Seconds until what is still wrong is reported: mounts and drivers take their time.
limit=${ULTRACLUSTER_CANARY_LIMIT:-900}
pause=${ULTRACLUSTER_PAUSE:-15}

log() { echo "canary: $*"; }

# Print what is wrong with the node; nothing if all is well.
problem() {
    local file
    if [ ! -e "$health/boot" ]; then
        echo "the boot script has not ended"
        return
    fi
    # Without the health checks of the library, the boot and the mounts are all that is known.
    [ ! -x "$check" ] || "$check" --recent 60 >/dev/null 2>&1 || true
    for file in "$health"/*; do
        if grep -qs '^failed' "$file"; then
            echo "${file##*/}: $(sed -n '1s/^failed: *//p' "$file")"
            return
        fi
    done
}

#INCLUDE signal-deployment.sh

# A node that took the place of a canary reports to no deployment.
report() {
    local code=0 text
    text=$(signal_deployment "$url" "$1" canary "$2") || code=$?
    log "$text: $2"
    [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || exit 1
}

main() {
    local value content url wrong
    if [ $# -ne 3 ]; then
        log "usage: canary.sh PARAMETER REGION CHECKSUM" >&2
        exit 2
    fi
    value=$(aws ssm get-parameter --name "$1" --region "$2" --query Parameter.Value --output text) ||
        { log "the parameter $1 cannot be read" && exit 1; }
    read -r content url <<<"$value"
    if [ "$content" != "$3" ]; then
        log "no deployment waits for this node"
        return
    fi
    while wrong=$(problem) && [ -n "$wrong" ] && [ "$SECONDS" -lt "$limit" ]; do sleep "$pause"; done
    if [ -n "$wrong" ]; then
        report FAILURE "$wrong"
    else
        report SUCCESS "the node is well"
    fi
}

main "$@"
