"""Options of Slurm beside its nodes and queues."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ultracluster.catalogue.schedulers import pcs
from ultracluster.planning.slurm import METRICS_SETTINGS, METRICS_SINCE
from ultracluster.rules import Message, shared
from ultracluster.slurm._settings import setting_problems

_METRICS = shared("slurm-metrics")
_REST_API = shared("slurm-rest-api")
_ACCOUNTING = shared("slurm-accounting")
_PURGE = shared("slurm-purge-time")
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmOptions:
    """Accounting, REST API, metrics and settings of a `PcsCluster`.

    Args:
        accounting: Whether Slurm has an accounting database. Default: yes.
        accounting_purge_days: Days after which its records are deleted, 1 to 10,000. Default: never.
        rest_api: Whether the controller serves Slurm's REST API, on port 6820 and without TLS. Default: no.
        metrics: Whether the controller exposes its metrics for Prometheus on port 6817, to every client that the
            security group allows, the nodes included. Requires Slurm 25.11. Default: no.
        settings: Settings of slurm.conf by name; see `catalogue.schedulers.slurm_settings`.
        slurmdbd_settings: Settings of slurmdbd.conf by name.
        cgroup_settings: Settings of cgroup.conf by name.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/slurm-rest-api.html and slurm-metrics.html (read 2026-11-21)
    """

    accounting: bool = True
    accounting_purge_days: int | None = None
    rest_api: bool = False
    metrics: bool = False
    settings: Mapping[str, str] = field(default_factory=lambda: _NONE)
    slurmdbd_settings: Mapping[str, str] = field(default_factory=lambda: _NONE)
    cgroup_settings: Mapping[str, str] = field(default_factory=lambda: _NONE)

    @property
    def all_settings(self) -> dict[str, str]:
        """Settings of slurm.conf, those that expose metrics included."""
        return {**self.settings, **(METRICS_SETTINGS if self.metrics else {})}

    def problems(self, version: str) -> list[Message]:
        """Return what PCS does not accept with a version of Slurm."""
        problems = [
            *setting_problems("cluster", self.all_settings, version),
            *setting_problems("slurmdbd", self.slurmdbd_settings, version),
            *setting_problems("cgroup", self.cgroup_settings, version),
        ]
        if self.metrics and version < METRICS_SINCE:
            problems.append(_METRICS(f"metrics need Slurm {METRICS_SINCE}, got {version}"))
        if self.rest_api and version < pcs.REST_API_SINCE:
            problems.append(_REST_API(f"the REST API needs Slurm {pcs.REST_API_SINCE}, got {version}"))
        if self.accounting_purge_days is not None and not self.accounting:
            problems.append(_ACCOUNTING("accounting_purge_days needs accounting"))
        if self.accounting_purge_days is not None and not 1 <= self.accounting_purge_days <= pcs.LONGEST_PURGE_DAYS:
            message = f"must be 1 to {pcs.LONGEST_PURGE_DAYS:,}, got {self.accounting_purge_days}"
            problems.append(_PURGE(f"accounting_purge_days {message}"))
        if self.slurmdbd_settings and not self.accounting:
            problems.append(_ACCOUNTING("slurmdbd_settings need accounting"))
        return problems
