"""The shape of the repository, as far as it carries weight."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from support import ROOT
from support.faces import names_of_face
from support.syntax import nodes
from ultracluster.clusterfile._orchestrators import ORCHESTRATORS

LIBRARY = ROOT / "constructs" / "ultracluster"
ARCHITECTURE = ROOT / "docs" / "decisions" / "architecture.md"

# From the ground up. A package imports only from floors below its own; packages of one floor do not know each other.
# docs/decisions/architecture.md draws it.
FLOORS = [
    {"rules", "startup"},
    {"catalogue"},
    {"planning"},
    {"boot"},
    {"clusterfile"},
    {"kubernetes", "live", "monitoring", "platform"},
    {"parallelcluster", "workloads"},
    {"network", "security"},
    {"cloudwatch"},
    {"compute", "storage"},
    {"observability"},
    {"orchestration"},
    {"slurm", "eks"},
    {"hyperpod"},
    {"stacks"},
    {"testing"},
    {"cli"},
]
FLOOR_OF = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}
PURE = {package for floor in FLOORS[:7] for package in floor}
# Packages of packages: each of these has a face of its own.
NESTED = ("catalogue", "planning", "monitoring")
REHEARSAL = ROOT / "constructs" / "cdk_rehearsal"
REHEARSAL_FLOORS = [{"registry"}, {"guard"}, {"deploy", "snapshots", "validation"}, {"rehearsal"}]
REHEARSAL_FLOOR_OF = {package: floor for floor, packages in enumerate(REHEARSAL_FLOORS) for package in packages}
NAMES = ROOT / "tests" / "house" / "public-api.json"
#: Functions that import a module by its name.
LATE = ("import_module", "__import__", "lazy")
LONGEST_FILE = 300
MOST_ARGUMENTS = 12
# 257, eleven of the planner (a plan is called from notebooks, where nothing else of the library is), seventeen of
# HyperPod, a third service with constructs of its own, five of the description of workloads, ClusterRules, for apps
# that use no other part, acknowledge_compliance, which apps with cdk-nag call, two of the
# adoption of retained file systems, TEMPLATE_RULES, and ClusterRules with them.
MOST_PUBLIC_NAMES = 298


@cache
def sources() -> list[Path]:
    return sorted(path for path in [*LIBRARY.rglob("*.py"), *REHEARSAL.rglob("*.py")] if path.parent != LIBRARY)


def module(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT / "constructs").with_suffix("").parts)
    return name.removesuffix(".__init__")


def for_every_source(check: Callable[[Path], None]) -> Callable[[], None]:
    """One test of all files, which names each that fails: as a test of each, they were a quarter of all tests."""

    def test() -> None:
        problems = []
        for path in sources():
            try:
                check(path)
            except AssertionError as error:
                problems.append(f"{module(path)}: {error}")
        assert not problems, "\n".join(problems)

    test.__doc__ = check.__doc__
    return test


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of each import."""
    for node in nodes(path.read_text()):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            yield from ((node.module or "", alias.name) for alias in node.names)


def named_modules(code: str) -> Iterator[tuple[str, str]]:
    """Modules whose name is in a string: `import_module` may get it from anywhere."""
    for node in nodes(code):
        if isinstance(node, ast.Constant) and re.fullmatch(r"(ultracluster|cdk_rehearsal)(\.\w+)+", str(node.value)):
            yield str(node.value), ""


def names_of_imports(code: str) -> Iterator[str]:
    """Beginning of the module name in each import by name: `__name__`, a text, or an expression."""
    for node in nodes(code):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in LATE:
            continue
        first = node.args[0]
        if isinstance(first, ast.JoinedStr):
            first = first.values[0]
        if isinstance(first, ast.FormattedValue):
            first = first.value
        yield str(first.value) if isinstance(first, ast.Constant) else ast.unparse(first)


@cache
def ours(path: Path) -> list[tuple[str, str]]:
    return [pair for pair in imported(path) if pair[0].split(".")[0] in ("ultracluster", "cdk_rehearsal")]


def face(name: str) -> str:
    """The package whose face others import a module from."""
    parts = name.split(".")
    deep = len(parts) > 3 and parts[1] in NESTED and not parts[2].startswith("_")
    return ".".join(parts[: 3 if deep else 2])


def is_package(name: str) -> bool:
    return (ROOT / "constructs" / name.replace(".", "/") / "__init__.py").exists()


