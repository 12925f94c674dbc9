"""Updates in place that delete data: retention, backups and records that shrink."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from cdk_rehearsal.registry._rejections import at

_CFN = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference"
_VERSIONS = "NoncurrentVersionExpiration"
_BACKUPS = "automatic backups that are older are deleted"


class _Days(NamedTuple):
    """Property with a number of days; a smaller number deletes what is older.

    Args:
        path: The property.
        reason: What is deleted.
        source: Page of AWS, read 2026-11-22.
        unset: Value of a property that is not set: a number of days, or None for "for ever".
    """

    path: str
    reason: str
    source: str
    unset: int | None = None


_FSX = tuple(
    _Days(f"{kind}.AutomaticBackupRetentionDays", _BACKUPS, f"{_CFN}/aws-properties-fsx-filesystem-{kind.lower()}.html",
          unset)
    for kind, unset in (
        ("LustreConfiguration", 0),
        ("OntapConfiguration", 30),
        ("OpenZFSConfiguration", 30),
        ("WindowsConfiguration", 30),
    )
)  # fmt: skip

_RETENTION: Mapping[str, tuple[_Days, ...]] = MappingProxyType(
    {
        "AWS::Logs::LogGroup": (
            _Days("RetentionInDays", "older log events are deleted", f"{_CFN}/aws-resource-logs-loggroup.html"),
        ),
        "AWS::APS::Workspace": (
            _Days(
                "WorkspaceConfiguration.RetentionPeriodInDays",
                "older samples are deleted",
                f"{_CFN}/aws-properties-aps-workspace-workspaceconfiguration.html",
                150,
            ),
        ),
        "AWS::FSx::FileSystem": _FSX,
        "AWS::PCS::Cluster": (
            _Days(
                "SlurmConfiguration.Accounting.DefaultPurgeTimeInDays",
                "older records of jobs are deleted",
                f"{_CFN}/aws-properties-pcs-cluster-accounting.html",
            ),
        ),
        "AWS::RDS::DBInstance": (
            _Days("BackupRetentionPeriod", _BACKUPS, f"{_CFN}/aws-resource-rds-dbinstance.html", 1),
        ),
        "AWS::RDS::DBCluster": (
            _Days("BackupRetentionPeriod", _BACKUPS, f"{_CFN}/aws-resource-rds-dbcluster.html", 1),
        ),
    }
)

#: Resource type -> property, the value that keeps data, and what another value ends.
_SWITCHES: Mapping[str, tuple[tuple[str, str, str], ...]] = MappingProxyType(
    {
        "AWS::PCS::Cluster": (
            ("SlurmConfiguration.Accounting.Mode", "STANDARD", "the records of jobs end, and fair share with them"),
        ),
        "AWS::EFS::FileSystem": (("BackupPolicy.Status", "ENABLED", "automatic backups end"),),
        "AWS::S3::Bucket": (
            ("VersioningConfiguration.Status", "Enabled", "overwritten and deleted objects are no longer kept"),
        ),
    }
)


def losses(type_name: str, old: Any, new: Any) -> dict[str, str]:
    """Return the properties whose change deletes data in place, with the reason. Properties are in normal form."""
    result = {}
    for row in _RETENTION.get(type_name, ()):
        before, after = (_days(at(side, row.path), row.unset) for side in (old, new))
        if at(old, row.path) != at(new, row.path) and after is not None and (before is None or after < before):
            result[row.path] = row.reason
    for path, keeps, reason in _SWITCHES.get(type_name, ()):
        if at(old, path) == keeps and at(new, path) != keeps:
            result[path] = reason
    if type_name == "AWS::S3::Bucket" and (reason := _expiry(old, new)):
        result["LifecycleConfiguration"] = reason
    return result


def _days(value: Any, unset: int | None) -> int | None:
    """Number of days, None for ever, as -1 of PCS.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/slurm-accounting.html (read 2026-11-22)
    """
    if value is None:
        return unset
    return int(value) if isinstance(value, str) and value.isdecimal() else None


def _expiry(old: Any, new: Any) -> str:
    """Compare the rules of a bucket's lifecycle that delete objects."""
    before = dict(_deletions(old))
    versioned = at(old, "VersioningConfiguration.Status") is not None
    for key, days in _deletions(new):
        where, what = key
        # A bucket that never kept versions has none to delete.
        if (versioned or what != _VERSIONS) and (key not in before or days < before[key]):
            return f"{what} of {where or 'all objects'} deletes them after {days} days"
    return ""


def _deletions(properties: Any) -> Iterator[tuple[tuple[str, str], int]]:
    rules = at(properties, "LifecycleConfiguration.Rules")
    for rule in rules if isinstance(rules, list) else ():
        if not isinstance(rule, Mapping) or rule.get("Status") != "Enabled":
            continue
        for name, path in (
            ("ExpirationInDays", "ExpirationInDays"),
            (_VERSIONS, f"{_VERSIONS}.NoncurrentDays"),
        ):
            days = at(rule, path)
            if isinstance(days, str) and days.isdecimal():
                yield (str(rule.get("Prefix") or rule.get("TagFilters") or ""), name), int(days)
