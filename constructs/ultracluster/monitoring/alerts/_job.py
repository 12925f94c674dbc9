"""Alerts on jobs that hang, are slow or may lose work, and on inference."""

from ultracluster.monitoring.alerts._alert import JUDGEMENT, MULTIPLE, NUMBER, SHARE, Alert, Severity, seconds
from ultracluster.monitoring.names import CAPACITY_END, JOB_CAUSE

_NOT_SAVING = "unless on (cluster, job_id) ultracluster_job_saving"
_NOT_PREPARING = "unless on (cluster, job_id) ultracluster_job_preparing"
# The alert of the node is sent, or the training is over.
_NO_CAUSE = f"unless on (cluster, job_id) {JOB_CAUSE}"
_AT_WORK = f"{_NO_CAUSE} unless on (cluster, job_id) ultracluster_job_finished == 1"
_NO_SERVICE = "unless on (cluster, job_id) ultracluster_job_service"
_SAVING = (
    "A job whose GPUs wait saves if it reports a checkpoint, if its nodes write 10 MB/s to Lustre, if one of them "
    "sends 10 MB/s over IP, as to S3, or if a file system does not answer. After 30 minutes without progress that is "
    "no excuse; if your checkpoints block for longer, raise the pending period. "
)

_PREPARING = (
    "Ranks may wait for one that builds an index or compiles: 45 minutes before the first step of a run, but not from "
    "the third start in two hours on, or while the job reports `waiting`; half an hour in the middle of a run, if the "
    "CPUs of one node are busier than those of the others. "
)

_SEEN = "node_job:ultracluster_job_seen_timestamp_seconds:max"