@for_every_source
def test_imports_run_downward_only(path: Path) -> None:
    here = module(path).split(".")
    for name, what in [*ours(path), *named_modules(path.read_text())]:
        there = name.split(".") if name.count(".") else [name, what]
        if here[0] == "cdk_rehearsal":
            assert there[0] == "cdk_rehearsal", f"{path.name} imports {name}: cdk_rehearsal imports nothing of clusters"
            floors = REHEARSAL_FLOOR_OF
        elif there[0] == "cdk_rehearsal":
            assert here[1] in ("testing", "cli"), f"{path.name} imports {name}"
            continue
        else:
            floors = FLOOR_OF
        if there[1] in floors and here[1:2] != there[1:2]:
            assert floors[there[1]] < floors[here[1]], f"{path.name} in {here[1]}/ imports {name}, which is not below"


@for_every_source
def test_imports_by_name_show_the_module(path: Path) -> None:
    """A name that is computed could be any: only packages below an own face, and the top floor, import so."""
    # `lazy` imports below the package that its caller names, and its callers are checked.
    allowed = ("__name__", *(["package"] if path == LIBRARY / "startup" / "_lazy.py" else []))
    for name in names_of_imports(path.read_text()):
        assert name in allowed or "." in name or module(path).split(".")[1] == "cli", f"{path.name} imports {name}"


@pytest.mark.parametrize(
    "code",
    [
        "import_module('ultracluster.cli')",
        "importlib.import_module('ultracluster.cli').main()",
        "__import__('ultracluster.cli')",
        "HIGHER = {'kubernetes': 'ultracluster.cli'}; import_module(HIGHER[name])",
    ],
)
def test_imports_by_name_are_found(code: str) -> None:
    assert ("ultracluster.cli", "") in named_modules(code)


def test_computed_names_of_imports_are_found() -> None:
    code = "import_module(HIGHER[name]); __import__(f'{higher}.x'); import_module(f'{__name__}.{name}')"
    assert list(names_of_imports(code)) == ["HIGHER[name]", "higher", "__name__"]


@for_every_source
def test_other_packages_are_imported_through_their_face(path: Path) -> None:
    package = face(module(path) + "._")
    for name, what in ours(path):
        if name in ("ultracluster", "cdk_rehearsal") or face(name + "._") == package:
            continue
        assert not any(part.startswith("_") for part in (*name.split("."), what)), (
            f"{path.name} imports {what} of {name}"
        )
        assert is_package(name), f"{path.name} imports {what} of the module {name}, not of its package"


def test_modules_do_not_import_in_circles() -> None:
    """Imports inside functions and for types only count too."""
    modules = {module(path): path for path in sources()}
    graph = {
        name: {
            imported if imported in modules else parent
            for parent, what in ours(path)
            if (imported := f"{parent}.{what}") in modules or parent in modules
        }
        - {name}
        for name, path in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import in a circle: {', '.join(error.args[1])}")


def test_modules_behind_a_face_are_private() -> None:
    entry_points = {"cdk_rehearsal.snapshots.plugin", "ultracluster.testing.plugin"}
    public = {
        module(path)
        for path in sources()
        if path.name not in ("__init__.py", "__main__.py")
        and not path.name.startswith("_")
        and "grafana_content" not in path.parts
        and "_project" not in path.parts
        # Files for users' programs, which import or run them by their names.
        and not re.fullmatch(
            r"ultracluster_(job|job_output|run|train|model|data|checkpoint|titan|finetune|gate|gate_pairs|all_reduce)\.py",
            path.name,
        )
    }
    assert public == entry_points


FACES = sorted(module(path) for path in sources() if path.name == "__init__.py" and "._" not in module(path))


def public_names() -> dict[str, list[str]]:
    names: dict[str, list[str]] = json.loads(NAMES.read_text())
    return names


def exports() -> dict[str, set[str]]:
    return {name: set(names_of_face(name)) for name in FACES}


def test_public_names_are_exported(pytestconfig: pytest.Config) -> None:
    """Users import them, with a promise; packages import the other exported names from each other, without one."""
    reviewed = public_names()
    both = {name: sorted(names & {*reviewed.get(name, ())}) for name, names in exports().items()}
    current = {name: names for name, names in both.items() if names}
    if pytestconfig.getoption("--update-snapshots"):
        NAMES.write_text(json.dumps(current, indent=1) + "\n")
    assert current == public_names(), "public names changed: make golden, and read the change"
    assert sum(map(len, current.values())) <= MOST_PUBLIC_NAMES


def used_by(path: Path) -> Iterator[tuple[str, str]]:
    """Package and name of everything that a file uses of a face."""
    packages = {}
    for name, what in ours(path):
        yield name, what
        packages[what] = f"{name}.{what}"
    for node in nodes(path.read_text()):
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node.value).partition(".")
            yield f"{packages.get(first, first)}.{rest}".rstrip("."), node.attr


