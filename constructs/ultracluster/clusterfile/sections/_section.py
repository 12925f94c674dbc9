"""The base of every section of a cluster file."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from ultracluster.rules import nearest


class Invalid(Exception):
    """A part of the file that a rule reads is missing or not valid."""


def part_key(value: Any) -> tuple[str, int]:
    """Return the key under which the context of a validation has the valid part of a section."""
    return "part", id(value)


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

    #: Its valid keys are kept one by one. A second validation would put defaults in their places.
    keeps_keys: ClassVar[bool] = False

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, validate: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Keep each section that is valid for the rules, by the mapping it is from: the file may not be."""
        context = info.context
        try:
            section = validate(value)
        except ValidationError as error:
            if context is not None and isinstance(value, dict) and not cls.keeps_keys:
                context[part_key(value)] = cls._valid_part(value, error, validate, context)
            raise
        if context is not None:
            context[id(value)] = section
        return section

    @classmethod
    def _valid_part(
        cls, value: dict[str, Any], error: ValidationError, validate: ModelWrapValidatorHandler[Self], context: Any
    ) -> Self | None:
        """Return the section without its keys that are not valid, or None if it is not valid without them.

        An unknown key may be the nearest missing one, or any of them if none is near: these raise `Invalid` too.
        """
        wrong = {item["loc"][0] for item in error.errors(include_url=False) if item["loc"]}
        known = {field.alias or name for name, field in cls.model_fields.items()}
        near = {nearest(str(key).replace("_", "-"), known) for key in wrong - known}
        missing = (known if "" in near else near) - value.keys()
        try:
            section = validate({key: item for key, item in value.items() if key not in wrong})
        except ValidationError:
            return None
        for name, field in cls.model_fields.items():
            if (key := field.alias or name) in missing:
                section.__dict__.pop(name, None)
            elif key in wrong:
                section.__dict__.pop(name, None)
                section.model_fields_set.add(name)
                if below := context.get(part_key(value.get(key))):
                    section.__dict__[name] = below
        return section

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in type(self).model_fields:
                raise Invalid(name)
            return super().__getattr__(name)


def optional(*, description: str) -> Any:
    """Declare a section that a file may leave out: it then has its defaults, as `{}` has."""
    return Field(default={}, validate_default=True, description=description)
