# shellcheck shell=bash
# Find out whether a program that failed is further than at its start. Job files of Slurm contain these functions, and
# ultracluster_gang.sh sources them.
#
# RUN: directory of checkpoints. ULTRACLUSTER_JOB_STATE: file with the highest step of all starts, and the time of a
# checkpoint if steps are counted. Each start counts on from the highest step, so an error of the program itself would be
# progress: there, only a newer checkpoint is.

# Print a number of the state, `step` or `checkpoint`, or the default.
state() {
    local text=""
    [ ! -r "${ULTRACLUSTER_JOB_STATE:-}" ] || text=$(<"$ULTRACLUSTER_JOB_STATE")
    [[ $text =~ \"$1\":\ *([0-9]+) ]] && echo "${BASH_REMATCH[1]}" || echo "$2"
}

# Print when the newest file of a checkpoint was written, in Unix time, or 0. Like ultracluster_run.py, it looks into the
# two newest directories of each one: all files of a hundred checkpoints of 512 processes would be 50,000 requests.
newest_checkpoint() {
    local newest=0 directory path written _
    local -a directories=("$RUN") below
    for _ in 1 2 3 4; do
        below=()
        for directory in "${directories[@]}"; do
            written=$(find "$directory" -maxdepth 1 -type f -regextype posix-extended \
                -regex '.*\.(pt|pth|ckpt|bin|safetensors|distcp|npz|tar|ocdbt)' -printf '%T@\n' 2>/dev/null | sort -n | tail -n 1) || true
            written=${written%.*}
            [ "${written:-0}" -le "$newest" ] || newest=$written
            while IFS= read -r path; do below+=("$path"); done < <(find "$directory" -mindepth 1 -maxdepth 1 -type d \
                -printf '%T@ %p\n' 2>/dev/null | sort -rn | head -n 2 | cut -d ' ' -f 2-)
        done
        [ "${#below[@]}" -gt 0 ] || break
        directories=("${below[@]}")
    done
    echo "$newest"
}

# Remember where the program starts.
start_progress() {
    first_step=$(state step 0) first_checkpoint=$(newest_checkpoint)
}

# Succeed if it is further. Of steps that are counted, ultracluster_run.py must have seen a newer checkpoint while the
# program ran: it looks every half minute. A program that fails in its save leaves a newer file at each start.
progressed() {
    if [ "$(state checkpoint none)" = none ]; then
        [ "$(state step 0)" -gt "$first_step" ]
    else
        [ "$(state checkpoint 0)" -gt "$first_checkpoint" ]
    fi
}
