# shellcheck shell=bash
# The prolog makes a directory on each node, in which the job writes its metrics: docs/guides/jobs.md.
metrics=${ULTRACLUSTER_ROOT:-}/var/lib/ultracluster/job-metrics/$SLURM_JOB_ID
if [ -d "$metrics" ]; then
    export ULTRACLUSTER_JOB_METRICS=$metrics ULTRACLUSTER_GPU_FLOPS=$gpu_flops
    export NCCL_INSPECTOR_DUMP_DIR=$metrics NCCL_INSPECTOR_PROM_DUMP=1
    [ -z "${INSPECTOR:-}" ] || export NCCL_INSPECTOR_ENABLE=1 NCCL_PROFILER_PLUGIN=$INSPECTOR
    mounts+=" $metrics"
fi
[ -z "$helper" ] || export PYTHONPATH=$helper${PYTHONPATH:+:$PYTHONPATH}
# It runs the program and reports its progress.
reporter=$helper/ultracluster_run.py
[ -f "$reporter" ] && [ "${REPORT:-yes}" = yes ] || reporter=""
export reporter
