"""Plain words: the word list of the project.

The list comes from a review of this repository. It bans a word where native platform engineers write another, and only
where a regular expression finds it without false alarms. Write an imperative or a noun phrase instead,
with the nouns of AWS, Slurm, Kubernetes and Prometheus, and without people as metaphors.
"""

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from support import ROOT

# A docstring opens with an imperative or a noun phrase (PEP 257), not with a clause.
_OPENINGS = re.compile(
    r"(What|Whether|Gives?|Says?|How|None|It|Who|Whose|Why|Which|Where|When|Tells?|Lets?|Asks?|Hears?)\b"
)

# Names of variables and arguments that say nothing about their value: `requested`, `errors`, `resource`, `result`.
_NAMES = re.compile(
    r"_*(wish(es|ed)?|found|made|one|own|ours|theirs?|mine|told|said|asked|anew|got|things?|stuff|askers?)_*"
)

# Phrases that have a plain equivalent, anywhere in a file: code, comments, messages and prose.
_PHRASES = {
    r"wish(es|ed|ing)?": "request, requested, or the name of the setting",
    r"(hear|hears|heard)": "receive, notify",
    r"told": "given, notified, configured",
    r"(speaks?|spoke|spoken)": "use, support",
    r"lets? in": "allow",
    r"(is|are) let in": "is allowed",
    r"of (yours|ours|theirs|mine)": "existing, or the owner",
    r"(made|drawn|built|written|created|begun|begins|starts|started|draws?) anew": "replaced, recreated, restarted",
    r"anew": "again",
    r"unasked": "by default",
    r"ways? out": "override, remedy",
    r"ways? to buy": "purchase option",
    r"(?<!there )(?<!There )is none( that| of|[.,;:)]|$)": "is not a valid ...",
    r"is it none": "otherwise",
    r"rings? for": "alerts on",
    r"none: (it|they|there)": "None, or the default",
    r"(is|are) yours": "existing",
    r"made for you": "created by the library",
    r"server of your own": "self-hosted server",
    r"asks? for less|asks? for more|(is|are|was|were) asked for": "request",
    r"unheard": "without subscription",
    r"in vain": "without effect",
    r"whoever": "every ..., or name the program",
    r"(can ?not|could not|does not|do not) tell": "is not known, or cannot read",
    r"stands? (in|at|twice|there|beside)(?! (for|place))": "is in, is at, is repeated",
    r"of tomorrow": "unknown, or future",
    r"no Grafana is made": "created",
    r"(a|the) key that is made": "a new key",
    r"knows? nothing (of|about)": "does not depend on, or is not in this release",
    r"(AWS|EC2|EKS|FSx|PCS|Slurm) wants?": "requires, or asks",
    r"(EKS|FSx|PCS) knows? no": "has no",
    r"as far as (a|the) (template|app) knows": "as far as it is known at synthesis",
    r"(were|are|as) asked(?! for)": "requested",
    r"(is|are|be) said to": "is declared, or name the source",
    r"have (it|them) raised": "request an increase",
    r"for life": "cannot change",
    r"without an end": "without limit, or again and again",
    r"mind (its|the)": "check",
    r"is taken for": "is assumed to be",
    r"nobody (is subscribed|may enter|can submit)": "has no subscription, no access, or cannot be submitted",
}

# Verbs of people that programs, services and records of the library do not do; shell functions and variables too.
_PEOPLE = {
    r"(knows?|knew)": "has, supports, or `is known at`",
    r"(thinks?|believes?|hears?)": "name what is read or checked",
    r"says so": "documents it, or prints",
    r"(say|tell|ask)\(\)": "log, report, query",
    r"(ours|theirs)$": "library, other",
}
# States of people that nodes, processes and jobs do not have, in the library and the docs.
_STATES = {
    r"sick": "unhealthy, not ready",
    r"(dead(?!-)|dies|died|dying)": "lost, fails, ended",
    r"holds? (it|them) up": "slows, or name the slowest",
    r"getting on": "progress",
}
# Names of variables in the library that a reader has to decode.
_VARIABLES = re.compile(r"_*(wanted|strange|odd|gone|whose|how|which|beside|meant)_*")

