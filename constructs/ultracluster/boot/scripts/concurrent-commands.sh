# shellcheck shell=bash
# Run commands at the same time, each of which may hang, for health-check.sh, which includes this.
# shellcheck disable=SC2154  # variables of the script

# Exit codes of the commands, by their names; 124 for one that did not end.
declare -A codes=() pids=()

# Open a pipe for commands that start together: each holds its other end, until it has ended.
begin() {
    pids=()
    exec 7< <(:) 8>/proc/self/fd/7
}

# Start a command under a name; its output is in $run/NAME.out. It inherits neither the lock nor the pipe from which slurmd
# reads the output.
query() {
    "${@:2}" >"$run/$1.out" 2>&1 </dev/null 7<&- 9>&- &
    pids[$1]=$!
}

# Wait for the commands, up to a limit: what hangs in the driver cannot be killed, and what
# waits for it hangs too. Counted, because the time of day may be corrected meanwhile.
await() {
    local name left rc
    exec 8>&-
    for ((left = limit, rc = 129; left > 0 && rc > 128; left--)); do read -r -t 1 -u 7 || rc=$?; done
    exec 7<&-
    # The release of its other files may hang in the driver.
    left=$((rc > 128 ? 0 : limit * 400))
    for name in "${!pids[@]}"; do
        while ((--left > 0)) && kill -0 "${pids[$name]}" 2>/dev/null; do ((left % 20)) || sleep 0.05; done
        if [ "$left" -le 0 ] && kill -KILL "${pids[$name]}" 2>/dev/null; then
            disown "${pids[$name]}"
            codes[$name]=124
        else
            codes[$name]=0
            wait "${pids[$name]}" || codes[$name]=$?
        fi
    done
}

# Succeed if one of the commands ended well; else why not is a problem.
answered() {
    local what=$2
    case ${codes[$1]} in
        0) return 0 ;;
        124 | 137) problem "$what does not answer within $limit s" ;;
        *) problem "$what: $(awk 'NF { last = $0 } END { print substr(last, 1, 120) }' "$run/$1.out")" ;;
    esac
    return 1
}
