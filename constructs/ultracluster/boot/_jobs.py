"""Job files of the cluster, on the file system that its nodes share."""

from ultracluster.boot._node_files import PROGRAM, NodeBoot, oneshot, program, timer, unit_file

_UNIT = "ultracluster-jobs.service"
_TIMER_UNIT = "ultracluster-jobs.timer"
# The boot does not wait for the first run, which may have to repeat until the file system is mounted.
_TIMER = timer("Job files of the cluster, every ten minutes", "OnActiveSec=1s", "OnUnitInactiveSec=10min")


def jobs_parameter(cluster: str) -> str:
    """Return the Parameter Store name of the archive of a cluster's job files: its URL and checksum."""
    return f"/ultracluster/{cluster}/jobs"


def jobs_boot(*, cluster: str, region: str, directory: str) -> NodeBoot:
    """Return the files and units of a login node that write the job files, and apply changes within ten minutes."""
    command = f"ExecStart={PROGRAM}jobs --parameter {jobs_parameter(cluster)} --region {region} --directory {directory}"
    service = oneshot(
        "Job files of the cluster",
        unit=("Wants=network-online.target", "After=network-online.target remote-fs.target"),
        service=(command, "TimeoutStartSec=5min"),
    )
    return NodeBoot(
        files=(
            program("jobs", comments=False, in_place=True),
            unit_file(_UNIT, service),
            unit_file(_TIMER_UNIT, _TIMER),
        ),
        units=(_TIMER_UNIT,),
    )
