"""Settings of a newer Slurm version, in the update that changes the version of a cluster of AWS PCS."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ultracluster.catalogue.schedulers import SETTINGS
from ultracluster.cli._deploy_check import DeployCheck, Templates, properties_of
from ultracluster.planning.slurm import METRICS_SETTINGS, METRICS_SINCE

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report

_TYPE = "AWS::PCS::Cluster"
SLURM_VERSION_SETTINGS = DeployCheck(
    "slurm-version-settings", "A setting of a newer Slurm version must wait until all nodes have the version."
)


def version_settings(report: "Report", deployed: Templates, assembled: Templates) -> Iterator[str]:
    """Yield a line for each cluster whose update adds settings of the newer version.

    Args:
        report: Report of the guard.
        deployed: Templates that are deployed.
        assembled: Templates that shall be.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_clusters_version_update.html (read 2026-11-27)
    """
    for finding in report.findings:
        if finding.type != _TYPE or finding.harmful:
            continue
        before, after = (properties_of(side, finding.stack, finding.logical_id) for side in (deployed, assembled))
        old, new = _version(before), _version(after)
        newer = {name for name, setting in SETTINGS["cluster"].items() if setting.since > old}
        if old < METRICS_SINCE:
            newer |= METRICS_SETTINGS.keys()
        added = sorted((_settings(after) - _settings(before)) & newer)
        if old and new and old < new and added:
            metrics = not METRICS_SETTINGS.keys().isdisjoint(added)
            remedy = "write slurm: {metrics: false}" if metrics else "leave them out"
            yield SLURM_VERSION_SETTINGS(
                f"{finding.name}: the update from Slurm {old} to {new} adds {', '.join(added)}, and AWS asks to add no "
                f"settings of the new version while a node has the previous one: {remedy}, and add them when all nodes "
                f"have {new}. See docs/operations/operate.md#upgrade-slurm"
            )


def _version(cluster: Mapping[str, Any]) -> str:
    return str((cluster.get("Scheduler") or {}).get("Version") or "")


def _settings(cluster: Mapping[str, Any]) -> set[str]:
    rows = (cluster.get("SlurmConfiguration") or {}).get("SlurmCustomSettings") or ()
    return {str(row.get("ParameterName")) for row in rows}
