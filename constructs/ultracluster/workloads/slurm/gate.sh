# shellcheck shell=bash
# A long job tests its nodes first, and starts without those that fail. It drains none: the checks of the nodes do that,
# as far as their circuit breaker allows. If more nodes fail than that allows, the test is rather wrong than the nodes.
# That does not hold for a node without containers: no job in a container starts on it.
pass_gate() {
    local program=${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-job-gate bad nccl=no most=$((SLURM_JOB_NUM_NODES / 20))
    local tested="nodes tested" lacking others without
    [ "$most" -ge 2 ] || most=2
    if [ ! -x "$program" ]; then
        log "the nodes are not tested: $(hostname) has no $program"
        return
    fi
    [ "$1" != nccl ] || nccl=yes
    # A node that cannot run containers starts the tasks outside of it.
    [ -n "${PAYLOAD:-}" ] || export ULTRACLUSTER_GATE_IMAGE=${IMAGE:-}
    bad=$("$program" --gpus "$gpus_per_node" --efa "$efa_devices" --nccl "$nccl") || tested="not all tests ran"
    if [ -z "$bad" ]; then
        log "$tested, and no node of $SLURM_JOB_NUM_NODES is bad"
        return
    fi
    while read -r line; do log "bad node: $line"; done <<<"$bad"
    lacking=$(sed -n 's/ no containers: .*//p' <<<"$bad" | paste --serial --delimiters=,)
    mapfile -t others < <(sed '/ no containers: /d; s/ .*//' <<<"$bad" | sort --unique)
    if [ "${#others[@]}" -gt "$most" ]; then
        log "${#others[@]} of $SLURM_JOB_NUM_NODES nodes are more than $most that a test may leave out"
        others=()
    fi
    without=$(printf '%s\n' ${lacking:+"$lacking"} "${others[@]}" | paste --serial --delimiters=,)
    [ -z "$without" ] || requeue_without "$without"
    if [ -n "$lacking" ]; then
        [ "$without" = "$lacking" ] || requeue_without "$lacking"
        fail "no containers on $lacking, and the job cannot be queued without: replace these nodes, or correct their image"
    fi
    log "the job starts on all its nodes"
}

case ${GATE-$([ -n "${PAYLOAD:-}" ] && echo no || echo "$gate")} in
    nccl) pass_gate nccl ;;
    nodes) pass_gate nodes ;;
    no) ;;
    *) fail "GATE is nccl, nodes or no, got '$GATE'" ;;
esac
