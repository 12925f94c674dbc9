#!/usr/bin/env bash
# Write metrics that node_exporter does not have into the directory that it reads: EFA's counters under AWS's names,
# the devices that should be there, the health that other scripts leave, which job has which GPU, and Lustre's traffic.
#
#   node-metrics.sh --gpus 8 --efa 32 --counters "tx_bytes rx_drops" [--name train-1] [--queue yes]
#       [--nvswitch yes] [--nvlink-xids "144 149" --nvlink-harmless "149:38"]
#
#   --gpus      GPUs that the instance type has
#   --efa       EFA devices that the node was given
#   --counters  which of EFA's counters are kept
#   --name      name of the node in its scheduler; default: its name in Slurm, else its host name without the domain
#   --queue     yes: also write user, account, partition and name of Slurm's running jobs, and those that are blocked
#   --nvswitch  yes: the node has NVSwitches, and so a fabric manager
#   --nvlink-xids      XIDs whose fatal sub-codes need a reset of the GPU
#   --nvlink-harmless  sub-codes of them that do not, XID:SUBCODE
#
# Exit code 0: written. 2: wrong usage. A source that is not there gives no samples, and is no failure.
set -euo pipefail
export LC_ALL=C
shopt -s nullglob

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
out=${ULTRACLUSTER_TEXTFILES:-$root/var/lib/node_exporter/textfile_collector}
job_metrics=$root/var/lib/ultracluster/job-metrics
software=$root/run/ultracluster/software
gpus="" efa="" counters="" name="" queue="" nvswitch="" nvlink_xids="" nvlink_harmless=""

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
            --queue) queue=$2 ;;
            --nvswitch) nvswitch=$2 ;;
            --nvlink-xids) nvlink_xids=$2 ;;
            --nvlink-harmless) nvlink_harmless=$2 ;;
            *) usage "unknown argument $1; known: --gpus, --efa, --counters, --name, --queue, --nvswitch," \
                "--nvlink-xids, --nvlink-harmless" ;;
        esac
        shift 2
    done
    [[ $gpus =~ ^[0-9]{1,3}$ ]] || usage "--gpus is a whole number, got '$gpus'"
    [[ $efa =~ ^[0-9]{1,3}$ ]] || usage "--efa is a whole number, got '$efa'"
    [[ $counters =~ ^[a-z0-9_\ ]*$ ]] || usage "--counters are names of counters, got '$counters'"
    [ -n "$name" ] || read -r name 2>/dev/null <"$root/run/ultracluster/drain/node" || true
    [ -n "$name" ] || is_starting || { name=$(uname -n) && name=${name%%.*}; }
}

# On AWS PCS the name is not the host name: drain-on-failure finds it once slurmd runs. Until then the node has none, as
# the rules would remember a wrong one for hours. A login node has no slurmd.
is_starting() {
    local seconds
    [ -e "$root/usr/local/sbin/ultracluster-drain-on-failure" ] && read -r seconds _ 2>/dev/null <"$root/proc/uptime" &&
        [ "${seconds%%.*}" -lt 1800 ]
}

family() { printf '# HELP %s %s\n# TYPE %s %s\n' "$1" "$3" "$1" "$2"; }

# What values of labels do not have, such as quotes, backslashes and newlines.
unclean='[^a-zA-Z0-9._:/-]'

expected() {
    family ultracluster_node_info gauge "The name of the node in its scheduler."
    [ -z "$name" ] || printf 'ultracluster_node_info{node="%s"} 1\n' "${name//$unclean/_}"
    family ultracluster_expected_gpus gauge "GPUs that the instance type has."
    printf 'ultracluster_expected_gpus %d\n' "$gpus"
    family ultracluster_expected_efa_devices gauge "EFA devices that the node was given."
    printf 'ultracluster_expected_efa_devices %d\n' "$efa"
}

