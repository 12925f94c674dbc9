"""Settings of Slurm, in the properties of AWS PCS."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ultracluster.catalogue.schedulers import Place
from ultracluster.planning.slurm import check_settings

_T = TypeVar("_T")


def setting_problems(place: Place, settings: Mapping[str, str], version: str) -> list[str]:
    """Return what PCS does not accept of the settings of a place, each with its name."""
    return [f"{name}: {error}" for name, error in check_settings(place, settings, version=version).items()]


def custom_settings(kind: Callable[..., _T], values: Iterable[tuple[str, str]]) -> list[_T] | None:
    """Return the properties of settings, or None without any: PCS refuses an empty list."""
    return [kind(parameter_name=name, parameter_value=value) for name, value in values] or None
