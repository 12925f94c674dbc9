"""Names of a package that are imported when they are first used."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str, known: dict[str, Any], modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports some of its names when they are first used.

    Args:
        package: Name of the package.
        known: Its globals, which keep what was used.
        modules: Names by the module, in the package, that has them. Type checkers read them in `if TYPE_CHECKING`, and
            accept any name if they read this call.

    See: https://peps.python.org/pep-0562/
    """
    module_of = {name: module for module, names in modules.items() for name in names}
    # Without it, `import *` has the names alone that were used before.
    known["__all__"] = sorted(name for name in {*known, *module_of} if not name.startswith("_"))

    def read(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return known.setdefault(name, getattr(import_module(f"{package}.{module_of[name]}"), name))

    return read, lambda: sorted({*known, *module_of})
