# shellcheck shell=bash
# Select EFA for NCCL in a container, in which variables of the image replace those of the job. Job files of Slurm contain
# these functions, and ultracluster_gang.sh sources them.
#
# NCCL loads libnccl-net.so, and without it uses TCP between nodes. Images of NVIDIA have EFA's plugin as libnccl-net-ofi.so:
# - NeMo up to 26.04.01 in a directory where NCCL does not look: https://github.com/NVIDIA-NeMo/RL/issues/1973, and
#   https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), docker/Dockerfile.fw_base (read 2026-11-26);
# - NeMo 26.08 selects `spcx`, which has no EFA: the same (tag v0.6.0), docker/common/install_aws_ofi_nccl.sh;
# - EFA's installer puts it into images that it takes for NVIDIA's: https://github.com/aws/aws-ofi-nccl (tag v1.21.1),
#   contrib/debian-template, libnccl-ofi-ngc-v3 (read 2026-11-27).
# shellcheck disable=SC2329  # each node runs it
over_efa() {
    local libraries=/opt/amazon/aws-ofi-nccl/lib
    [ -d "$libraries" ] || libraries=/opt/amazon/ofi-nccl/lib
    if [ ! -e "$libraries/libnccl-net-ofi.so" ]; then
        has_plugin || echo "NCCL uses TCP between nodes: the image has no libnccl-net-ofi.so, which EFA needs" >&2
    elif [[ $libraries == */aws-ofi-nccl/* ]] || [ ! -e "$libraries/libnccl-net.so" ] || [ "${NCCL_NET_PLUGIN:-}" = spcx ]; then
        export FI_PROVIDER=efa NCCL_NET_PLUGIN=ofi LD_LIBRARY_PATH=$libraries:/opt/amazon/efa/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    fi
}

# True where the first node need not print it: without EFA, or with a plugin elsewhere.
# shellcheck disable=SC2329  # each node runs it
has_plugin() {
    local directory directories
    [ "${SLURM_PROCID:-${JOB_COMPLETION_INDEX:-0}}" = 0 ] && [ -d /dev/infiniband ] || return 0
    IFS=: read -ra directories <<<"${LD_LIBRARY_PATH:-}"
    for directory in "${directories[@]}"; do
        if [ -e "$directory/libnccl-net-ofi.so" ] || [[ $directory == *ofi* && -e $directory/libnccl-net.so ]]; then return 0; fi
    done
    [[ $(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null) =~ libnccl-net[^$'\n']*ofi ]]
}
