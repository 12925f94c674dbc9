"""What every section of a cluster file is."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A mapping of known keys, written with hyphens."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        arbitrary_types_allowed=True,
    )
