"""Errors of a cluster file, and where they are."""

from dataclasses import dataclass

#: Keys from the top of the file to a value.
Path = tuple[str | int, ...]

#: Rule of a value that is not what its key takes.
INVALID_VALUE = "invalid-value"


def shown(value: object) -> str:
    """Return a value as an error shows it: short, whatever it is."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case dict():
            return "a mapping"
        case list():
            return "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def field_name(path: Path) -> str:
    """Return a path as an error shows it: `nodes.train.count`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_printable(step)}" for step in path).removeprefix(".")
    return text if len(text) <= 120 else f"{text[:117]}..."


def _visible(text: str) -> str:
    """Escape what a terminal would hide or obey: some YAML errors quote the file."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _printable(key: str) -> str:
    return key if key.isprintable() and key and " " not in key else repr(key)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """An error.

    Args:
        path: Keys down to the value that is wrong, or that is missing.
        message: What was wrong, what was got, what is allowed, what to do.
        at_key: Whether the key is wrong rather than the value.
        rule: Id of the rule.
    """

    path: Path
    message: str
    at_key: bool = False
    rule: str = INVALID_VALUE


class FieldProblems(ValueError):
    """Several errors inside one field; paths are relative to the field."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Located:
    """An error with its place. Lines and columns count from 1.

    Args:
        file: The file, if it is not the one that was named: the base of `extends`.
        line: Line in the file.
        column: Column in the line.
        field: The key, such as `nodes.train.count`.
        message: The error.
        rule: Id of the rule.
    """

    file: str = ""
    line: int
    column: int
    field: str
    message: str
    rule: str = INVALID_VALUE

    def render(self, name: str) -> str:
        """Return the line that is printed."""
        field = f"{self.field}: " if self.field else ""
        return f"{self.file or name}:{self.line}:{self.column} {field}{_visible(self.message)} [{self.rule}]"


class ClusterFileError(ValueError):
    """A cluster file that cannot be used. `str()` lists every error, one on each line.

    Args:
        name: Name of the file.
        problems: The errors, in the order of the file.
        incomplete: Whether a value is not valid, so that the rules which read it were not checked.
    """

    def __init__(self, name: str, problems: list[Located], *, incomplete: bool = False) -> None:
        self.name = name
        self.incomplete = incomplete
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(problem.render(name) for problem in self.problems))
