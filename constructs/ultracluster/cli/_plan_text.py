"""Texts of a plan: one line for each figure, and how each follows."""

from collections.abc import Iterator

from ultracluster.planning import Figure, Plan

_COUNTED = ("GPUs", "days", "layers", "nodes", "parts", "replicas", "requests", "sequences", "steps", "units")
_BYTES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def plan_lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each figure, and the notes."""
    for figure in plan.figures:
        spread = f"  ({_range(figure)})" if figure.low is not None else ""
        yield f"{figure.name:<32}{value(figure)}{spread}{'  given' if figure.given else ''}"
    for note in plan.notes:
        yield f"note: {note}"


def explained_lines(plan: Plan) -> Iterator[str]:
    """Yield each figure with its formula and source, and the notes."""
    for figure in plan.figures:
        yield f"{figure.name} = {value(figure)}"
        if figure.low is not None:
            yield f"    range    {_range(figure)}"
        yield f"    formula  {figure.formula}"
        yield f"    source   {figure.source}"
    for note in plan.notes:
        yield f"note: {note}"


def _range(figure: Figure) -> str:
    """Return low and high, with the unit once if both have the same."""
    low, high = amount(figure.low, figure), amount(figure.high, figure)
    unit = high.partition(" ")[2]
    return f"{low.removesuffix(f' {unit}') if unit else low} to {high}"


def value(figure: Figure) -> str:
    """Return the value with its unit."""
    return figure.value if isinstance(figure.value, str) else amount(figure.value, figure)


def amount(number: float | None, figure: Figure) -> str:
    """Return a number with the unit of a figure, in three or four digits."""
    if number is None:
        return "?"
    if figure.unit.startswith("bytes"):
        for unit, size in _BYTES:
            if abs(number) >= size:
                return f"{number / size:,.4g} {unit}{figure.unit.removeprefix('bytes')}"
    if figure.unit in ("USD", "USD/h"):
        return f"{number:,.2f} {figure.unit}"
    digits = f"{number:.4g}" if abs(number) >= 1e7 or abs(number) < 1000 else f"{number:,.0f}"
    unit = figure.unit[:-1] if digits == "1" and figure.unit in _COUNTED else figure.unit
    return f"{digits} {unit}".rstrip()
