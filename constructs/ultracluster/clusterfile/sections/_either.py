"""Values that are a section or a list, or a text."""

from collections.abc import Callable
from typing import Any

from pydantic_core import core_schema

from ultracluster.clusterfile.sections._word import Word


class Either:
    """A pydantic type that is a section or a list, or what a word parses: `Annotated[T, Either(...)]`.

    Args:
        word: Parses everything but mappings, or lists, and writes the value.
        section: Section of a mapping, or type of a list.
        convert: Returns the value of a section or list; raises ValueError. Default: itself.
    """

    def __init__(self, word: Word, section: Any, convert: Callable[[Any], Any] = lambda value: value) -> None:
        self.word, self.section, self._convert = word, section, convert
        self._raw = dict if isinstance(section, type) else list

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Return the parser and the writer, as pydantic calls them."""

        def read(value: Any, validate: Callable[[Any], Any]) -> Any:
            return self._convert(validate(value)) if isinstance(value, self._raw) else self.word.read(value)

        written = core_schema.plain_serializer_function_ser_schema(self.word.write)
        inner = handler.generate_schema(self.section)
        return core_schema.no_info_wrap_validator_function(read, inner, serialization=written)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return what an editor completes from."""
        return {"anyOf": [*self.word.schema.get("anyOf", [self.word.schema]), handler(schema)]}
