"""Generate the reference of the Python API from the faces of the packages, their signatures and docstrings."""

import ast
import importlib
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from docs_reference.markdown import page, table

_PACKAGES = Path(__file__).parents[2] / "constructs"
_NAMES = Path(__file__).parents[2] / "tests" / "house" / "public-api.json"
_ABOUT = """The names that users import, one line each. The changelog lists changes of them. Other names are internal,
even where a package exports them for other packages. The site has a page for each package, with signatures; in
Python, `help(name)` shows the same."""
_GROUPS = {
    "Clusters": ("ultracluster.stacks", "ultracluster.clusterfile", "ultracluster.orchestration", "ultracluster.rules"),
    "Constructs": (
        "ultracluster.network",
        "ultracluster.compute",
        "ultracluster.storage",
        "ultracluster.slurm",
        "ultracluster.eks",
        "ultracluster.observability",
        "ultracluster.security",
        "ultracluster.cloudwatch",
    ),
    "Nodes and jobs": ("ultracluster.boot", "ultracluster.kubernetes", "ultracluster.workloads"),
    "Facts and arithmetic": ("ultracluster.catalogue", "ultracluster.planning"),
    "Metrics, alerts and dashboards": ("ultracluster.monitoring",),
    "Tests": ("ultracluster.testing", "cdk_rehearsal"),
}

Definition = ast.ClassDef | ast.FunctionDef


def index_page() -> str:
    """Page with the public names of every package, by group."""
    sections = []
    for group, prefixes in _GROUPS.items():
        sections.append(f"## {group}")
        for name, names in (pair for prefix in prefixes for pair in _public_names() if pair[0].startswith(prefix)):
            module = importlib.import_module(name)
            rows = [(f"`{public}`", f"{_first_line(module, public)}{_imports(module, public)}") for public in names]
            sections.append(f"### `{name}`\n\n{_summary(module)}\n\n{table(('name', 'description'), rows)}")
    return page("Python API", _ABOUT, *sections)


@cache
def package_pages() -> dict[str, str]:
    """Page of every package with public names, by path below docs; built with the site."""
    return {f"reference/python/{name}.md": _package(name, names) for name, names in _public_names()}


def _public_names() -> list[tuple[str, list[str]]]:
    names: dict[str, list[str]] = json.loads(_NAMES.read_text(encoding="utf-8"))
    return list(names.items())


