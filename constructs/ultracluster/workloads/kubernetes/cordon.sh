#!/usr/bin/env bash
# Wait for the verdict of a check, write it on the nodes that the check was about, and cordon them if it failed.
# Needs NODE, the node, or PODS, a label selector of pods of NAMESPACE on the nodes; CHECK, its name; GROUP, a label
# selector of the nodes of the group, and MOST, how many of them may be cordoned at once, by any program. A check that is
# wrong fails on many nodes at the same time: each is cordoned, counts after a while, and is released if they are more. A
# node that was cordoned before stays so.
# In the mode observe or off, data of the ConfigMap health-mode of NAMESPACE, none is cordoned. The annotation
# ultracluster/breaker-CHECK of a node that failed and is not cordoned raises HealthBreakerOpen, until the check passes.
set -euo pipefail

verdict="${VERDICT:-/verdict}"
account="${ACCOUNT:-/var/run/secrets/kubernetes.io/serviceaccount}"
api="${API:-https://kubernetes.default.svc}"

call() {
  curl --silent --show-error --fail --retry 5 --retry-all-errors --max-time 30 \
    --cacert "$account/ca.crt" --header "Authorization: Bearer $(cat "$account/token")" "$@"
}

until [ -s "$verdict/code" ]; do sleep "${PAUSE:-5}"; done
code="$(cat "$verdict/code")"
# What JSON can hold as it is.
reason="$(tr -cd 'A-Za-z0-9 .,:;/()-' <"$verdict/reason" | cut -c1-200)"

if [ -n "${PODS:-}" ]; then
  # No jq in the image; the API writes a key and its value on one line.
  nodes="$(call "$api/api/v1/namespaces/$NAMESPACE/pods?labelSelector=$PODS" |
    grep -o '"nodeName": *"[^"]*"' | cut -d'"' -f4 | sort -u)"
else
  nodes="${NODE:?}"
fi

# 0: passed. 1: failed. Anything else: no verdict, and no cordon.
spec=""
case "$code" in
  0) word=passed ;;
  1) word=failed spec=',"spec":{"unschedulable":true}' ;;
  *) word="no verdict" ;;
esac
# Without the ConfigMap, or an answer, checks enforce. A list, for curl would repeat a request of what is not there.
mode="$(call "$api/api/v1/namespaces/$NAMESPACE/configmaps?fieldSelector=metadata.name=health-mode" |
  grep -o '"mode": *"[^"]*"' | head -n 1 | cut -d'"' -f4 || true)"
# Of this check only, and not without a verdict: what another check found is still there.
key="\"ultracluster/breaker-$CHECK\"" breaker=""
[ "$code" != 0 ] || breaker=",$key:null"
if [ "$code" = 1 ] && [[ "$mode" == observe || "$mode" == off ]]; then
  word="failed, not cordoned as the mode is $mode" spec=""
  [ "$mode" = off ] || breaker=",$key:\"open\""
fi
patch="{\"metadata\":{\"annotations\":{\"ultracluster/$CHECK\":\"$word: $reason\"$breaker}}$spec}"
change() {
  local node
  for node in $nodes; do
    call --request PATCH --header "Content-Type: application/merge-patch+json" --data "$1" \
      --output /dev/null "$api/api/v1/nodes/$node"
    echo "$node: $CHECK $2: $reason"
  done
}

cordoned_here=""
if [ -n "$spec" ]; then
  for node in $nodes; do
    record="$(call "$api/api/v1/nodes?fieldSelector=metadata.name=$node")"
    [[ "$record" =~ \"unschedulable\":\ *true ]] || cordoned_here+="$node "
  done
fi
change "$patch" "$word"
[ -n "$cordoned_here" ] || exit 0
sleep "${SETTLE:-10}"
cordoned="$(call "$api/api/v1/nodes?labelSelector=$GROUP" | grep -c '"unschedulable": *true' || true)"
if [ "$cordoned" -gt "$MOST" ]; then
  word="failed, not cordoned as $cordoned of at most $MOST were"
  spec=',"spec":{"unschedulable":false}' nodes="$cordoned_here"
  change "{\"metadata\":{\"annotations\":{\"ultracluster/$CHECK\":\"$word: $reason\",$key:\"open\"}}$spec}" "$word"
fi
