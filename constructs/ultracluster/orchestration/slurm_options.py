"""What Slurm is told beside its nodes and queues."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ultracluster.hardware import pcs
from ultracluster.hardware.slurm_settings import Place
from ultracluster.planning.slurm_settings import METRICS_SETTINGS, METRICS_SINCE, check_settings

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmOptions:
    """Accounting, REST API, metrics and settings of a `PcsCluster`.

    Args:
        accounting: Whether Slurm keeps its accounting database. Default: yes.
        accounting_purge_days: For how many days its records are kept, 1 to 10,000. Default: for ever.
        rest_api: Whether the controller answers Slurm's REST API, on port 6820 and without TLS. Default: no.
        metrics: Whether it shows its own metrics to Prometheus on port 6817, to whoever can reach it: the nodes do,
            by the rule that lets them reach each other. From Slurm 25.11 on. Default: no.
        settings: Settings of slurm.conf by name; see `hardware.slurm_settings`.
        slurmdbd_settings: The same of slurmdbd.conf.
        cgroup_settings: The same of cgroup.conf.

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
        """Settings of slurm.conf, with those that show metrics."""
        return {**self.settings, **(METRICS_SETTINGS if self.metrics else {})}

    def problems(self, version: str) -> list[str]:
        """What PCS would refuse with a version of Slurm; empty when nothing is."""
        found = []
        for place, settings in self._places():
            found += [
                f"{name}: {problem}" for name, problem in check_settings(place, settings, version=version).items()
            ]
        if self.metrics and version < METRICS_SINCE:
            found.append(f"metrics need Slurm {METRICS_SINCE}, got {version}")
        if self.rest_api and version < pcs.REST_API_SINCE:
            found.append(f"the REST API needs Slurm {pcs.REST_API_SINCE}, got {version}")
        if self.accounting_purge_days is not None and not self.accounting:
            found.append("accounting_purge_days needs accounting")
        if self.accounting_purge_days is not None and not 1 <= self.accounting_purge_days <= pcs.LONGEST_PURGE_DAYS:
            found.append(
                f"accounting_purge_days must be 1 to {pcs.LONGEST_PURGE_DAYS:,}, got {self.accounting_purge_days}"
            )
        if self.slurmdbd_settings and not self.accounting:
            found.append("slurmdbd_settings need accounting")
        return found

    def _places(self) -> tuple[tuple[Place, Mapping[str, str]], ...]:
        return (
            ("cluster", self.all_settings),
            ("slurmdbd", self.slurmdbd_settings),
            ("cgroup", self.cgroup_settings),
        )
