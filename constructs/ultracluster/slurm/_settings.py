"""Settings of Slurm, in the properties of AWS PCS."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ultracluster.catalogue.schedulers import Place
from ultracluster.planning.slurm import check_settings
from ultracluster.rules import Message, error, shared

_T = TypeVar("_T")
_SETTING = shared("slurm-setting")
NAME = error(
    "pcs-name",
    "AWS PCS accepts letters, digits and hyphens in names of clusters, node groups and queues, from a letter on.",
)


def setting_problems(place: Place, settings: Mapping[str, str], version: str) -> list[Message]:
    """Return what PCS does not accept of the settings of a place, each with its name."""
    problems = check_settings(place, settings, version=version)
    return [_SETTING(f"{name}: {problem}") for name, problem in problems.items()]


def custom_settings(kind: Callable[..., _T], values: Iterable[tuple[str, str]]) -> list[_T] | None:
    """Return the properties of settings, or None without any: PCS refuses an empty list."""
    return [kind(parameter_name=name, parameter_value=value) for name, value in values] or None