# EFA's devices, each with the directories of its ports. Others, such as those of Mellanox, have another driver.
efa_counters() {
    local device port file counter value devices=()
    family node_amazonefa_info gauge "An EFA device."
    for device in "$root"/sys/class/infiniband/*; do
        [ "$device/device/driver" -ef "$root/sys/bus/pci/drivers/efa" ] || continue
        devices+=("${device##*/}")
        printf 'node_amazonefa_info{device="%s"} 1\n' "${devices[-1]//$unclean/_}"
    done
    for counter in $counters; do
        family "node_amazonefa_$counter" counter "EFA's counter $counter."
        for device in "${devices[@]}"; do
            for port in "$root/sys/class/infiniband/$device"/ports/*; do
                file=$port/hw_counters/$counter port=${port##*/}
                # Older drivers lack some; a device that goes while we read gives nothing.
                [ -r "$file" ] && read -r value <"$file" 2>/dev/null && [[ $value =~ ^[0-9]+$ ]] || continue
                printf 'node_amazonefa_%s{device="%s",port="%s"} %s\n' "$counter" "${device//$unclean/_}" "${port//$unclean/_}" "$value"
            done
        done
    done
}

# Export the health files: `ok`, `ok: NOTE` or `failed: REASON`.
health() {
    local file text
    family ultracluster_health_ok gauge "Whether a check of the node is well."
    for file in "$root"/run/ultracluster/health/*; do
        read -r text <"$file" 2>/dev/null || text=""
        sample ultracluster_health_ok check "${file##*/}" "$text"
    done
}

sample() {
    local is_ok=0
    [[ $4 != ok && $4 != ok:* ]] || is_ok=1
    printf '%s{%s="%s"} %d\n' "$1" "$2" "${3//$unclean/_}" "$is_ok"
}

# Export the states of install-software.sh. An image with all software has none.
software() {
    local file text check=$root/usr/local/sbin/ultracluster-software-check checked=$software/.checked
    # Versions change with an installation or a boot: once an hour.
    if [ -x "$check" ] && [ $((EPOCHSECONDS - $(stat -c %Y "$checked" 2>/dev/null || echo 0))) -ge 3600 ]; then
        "$check" --state >/dev/null 2>&1 || true
        touch "$checked" 2>/dev/null || true
    fi
    family ultracluster_software_ok gauge "Whether the software is installed."
    for file in "$software"/*; do
        read -r text <"$file" 2>/dev/null || text=""
        sample ultracluster_software_ok item "${file##*/}" "$text"
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

metadata() { curl --silent --fail --max-time 3 "${@:1:$#-1}" "http://169.254.169.254/latest/${*: -1}" 2>/dev/null; }