# Words that do not belong in the name of a test: a name states a behavior.
_TEST_NAMES = re.compile(
    r"_(say|says|said|tell|tells|told|hear|hears|heard|wish|wishes|wished|speak|speaks|spoken|anew|let_in|lets_in|"
    r"ring|rings|own_words|of_ours|of_yours|way_out)(_|$)"
)

_SUBJECT = re.compile(r"(?=.{1,72}$)[a-z][a-z0-9_./, -]*: \S.*[^.]$")
_FIRST_COMMIT = "house: move every package into its room, behind a face"

# What the list holds for; a folder covers what lies below it, and each file belongs to the longest entry.
_FOLDERS = ("constructs/ultracluster", "constructs/ultracluster/planning", "tests")
_UNITS = sorted(
    [
        *("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "app.py"),
        *("benchmarks", "constructs/cdk_rehearsal", "docs", "examples", "stacks"),
        *(
            str(path.relative_to(ROOT))
            for folder in _FOLDERS
            for path in (ROOT / folder).iterdir()
            if path.name != "__pycache__" and (path.is_dir() or folder.endswith("planning"))
        ),
    ]
)
# The reference is generated from docstrings and descriptions, which are checked where they are written.
_NOT_TEXT = ("__pycache__", "golden", "public-api.json", "reference")


def _files(unit: str) -> list[Path]:
    root = ROOT / unit
    inner = [ROOT / other for other in _UNITS if other.startswith(f"{unit}/")]
    return [
        path
        for path in ([root] if root.is_file() else sorted(root.rglob("*")))
        if path.suffix in (".py", ".sh", ".md", ".yaml")
        and path != Path(__file__)
        and not any(part in _NOT_TEXT for part in path.parts)
        and not any(path.is_relative_to(other) for other in inner)
    ]


@lru_cache(maxsize=1)
def _nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


def _documented(text: str) -> Iterator[tuple[int, str]]:
    for node in _nodes(text):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring and node.body:
                yield node.body[0].lineno, docstring


def _bound(text: str) -> Iterator[tuple[int, str]]:
    """Line and name of each variable and argument."""
    for node in _nodes(text):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def _python_problems(text: str) -> Iterator[tuple[int, str]]:
    for line, docstring in _documented(text):
        first = _OPENINGS.match(docstring)
        if first:
            yield line, f"docstring opens with {first[0]!r}: write an imperative or a noun phrase"
        if re.search(r"\bNone: ", docstring):
            yield line, "docstring has 'None: ': write 'X, or None' or 'By default, ...'"
    for line, name in _bound(text):
        if _NAMES.fullmatch(name):
            yield line, f"variable {name!r}: name the value"
    for node in _nodes(text):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and _TEST_NAMES.search(node.name):
            yield node.lineno, f"{node.name}: name the behaviour"


# The comment of a script, and of a function in it, begins as a docstring does.
_SHELL_COMMENT = re.compile(
    r"(?:\A(?:#(?!\ [A-Z])[^\n]*\n)*|\n(?!#)[^\n]*\n)# (?P<word>[A-Z]\w*)(?=[^\n]*\n(?:#[^\n]*\n)*(?:[\w-]+\(\)|\n))"
)
_THIRD_PERSON = re.compile(r"[A-Z]\w*[^s\W]s|Whether|What|Who|Where|Those|Another")


def _shell_problems(text: str) -> Iterator[tuple[int, str]]:
    for match in _SHELL_COMMENT.finditer(text):
        if _THIRD_PERSON.fullmatch(match["word"]):
            yield text.count("\n", 0, match.end()) + 1, f"comment opens with {match['word']!r}: write an imperative"


def _phrases(text: str, phrases: Mapping[str, str] = _PHRASES) -> Iterator[tuple[int, str]]:
    # Few lines have any of them: one search for all takes a tenth of the time of one for each.
    if not re.search(rf"\b(?:{'|'.join(phrases)})(?!\w)", text, re.MULTILINE):
        return
    for number, line in enumerate(text.splitlines(), 1):
        for phrase, instead in phrases.items():
            match = re.search(rf"\b(?:{phrase})(?!\w)", line)
            if match:
                yield number, f"{match[0]!r}: write {instead}"


def _library_problems(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    yield from _phrases(text, _PEOPLE | _STATES) if suffix in (".py", ".sh") else ()
    for line, name in _bound(text) if suffix == ".py" else ():
        if _VARIABLES.fullmatch(name):
            yield line, f"variable {name!r}: name the value"


def _sentences(page: str) -> Iterator[str]:
    """Sentences of a page, without code: paragraphs, items of lists and cells of tables."""
    text = re.sub(r"```.*?```|<!--.*?-->", "\n\n", page, flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "CODE", text))
    for block in re.split(r"\n(?=\s*(?:[-*]|\d+\.|\||#|\n))|(?<=\|)\n| \| ", text):
        yield from re.split(r"(?<=[.?!:;])\s+", re.sub(r"\([^)]*\)", "", " ".join(block.split())))


def problems(unit: str) -> list[str]:
    """Every use of a banned word in a unit, as file:line: problem."""
    result = []
    for path in _files(unit):
        text = path.read_text()
        rows = [
            *_phrases(text),
            *(_python_problems(text) if path.suffix == ".py" else ()),
            *(_shell_problems(text) if path.suffix == ".sh" else ()),
            *(_library_problems(text, path.suffix) if path.is_relative_to(ROOT / "constructs") else ()),
            *(_phrases(text, _STATES) if path.suffix == ".md" and not unit.startswith("tests") else ()),
        ]
        result += [f"{path.relative_to(ROOT)}:{line}: {problem}" for line, problem in sorted(rows)]
    return result


@pytest.mark.parametrize("unit", _UNITS)
def test_uses_plain_words(unit: str) -> None:
    assert not (lines := problems(unit)), "\n".join(lines)


_PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"reference", "runbooks"} & {*path.parts}),
]
_MOST_WORDS = 25


