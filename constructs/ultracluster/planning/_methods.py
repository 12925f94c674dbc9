"""Types of the arguments of methods."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ultracluster.planning._types import type_errors
from ultracluster.rules import Refusal

_P = ParamSpec("_P")
_T = TypeVar("_T")
_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def checked_method(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """Wrap a method, or a function without a construct: wrong types raise a Refusal. `*args` are not checked."""
    signature = inspect.signature(call)
    unchecked = {"self", *(name for name, each in signature.parameters.items() if each.kind in _SEVERAL)}

    @wraps(call)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        given = signature.bind(*args, **kwargs).arguments
        if errors := type_errors(call, {name: value for name, value in given.items() if name not in unchecked}):
            raise Refusal(getattr(getattr(given.get("self"), "node", None), "path", ""), errors)
        return call(*args, **kwargs)

    return wrapped
