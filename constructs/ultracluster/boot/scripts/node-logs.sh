#!/usr/bin/env bash
# Sends the logs of this node to CloudWatch, from the first step of its boot that a script can take: a node that is
# terminated for what comes later leaves evidence.
#
#   node-logs.sh LOG_GROUP REGION [NODE_GROUP]
#
# Below its last line stand the program and its unit, as a tar in base64. Exit code: 0, always. A node without its log in
# CloudWatch is a good node.
set -uo pipefail
export LC_ALL=C

# Where the node's / stands: nothing on a node, a directory in a test.
root=${ULTRACLUSTER_ROOT:-}

main() {
    mkdir -p "$root/etc/ultracluster"
    sed '1,/^#FILES$/d' "$0" | base64 --decode | tar -x -C "$root/" --no-same-owner || return 1
    {
        echo "LOG_GROUP=$1"
        echo "AWS_DEFAULT_REGION=$2"
        # The agent of PCS sets them; HyperPod has no such agent.
        echo "NODE=${PCS_NODE_ID:-}"
        echo "NODE_GROUP=${3:-${PCS_COMPUTE_NODE_GROUP_NAME:-}}"
    } >"$root/etc/ultracluster/node-logs"
    systemctl daemon-reload
    systemctl enable --quiet ultracluster-node-logs.service
    # Another boot may have another log group.
    systemctl restart --no-block ultracluster-node-logs.service
}

main "$@" || echo "node-logs: the logs of this node are not sent to CloudWatch" >&2
exit 0