# The place of the node in the network, and the Capacity Block of its UltraServer, from EC2: asked for until there is an
# answer, once an hour. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTopology.html (read 2026-11-23)
topology() {
    local file=$out/.topology token id region one two three block
    if [ "$gpus" -gt 0 ] && [ ! -s "$file" ] && [ -z "$(find "$file" -mmin -60 2>/dev/null)" ]; then
        : >"$file"
        command -v aws >/dev/null && command -v curl >/dev/null || return 0
        token=$(metadata --request PUT --header "X-aws-ec2-metadata-token-ttl-seconds: 60" api/token) || return 0
        id=$(metadata --header "X-aws-ec2-metadata-token: $token" meta-data/instance-id) || return 0
        region=$(metadata --header "X-aws-ec2-metadata-token: $token" meta-data/placement/region) || return 0
        timeout 20 aws ec2 describe-instance-topology --region "$region" --instance-ids "$id" --output text --query \
            'Instances[0].[NetworkNodes[0],NetworkNodes[1],NetworkNodes[2],CapacityBlockId]' >"$file" 2>/dev/null || : >"$file"
    fi
    [ -s "$file" ] && read -r one two three block <"$file" && [[ $one == nn-* ]] || return 0
    block=${block/#None/}
    family ultracluster_topology_info gauge "Network nodes above the node, from the top, and its UltraServer."
    printf 'ultracluster_topology_info{network_node_1="%s",network_node_2="%s",network_node_3="%s",ultraserver="%s"} 1\n' \
        "${one//$unclean/_}" "${two//$unclean/_}" "${three//$unclean/_}" "${block//$unclean/_}"
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

gpu_job() { printf 'ultracluster_gpu_job{gpu="%s",job_id="%s"} 1\n' "${1//$unclean/_}" "${2//$unclean/_}"; }

# Print the kernel log of this boot, or fail if it cannot be read. A container on Kubernetes has no journalctl: it uses
# the node's.
kernel_log() {
    local command=(journalctl --dmesg --no-pager --quiet --output=short-unix "$@")
    command -v journalctl >/dev/null || command=(chroot "$root" "${command[@]}")
    timeout 10 "${command[@]}" 2>/dev/null
}

# The switches between the GPUs. Their errors are in the kernel log only, as
# "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 ...":
# https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/ (read 2026-11-22). systemd is not reached from a
# container, its cgroups are.
fabric() {
    local units events lines
    [ "$nvswitch" = yes ] || return 0
    units=("$root"/{etc,lib,usr/lib}/systemd/system/nvidia-fabricmanager.service)
    for events in "${units[@]}"; do [ ! -e "$events" ] || break; done
    [ -e "$events" ] || return 0
    events=$root/sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.events
    family ultracluster_fabric_manager_up gauge "Whether the fabric manager runs."
    printf 'ultracluster_fabric_manager_up %d\n' "$(grep -cx 'populated 1' "$events" 2>/dev/null || true)"
    lines=$(kernel_log --since=-10min) || return 0
    family ultracluster_nvswitch_errors gauge "Errors of NVSwitches in ten minutes."
    printf 'ultracluster_nvswitch_errors{kind="fatal"} %d\n' "$(grep -c 'SXid ([^)]*): [0-9]*, Fatal' <<<"$lines" || true)"
    printf 'ultracluster_nvswitch_errors{kind="other"} %d\n' "$(grep -c 'SXid ([^)]*): [0-9]*, Non-fatal' <<<"$lines" || true)"
}

# Recovery that the driver requires, by the last word on each GPU. An administrator who has dealt with it calls
# health-check.sh --forget-xids.
recovery() {
    local text since
    [ "$gpus" -gt 0 ] || return 0
    read -r since 2>/dev/null <"$root/run/ultracluster/devices/xids-since" || since=""
    text=$(kernel_log ${since:+"--since=@$since"} | recovery_actions "$nvlink_xids" "$nvlink_harmless" |
        awk -F '\t' '{ count[$2 "\t" $3]++ } END { for (key in count) print key "\t" count[key] }') || return 0
    if [ -n "$since" ]; then
        family ultracluster_xids_forgotten_timestamp_seconds gauge "When an administrator last called health-check --forget-xids."
        printf 'ultracluster_xids_forgotten_timestamp_seconds %d\n' "$since"
    fi
    family ultracluster_gpu_recovery_required gauge "GPUs that need recovery by the last word of their driver."
    while IFS=$'\t' read -r xid reason number; do
        [ -z "$xid" ] || printf 'ultracluster_gpu_recovery_required{xid="%s",reason="%s"} %d\n' "$xid" \
            "${reason//[^a-zA-Z0-9 _\/-]/_}" "$number"
    done <<<"$text"
}

#INCLUDE recovery-actions.sh
#INCLUDE lustre-metrics.sh
#INCLUDE slurm-queue.sh
queue() { [ "$queue" != yes ] || slurm_jobs; }

#INCLUDE slurm-program.sh
#INCLUDE job-metrics.sh
# Delete the directories of jobs that the epilog could not: the node has restarted. The prolog records a job first.
# Files of metrics from before the boot are of writers that may be gone: nobody would renew them.
sweep() {
    local directory booted
    booted=$(awk '$1 == "btime" { print $2 }' "$root/proc/stat" 2>/dev/null) || booted=""
    [ -z "$booted" ] || find "$out" -maxdepth 1 -name 'ultracluster_*.prom' ! -newermt "@$booted" -delete || true
    for directory in "$job_metrics"/*; do
        [ -f "$root/run/ultracluster/jobs/${directory##*/}" ] || rm -rf "$directory"
    done
}

main() {
    read_arguments "$@"
    [ -d "$out" ] || mkdir -p "$out"
    sweep
    { expected && cpu && efa_counters && health && software && topology && jobs && queue && fabric && recovery && lustre && evictions && nccl && of_jobs; } >"$out/.ultracluster_node"
    chmod 644 "$out/.ultracluster_node"
    mv "$out/.ultracluster_node" "$out/ultracluster_node.prom"
}

main "$@"
