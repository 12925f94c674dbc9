"""The base of every section of a cluster file."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationInfo, model_validator


class Section(BaseModel):
    """A mapping of known keys, written with hyphens."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        validate_by_name=True,
        validate_by_alias=True,
        arbitrary_types_allowed=True,
        # The validator of the whole file has those of its sections: one of their own is for sections built in Python.
        defer_build=True,
    )

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, validate: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Keep each section that is valid for the rules, by the mapping it is from: the file may not be."""
        section = validate(value)
        if info.context is not None:
            info.context[id(value)] = section
        return section


def optional(*, description: str) -> Any:
    """Declare a section that a file may leave out: it then has its defaults, as `{}` has."""
    return Field(default={}, validate_default=True, description=description)
