"""Result of the planner: figures with unit, formula and source."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

Kind = Literal["pretraining", "fine-tuning", "rl", "inference"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A figure of a plan.

    Args:
        name: Stable name.
        value: A number, or a text such as the name of a type.
        unit: Unit, or an empty text.
        formula: How it follows from other figures.
        source: Source of the formula or of the value.
        low: Lowest value of the published range. None without a range.
        high: Highest value of the published range. None without a range.
        given: Whether the caller gave it.
    """

    name: str
    value: float | str
    unit: str
    formula: str
    source: str
    low: float | None = None
    high: float | None = None
    given: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Resources, time and memory of a workload.

    Args:
        kind: Kind of workload.
        figures: All figures, in the order of their calculation.
        notes: Choices and warnings, in sentences.
    """

    kind: Kind
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Figure:
        """Return a figure by its name.

        Raises:
            KeyError: If the plan has no such figure.
        """
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(
            f"a plan for {self.kind} has no figure {name!r}; it has {', '.join(f.name for f in self.figures)}"
        )

    def __contains__(self, name: object) -> bool:
        """Return whether the plan has a figure of this name."""
        return any(figure.name == name for figure in self.figures)

    def number(self, name: str) -> float:
        """Return the value of a figure that is a number.

        Raises:
            KeyError: If the plan has no such figure.
            TypeError: If the figure is a text.
        """
        value = self[name].value
        if isinstance(value, str):
            raise TypeError(f"{name} is a text, {value!r}")
        return value

    @property
    def flops(self) -> float:
        """FLOPs of the model: 6 for each active parameter and token of training."""
        return self.number("flops")

    @property
    def days(self) -> float:
        """Days from start to end, lost time included."""
        return self.number("days")

    @property
    def gpu_hours(self) -> float:
        """GPU-hours from start to end."""
        return self.number("gpu_hours")

    @property
    def mfu(self) -> float:
        """Model FLOPs utilization, of the dense peak in the precision of the plan."""
        return self.number("mfu")

    @property
    def nodes(self) -> int:
        """Instances of the job, without spares."""
        return int(self.number("nodes"))

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return int(self.number("gpus"))

    @property
    def checkpoint_bytes(self) -> int:
        """Bytes of a checkpoint from which training continues."""
        return int(self.number("checkpoint_bytes"))

    @property
    def checkpoint_interval_seconds(self) -> float:
        """Seconds between two checkpoints."""
        return self.number("checkpoint_interval_seconds")

    @property
    def interruptions(self) -> float:
        """Unexpected interruptions of the job by failures."""
        return self.number("interruptions")

    @property
    def goodput(self) -> float:
        """Share of the time in which the job makes progress."""
        return self.number("goodput")

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values: figures by name, and how each follows under `explain`."""
        return {
            "kind": self.kind,
            **{figure.name: figure.value for figure in self.figures},
            "ranges": {f.name: [f.low, f.high] for f in self.figures if f.low is not None},
            "notes": list(self.notes),
            "explain": [asdict(figure) for figure in self.figures],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the plan of a document that `to_dict` returned.

        Raises:
            KeyError: If the document is not one.
        """
        return cls(
            kind=document["kind"],
            figures=tuple(Figure(**figure) for figure in document["explain"]),
            notes=tuple(document["notes"]),
        )
