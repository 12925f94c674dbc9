# shellcheck shell=bash
# Groups of tensor parallelism that are stages of a pipeline.
gpus=$((SLURM_JOB_NUM_NODES * gpus_per_node)) stages=$((SLURM_JOB_NUM_NODES * gpus_per_node / tensor_parallel))
[ "$((stages * tensor_parallel))" -eq "$gpus" ] ||
    fail "$SLURM_JOB_NUM_NODES nodes x $gpus_per_node GPUs = $gpus is not a multiple of tensor_parallel=$tensor_parallel"
export tensor_parallel stages
