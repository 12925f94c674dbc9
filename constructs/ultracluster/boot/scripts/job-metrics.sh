# shellcheck shell=bash
# Read metrics that jobs write, for node-metrics.sh, which includes this.
# shellcheck disable=SC2034,SC2154  # variables of the script

# Print the metrics that jobs write into their directories, each line with the job, which is the directory's name. Users
# own the directories: links are not followed, and 64 files of 256 KB are read.
written_by_jobs() {
    local directory file files
    for directory in "$job_metrics"/*; do
        files=()
        for file in "$directory"/*.prom "$directory"/*/*.prom; do
            [ -f "$file" ] && [ ! -L "$file" ] && [ "${#files[@]}" -lt 64 ] && files+=("$file")
        done
        # The line before each file ends the last line of the file before: /dev/null ends that of the job.
        [ "${#files[@]}" -eq 0 ] ||
            timeout 5 head --verbose --bytes=262144 "${files[@]}" /dev/null 2>/dev/null | sed "s/^/${directory##*/} /" || true
    done
}

# Keep metrics of the contract, NCCL's, and those of servers, with the id of the job. Nothing else that a user writes becomes a sample: one
# line that node_exporter cannot read would take all metrics of the node: a number beyond 1e308, two samples whose
# labels differ in their order or in empty values, a reserved label, text that is not UTF-8. 2,000 series a job.
of_jobs() {
    local directories=("$job_metrics"/*)
    [ "${#directories[@]}" -eq 0 ] || written_by_jobs | awk '
        !/^[0-9]+ ((train|nccl)_|(vllm|sglang):)[a-zA-Z0-9_]+(\{[^{}\\]*\})? +[-+]?([0-9]+(\.[0-9]*)?([eE][-+]?[0-9][0-9]?)?|NaN|Inf)$/ { next }
        /[^ -~]/ || length($NF) > 40 { next }
        {
            job = $1; value = $NF; kept = 0; text = substr($0, length(job) + 2); name = text; sub(/[{ ].*/, "", name)
            labels = "job_id=\"" job "\""
            if (text ~ /^[^ ]*\{/) {
                sub(/^[^{]*\{/, "", text); sub(/\} +[^ ]+$/, "", text)
                # The Inspector has 13 labels.
                if ((parts = split(text, part, ",")) > 30) next
                for (i = 1; i <= parts; i++) {
                    label = part[i]; sub(/=.*/, "", label)
                    if (part[i] == "" || label == "job_id" || label == "slurm_job_id") continue
                    if (part[i] !~ /^[a-zA-Z_][a-zA-Z0-9_]*="[^"]*"$/ || label ~ /^__/ || used[NR, label]++) next
                    # Of the contract only `cause` is a label: others would make series without end.
                    if (part[i] ~ /=""$/ || (name ~ /^train_/ && label != "cause")) continue
                    for (at = ++kept; at > 1 && sorted[at - 1] > part[i]; at--) sorted[at] = sorted[at - 1]
                    sorted[at] = part[i]
                }
                for (i = 1; i <= kept; i++) labels = labels "," sorted[i]
            }
            if (seen[name, labels]++ || count[job]++ >= 2000) next
            if (!(name in lines)) order[++names] = name
            lines[name] = lines[name] name "{" labels "} " value "\n"
        }
        END {
            for (i = 1; i <= names; i++)
                printf "# TYPE %s %s\n%s", order[i], order[i] ~ /_total$/ ? "counter" : "gauge", lines[order[i]]
        }'
}

# NCCL's own watch over the ranks, where a job runs that has it. `ncclras -f json` lists each communicator's missing ranks,
# of which those count that do not answer: one that has left its communicator answers. A rank is in several communicators.
# https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html (NCCL 2.28.7, read 2026-11-27)
nccl() {
    local text missing file job=()
    command -v ncclras >/dev/null || return 0
    text=$(timeout 10 ncclras -f json 2>/dev/null) || return 0
    missing=$(awk '/"missing_ranks_count"/ { count = 0 }
        /"unresponsive": *true/ { if (++count > most) most = count }
        END { print most + 0 }' <<<"$text")
    for file in "$root"/sys/fs/cgroup/system.slice/*slurmstepd.scope/job_*; do job+=("${file##*/job_}"); done
    [ "${#job[@]}" -eq 1 ] || return 0
    family ultracluster_nccl_ras_missing_ranks gauge "Ranks that NCCL does not reach."
    printf 'ultracluster_nccl_ras_missing_ranks{job_id="%s"} %d\n' "${job[0]//$unclean/_}" "$missing"
}
