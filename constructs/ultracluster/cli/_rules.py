"""The command `rules`."""

from importlib import import_module
from pkgutil import iter_modules

import typer

import ultracluster
from ultracluster.cli._active_queues import PCS_NOT_ACTIVE
from ultracluster.cli._block_nodes import EKS_BLOCK_NODES
from ultracluster.cli._cdk_deploy import EKS_UPDATE_FIRST
from ultracluster.cli._ended_blocks import CAPACITY_ENDED, CAPACITY_NOT_BEGUN
from ultracluster.cli._instance_groups import HYPERPOD_CHECKS
from ultracluster.cli._moved_groups import COMPUTE_STACK_MOVED
from ultracluster.cli._output import JsonOption, print_json
from ultracluster.cli._rehearse import ADOPT_RETAINED
from ultracluster.cli._taken_reservations import EKS_RESERVATION_TAKEN
from ultracluster.cli._version_settings import SLURM_VERSION_SETTINGS
from ultracluster.rules import Rule, registered

#: Reasons for which `deploy` and `diff` refuse an update that the guard accepts, and `rehearse` a file.
DEPLOY_CHECKS = (
    *(
        ADOPT_RETAINED,
        CAPACITY_ENDED,
        CAPACITY_NOT_BEGUN,
        COMPUTE_STACK_MOVED,
        EKS_BLOCK_NODES,
        EKS_RESERVATION_TAKEN,
        EKS_UPDATE_FIRST,
        HYPERPOD_CHECKS,
    ),
    PCS_NOT_ACTIVE,
    SLURM_VERSION_SETTINGS,
)


def construct_rules() -> list[Rule]:
    """Return the rules of all constructs. Imports every public name, as a module registers its rules."""
    for module in iter_modules(ultracluster.__path__):
        if module.ispkg:
            package = import_module(f"ultracluster.{module.name}")
            for name in getattr(package, "__all__", ()):
                getattr(package, name)
    return list(registered(Rule).values())


def rules(json_: JsonOption = False) -> None:
    """Print the rules of the cluster file, with those that `accept` allows, of the constructs, and of `deploy`."""
    from ultracluster import clusterfile

    rows = [
        *(("cluster file", rule.id, rule.kind, rule.acceptable, rule.reason) for rule in clusterfile.rules()),
        *(("constructs", rule.id, rule.kind, False, rule.reason) for rule in construct_rules()),
        *(("deploy", check.id, "error", False, check.reason) for check in DEPLOY_CHECKS),
    ]
    if json_:
        keys = ("of", "id", "kind", "acceptable", "reason")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    for of, id, kind, acceptable, reason in rows:
        words = [of, kind, *(["`accept` allows it"] if acceptable and kind == "error" else [])]
        typer.echo(f"{id} ({', '.join(words)}): {reason}")
