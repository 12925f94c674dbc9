"""Generate the reference of the command from its parser."""

from collections.abc import Iterator
from typing import Any

import typer.main

from docs_reference.markdown import code, page, table
from ultracluster import cli

_ABOUT = """The command `ultracluster` comes with `pip install cdk-ultracluster`. Exit codes of all commands: 0 good,
1 a problem in the input, a refusal or a full disk, 2 wrong usage, 3 a call of AWS fails: no credentials, no
permission, or no answer. `check --live` goes on without a permission, and `mirror` without an image: it ends with 1.
With `--json`, a failure prints `{"ok": false, "error": "..."}`, and a cluster file that is not valid its `problems`."""


def command_page() -> str:
    """Page with a section for each command."""
    group: Any = typer.main.get_group(cli.app)
    return page("Command", _ABOUT, *(_section(name, command) for name, command in _commands(group)))


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command with its name, those of groups with the name of the group before it."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _section(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join(["ultracluster", name, *map(_argument, arguments), *(["[OPTIONS]"] if options else [])])
    about = (command.help or command.short_help or "").split("\f")[0].strip()
    parts = [
        f"## {name}",
        about,
        f"```console\n$ {usage}\n```",
        table(("argument", "meaning"), [(code(_argument(one)), one.help or "") for one in arguments]),
        table(("option", "value", "meaning"), [(_flags(one), code(_value(one)), one.help or "") for one in options]),
    ]
    return "\n\n".join(part for part in parts if part)


def _argument(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if argument.required else f"[{name}]"


def _flags(option: Any) -> str:
    flags = ", ".join(code(flag) for flag in (*option.opts, *option.secondary_opts))
    return f"{flags} (required)" if option.required else flags


def _value(option: Any) -> str:
    return "" if option.is_flag else str(option.metavar or "VALUE")
