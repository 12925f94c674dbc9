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
    # The plugin of the user stays.
    [[ ${NCCL_NET_PLUGIN:-spcx} =~ ^(spcx|ofi)$ ]] || return 0
    local libraries=/opt/amazon/aws-ofi-nccl/lib
    [ -d "$libraries" ] || libraries=/opt/amazon/ofi-nccl/lib
    if [ ! -e "$libraries/libnccl-net-ofi.so" ]; then
        has_plugin || echo "NCCL uses TCP between nodes: the image has no libnccl-net-ofi.so, which EFA needs" >&2
    elif [[ $libraries == */aws-ofi-nccl/* ]] || [ ! -e "$libraries/libnccl-net.so" ] || [ "${NCCL_NET_PLUGIN:-}" = spcx ]; then
        export FI_PROVIDER=${FI_PROVIDER:-efa} NCCL_NET_PLUGIN=ofi
        export LD_LIBRARY_PATH=$libraries:/opt/amazon/efa/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        # Plugins 1.14 and 1.15 have the second name alone.
        [ -e "$libraries/libnccl-tuner-ofi.so" ] || [ -e "$libraries/libnccl-ofi-tuner.so" ] || tune_for_aws
    fi
}

# Set what a plugin sets by itself if it was built for AWS, and then has a tuner: that of NeMo 26.04.01 was not. Variables
# of the user stay. https://github.com/aws/aws-ofi-nccl (tag v1.17.3), src/platform-aws.cpp (read 2026-11-27)
#
# LL and LL128 corrupt data that does not arrive in the order of its bytes. P5 and P5e have that order, and P5en what NCCL
# needs of it: https://github.com/aws/aws-ofi-nccl/pull/516 and /pull/625. For others the plugin asks EFA, and no source
# has the answer.
# shellcheck disable=SC2329  # each node runs it
tune_for_aws() {
    local type setting
    type=$(cat /sys/devices/virtual/dmi/id/product_name || true)
    set -- NCCL_BUFFSIZE=8388608 NCCL_P2P_NET_CHUNKSIZE=524288
    case $type in
        p4d*) set -- "$@" OFI_NCCL_NET_LATENCY=75 ;;
        p5.48xlarge | p5e.*) set -- "$@" OFI_NCCL_NET_LATENCY=75 OFI_NCCL_PROTOCOL=RDMA ;;
        p5en.* | p6-b200.*) set -- "$@" OFI_NCCL_NET_LATENCY=35 OFI_NCCL_PROTOCOL=RDMA NCCL_NETDEVS_POLICY=max:1 ;;
        p6*) set -- "$@" OFI_NCCL_NET_LATENCY=35 OFI_NCCL_PROTOCOL=RDMA ;;
        *) set -- ;;
    esac
    case $type in
        p5.48xlarge | p5e.* | p5en.*) ;;
        *) set -- "$@" NCCL_PROTO=simple ;;
    esac
    [[ " $* " != *=RDMA* ]] || set -- "$@" NCCL_NVLSTREE_MAX_CHUNKSIZE=524288 NCCL_NVLS_CHUNKSIZE=524288 NCCL_NET_FORCE_FLUSH=0
    [[ $type != p6e-gb200.* ]] || set -- "$@" OFI_NCCL_SKIP_NICS_WITHOUT_ACCEL_AT_SAME_PCI_LEVEL=1
    for setting in "$@"; do
        [ -v "${setting%%=*}" ] || export "${setting?}"
    done
}

# True where the first node need not print it: without EFA, with a plugin elsewhere, or with one that a pod adds later.
# shellcheck disable=SC2329  # each node runs it
has_plugin() {
    local directory directories
    [ "${SLURM_PROCID:-${JOB_COMPLETION_INDEX:-0}}" = 0 ] && [ -d /dev/infiniband ] &&
        [ "${NCCL_NET_PLUGIN:-spcx}" = spcx ] || return 0
    IFS=: read -ra directories <<<"${LD_LIBRARY_PATH:-}"
    for directory in "${directories[@]}"; do
        if [ -e "$directory/libnccl-net-ofi.so" ] || [[ $directory == *ofi* && -e $directory/libnccl-net.so ]]; then return 0; fi
    done
    [[ $(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null) =~ libnccl-net[^$'\n']*ofi ]]
}