def test_internal_names_are_used_by_another_package() -> None:
    outside = [*sources(), LIBRARY / "__init__.py", *(ROOT / "scripts").rglob("*.py")]
    used = {
        (name, what)
        for path in outside
        for name, what in used_by(path)
        if not path.is_relative_to(LIBRARY.parent) or face(module(path) + "._") != name
    }
    public = public_names()
    internal = {(name, what) for name, names in exports().items() for what in names - {*public.get(name, ())}}
    assert internal - used == set(), "remove these names from the face, or make them public"


def parameters(value: object) -> Iterator[tuple[str, Any]]:
    """Name and type of each argument of a function, constructor or dataclass."""
    target = value if is_dataclass(value) or inspect.isfunction(value) else getattr(value, "__init__", None)
    target = inspect.unwrap(target) if callable(target) else target
    if is_dataclass(target) or inspect.isfunction(target):
        with suppress(NameError):  # imported for types only, in functions that import the CDK late
            yield from ((name, hint) for name, hint in get_type_hints(target).items() if name != "return")


def classes(hint: Any) -> Iterator[type]:
    if inspect.isclass(hint) and hint.__module__.startswith(("ultracluster.", "cdk_rehearsal.")):
        yield hint
    for part in get_args(hint):
        yield from classes(part)


def test_types_of_public_arguments_are_public() -> None:
    """Nobody needs an internal name to call a public one; a cluster file is loaded, not called."""
    public = {
        f"{name}.{what}": getattr(importlib.import_module(name), what)
        for name, names in public_names().items()
        for what in names
    }
    missing = {
        f"{path}({argument}: {kind.__name__})"
        for path, value in public.items()
        if not path.startswith("ultracluster.clusterfile.")
        for argument, hint in parameters(value)
        for kind in classes(hint)
        if not kind.__name__.startswith("_") and not any(kind is known for known in public.values())
    }
    assert missing == set()


def alternatives(pattern: ast.pattern) -> list[ast.pattern]:
    return pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]


def choices_of_an_orchestrator(code: str) -> list[int]:
    """Lines that compare `orchestrator`, or anything with the name of an orchestrator."""
    lines = []
    for node in nodes(code):
        compared: list[ast.expr] = []
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple(elts=names) | ast.Set(elts=names)]):
                compared = [node.left, *names]
            case ast.Compare():
                compared = [node.left, *node.comparators]
            case ast.Match():
                patterns = [part for case in node.cases for part in alternatives(case.pattern)]
                compared = [node.subject, *(part.value for part in patterns if isinstance(part, ast.MatchValue))]
        for part in compared:
            if getattr(part, "value", None) in ORCHESTRATORS or re.search(r"\borchestrator$", ast.unparse(part)):
                lines.append(getattr(node, "lineno", 0))
    return sorted(set(lines))


@for_every_source
def test_orchestrators_are_behind_their_contract(path: Path) -> None:
    """`OrchestratorTraits`, `OrchestratorTexts` and `Orchestrator` have what differs."""
    assert not choices_of_an_orchestrator(path.read_text())


@pytest.mark.parametrize(
    "code",
    [
        'x = 1 if cluster.orchestrator == "slurm" else 2',
        'x = kind != "kubernetes"',
        'match name:\n    case "slurm": ...',
        'x = name in ("slurm", "hyperpod-slurm")',
        "match cluster.orchestrator:\n    case _: ...",
    ],
)
def test_choices_of_an_orchestrator_are_found(code: str) -> None:
    assert choices_of_an_orchestrator(code) == [1]


# The storeys of the largest package, from the ground up; modules in none are above the sections and below the rules.
ROOMS = {"_problems": 0, "_quantities": 1, "sections": 2, "rules": 4}
DOORS = {"__init__", "_json_schema", "_loading", "_translate"}


@pytest.mark.parametrize("path", sorted((LIBRARY / "clusterfile").rglob("*.py")), ids=module)
def test_rooms_of_the_cluster_file_import_downward_only(path: Path) -> None:
    room = path.relative_to(LIBRARY / "clusterfile").with_suffix("").parts[0]
    if room in DOORS:
        return
    for parent, what in ours(path):
        name = f"{parent}.{what}"
        parts = name.split(".")
        if parts[:2] == ["ultracluster", "clusterfile"] and parts[2:3] != [room]:
            assert parts[2] not in DOORS, f"{path.name} imports {name}"
            assert ROOMS.get(parts[2], 3) <= ROOMS.get(room, 3), f"{path.name} in {room} imports {name}"


