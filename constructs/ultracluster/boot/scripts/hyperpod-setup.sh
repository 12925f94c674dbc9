#!/usr/bin/env bash
# Set a node of SageMaker HyperPod up, after the configuration by its image: run the scripts of its group in their order.
#
#   hyperpod-setup.sh
#
# The Parameter Store lists them: URL, checksum, what follows from a failure, and arguments as words of the shell, on a
# line each. HyperPod runs this once on each new node, as root: https://docs.aws.amazon.com/sagemaker/latest/dg/
# smcluster-getting-started-slurm-cli.html (read 2026-11-23)
#
# Exit code 0: all have run. 1: the list, or a script that must not fail, did. HyperPod then launches another node, for
# which it charges, without limit. If it is the controller of a new cluster, the cluster has failed:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html (read 2026-11-27)
set -Eeuo pipefail
export LC_ALL=C

parameter=@PARAMETER@
region=@REGION@
# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
log=$root/var/log/provision/ultracluster.log
pause=${ULTRACLUSTER_PAUSE:-10}

log() {
    echo "hyperpod-setup: $*"
    echo "hyperpod-setup: $*" >>"$log"
}

# Run a command again while it fails, for some minutes: the role and the network of a new node take a while, and a
# failure costs the node, or the cluster.
again() {
    local try
    for ((try = 1; try <= 30; try++)); do
        ! "$@" || return 0
        log "try $try failed: $*" >&2
        sleep "$pause"
    done
    return 1
}

list() {
    aws ssm get-parameter --name "$parameter" --region "$region" --query Parameter.Value --output text >"$work/list"
}

fetch() {
    case "$1" in
        https://*) curl --fail --silent --show-error --location --max-time 120 --output "$work/script" "$1" || return 1 ;;
        *) aws s3 cp --only-show-errors --region "$region" "$1" "$work/script" </dev/null || return 1 ;;
    esac
    echo "$2  $work/script" | sha256sum --check --quiet
}

main() {
    local url checksum failure rest arguments
    mkdir -p "${log%/*}"
    again list || { log "there is no $parameter"; exit 1; }
    while read -r url checksum failure rest; do
        [ -n "$url" ] || continue
        log "$url"
        # The deployment quotes each of them.
        eval "arguments=($rest)"
        if again fetch "$url" "$checksum" && chmod 700 "$work/script" &&
            "$work/script" "${arguments[@]}" </dev/null >>"$log" 2>&1; then continue; fi
        log "$url failed: $failure"
        case "$failure" in
            CONTINUE) ;;
            STOP_SEQUENCE) return 0 ;;
            *) exit 1 ;;
        esac
    done <"$work/list"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
main
