"""Words: pydantic types with a parser, the pattern that editors check, and an example."""

import re
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Network
from typing import Annotated, Any, TypeVar

from pydantic import Field
from pydantic_core import core_schema

from ultracluster.clusterfile._problems import FieldProblems, Problem, shown
from ultracluster.clusterfile._quantities import Quantity
from ultracluster.clusterfile.sections._section import Section
from ultracluster.rules import nearest

# What YAML gives. Anything else in a section that is built in Python is a parsed value already.
_RAW = (str, int, float, list, dict, type(None))


class Word:
    """A pydantic type: `Annotated[str, Word(...)]`.

    Args:
        parse: Takes a YAML value; raises ValueError.
        write: Returns the YAML value. Default: `write`.
        example: What an error proposes. Default: the first of the schema's examples.
        **schema: JSON schema of what it accepts.
    """

    def __init__(
        self,
        parse: Callable[[Any], Any],
        write: Callable[[Any], Any] | None = None,
        *,
        example: object = None,
        **schema: Any,
    ) -> None:
        self.parse = parse
        self.example = next(iter(schema.get("examples", ())), None) if example is None else example
        self.write = write or write_value
        self.schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Return the parser and the writer, as pydantic calls them."""
        written = core_schema.plain_serializer_function_ser_schema(self.write)
        return core_schema.no_info_plain_validator_function(self.read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return what an editor completes from."""
        return dict(self.schema)

    def read(self, value: Any) -> Any:
        """Parse a YAML value; a parsed value stays as it is."""
        return self.parse(value) if isinstance(value, _RAW) else value


def write_value(value: Any) -> Any:
    """Return a value as the file writes it."""
    if isinstance(value, Section):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, Quantity | IPv4Network):
        return str(value)
    return [write_value(item) for item in value] if isinstance(value, tuple) else getattr(value, "word", value)


def parsed(parse: Callable[[Any], Any], pattern: re.Pattern[str] | str, *examples: str) -> Word:
    """Create the word of a text that a parser of its own reads."""
    return Word(parse, type="string", pattern=json_pattern(pattern), examples=list(examples))


def checked(
    check: Callable[[str], Sequence[str]],
    what: str,
    pattern: re.Pattern[str] | str,
    *examples: str,
    longest: int | None = None,
) -> Word:
    """Create the word of a text that a function checks.

    Args:
        check: Returns the errors of a text.
        what: What the text must be, for the error of a value that is not a text.
        pattern: Pattern for editors.
        *examples: Texts that are valid.
        longest: Characters that are checked: the beginning of a longer text is not valid either.
    """

    def parse(value: object) -> str:
        result = text(value, what)
        if problems := check(result[:longest]):
            raise ValueError(problems[0])
        return result

    return parsed(parse, pattern, *examples)


def pattern(pattern: re.Pattern[str] | str, what: str, *examples: str, example: object = None) -> Word:
    """Create the word of a text that matches a pattern.

    Args:
        pattern: The pattern.
        what: What the text must be, for the error.
        *examples: Texts that match.
        example: What an error proposes. Default: the first of the examples.
    """
    return Word(
        # Most files have no value of most words: a pattern is compiled for the first.
        lambda value: matching(value, re.compile(pattern, re.ASCII) if isinstance(pattern, str) else pattern, what),
        type="string",
        pattern=_anchored(pattern if isinstance(pattern, str) else pattern.pattern),
        examples=list(examples),
        example=example,
    )


def arn(service: str, resource: str, what: str, form: str, example: str, *, region: bool = True) -> Word:
    """Create the word of an ARN.

    Args:
        service: Service in the ARN.
        resource: Pattern of what follows the account.
        what: What the text must be, for the error.
        form: What follows the account, as the error shows it.
        example: An example of it.
        region: False for a global service.
    """
    place, name = ("[a-z0-9-]+", "us-east-2") if region else ("", "")
    return pattern(
        rf"arn:aws[a-z-]*:{service}:{place}:\d{{12}}:{resource}",
        f"{what}, arn:aws:{service}:{'REGION' if region else ''}:ACCOUNT:{form}",
        f"arn:aws:{service}:{name}:123456789012:{example}",
    )


def choice(known: Iterable[str], what: str, *, more: Iterable[str] = (), example: str | None = None) -> Word:
    """Create the word of a closed set. Words in `more` are parsed too, for a rule that refuses them."""
    words = list(known)
    return Word(lambda value: one_of(value, [*words, *more], what), enum=words, example=example)


def whole(least: int = 1, most: int | None = None, why: str = "", *, example: int | None = None) -> Word:
    """Create the word of a whole number in a range; `why` follows the range in the error."""
    limits: dict[str, Any] = {"minimum": least} | ({} if most is None else {"maximum": most})
    return Word(lambda value: count(value, least, most, why), type="integer", **limits, example=example)


