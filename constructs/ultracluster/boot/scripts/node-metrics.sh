#!/usr/bin/env bash
# Write what node_exporter does not know of a node into the directory that it reads: EFA's counters under AWS's names,
# the devices that should be there, the health that other scripts leave, which job has which GPU, and Lustre's traffic.
#
#   node-metrics.sh --gpus 8 --efa 32 --counters "tx_bytes rx_drops" [--name train-1]
#
#   --gpus      GPUs that the instance type has
#   --efa       EFA devices that the node was given
#   --counters  which of EFA's counters are kept
#   --name      name of the node in its scheduler; default: its host name without the domain
#
# Exit code 0: written. 2: wrong usage. A source that is not there gives no samples, and is no failure.
set -euo pipefail
export LC_ALL=C
shopt -s nullglob

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
out=${ULTRACLUSTER_TEXTFILES:-$root/var/lib/node_exporter/textfile_collector}
gpus="" efa="" counters="" name=""

usage() {
    echo "node-metrics: $*" >&2
    exit 2
}

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --gpus) gpus=$2 ;;
            --efa) efa=$2 ;;
            --counters) counters=$2 ;;
            --name) name=$2 ;;
            *) usage "unknown argument $1; known: --gpus, --efa, --counters, --name" ;;
        esac
        shift 2
    done
    [[ $gpus =~ ^[0-9]{1,3}$ ]] || usage "--gpus is a whole number, got '$gpus'"
    [[ $efa =~ ^[0-9]{1,3}$ ]] || usage "--efa is a whole number, got '$efa'"
    [[ $counters =~ ^[a-z0-9_\ ]*$ ]] || usage "--counters are names of counters, got '$counters'"
    [ -n "$name" ] || { name=$(uname -n) && name=${name%%.*}; }
}

family() { printf '# HELP %s %s\n# TYPE %s %s\n' "$1" "$3" "$1" "$2"; }

# Print the value of a label without quotes, backslashes and newlines.
clean() { printf '%s' "${1//[^a-zA-Z0-9._:\/-]/_}"; }

expected() {
    family ultracluster_node_info gauge "The name of the node in its scheduler."
    printf 'ultracluster_node_info{node="%s"} 1\n' "$(clean "$name")"
    family ultracluster_expected_gpus gauge "GPUs that the instance type has."
    printf 'ultracluster_expected_gpus %d\n' "$gpus"
    family ultracluster_expected_efa_devices gauge "EFA devices that the node was given."
    printf 'ultracluster_expected_efa_devices %d\n' "$efa"
}

# EFA's devices, each with the directories of its ports. Others, such as those of Mellanox, have another driver.
efa_counters() {
    local device port file counter value
    family node_amazonefa_info gauge "An EFA device."
    for device in "$root"/sys/class/infiniband/*; do
        is_efa "$device" && printf 'node_amazonefa_info{device="%s"} 1\n' "$(clean "${device##*/}")"
    done
    for counter in $counters; do
        family "node_amazonefa_$counter" counter "EFA's counter $counter."
        for device in "$root"/sys/class/infiniband/*; do
            is_efa "$device" || continue
            for port in "$device"/ports/*; do
                file=$port/hw_counters/$counter
                # Older drivers lack some; a device that goes while we read gives nothing.
                [ -r "$file" ] && read -r value <"$file" 2>/dev/null && [[ $value =~ ^[0-9]+$ ]] || continue
                printf 'node_amazonefa_%s{device="%s",port="%s"} %s\n' "$counter" "$(clean "${device##*/}")" \
                    "$(clean "${port##*/}")" "$value"
            done
        done
    done
}

is_efa() {
    local driver
    driver=$(readlink -f "$1/device/driver" 2>/dev/null) && [ "${driver##*/}" = efa ]
}

# Export the health files: `ok`, `ok: NOTE` or `failed: REASON`.
health() {
    local file text
    family ultracluster_health_ok gauge "Whether a check of the node is well."
    for file in "$root"/run/ultracluster/health/*; do
        read -r text <"$file" 2>/dev/null || text=""
        printf 'ultracluster_health_ok{check="%s"} %d\n' "$(clean "${file##*/}")" "$(is_ok "$text")"
    done
}

is_ok() { if [[ $1 == ok || $1 == ok:* ]]; then echo 1; else echo 0; fi; }

# Export the states of install-software.sh. An image with all software has none.
software() {
    local file text
    family ultracluster_software_ok gauge "Whether the software is installed."
    for file in "$root"/run/ultracluster/software/*; do
        read -r text <"$file" 2>/dev/null || text=""
        printf 'ultracluster_software_ok{item="%s"} %d\n' "$(clean "${file##*/}")" "$(is_ok "$text")"
    done
}

