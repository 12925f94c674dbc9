# shellcheck shell=bash
# shellcheck disable=SC2154 # the scripts that include it set the variables
# Report the result of a script, which includes this. It sets `script`, the beginning of log lines; `result`, the file of
# the result; and `code`, the exit code of a failure.

log() { echo "$script: $*"; }

# Write `ok` or `failed: REASON`. Checks may run at the same time, and a reader sees one result as a whole.
state() {
    mkdir -p "${result%/*}"
    printf '%s\n' "$1" >"${result%/*}/.${result##*/}.$$"
    mv "${result%/*}/.${result##*/}.$$" "$result"
}

fail() {
    trap - ERR
    state "failed: $*" || true
    log "failed: $*" >&2
    exit "$code"
}

usage() { code=2 && fail "$@"; }

# Print the seconds since the boot: the time of day may be corrected.
uptime() {
    local up
    read -r up _ </proc/uptime
    echo "${up%.*}"
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
