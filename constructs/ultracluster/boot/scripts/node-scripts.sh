#!/usr/bin/env bash
# Update the files of this node that may change under a running job: health checks, prolog and epilog, collectors of
# metrics, users. Mounts, systemd units and what drains the node come from the boot script.
#
#   node-scripts.sh --parameter NAME --region REGION --group GROUP
#
# The parameter holds URL SHA256 of a tar archive with a directory for each node group. Each file is replaced by a
# rename, so that a program that runs keeps its own text, after all of them were checked for syntax errors. Prologs and epilogs hold a shared lock: no update happens
# between their steps. Only collectors of metrics are restarted, and the agent of the metrics if its workspace changed.
#
# Exit code 0: the files are those of the parameter, or the update waits for prologs. 1: they are not, and the old ones
# stay: /run/ultracluster/software/node-scripts has the reason, for a metric. A node that never had any is drained for it
# (/run/ultracluster/health/node-scripts), and resumed when it has them. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C AWS_RETRY_MODE=adaptive AWS_MAX_ATTEMPTS=10

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
run=$root/run/ultracluster
kept=$root/var/lib/ultracluster/node-scripts
parameter="" region="" group="" url="" sha256="" new=""

log() { echo "node-scripts: $*"; }

# Write a state: DIRECTORY TEXT.
state() {
    mkdir -p "$run/$1"
    printf '%s\n' "$2" >"$run/$1/.node-scripts"
    mv "$run/$1/.node-scripts" "$run/$1/node-scripts"
}

fail() {
    trap - ERR
    log "$*" >&2
    state software "failed: $*"
    [ -e "$kept/sha256" ] || state health "failed: the scripts of the node cannot be fetched: $*"
    exit 1
}

usage() { log "$*" >&2 && exit 2; }

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --parameter) parameter=$2 ;;
            --region) region=$2 ;;
            --group) group=$2 ;;
            *) usage "unknown argument $1; known: --parameter, --region, --group" ;;
        esac
        shift 2
    done
    [ -n "$parameter" ] && [ -n "$region" ] || usage "--parameter and --region are needed"
    [[ $group =~ ^[A-Za-z][A-Za-z0-9-]*$ ]] || usage "--group is the name of a node group, got '$group'"
}

