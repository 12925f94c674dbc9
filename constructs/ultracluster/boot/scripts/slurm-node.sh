# shellcheck shell=bash
# Find the node in Slurm, for drain-on-failure.sh, which includes this.
# shellcheck disable=SC2034,SC2154  # variables of the script

# Set pid to slurmd's process, and scontrol to the one of the release that runs: AWS PCS installs several, none on the
# path. https://docs.aws.amazon.com/pcs/latest/userguide/slurm-versions.html (read 2026-11-21)
find_slurm() {
    local program
    pid=$(systemctl show --property MainPID --value slurmd.service 2>/dev/null) || pid=0
    # Whatever its unit is called.
    [[ $pid =~ ^[1-9][0-9]*$ ]] || pid=$(pgrep --oldest --exact slurmd) || return 1
    program=$(readlink "$root/proc/$pid/exe") || return 1
    scontrol=$root${program%/*/*}/bin/scontrol
    [ -x "$scontrol" ] || scontrol=$(command -v scontrol) || fail "slurmd runs, but there is no scontrol"
}

query() { timeout --kill-after=5 20 "$scontrol" "$@"; }

# Print the lines of the controller's output with the address or host name of this node.
of_this_node() {
    local host
    host=$(hostname)
    awk -v own=" $(hostname -I) ${host%%.*} $host " '
        { for (i = 1; i <= NF; i++) if ($i ~ /^Node(Addr|HostName)=./ && index(own, " " substr($i, index($i, "=") + 1) " ")) {
            print
            next
        } }'
}

# Set node to the node's name in Slurm and shown to its record in the controller. On AWS PCS the name, such as
# train-1, is not the host name. slurmd may have it from its command line; else the record of the controller with the address is
# ours. https://docs.aws.amazon.com/pcs/latest/userguide/working-with_networking_efa_test.html (read 2026-11-21)
find_node() {
    local words index
    node=""
    mapfile -d '' -t words <"$root/proc/$pid/cmdline"
    for index in "${!words[@]}"; do
        case ${words[index]} in
            -N) node=${words[index + 1]:-} ;;
            -N?*) node=${words[index]#-N} ;;
        esac
    done
    node=${node:-$(cat "$run/node" 2>/dev/null || hostname -s)}
    shown=$(query show node "$node" --oneliner 2>/dev/null | of_this_node) || shown=""
    if [ -z "$shown" ]; then
        shown=$(query show node --oneliner | of_this_node) || fail "the controller of Slurm does not answer"
    fi
    # An address of a node that was powered down may be that of this node by now.
    [[ $shown && $shown != *$'\n'* ]] ||
        fail "not one node of the controller has the address or the host name of $(hostname): ${shown:-none}"
    node=${shown#NodeName=}
    node=${node%% *}
    printf '%s\n' "$node" >"$run/node"
}

