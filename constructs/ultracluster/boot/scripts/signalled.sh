#!/usr/bin/env bash
# Start of a script whose result a deployment may wait for. At its end, the last lines of its output are the signal.
#
# HANDLE: URL of the wait condition; empty for a script that no deployment waits for
#INCLUDE signal-deployment.sh

output=$(mktemp)
exec 3>&1 >"$output" 2>&1

finish() {
    local status=$? word=FAILURE
    cat "$output" >&3
    [ "$status" -ne 0 ] || word=SUCCESS
    # The hourly runs after the deployment fail for their own reasons only.
    [ -z "${HANDLE:-}" ] || signal_deployment "$HANDLE" "$word" script "$(tail -n 25 "$output")" >&3 || true
    rm -f "$output"
}
# A node that stops signals nothing: its replacement does. Without the trap, the status is that of the last command.
trap 'HANDLE=; exit 143' HUP INT TERM
trap finish EXIT