def _too_long(page: str) -> list[str]:
    return [text for text in _sentences(page) if len(re.findall(r"\w[\w'-]*", text)) > _MOST_WORDS]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_pages_have_short_sentences(page: Path) -> None:
    assert not (sentences := _too_long(page.read_text())), "\n".join(sentences)


def test_rejects_long_sentences() -> None:
    sentence = " ".join(["word"] * 26)
    page = f"Short.\n\n- {sentence}\n- {sentence}.\n\n| {sentence} | `code` |\n| a | {sentence} |\n"
    assert len(_too_long(page)) == 4
    assert not _too_long(f"{sentence[:60]}. {sentence[:60]}; {sentence[:30]}\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('def f():\n    """What it is."""\n', "'What'"),
        ('def f():\n    """UltraServer. None: there is no such thing."""\n', "'None: '"),
        ("def f(wish): ...\n", "'wish'"),
        ("for one in x: ...\n", "'one'"),
        ("def test_shellcheck_has_nothing_to_say(): ...\n", "name the behaviour"),
        ("# a volume of yours\n", "of yours"),
        ('x = "the version is none that EKS runs"\n', "is none that"),
    ],
)
def test_rejects_banned_words(text: str, problem: str) -> None:
    assert any(problem in row for _, row in [*_phrases(text), *_python_problems(text)])


@pytest.mark.parametrize(
    "text", ["# Only the node knows it.\n", "say() { echo; }\n", "f = lambda wanted: 1\n", "# A sick node.\n"]
)
def test_rejects_metaphors_in_the_library(text: str) -> None:
    assert [*_library_problems(text, ".sh" if "()" in text else ".py")]


@pytest.mark.parametrize("text", ["# found in the catalogue\n", "if x is None: ...\n", "# there is none.\n"])
def test_accepts_plain_words(text: str) -> None:
    assert not [*_phrases(text), *_python_problems(text)]


def _git(*arguments: str) -> list[str]:
    """Lines that git prints; none without git or without a repository, as in an archive of the sources."""
    try:
        output = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return output.splitlines()


def test_commit_subjects_name_their_area() -> None:
    for first in _git("log", "--format=%H", "--fixed-strings", f"--grep={_FIRST_COMMIT}", "-1"):
        subjects = _git("log", "--no-merges", "--format=%s", f"{first}..HEAD")
        assert not [subject for subject in subjects if not _SUBJECT.match(subject)]


@pytest.mark.parametrize("subject", ["Do something", f"area: {'x' * 70}", "area: do it."])
def test_rejects_commit_subjects(subject: str) -> None:
    assert not _SUBJECT.match(subject)


def test_no_file_has_the_marks_of_an_open_merge() -> None:
    assert not _git("grep", "-nE", "^(<{7}|>{7}) ")
