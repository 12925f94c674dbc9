"""The base of every section of a cluster file."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationInfo, model_validator


class Section(BaseModel):
    """A mapping of known keys, written with hyphens."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        validate_by_name=True,
        validate_by_alias=True,
        arbitrary_types_allowed=True,
    )

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, validate: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Keep each section that is valid for the rules, by the mapping it is from: the file may not be."""
        section = validate(value)
        if info.context is not None:
            info.context[id(value)] = section
        return section
