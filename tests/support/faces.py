"""Names that the face of a package exports."""

import ast
import importlib
from pathlib import Path


def names_of_face(package: str) -> list[str]:
    """Names of a package that others may import: its `__all__`, or else what its `__init__.py` imports as itself."""
    module = importlib.import_module(package)
    text = Path(str(module.__file__)).read_text()
    # That of `startup.lazy` has the names of libraries too.
    if "\n__all__ = " in text:
        return list(module.__all__)
    names = []
    body = ast.parse(text).body
    # What a face exports is in `with uncollected():`, or in `if TYPE_CHECKING:` if it is imported when first used.
    for node in [
        inner for outer in body for inner in (outer.body if isinstance(outer, ast.With | ast.If) else [outer])
    ]:
        if isinstance(node, ast.ImportFrom):
            names += [alias.asname for alias in node.names if alias.asname]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names
