"""Syntax of the library, which most tests of the house read whole."""

import ast
from functools import cache


@cache
def nodes(code: str) -> list[ast.AST]:
    """Syntax of a text, in the order of `ast.walk`."""
    return list(ast.walk(ast.parse(code)))
