"""Errors of YAML's syntax in words of who wrote the file, at the line to correct."""

from ruamel.yaml.error import MarkedYAMLError, YAMLError

# Beginnings of the parser's context and problem, and what they mean to who wrote the file.
_MEANINGS = (
    ("while scanning a quoted scalar", "found unexpected end of stream", "the quote that opens here is not closed"),
    ("while scanning a simple key", "could not find expected", "this line has no colon and space after its key"),
    ("while parsing a flow mapping", "expected ',' or '}'", "the {{ here lacks a comma or a }} before line {line}"),
    ("while parsing a flow sequence", "expected ',' or ']'", "the [ here lacks a comma or a ] before line {line}"),
    (
        "",
        "mapping values are not allowed",
        "a key cannot stand here: check the indentation of the line, and quote a text with a colon and a space in it",
    ),
    *(
        ("", f"{expected}, but found '{bracket}'", f"the {shown} here closes nothing: remove it")
        for expected in ("expected <block end>", "expected the node content")
        for bracket, shown in (("}", "}}"), ("]", "]"))
    ),
    ("", "expected <block end>", "the line is not aligned with the keys above it"),
    ("", "found character '@'", "a text cannot begin with @: quote it"),
    ("", "found character '%'", "a text cannot begin with %: quote it"),
    ("", "found character '`'", "a text cannot begin with `: quote it"),
)


def described(error: YAMLError, text: str) -> tuple[int, int, str]:
    """Return the line, the column and the message of an error in a text."""
    if not isinstance(error, MarkedYAMLError):
        return 1, 1, " ".join(str(error).split())[:200]
    stop, begin = error.problem_mark or error.context_mark, error.context_mark
    problem = " ".join((error.problem or error.context or "can't be read").split())
    for context, start, meaning in _MEANINGS:
        if problem.startswith(start) and (error.context or "").startswith(context):
            problem = meaning.format(line=stop.line + 1 if stop else 1)
            # What is open begins far above the line at which the parser stops.
            stop = begin if context else stop
            break
    line, column = (stop.line + 1, stop.column + 1) if stop else (1, 1)
    return line, column, f"{problem}{_hint(text, line, problem)}"


def _hint(text: str, line: int, problem: str) -> str:
    lines = text.split("\n")
    written = lines[line - 1] if line <= len(lines) else ""
    if "\t" in problem or "\\t" in problem or "\t" in written[: len(written) - len(written.lstrip())]:
        return "; YAML indents with spaces, not with tabs"
    return ""