class _Distinct:
    """A list without repetitions."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Return the check, as pydantic calls it."""
        return core_schema.no_info_after_validator_function(_distinct, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return what an editor completes from."""
        return {**handler(schema), "uniqueItems": True}


_Item = TypeVar("_Item")
#: A list without repetitions, and one that has at least one entry.
Distinct = Annotated[tuple[_Item, ...], _Distinct()]
Several = Annotated[tuple[_Item, ...], _Distinct(), Field(min_length=1)]


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    repeated = [index for index, value in enumerate(values) if value in values[:index]]
    if repeated:
        texts = {index: f"names {shown(values[index])} twice; remove one" for index in repeated}
        raise FieldProblems([Problem(path=(index,), message=text) for index, text in texts.items()])
    return values


def quantity(kind: type[Quantity]) -> Word:
    """Create the word of a quantity with its unit."""
    return Word(kind.parse, type="string", pattern=kind.pattern(), examples=[kind.example])


def ec2_id(prefix: str, what: str) -> Word:
    """Create the word of an EC2 id, such as `subnet-...`: 8 hexadecimal digits (old) or 17.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
    """
    return pattern(
        f"{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?",
        f"{what}, {prefix}- and 17 hexadecimal digits",
        f"{prefix}-0123456789abcdef0",
    )


def open_choice(known: Iterable[str], shape: str, what: str) -> Word:
    """Create the word of a set that AWS extends. A well-formed word that is not known is for the rules.

    Args:
        known: Words that an editor completes.
        shape: Pattern of such words.
        what: What the word is, for the error.
    """
    words = list(known)
    form = re.compile(shape, re.ASCII)

    def parse(value: object) -> str:
        # 25.11 without quotes is a number in YAML; how it was written is what is meant.
        word = written(value) if isinstance(value, float) else value
        return word if isinstance(word, str) and form.fullmatch(word) else one_of(word, words, what)

    numbers = [{"type": "number"}] if words[0][0].isdecimal() else []
    return Word(parse, anyOf=[{"enum": words}, {"type": "string", "pattern": f"^({shape})$"}, *numbers])


def json_pattern(pattern: re.Pattern[str] | str) -> str:
    """Return a pattern as JSON schema writes it: anchored, without the group names of Python."""
    return pattern if isinstance(pattern, str) else _anchored(pattern.pattern)


def _anchored(pattern: str) -> str:
    return f"^(?:{re.sub(r'[?]P<[a-z]+>', '', pattern)})$"


def text(value: object, what: str) -> str:
    """Parse a text, or raise an error that names what it must be."""
    if isinstance(value, str):
        return value
    raise ValueError(
        f"must be {what}, got {shown(value)}" + ("; put it in quotes" if isinstance(value, int | float) else "")
    )


def matching(value: object, pattern: re.Pattern[str], what: str) -> str:
    """Parse a text that matches a pattern."""
    result = text(value, what)
    if pattern.fullmatch(result):
        return result
    raise ValueError(f"must be {what}, got {shown(result)}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `did you mean X? `, or nothing."""
    near = nearest(word, known)
    return f"did you mean {near}? " if near else ""


def one_of(value: object, known: Iterable[str], what: str) -> str:
    """Parse a word of a closed set."""
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    raise ValueError(not_one_of(value, words, what))


def not_one_of(value: object, known: Iterable[str], what: str) -> str:
    """Return the error of a word that is not in a set."""
    words = list(known)
    hint = did_you_mean(value, words) if isinstance(value, str) else ""
    allowed = f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    return f"{what} is {allowed}, got {shown(value)}" + (f"; {hint.strip()}" if hint else "")


def written(value: object) -> object:
    """Return a number as it was written: `25.10` is not `25.1` when it is a version."""
    return getattr(value, "text", value) if isinstance(value, int | float) else value


# A number as long as that was not read as one, quotes or not.
_LONG_NUMBER = 30


def count(value: object, least: int = 1, most: int | None = None, why: str = "") -> int:
    """Parse a whole number in a range; `why` follows the range in the error."""
    if isinstance(value, bool) or not isinstance(value, int):
        quoted = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < _LONG_NUMBER
        raise ValueError(f"must be a whole number, got {shown(value)}" + ("; remove the quotes" if quoted else ""))
    if value < least or (most is not None and value > most):
        limits = f"{least:,} to {most:,}" if most is not None else f"at least {least}" if least else "0 or more"
        raise ValueError(f"must be {limits}{why}, got {shown(value)}")
    return int(value)


def flag(value: object) -> bool:
    """Parse true or false."""
    if isinstance(value, bool):
        return value
    words = {"yes": "true", "on": "true", "no": "false", "off": "false"}
    lower = value.strip().lower() if isinstance(value, str) else ""
    hint = f"; write {words.get(lower, lower)}" if lower in words or lower in ("true", "false") else ""
    raise ValueError(f"must be true or false, got {shown(value)}{hint}")
