"""Figures of a plan, collected with formula and source."""

from dataclasses import dataclass, field

from ultracluster.planning import Figure

#: Source of what follows from other figures alone.
ARITHMETIC = "arithmetic"
STEP = "model of a step, fitted to published runs: docs/guides/cluster-file.md"
ZERO = "ZeRO, https://arxiv.org/abs/1910.02054; activations: https://arxiv.org/abs/2205.05198"


@dataclass(slots=True)
class Sheet:
    """Figures in the order of their calculation."""

    given: frozenset[str] = frozenset()
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(
        self,
        name: str,
        value: float | str,
        unit: str,
        formula: str,
        source: str = ARITHMETIC,
        range_: tuple[float, float] | None = None,
    ) -> None:
        """Add a figure."""
        low, high = range_ or (None, None)
        given = name in self.given
        self.figures.append(
            Figure(
                name=name,
                value=value,
                unit=unit,
                formula="given" if given else formula,
                source="the caller" if given else source,
                low=low,
                high=high,
                given=given,
            )
        )

    def number(self, name: str) -> float:
        """Return the value of a figure that is a number."""
        return next(float(figure.value) for figure in self.figures if figure.name == name)


def checked(problems: list[str]) -> None:
    """Raise all problems at once.

    Raises:
        ValueError: If there are any.
    """
    if problems:
        raise ValueError("; ".join(problems))
