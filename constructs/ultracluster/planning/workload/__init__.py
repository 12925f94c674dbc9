"""Plans of training and inference, failures, goodput and metric series by cluster size."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ultracluster.planning.workload._series import (
    SCRAPE_INTERVAL_S,
    SERIES_PER_NODE,
    Use,
    alerts_use,
    quota_request,
    rules_use,
    series_at_most,
    series_limit,
    uses,
)

if TYPE_CHECKING:
    from ultracluster.planning.workload._assumptions import Assumptions
    from ultracluster.planning.workload._budget import budget_flops, compute_optimal
    from ultracluster.planning.workload._failures import checkpoint_seconds, days_between_interruptions
    from ultracluster.planning.workload._inference import plan_inference
    from ultracluster.planning.workload._layout import Layout
    from ultracluster.planning.workload._model import Model
    from ultracluster.planning.workload._rl import plan_rl
    from ultracluster.planning.workload._serving import replica_fits
    from ultracluster.planning.workload._sweep import Candidate, pareto, sweep
    from ultracluster.planning.workload._training import plan_training

__all__ = [
    "SCRAPE_INTERVAL_S",
    "SERIES_PER_NODE",
    "Assumptions",
    "Candidate",
    "Layout",
    "Model",
    "Use",
    "alerts_use",
    "budget_flops",
    "checkpoint_seconds",
    "compute_optimal",
    "days_between_interruptions",
    "pareto",
    "plan_inference",
    "plan_rl",
    "plan_training",
    "quota_request",
    "replica_fits",
    "rules_use",
    "series_at_most",
    "series_limit",
    "sweep",
    "uses",
]
_MODULES = {
    "Assumptions": "assumptions",
    "Candidate": "sweep",
    "Layout": "layout",
    "Model": "model",
    "budget_flops": "budget",
    "checkpoint_seconds": "failures",
    "compute_optimal": "budget",
    "days_between_interruptions": "failures",
    "pareto": "sweep",
    "plan_inference": "inference",
    "plan_rl": "rl",
    "plan_training": "training",
    "replica_fits": "serving",
    "sweep": "sweep",
}

if not TYPE_CHECKING:  # They take any name of a package that has __getattr__.

    def __getattr__(name: str) -> Any:
        """Import a plan when it is first used: a cluster file needs the series alone."""
        if name in _MODULES:
            return getattr(import_module(f"{__name__}._{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
