#!/usr/bin/env bash
# Check the mounts of a node: each is there, of the right type, and answers; and Lustre runs over EFA where it should.
#
#   mount-check.sh [--mounts /etc/ultracluster/mounts] [--limit 5] [--first 120]
#
#   --mounts  what should be mounted, a line each: PATH TYPE EFA, the last one no, yes or required: with yes a mount over
#             TCP is well, and a metric shows it
#   --limit   seconds that a file system may take to answer
#   --first   seconds for which the first check since the boot tries again before it reports a failure
#
# /etc/ultracluster/exports has the directories that export to S3, a line each: MOUNT DIRECTORY. Each is opened for all
# users, once since the boot: their jobs write there.
#
# Exit code 0: all is well. 1: something failed. 2: wrong usage. `ok`, `ok: NOTE` or `failed: REASON` is in
# /run/ultracluster/health/mounts, and metrics in node_exporter's directory for text files.
#
# A process that waits for a file system that does not answer may not even be killed. So what may hang runs in the
# background, and as long as one such process is left over for a mount no other is started.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
run=$root/run/ultracluster/mounts
health=$root/run/ultracluster/health
metrics=$root/var/lib/node_exporter/textfile_collector
# A read of this file is what has to go over EFA: as many requests of 1 MiB, past the cache. Its directory is root's,
# because the file system is everybody's: a user could else put a directory in its place, and drain all nodes.
folder=.ultracluster
probe="efa-probe" reads=4
list=$root/etc/ultracluster/mounts
exports=$root/etc/ultracluster/exports
limit=5 first=120
# shellcheck disable=SC2034 # status.sh reads them
script=mount-check result=$health/mounts code=1

#INCLUDE status.sh
#INCLUDE open-directory.sh
#INCLUDE tune-targets.sh

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --mounts) list=$root$2 ;;
            --limit) limit=$2 ;;
            --first) first=$2 ;;
            *) usage "unknown argument $1; known: --mounts, --limit, --first" ;;
        esac
        shift 2
    done
    [[ $limit =~ ^[1-9][0-9]?$ ]] || usage "--limit is 1 to 99 seconds, got '$limit'"
    [[ $first =~ ^[0-9]{1,3}$ ]] || usage "--first is 0 to 999 seconds, got '$first'"
    [ -r "$list" ] || usage "there is no $list"
}

# Set status and since: what a process does, and when it started in the kernel's ticks. Its number may be another's later.
look_at() {
    local line fields
    status="" since=""
    read -r line 2>/dev/null <"/proc/$1/stat" || return 0
    read -r -a fields <<<"${line##*) }"
    status=${fields[0]} since=${fields[19]}
}

# Run a command for at most `limit` seconds, under a name; its output is in $run/NAME.out then.
# Exit code: the command's; 124 when it took too long; 125 when one of an earlier check is still left over.
within() {
    local name=$run/$1 pid born="" status since left
    shift
    if read -r pid born 2>/dev/null <"$name.pid"; then
        look_at "$pid"
        if [ -n "$since" ] && [ "$since" = "$born" ]; then return 125; fi
    fi
    # Neither the lock nor our output may stay open for as long as it lives.
    "$@" >"$name.out" 2>&1 </dev/null 9>&- &
    pid=$!
    # Twentieths of a second.
    left=$((limit * 20))
    look_at "$pid"
    born=$since
    printf '%s %s\n' "$pid" "$born" >"$name.pid"
    while [ -n "$born" ] && [ "$since" = "$born" ] && [ "$status" != Z ]; do
        left=$((left - 1))
        if [ "$left" -lt 0 ]; then
            kill -KILL "$pid" 2>/dev/null || true
            disown "$pid" 2>/dev/null || true
            return 124
        fi
        sleep 0.05
        look_at "$pid"
    done
    : >"$name.pid"
    wait "$pid"
}

# Print the type of the uppermost file system at a path, or nothing if only its automount unit is active.
mounted_type() {
    awk -v path="$1" '$5 == path { type = ""; for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); break } }
        END { if (type != "autofs") print type }' "$root/proc/self/mountinfo"
}

# Succeed if the kernel calls it what /etc/fstab calls it.
same_type() {
    case $1 in
        nfs | nfs4 | efs | s3files) [[ $2 == nfs* ]] ;;
        *) [[ $2 == "$1" || $2 == "$1".* || $2 == fuse."$1" ]] ;;
    esac
}

