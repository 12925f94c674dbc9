# shellcheck shell=bash
# MaxText runs one process on each node, with all of its GPUs.
# https://github.com/NVIDIA/JAX-Toolbox (commit bcbbfa5), docs/frameworks/maxtext/example_slurm.sub, and
# https://github.com/AI-Hypercomputer/maxtext (commit e591f30), src/maxtext/utils/max_utils.py (read 2026-11-24)
# shellcheck disable=SC2329  # each node runs it
node() {
    local model=$1
    shift
    export JAX_COORDINATOR_IP=${head:?} JAX_COORDINATOR_PORT=${MASTER_PORT:-29500} NNODES=${nodes:?} NODE_RANK=${node_rank:?}
    export NVTE_FUSED_ATTN=1 XLA_PYTHON_CLIENT_MEM_FRACTION=0.90
    export XLA_FLAGS="--xla_gpu_enable_latency_hiding_scheduler=true ${XLA_FLAGS:-}"
    cd "${MAXTEXT:-/opt/maxtext}" || return
    # Between nodes too, the model is shared (FSDP): by default each node has a copy, and it must fit into one.
    exec python3 ${reporter:+"$reporter"} -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml \
        run_name=run model_name="$model" hardware=gpu_multiprocess \
        dcn_data_parallelism=1 dcn_fsdp_parallelism=-1 attention=cudnn_flash_te remat_policy=minimal_flash \
        use_iota_embed=true logits_dot_in_fp32=false per_device_batch_size=2 max_target_length=4096 \
        enable_goodput_recording=false monitor_goodput=false enable_checkpoint_cloud_logger=false \
        dataset_type=synthetic "$@"
}