JOB_ALERTS = (
    Alert(
        name="JobLost",
        severity=Severity.CRITICAL,
        for_="5m",
        expr=f"count by (cluster, job_id) ({_SEEN} unless on (cluster, group) {CAPACITY_END} < time()) unless on "
        f"(cluster, job_id) ({_SEEN} and on (cluster, instance) ultracluster_exporter_up) and on (cluster, job_id) "
        "ultracluster_job_running == 1",
        summary="Nothing comes from the {{ $value }} nodes of job {{ $labels.job_id }}, which the scheduler runs",
        description="All nodes of the job are silent for seven minutes, and others send: Slurm's login nodes, or "
        "kube-state-metrics, still have the job as running. Its zone or its network is gone, or a node that had all "
        "of it. If some of its nodes are silent, NodeLost names them.",
        diagnosis=(
            "The status checks of the instances in EC2, and the AWS Health Dashboard of their zone.",
            "`squeue --job JOB`, or `kubectl get pods -o wide`: its nodes.",
        ),
        actions=("End the job, and start it again from its last checkpoint on other nodes.",),
        rationale="Slurm ends a job five minutes after its nodes are silent, if it may. Seven minutes: an agent that "
        "restarts is back by then. After the end of a Capacity Block nobody is notified.",
    ),
    Alert(
        name="JobHung",
        severity=Severity.CRITICAL,
        for_="10m",
        expr="job:ultracluster_gpus_spinning:ratio > 0.25 and job:ultracluster_gpus_computing:ratio < 0.1 and "
        f"on (cluster, job_id) job:ultracluster_gpus:count > 1 {_NOT_SAVING} {_NOT_PREPARING} {_AT_WORK} "
        f"{_NO_SERVICE} "
        "unless on (cluster, job_id) sum by (cluster, job_id) (node_job:ultracluster_gpu_job_info:max * on (cluster, "
        "instance) group_left () node:node_amazonefa_tx_bytes:sum_rate5m) > 1e8",
        # 0.1 is also where the stall begins that the excuses count from, and 1e8 is what a hang never sends: neither is
        # the operator's to change.
        threshold=0.25,
        bounds=SHARE,
        summary="{{ $value | humanizePercentage }} of the GPUs of job {{ $labels.job_id }} wait, and none computes",
        description="Kernels run on the GPUs without progress: the ranks wait for each other in a collective that will "
        "not end. Tensor cores, memory and most multiprocessors are not active, NVLink and EFA carry nothing, and the "
        "GPUs draw less than 60 % of their power. Some ranks may be gone. The job has several GPUs, writes no "
        "checkpoint, or has waited "
        "for one for half an hour. It is no server, has not reported its end, and no node of it has a critical alert.",
        diagnosis=(
            "NCCL's RAS: `ncclras` on a node of the job names the ranks that are missing.",
            "NodeLost, GpuXidFatal and EfaPathTrouble of its nodes.",
            "PyTorch's flight recorder, when it is on.",
        ),
        actions=("Find the node that is at fault, and drain it.", "Start the job again from its last checkpoint."),
        rationale="A hang spins in a kernel, which counts as utilisation and not as activity; an H100 then draws a "
        "fifth of its 700 W (https://github.com/NVIDIA/nccl/issues/1550, read 2026-11-26). Jobs in FP32 or FP64 and "
        "decoding with few requests keep the memory or the multiprocessors active, or draw 60 % of the power. A GPU "
        "that sends 100 MB/s over NVLink, or a job over EFA, moves data. 10 minutes: ranks that wait for one that "
        "compiles look the same for less. " + _PREPARING + _SAVING + JUDGEMENT,
    ),
    Alert(
        name="JobStepStalled",
        severity=Severity.CRITICAL,
        for_="10m",
        # Silent while somebody profiles: DCGM answers, and lacks the activity of the GPUs.
        # The first sample of a run is no change either: only from a quarter of an hour later on.
        expr="changes(ultracluster_job_step[15m]) == 0 and ultracluster_job_step and ultracluster_job_step offset 15m "
        "unless on (cluster, job_id) job:ultracluster_gpus_computing:ratio > 0.1 unless on (cluster, job_id) "
        '(node_job:ultracluster_gpu_job_info:max and on (cluster, instance) ultracluster_exporter_up{job="dcgm"} == 1 '
        f"unless on (cluster, job_id) job:ultracluster_gpus_computing:ratio) {_NOT_SAVING} {_NOT_PREPARING} {_AT_WORK}",
        summary="No step for 15 minutes from job {{ $labels.job_id }}, which hardly computes",
        description="The step that the job reports has not changed, and at most a tenth of its GPUs compute: it "
        "neither evaluates nor makes a long step. It writes no checkpoint, or has for half an hour.",
        diagnosis=(
            "As for JobHung.",
            "Whether it is finished, and should report that with `finished`: docs/guides/jobs.md.",
            "Whether it still writes a checkpoint: `ultracluster_job_checkpoint_in_progress`, and the file system.",
        ),
        actions=("As for JobHung.",),
        rationale="As long as JobHung: if both fire, that one is sent alone. " + _PREPARING + _SAVING + JUDGEMENT,
    ),
    Alert(
        name="JobSlow",
        for_="15m",
        expr="job:ultracluster_job_slowdown:ratio > 1.15",
        threshold=1.15,
        bounds=MULTIPLE,
        summary="Job {{ $labels.job_id }} takes {{ $value | humanizePercentage }} of its usual time",
        description="The MFU that the job reports is 15 % below its median of the last six hours, or below the best "
        "of a "
        "day, which also finds what creeps. Of a job without, the step time is as much above its median. All GPUs may "
        "have the same clock and nothing else may alert.",
        diagnosis=(
            "StragglerClock, EfaDeviceSlow, MountSlow and NvlinkErrors of its nodes.",
            "Whether the batch or the sequence length has changed.",
        ),
        actions=("Run the NCCL test on its nodes after the next checkpoint, and replace the slow one.",),
        rationale="15 %: judgement. The median follows within three hours, and the best within a day: the alert "
        "clears by then.",
    ),
    Alert(
        name="JobIdleGpus",
        for_="15m",
        expr="job:ultracluster_gpus_idle:ratio + on (cluster, job_id) (job:ultracluster_gpus_spinning:ratio and on "
        "(cluster, job_id) ultracluster_job_finished == 1 or job:ultracluster_gpus_idle:ratio * 0) > 0.1 "
        f"{_NOT_SAVING} {_NO_SERVICE}",
        threshold=0.1,
        bounds=SHARE,
        summary="{{ $value | humanizePercentage }} of the GPUs of job {{ $labels.job_id }} do nothing",
        description="More than a tenth of the GPUs that the job has are idle, or wait although the training is "
        "finished. A server may wait.",
        diagnosis=("Whether some nodes or all: the job's page.", "Whether it loads data, or requested too many."),
        actions=("Notify the job's owner.",),
    ),
    Alert(
        name="StragglerClock",
        for_="10m",
        expr="node_job:ultracluster_gpu_sm_clock_hertz:ratio_avg10m < 0.9",
        threshold=0.9,
        bounds=SHARE,
        summary="Node {{ $labels.instance }} runs at {{ $value | humanizePercentage }} of the clock of job {{ "
        "$labels.job_id }}",
        description="A GPU of the node is slower than the median of its job. Synchronous training waits for it.",
        diagnosis=("GpuHardwareSlowdown and GpuThermalThrottle of the node.", "Its power and temperature."),
        actions=("Drain the node when the job ends, or move the job if there are spare nodes.", "Replace the node."),
        rationale="MegaScale (NSDI '24) finds stragglers by comparison with the median; 0.9: judgement.",
    ),
    Alert(
        name="StragglerNccl",
        for_="10m",
        expr="node_job:nccl_collective_exec_time_microseconds:ratio < 0.5",
        threshold=0.5,
        bounds=SHARE,
        summary="All nodes of job {{ $labels.job_id }} wait for node {{ $labels.instance }} in collectives",
        description="The last node to join a collective spends the least time in it. This node spends less than half.",
        diagnosis=("StragglerClock of the node.", "Its data loaders: CPU and mounts."),
        actions=("As for StragglerClock.",),
    ),
    Alert(
        name="StragglerEfa",
        for_="15m",
        # One node: several are a pipeline or experts, whose stages send unequally. 0.6 finds those that are nearly as
        # low, and 1.1 is the least that a slow node costs: with another of either it would be another alert.
        expr="node_job:node_amazonefa_tx_bytes:ratio_rate5m < 0.5 and on (cluster, job_id) "
        "job:ultracluster_job_step_seconds:ratio > 1.1 and on (cluster, job_id) "
        "count by (cluster, job_id) (node_job:node_amazonefa_tx_bytes:ratio_rate5m < 0.6) == 1",
        threshold=0.5,
        bounds=SHARE,
        summary="Node {{ $labels.instance }} sends {{ $value | humanizePercentage }} of what the others of job {{ "
        "$labels.job_id }} send, and steps have become slower",
        description="One node sends less than half of the median of its job over EFA, and the steps of the job take "
        "more than 110 % of their usual time.",
        diagnosis=(
            "EfaDeviceSlow, EfaRetransmits and StragglerClock of the node.",
            "Its data loaders: CPU and mounts.",
        ),
        actions=("As for StragglerClock.",),
        rationale="Judgement. It needs steps of the job, and no NCCL Inspector.",
    ),
    Alert(
        name="NcclRanksMissing",
        severity=Severity.CRITICAL,
        for_="5m",
        expr=f"ultracluster_job_nccl_missing_ranks > 0 {_NO_CAUSE}",
        summary="NCCL misses {{ $value }} ranks of job {{ $labels.job_id }}",
        description="NCCL's RAS subsystem does not reach some ranks: their processes or nodes are lost. It needs "
        "`ncclras` of NCCL 2.28.7 or later on the node: package libnccl-dev.",
        diagnosis=("`ncclras -v` on a node of the job: it names process and node.",),
        actions=("As for JobHung.",),
        rationale="None is normal: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html. "
        "5 minutes: if a node is lost, NodeLost is sent first, and alone.",
    ),
    Alert(
        name="CheckpointStale",
        severity=Severity.CRITICAL,
        for_="5m",
        # An evaluation on all GPUs takes long, and makes no step that could be lost.
        expr="ultracluster_job_checkpoint_age_seconds > 2 * ultracluster_job_checkpoint_interval_seconds and on "
        f"(cluster, job_id) job:ultracluster_gpus:count {_AT_WORK} unless on (cluster, job_id) "
        "(changes(ultracluster_job_step[30m]) == 0 and on (cluster, job_id) job:ultracluster_gpus_computing:ratio > "
        "0.1 and on (cluster, job_id) changes(ultracluster_job_step[3h]) > 0)",
        threshold=2,
        bounds=MULTIPLE,
        summary="The last checkpoint of job {{ $labels.job_id }} is {{ $value | humanizeDuration }} old",
        description="The job, which reports its steps, has missed a checkpoint. A failure now costs all work since.",
        diagnosis=("The job's log.", "MountSlow, NodeUnhealthy, and free space of the file system."),
        actions=("Fix what blocks the checkpoint before anything else fails.",),
        rationale="Twice its own interval, counted from the first step of its program at the earliest: one checkpoint "
        "has been missed for sure.",
    ),
    Alert(
        name="CheckpointNever",
        for_="5m",
        expr="time() - (ultracluster_job_checkpoint_timestamp_seconds > on (cluster, job_id) "
        "ultracluster_job_training_start_timestamp_seconds or ultracluster_job_training_start_timestamp_seconds) > "
        "21600 unless on (cluster, job_id) ultracluster_job_checkpoint_interval_seconds",
        threshold=21600,
        bounds=seconds(600, 30 * 86400, "a startup takes minutes, and a job weeks"),
        summary="Job {{ $labels.job_id }} has trained for {{ $value | humanizeDuration }} without a checkpoint",
        description="The job reports no interval, and no checkpoint for six hours, or since the first step of its "
        "program. A failure now costs all of that.",
        diagnosis=("Whether the job writes checkpoints without reporting them: docs/guides/jobs.md.",),
        actions=("Notify the job's owner.",),
        rationale="Six hours of all GPUs: judgement.",
    ),
    Alert(
        name="JobGoodputLow",
        for_="30m",
        # The mean of an hour outlives its job.
        expr="job:ultracluster_goodput_ratio:avg1h < 0.7 and on (cluster, job_id) job:ultracluster_gpus:count "
        "unless on (cluster, job_id) max_over_time(ultracluster_job_finished[1h]) == 1",
        threshold=0.7,
        bounds=SHARE,
        summary="Job {{ $labels.job_id }} spends {{ $value | humanizePercentage }} of its time on steps it keeps",
        description="Restarts, checkpoints or waiting take more than three tenths of the time.",
        diagnosis=("Its restarts, and why.", "How long its checkpoints take."),
        actions=("See the page Goodput and cost.",),
        rationale="Llama 3 kept above 90 % on 16,384 GPUs (arXiv 2407.21783); 0.7: judgement.",
    ),
    Alert(
        name="LossNotFinite",
        severity=Severity.CRITICAL,
        for_="2m",
        expr="ultracluster_job_loss != ultracluster_job_loss or abs(ultracluster_job_loss) == Inf",
        summary="The loss of job {{ $labels.job_id }} is not a number any more",
        description="Training has diverged or computes with wrong data. Every step from here on is lost.",
        diagnosis=("GpuEccUncorrected and XIDs of its nodes.", "Learning rate and data at that step."),
        actions=("Stop the job; go back to a checkpoint from before.",),
        rationale="NaN stays NaN.",
    ),
    Alert(
        name="LossSpike",
        for_="5m",
        expr="job:ultracluster_job_loss:ratio > 1.5",
        threshold=1.5,
        bounds=MULTIPLE,
        summary="The loss of job {{ $labels.job_id }} is {{ $value | humanize }} times its median of six hours",
        description="Training may diverge. A loss that stays high costs every step from here on.",
        diagnosis=("GpuEccUncorrected and XIDs of its nodes.", "Learning rate, data and gradient norm at that step."),
        actions=("Watch it; if it does not fall, go back to a checkpoint from before and skip the data.",),
        rationale="Half as much again as the median for five minutes: judgement. Losses below 0 are not compared.",
    ),
    Alert(
        name="InferenceStalled",
        severity=Severity.CRITICAL,
        for_="10m",
        expr="server:inference_requests_running:sum > 0 unless on (cluster, model_name, job_id, instance) "
        f"ultracluster_inference_progress {_NO_CAUSE}",
        summary="A server of {{ $labels.model_name }}, job {{ $labels.job_id }}, has {{ $value }} requests in "
        "progress, and no token comes",
        description="Requests are in progress, and for a quarter of an hour no token was generated, nor a prompt "
        "read by a "
        "model that generates none: "
        "the ranks of a server wait for each other, or one of them is gone. Other servers of the model may answer. "
        "JobHung does not report servers, which also wait for requests.",
        diagnosis=("The log of the server.", "NodeLost and GpuXidFatal of its nodes."),
        actions=("Restart the server.",),
        rationale="10 minutes, after five of the rate: no prompt takes as long. " + JUDGEMENT,
    ),
    Alert(
        name="InferenceQueueLong",
        for_="5m",
        expr="model:inference_requests_waiting:sum > model:inference_requests_running:sum and "
        "model:inference_requests_waiting:sum > 10",
        threshold=10,
        bounds=NUMBER,
        summary="{{ $value }} requests wait for model {{ $labels.model_name }}",
        description="More requests wait than are served.",
        diagnosis=("The key-value cache, and the time to the first token.",),
        actions=("Add replicas, or admit fewer requests.",),
    ),
    Alert(
        name="InferenceCacheFull",
        for_="10m",
        expr="ultracluster_inference_kv_cache_usage_ratio > 0.95",
        threshold=0.95,
        bounds=SHARE,
        summary="The key-value cache of model {{ $labels.model_name }} is {{ $value | humanizePercentage }} full",
        description="The server will push requests out of the cache and compute them again.",
        diagnosis=("Length of prompts and answers.",),
        actions=("Add replicas, or limit the length.",),
    ),
)
