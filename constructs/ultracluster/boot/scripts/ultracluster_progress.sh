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

# Print when the newest file of a checkpoint was written, in Unix time, or 0. ultracluster_run.py looks for the same files
# every half minute, and sees none of the seconds before a failure.
newest_checkpoint() {
    local newest
    newest=$(find "$RUN" -maxdepth 4 -type f -regextype posix-extended \
        -regex '.*\.(pt|pth|ckpt|bin|safetensors|distcp|npz|tar|ocdbt)' -printf '%T@\n' 2>/dev/null | sort -n | tail -n 1) || true
    newest=${newest%.*}
    echo "${newest:-0}"
}

# Remember where the program starts.
start_progress() {
    first_step=$(state step 0) first_checkpoint=$(newest_checkpoint)
}

# Succeed if it is further.
progressed() {
    if [ "$(state checkpoint none)" = none ]; then
        [ "$(state step 0)" -gt "$first_step" ]
    else
        [ "$(newest_checkpoint)" -gt "$first_checkpoint" ]
    fi
}
