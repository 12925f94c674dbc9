"""Tokens of the CDK in arguments, which stand for values that only a deployment knows."""

from collections.abc import Iterator, Mapping

from ultracluster.rules import TOKEN, Message

# The CDK writes a token into a text as `${Token[...]}`; a list of unknown length is a list of one `#{Token[...]}`.
_TEXT, _LIST = "${Token[", "#{Token["
#: Arguments that are a list in the template as well, so that a list of unknown length is as good.
_LISTS = frozenset({"public_access_cidrs"})
_ONE = "cdk.Fn.select(0, ...) returns one value of a list token"
_SEVERAL = f"{_ONE}, and cdk.Fn.split(',', ..., 2) a list of two"


def token_errors(values: Mapping[str, object]) -> list[Message]:
    """Return a sentence for each text that is a token, where its value decides what is created."""
    tokens = [name for name, value in values.items() if isinstance(value, str) and _TEXT in value]
    return [TOKEN(f"{name} must be known at synthesis, got a token") for name in tokens]


def list_token_errors(values: Mapping[str, object]) -> Iterator[Message]:
    """Yield a sentence for each argument with a list token, whose length decides what is created."""
    for name, value in values.items():
        if isinstance(value, str) and _LIST in value:
            yield TOKEN(f"{name} must be one value, got a list token: {_ONE}")
        elif isinstance(value, list | tuple) and name not in _LISTS and any(_LIST in each for each in _texts(value)):
            yield TOKEN(f"{name} must be a list whose length is known at synthesis, got a list token: {_SEVERAL}")


def _texts(values: list[object] | tuple[object, ...]) -> Iterator[str]:
    return (each for each in values if isinstance(each, str))