# Export the sum over all CPUs: node_exporter has 17 series for each of 192.
cpu() {
    local line fields modes index
    read -r line <"$root/proc/stat" || return 0
    read -r -a fields <<<"$line"
    modes=(user nice system idle iowait irq softirq steal)
    family ultracluster_cpu_seconds_total counter "Time of all CPUs by what they did."
    for index in "${!modes[@]}"; do
        # The kernel counts hundredths of a second.
        [[ ${fields[index + 1]:-} =~ ^[0-9]+$ ]] || continue
        printf 'ultracluster_cpu_seconds_total{mode="%s"} %d.%02d\n' "${modes[index]}" \
            $((fields[index + 1] / 100)) $((fields[index + 1] % 100))
    done
}

# Which job has which GPU: the prolog's word for it where there is one, a file for each GPU with a job on each line, as
# dcgm-exporter reads them too; else the one job that Slurm runs here has them all.
jobs() {
    local file job index found=()
    family ultracluster_gpu_job gauge "Which job has the GPU."
    if [ -d "$root/run/ultracluster/hpc-jobs" ]; then
        for file in "$root"/run/ultracluster/hpc-jobs/*; do
            while read -r job || [ -n "$job" ]; do
                [ -z "$job" ] || gpu_job "${file##*/}" "$job"
            done <"$file"
        done
        return
    fi
    for file in "$root"/sys/fs/cgroup/system.slice/*slurmstepd.scope/job_*; do found+=("${file##*/job_}"); done
    [ "${#found[@]}" -eq 1 ] || return 0
    for ((index = 0; index < gpus; index++)); do gpu_job "$index" "${found[0]}"; done
}

gpu_job() { printf 'ultracluster_gpu_job{gpu="%s",job_id="%s"} 1\n' "$(clean "$1")" "$(clean "$2")"; }

# `read_bytes 12 samples [bytes] MIN MAX SUM`, by file system: fs1-ffff8881 is a mount of fs1.
lustre() {
    local kind file word fields system
    for kind in read write; do
        family "ultracluster_lustre_${kind}_bytes_total" counter "What programs ${kind} of a Lustre file system."
        for file in "$root"/sys/kernel/debug/lustre/llite/*/stats "$root"/proc/fs/lustre/llite/*/stats; do
            system=${file%/stats} system=${system##*/} system=${system%-*}
            while read -r word fields; do
                [ "$word" = "${kind}_bytes" ] || continue
                read -r -a fields <<<"$fields"
                [[ ${fields[5]:-} =~ ^[0-9]+$ ]] || continue
                printf 'ultracluster_lustre_%s_bytes_total{filesystem="%s"} %s\n' "$kind" "$(clean "$system")" \
                    "${fields[5]}"
            done <"$file"
        done
    done
}

# NCCL's own watch over the ranks, where a job runs that has it: `ncclras -f json` says how many do not answer.
nccl() {
    local text missing job=()
    command -v ncclras >/dev/null || return 0
    text=$(timeout 10 ncclras -f json 2>/dev/null) || return 0
    missing=$(grep -o '"status": *"MISSING"\|"status": *"UNRESPONSIVE"' <<<"$text" | grep -c . || true)
    for file in "$root"/sys/fs/cgroup/system.slice/*slurmstepd.scope/job_*; do job+=("${file##*/job_}"); done
    [ "${#job[@]}" -eq 1 ] || return 0
    family ultracluster_nccl_ras_missing_ranks gauge "Ranks that NCCL does not reach."
    printf 'ultracluster_nccl_ras_missing_ranks{job_id="%s"} %d\n' "$(clean "${job[0]}")" "$missing"
}

# Delete the files of jobs that no longer run on this node.
sweep() {
    local file job
    for file in "$out"/train-*.prom "$out"/nccl_inspector/*-*.prom; do
        job=${file##*/train-} job=${job%.prom}
        [[ $job =~ ^[0-9]+$ ]] || continue
        compgen -G "$root/sys/fs/cgroup/system.slice/*slurmstepd.scope/job_$job" >/dev/null || rm -f "$file"
    done
}

main() {
    read_arguments "$@"
    mkdir -p "$out"
    sweep
    { expected && cpu && efa_counters && health && software && jobs && lustre && nccl; } >"$out/.ultracluster_node"
    chmod 644 "$out/.ultracluster_node"
    mv "$out/.ultracluster_node" "$out/ultracluster_node.prom"
}

main "$@"