# A node that boots may be faster than the permissions of its role, and has nothing to fall back to. Pauses are at random,
# so that nodes that were refused together do not come back together.
read_parameter() {
    local value attempt pause tries=1
    [ -e "$kept/sha256" ] || tries=5
    for ((attempt = 1; ; attempt++)); do
        if value=$(timeout --kill-after=5 60 aws ssm get-parameter --name "$parameter" --region "$region" \
            --query Parameter.Value --output text); then
            break
        fi
        [ "$attempt" -lt "$tries" ] || fail "the parameter $parameter cannot be read"
        pause=$((attempt * ${ULTRACLUSTER_PAUSE:-5}))
        sleep $((pause + RANDOM % (pause + 1)))
    done
    read -r url sha256 <<<"$value"
    [[ $url == s3://*/* && $sha256 =~ ^[0-9a-f]{64}$ ]] || fail "$parameter holds no URL and checksum: $value"
}

fetch() {
    timeout --kill-after=5 120 aws s3 cp --only-show-errors --region "$region" "$url" "$new/archive" ||
        fail "$url cannot be fetched"
    echo "$sha256  $new/archive" | sha256sum --check --status || fail "$url does not have the checksum of $parameter"
    tar -x -f "$new/archive" -C "$new" --no-same-owner "$group" 2>/dev/null || fail "$url has no files of $group"
    (cd "$new/$group" && find . -type f | sed 's|^\./||' | sort) >"$new/files"
    # The files of a boot script are not ours to replace.
    if grep -vqE '^(usr/local/sbin/ultracluster-|etc/ultracluster/)[A-Za-z0-9._/-]+$' "$new/files"; then
        fail "$url has files that are not the library's"
    fi
    check_files
}

# A check or a prolog that does not start would fail on all nodes at once.
check_files() {
    local file first
    while read -r file; do
        [[ $file == usr/local/sbin/* ]] || continue
        # Not `-x`, which is false where /var is mounted with noexec.
        [ -n "$(find "$new/$group/$file" -perm -u+x)" ] || fail "$file of $url is not executable"
        read -r first <"$new/$group/$file" || true
        [[ $first != *bash* ]] || bash -n "$new/$group/$file" || fail "$file of $url is not valid bash"
    done <"$new/files"
}

# A name beside a file, on the same file system.
beside() { printf '%s' "${1%/*}/.${1##*/}.new"; }

replace_files() {
    local file changed=no
    # All are written before one is replaced: a full disk leaves the old version.
    while read -r file; do
        mkdir -p "$root/${file%/*}"
        cp -p "$new/$group/$file" "$(beside "$root/$file")" || fail "$file cannot be written"
    done <"$new/files"
    # Others could hold a lock that they may read.
    exec 9>"$run/node-scripts.lock"
    chmod 600 "$run/node-scripts.lock"
    if ! flock --wait "${ULTRACLUSTER_LOCK_WAIT:-60}" 9; then
        log "prologs or epilogs are running; the update waits"
        exit 0
    fi
    while read -r file; do
        case $file in
            *metrics* | *collect-* | *dcgm* | *slurm-target*) cmp -s "$(beside "$root/$file")" "$root/$file" || changed=yes ;;
        esac
        mv -T "$(beside "$root/$file")" "$root/$file"
    done <"$new/files"
    # What the last version had, and this one has not.
    if [ -e "$kept/files" ]; then
        while read -r file; do
            grep -qxF "$file" "$new/files" || rm -f "$root/$file"
        done <"$kept/files"
    fi
    exec 9>&-
    mv "$new/files" "$kept/files"
    printf '%s\n' "$sha256" >"$kept/.sha256"
    mv "$kept/.sha256" "$kept/sha256"
    [ "$changed" = no ] || systemctl try-restart 'ultracluster-metrics-*.service' || log "a collector cannot be restarted"
}

# A fault may have passed by itself, such as a file system that did not answer as a job started, or the check was wrong: on
# a drained node no job starts that would check again. A command that hangs in the driver cannot be killed, and each
# check would leave some more.
check_again() {
    local name bin=$root/usr/local/sbin/ultracluster
    if grep -qs '^failed' "$run/health/devices" && ! pgrep --euid 0 --exact nvidia-smi >/dev/null; then
        # What hangs in the driver must not keep the lock.
        "$bin-health-check" 7>&- || log "the devices are not well"
    fi
    if grep -qs '^failed' "$run/health/epilog"; then clean_again 7>&-; fi
    # A domain of this node alone shows that controller, driver and service work. A job has its own.
    if grep -qs '^failed' "$run/health/imex" && [ -e "$run/drain/drained" ] && [ -z "$(ls -A "$run/jobs")" ] &&
        name=$(cat "$run/drain/node"); then
        SLURM_JOB_ID=0 SLURM_JOB_OVERSUBSCRIBE=NO SLURMD_NODENAME=$name SLURM_JOB_NODELIST=$name "$bin-imex" 7>&- ||
            log "IMEX does not start"
    fi
}

# Repeat the epilogs of the jobs whose processes could not be killed. One that fails again lists its job again.
clean_again() {
    local job uid
    mv "$run/epilog-failed" "$run/.epilog-failed" 2>/dev/null || return 0
    while read -r job uid; do
        SLURM_JOB_ID=$job SLURM_JOB_UID=$uid "$bin-epilog" </dev/null || log "processes of job $job are left"
    done <"$run/.epilog-failed"
    if [ ! -e "$run/epilog-failed" ]; then
        printf 'ok\n' >"$run/health/.epilog"
        mv "$run/health/.epilog" "$run/health/epilog"
    fi
}

# The agent of the metrics reads its address as it starts. A workspace that was created again has another one.
follow_workspace() {
    local name used address
    read -r name used 2>/dev/null <"$run/metrics/address" || return 0
    address=$(timeout --kill-after=5 60 aws ssm get-parameter --name "$name" --region "$region" \
        --query Parameter.Value --output text) || return 0
    if [ "$address" = "$used" ]; then return 0; fi
    log "the metrics go to $address"
    systemctl try-restart ultracluster-metrics-agent.service || log "the agent of the metrics cannot be restarted"
}

main() {
    read_arguments "$@"
    mkdir -p "$kept" "$run"
    exec 7>"$kept/lock"
    chmod 600 "$kept/lock"
    flock 7
    # Until the first version is there.
    [ -e "$kept/sha256" ] || state health "failed: the scripts of the node are not there yet"
    read_parameter
    if [ "$(cat "$kept/sha256" 2>/dev/null)" != "$sha256" ]; then
        rm -rf "$kept"/.new.*
        new=$(mktemp -d "$kept/.new.XXXXXX")
        trap 'rm -rf "$new"' EXIT
        fetch
        replace_files
        log "updated to ${sha256:0:12}"
    fi
    state software ok
    state health ok
    check_again
    follow_workspace
}

main "$@"
exit