# Packages that hold what a node or a job runs, and what is measured, of every topic.
SHARED_ROOMS = {"boot", "workloads", "monitoring", "cloudwatch"}
#: Names of files and folders of a topic, and the packages that it is in: facts, arithmetic, cluster file, constructs.
TOPICS = {
    r"lustre": {"catalogue", "planning", "clusterfile", "storage"},
    r"s3|bucket": {"catalogue", "planning", "clusterfile", "storage"},
    r"home": {"catalogue", "planning", "clusterfile", "storage"},
    r"capacity": {"planning", "clusterfile", "compute", "orchestration"},
    r"slurm|pcs": {"catalogue", "planning", "clusterfile", "slurm"},
    r"eks|kubernetes": {"catalogue", "kubernetes", "clusterfile", "eks"},
    r"hyperpod": {"catalogue", "clusterfile", "hyperpod"},
    r"observability|prometheus|grafana|alerts": {"catalogue", "planning", "clusterfile", "observability"},
}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_in_four_packages_at_most(topic: str) -> None:
    assert len(TOPICS[topic]) <= 4
    names = re.compile(rf"(^|[_-])({topic})([_.-]|$)")
    places = {
        path.relative_to(LIBRARY).parts[0]
        for path in LIBRARY.rglob("*")
        if path.suffix in (".py", ".sh") and any(map(names.search, path.relative_to(LIBRARY).parts))
    }
    assert places - SHARED_ROOMS <= TOPICS[topic]


def test_every_package_has_its_floor() -> None:
    assert {path.parent.name for path in LIBRARY.glob("*/__init__.py")} == set(FLOOR_OF)
    assert {path.parent.name for path in REHEARSAL.glob("*/__init__.py")} == set(REHEARSAL_FLOOR_OF)


def test_the_page_on_architecture_draws_the_same_floors() -> None:
    rows = re.findall(r"^\| (\d+) \| ((?:`\w+`(?:, )?)+) \|", ARCHITECTURE.read_text(), re.MULTILINE)
    drawn = [(package, int(floor) - 1) for floor, cell in rows for package in re.findall(r"\w+", cell)]
    assert sorted(drawn) == sorted(FLOOR_OF.items())


@for_every_source
def test_a_file_stays_small_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


def test_a_script_stays_small_enough_to_read() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in LIBRARY.parent.rglob("*.sh")}
    assert {name for name, length in lengths.items() if length > LONGEST_FILE} == set()


@for_every_source
def test_a_constructor_stays_small_enough_to_call(path: Path) -> None:
    for node in nodes(path.read_text()):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            assert len(node.args.kwonlyargs) <= MOST_ARGUMENTS, f"line {node.lineno}"


def test_the_folder_constructs_is_not_a_package() -> None:
    assert not (ROOT / "constructs" / "__init__.py").exists(), (
        "constructs/__init__.py shadows the PyPI package `constructs`: every `from constructs import Construct` fails"
    )


INNER = [f"{outer}.{path.parent.name}" for outer in NESTED for path in sorted((LIBRARY / outer).glob("*/__init__.py"))]
#: Executes each argument in a copy of this process, which has no module of the library, and prints how it ended.
COPIES = """
import json, os, sys, traceback, pydantic, ruamel.yaml
ends = {}
for code in sys.argv[1:]:
    reading, writing = os.pipe()
    if not os.fork():
        end = "as expected"
        try:
            exec(code, {})
        except BaseException:
            end = traceback.format_exc()
        os.write(writing, end.encode()[-9999:])
        os._exit(0)
    os.close(writing)
    ends[code] = open(reading).read()
print(json.dumps(ends))
"""


def reads_inner(package: str) -> str:
    outer, _, inner = package.partition(".")
    return f"from ultracluster import {outer}; {outer}.{inner}.__file__"


def imports_no_cdk(package: str) -> str:
    check = "assert not (cdk := {'jsii', 'aws_cdk', 'constructs'}.intersection(sys.modules)), cdk"
    return f"import sys, ultracluster.{package}; {check}"


@cache
def ends() -> dict[str, str]:
    """Return how each code ended: a process for each would import the same libraries 29 times."""
    codes = [*map(reads_inner, INNER), *map(imports_no_cdk, sorted(PURE))]
    output = subprocess.check_output([sys.executable, "-c", COPIES, *codes], text=True)
    result: dict[str, str] = json.loads(output)
    return result


@pytest.mark.parametrize("package", INNER)
def test_a_nested_package_is_there_without_an_import_of_its_own(package: str) -> None:
    assert (end := ends()[reads_inner(package)]) == "as expected", end


@pytest.mark.parametrize("package", sorted(PURE))
def test_the_ground_floors_start_no_node(package: str) -> None:
    assert (end := ends()[imports_no_cdk(package)]) == "as expected", end


def test_app_py_stays_a_door_not_a_room() -> None:
    assert len((ROOT / "app.py").read_text().splitlines()) < 80
