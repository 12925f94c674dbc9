"""Print a module that imports what this repository imports of other packages, for mypy to cache their types."""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_FOLDERS = ("stacks", "constructs", "tests", "examples", "benchmarks", "scripts")
_PACKAGES = Path(sysconfig.get_paths()["purelib"])


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            # A module of the package, or a name in it.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _installed(name: str) -> bool:
    path = _PACKAGES.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file() or path.with_suffix(".pyi").is_file()


if __name__ == "__main__":
    files = [Path("app.py"), *(file for folder in _FOLDERS for file in Path(folder).rglob("*.py"))]
    names = sorted({name for file in files for name in _imported(file) if _installed(name)})
    print('# mypy: disable-error-code="import-untyped,import-not-found"')
    print("\n".join(f"import {name}" for name in names))