def _first_line(module: ModuleType, name: str) -> str:
    """First line of a docstring, or the comment `#:` above a constant."""
    value = getattr(module, name)
    if isinstance(value, ModuleType) or inspect.isclass(value) or inspect.isfunction(value):
        return (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    here = _PACKAGES / module.__name__.replace(".", "/")
    for path in sorted(_with_comments(), key=lambda path: not path.is_relative_to(here)):
        if comment := re.search(rf"^((?:#: .*\n)+){name}\b[^\n(]*=", path.read_text(encoding="utf-8"), re.MULTILINE):
            return " ".join(line.removeprefix("#:").strip() for line in comment[1].splitlines())
    raise ValueError(f"{module.__name__}.{name} needs a comment that begins with '#: '")


@cache
def _with_comments() -> list[Path]:
    """Modules with a comment `#:`, few of all."""
    return [path for path in sorted(_PACKAGES.rglob("*.py")) if "#: " in path.read_text(encoding="utf-8")]


def _imports(module: ModuleType, name: str) -> str:
    """Static methods that import an existing resource."""
    value = getattr(module, name)
    bases = (
        [base for base in inspect.getmro(value) if "ultracluster." in base.__module__] if inspect.isclass(value) else []
    )
    members = dict.fromkeys(member for base in bases for member in vars(base) if member.startswith("from_"))
    return f" Also constructed by {', '.join(f'`{member}`' for member in members)}." if members else ""


def _summary(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").partition("\n\n")[0]


def _package(name: str, names: list[str]) -> str:
    module = importlib.import_module(name)
    constants, sections = [], []
    for public in names:
        value = getattr(module, public)
        definition = _definition(value)
        if definition is not None:
            sections.append(_section(public, definition, value))
        elif isinstance(value, ModuleType):
            constants.append((f"`{public}`", _summary(value)))
        else:
            constants.append((f"`{public}`", _first_line(module, public)))
    if constants:
        sections.append(f"## Constants, types and modules\n\n{table(('name', 'description'), constants)}")
    return page(f"`{name}`", inspect.getdoc(module) or "", *sections)


def _definition(value: object) -> Definition | None:
    unwrapped = inspect.unwrap(value) if callable(value) else value
    if not (inspect.isclass(unwrapped) or inspect.isfunction(unwrapped)):
        return None
    return _parsed(cast(Any, unwrapped))


@cache
def _parsed(value: Any) -> Definition | None:
    """Definition of a class or function; of a base, for each class that has it."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    return next((node for node in tree.body if isinstance(node, Definition)), None)


def _section(name: str, definition: Definition, value: Any) -> str:
    docstring = _docstring(inspect.getdoc(value) or "")
    if isinstance(definition, ast.FunctionDef):
        return f"## {name}\n\n```text\n{_signature(name, definition)}\n```\n\n{docstring}"
    return "\n\n".join([f"## {name}", f"```text\n{_constructor(name, value)}\n```", docstring, *_members(definition)])


def _constructor(name: str, value: type) -> str:
    definition = _definition(value)
    assert isinstance(definition, ast.ClassDef)
    for node in definition.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return _signature(name, node, bound=True)
    fields: dict[str, str] = {}
    for base in reversed(value.__mro__):
        inherited = _definition(base) if base.__module__.startswith(("ultracluster", "cdk_rehearsal")) else None
        for node in inherited.body if isinstance(inherited, ast.ClassDef) else ():
            if isinstance(node, ast.AnnAssign) and "ClassVar" not in ast.unparse(node.annotation):
                fields[ast.unparse(node.target)] = _spaced(ast.unparse(node))
    lines = [f"    {line}," for field, line in fields.items() if _public(field)]
    bases = ", ".join(ast.unparse(base) for base in definition.bases)
    if not lines:
        return f"class {name}({bases})" if bases else f"class {name}"
    return "\n".join([f"{name}(", *lines, ")"])


def _members(definition: ast.ClassDef) -> Iterator[str]:
    rows = []
    for node in definition.body:
        if isinstance(node, ast.FunctionDef) and _public(node.name):
            decorators = {ast.unparse(one) for one in node.decorator_list}
            attribute = bool(decorators & {"property", "functools.cached_property", "cached_property"})
            signature = node.name if attribute else " ".join(_signature(node.name, node, bound=True).split())
            about = (ast.get_docstring(node) or "").partition("\n\n")[0]
            rows.append((f"`{signature}`", about))
    if rows:
        yield table(("member", "description"), rows)


def _public(name: str) -> bool:
    return not name.startswith("_")


def _signature(name: str, function: ast.FunctionDef, *, bound: bool = False) -> str:
    arguments = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(arguments, ast.FunctionDef)
    args = arguments.args
    if bound and args.args and args.args[0].arg in {"self", "cls"}:
        args.args.pop(0)
    text = ast.unparse(args)
    returns = f" -> {ast.unparse(function.returns)}" if function.returns and function.name != "__init__" else ""
    parts = [_spaced(part) for part in _split(text)] if text else []
    line = f"{name}({', '.join(parts)}){returns}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returns}"])


def _spaced(part: str) -> str:
    """Parameter with spaces around the default, as formatters write it."""
    return re.sub(r"^(\**\w+: [^=]+?) ?= ?(.+)$", r"\1 = \2", part, count=1, flags=re.DOTALL)


def _split(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for character in text:
        depth += character in "([{"
        depth -= character in ")]}"
        if character == "," and not depth:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()]


def _docstring(text: str) -> str:
    """Google style sections as Markdown lists."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Raises|Returns|Yields|Attributes):", line):
            lines += ["", f"**{line[:-1]}**", ""]
            inside = line[:-1] != "Returns"
        elif inside and (found := re.match(r"    (\w[\w.]*): (.*)", line)):
            lines.append(f"- `{found[1]}`: {found[2]}")
        elif inside and line.startswith("        "):
            lines.append(f"  {line.strip()}")
        else:
            inside = inside and not line.strip()
            lines.append(line.strip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