last_line() { awk 'NF { last = $0 } END { print substr(last, 1, 120) }' "$run/$1.out"; }

# Set up, sent and received to what LNet has on EFA: interfaces that are up, messages so far.
count_messages() {
    within lnetctl lnetctl net show -v --net efa || { up=0 sent=0 received=0; return 0; }
    read -r up sent received < <(awk '$1 == "status:" && $2 == "up" { up++ }
        $1 == "send_count:" { sent += $2 } $1 == "recv_count:" { received += $2 }
        END { printf "%d %.0f %.0f\n", up, sent, received }' "$run/lnetctl.out")
}

# Run a command in the directory of the probe. Nobody can exchange the working directory after the test of its owner.
# Exit code: the command's; 3 if the directory is not root's; 4 if there is none.
in_folder() {
    # shellcheck disable=SC2016 # expands in the other shell
    within "$1" bash -c 'cd -P "$0" || exit 4; [ "$PWD" = "$0" ] && [ -O . ] || exit 3; exec "$@"' "$2/$folder" "${@:3}"
}

# Look for the probe, in a directory that the first node creates, before users may write to a new file system.
find_probe() {
    local rc=0
    in_folder "$1" "$2" stat "$probe" || rc=$?
    [ "$rc" -eq 4 ] || return "$rc"
    # Another node may be faster.
    within "$1" mkdir -m 755 "$2/$folder" || true
    in_folder "$1" "$2" stat "$probe"
}

# Write the file that all nodes read, on one node. Random, because zeros would be compressed to nothing.
write_probe() {
    local part
    part="$probe.$(uname -n)"
    in_folder "$1" "$2" dd if=/dev/urandom of="$part" bs=1M count="$reads" && in_folder "$1" "$2" mv -f "$part" "$probe"
}

# Print what is wrong with the way to a file system; nothing: it is EFA. Each of the requests is at least one message
# there and one back: 1,000 of them were 2,007 each way on a g6e.24xlarge, and none over EFA means TCP.
# https://github.com/liadhweka/wsi-cloud (runs/2026-08-20-lustre-efa-walk-transcript.md, read 2026-11-21)
check_efa() {
    local name=$1 path=$2 wanted sent_before received_before rc=0
    read -r wanted 2>/dev/null <"$root/run/ultracluster/lustre-efa-interfaces" || wanted=1
    count_messages
    if [ "$up" -eq 0 ]; then
        echo "$path runs over TCP: LNet has no EFA interface that is up"
        return
    fi
    if [ "$up" -lt "$wanted" ]; then
        echo "$path has $up of $wanted EFA interfaces"
        return
    fi
    find_probe "$name" "$path" || rc=$?
    if [ "$rc" -eq 1 ] && grep -q 'No such file' "$run/$name.out"; then
        rc=0
        write_probe "$name" "$path" || rc=$?
        count_messages
    fi
    sent_before=$sent received_before=$received
    if [ "$rc" -eq 0 ]; then
        in_folder "$name" "$path" dd if="$probe" of=/dev/null bs=1M count="$reads" iflag=direct || rc=$?
    fi
    if [ "$rc" -ge 124 ]; then
        echo "$path does not answer a read within $limit s"
    elif [ "$rc" -eq 3 ] || [ "$rc" -eq 4 ]; then
        echo "$path/$folder is not a directory of root: reads over EFA are not checked"
    elif [ "$rc" -ne 0 ]; then
        echo "$path/$folder/$probe cannot be read: $(last_line "$name")"
    else
        count_messages
        if [ $((sent - sent_before)) -lt "$reads" ] || [ $((received - received_before)) -lt "$reads" ]; then
            echo "$path runs over TCP: of a read of $reads MiB next to nothing went over EFA"
        fi
    fi
}

# Check one mount: sets problem, note, mounted and over_efa.
check_mount() {
    local name=$1 path=$2 type=$3 efa=$4 rc=0 found
    problem="" note="" mounted=1 over_efa=0
    # This also mounts what is mounted on first use.
    within "$name" stat --file-system "$root$path" || rc=$?
    found=$(mounted_type "$path")
    if [ -z "$found" ]; then
        mounted=0 problem="$path is not mounted"
    elif ! same_type "$type" "$found"; then
        problem="$path is of the type $found, not $type"
    elif [ "$rc" -eq 125 ]; then
        problem="$path has not answered since an earlier check"
    elif [ "$rc" -eq 124 ]; then
        problem="$path does not answer within $limit s"
    elif [ "$rc" -ne 0 ]; then
        problem="$path answers with an error: $(last_line "$name")"
    elif [ "$efa" != no ]; then
        problem=$(check_efa "$name" "$root$path")
        problem=${problem//"$root$path"/"$path"}
        if [ -z "$problem" ]; then over_efa=1; fi
        # Slower, and it works.
        if [ "$efa" = yes ] && [[ $problem == *" runs over TCP: "* || $problem == *" EFA interfaces" ]]; then
            note=$problem problem=""
        fi
        # Users can cause it, and must not drain nodes.
        if [[ $problem == *" are not checked" ]]; then note=$problem problem=""; fi
    fi
}

# Open the directories of a mount that export. One that FSx has not created yet is for a later check. The root is in the
# list where the service mounts the file system, as HyperPod does: there, no file is a device or runs as its owner.
open_exports() {
    local name=$1 mount directory line
    [ -e "$exports" ] || return 0
    while read -r mount directory; do
        line="$mount $directory"
        if [ "$mount" != "$2" ] || grep -qsxF "$line" "$run/opened"; then continue; fi
        [ "$directory" != / ] || within "$name" mount -o remount,bind,nosuid,nodev "$root$mount" || log "$(last_line "$name")"
        if within "$name" open_directory "$root$mount" "$directory"; then
            printf '%s\n' "$line" >>"$run/opened"
        else
            log "$mount$directory is not open yet: $(last_line "$name")"
        fi
    done <"$exports"
}

# Check all mounts: sets reason, notes, and the samples of the metrics.
check_all() {
    local path type efa name problem note mounted over_efa from took success
    reason="" notes="" samples=()
    while read -r path type efa; do
        name=${path//\//_}
        from=${EPOCHREALTIME/./}
        check_mount "$name" "$path" "$type" "$efa"
        printf -v took %07d $((${EPOCHREALTIME/./} - from))
        if [ -z "$problem" ]; then
            printf '%s\n' "$EPOCHSECONDS" >"$run/$name.success"
            if [ "$type" = lustre ]; then open_exports "$name" "$path"; fi
        else
            reason+="${reason:+; }$problem"
        fi
        if [ -n "$note" ]; then notes+="${notes:+; }$note"; fi
        samples+=("mounted{path=\"$path\"} $mounted")
        samples+=("check_seconds{path=\"$path\"} ${took::-6}.${took: -6}")
        read -r success 2>/dev/null <"$run/$name.success" || success=0
        samples+=("last_success_timestamp_seconds{path=\"$path\"} $success")
        # Where EFA is not configured there is no sample, so that 0 is always bad news.
        if [ "$efa" != no ]; then samples+=("over_efa{path=\"$path\"} $over_efa"); fi
    done < <(grep -Ev '^(#|$)' "$list")
}

describe() {
    local sample name=ultracluster_mount_$1
    printf '# HELP %s %s\n# TYPE %s gauge\n' "$name" "$2" "$name"
    for sample in "${samples[@]}"; do
        [[ $sample != "$1{"* ]] || echo "ultracluster_mount_$sample"
    done
}

# A full disk must not turn a report into a failure, for which Slurm would drain the node.
write_metrics() {
    mkdir -p "$metrics"
    {
        describe mounted "Whether the file system is mounted (1) or not (0)."
        describe over_efa "Whether a read of the file system went over EFA (1) or TCP (0)."
        describe check_seconds "How long the last check took."
        describe last_success_timestamp_seconds "When a check last found nothing wrong, since the boot; 0 is never."
    } >"$metrics/.ultracluster_mounts" &&
        chmod 644 "$metrics/.ultracluster_mounts" &&
        mv "$metrics/.ultracluster_mounts" "$metrics/ultracluster_mounts.prom"
}

main() {
    local reason="" notes="" samples=() up=0 sent=0 received=0 began
    began=$(uptime)
    read_arguments "$@"
    mkdir -p "$run"
    exec 9>"$run/lock"
    chmod 600 "$run/lock"
    flock 9
    check_all
    if [ ! -e "$health/mounts" ]; then
        while [ -n "$reason" ] && [ $(($(uptime) - began)) -lt "$first" ]; do
            sleep 5
            check_all
        done
    fi
    # When, for health-check.sh.
    uptime >"$run/checked"
    tune_new_targets "$root" "$run"
    write_metrics || log "no metrics" >&2
    [ -z "$reason" ] || fail "$reason"
    state "ok${notes:+: $notes}"
}

main "$@"
