"""Every key accepts the examples that editors and errors propose for it, and refuses hostile values without a crash."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from ultracluster.clusterfile import ClusterFile
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._word import Word

HOSTILE = ["", "x", "-", "1", "9" * 40, "\x00", "7:03:00 ", 0, -1, 1.5, True, None, [], {}, [None], {"x": 1}]


def models(model: type[BaseModel], seen: set[type]) -> Iterator[type[BaseModel]]:
    """A section and all sections in it."""
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for part in (part for item in (*field.metadata, field.annotation) for part in parts(item)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from models(part, seen)


def parts(annotation: Any) -> Iterator[Any]:
    """A type and all types in it."""
    yield annotation
    if isinstance(annotation, Either):
        yield annotation.word
        yield from parts(annotation.section)
    for inner in get_args(annotation):
        yield from parts(inner)


def words() -> Iterator[tuple[str, Word]]:
    for model in models(ClusterFile, set()):
        for name, field in model.model_fields.items():
            inside = [part for item in (*field.metadata, field.annotation) for part in parts(item)]
            for index, word in enumerate(item for item in inside if isinstance(item, Word)):
                yield f"{model.__name__}.{name}-{index}", word


WORDS = dict(words())


def test_the_keys_of_the_file_are_here() -> None:
    assert len(WORDS) > 100
    assert "Lustre.maintenance-0" in WORDS


@pytest.mark.parametrize("key", WORDS)
def test_a_key_accepts_its_examples(key: str) -> None:
    word = WORDS[key]
    for example in word.schema.get("examples", ()):
        word.parse(example)


@pytest.mark.parametrize("key", WORDS)
def test_a_key_takes_or_refuses_hostile_values_without_a_crash(key: str) -> None:
    for value in HOSTILE:
        with suppress(ValueError):
            WORDS[key].parse(value)
