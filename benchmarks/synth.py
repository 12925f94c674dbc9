"""Time of a synthesis beside an empty app's: `python benchmarks/synth.py [--runs N] [--all]`, or `make bench`.

Each run is a new process, as `cdk synth` starts one. The runs of all rows alternate, so that other load of the machine
falls on each. CPU time is that of Python and Node; the least of the runs is what other load disturbed least. Calls of
Node and bytes of templates are exact, and the same on every machine.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from synth_cases import ROOT, Case, example, floors, growth, imports, parallelcluster, raw

MAIN = ("slurm-512-gpus", "eks-512-gpus")
GROUPS = (1, 10, 100, 400)


class Run(NamedTuple):
    """One process."""

    wall: float
    cpu: float
    calls: int
    bytes: int
    modules: list[str]


def run(case: Case, out: str) -> Run:
    """Run a case in a new process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "constructs"), str(ROOT)])}
    if case.python:
        del environment["PYTHONPATH"]
    environment["CDK_OUTDIR"] = out
    # Compiled modules are what a user has after the first run.
    for name in ("CDK_VALIDATION", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    if (node := Path(sys.executable).parent / "node").exists():
        environment.setdefault("JSII_NODE", str(node))
    if not case.validation:
        environment["CDK_VALIDATION"] = "false"
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        case.command,
        input=case.text,
        text=True,
        env=environment,
        cwd=ROOT,
        capture_output=True,
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{case.name}: {done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, cpu, *json.loads(done.stdout.splitlines()[-1]))


def parts(case: Case) -> tuple[str, list[str]]:
    """Return the templates of a case by the names of their stacks, as JSON, and its modules."""
    with tempfile.TemporaryDirectory() as out:
        modules = run(case, out).modules
        files = {file.name.partition(".")[0]: file for file in Path(out).glob("*.template.json")}
        return json.dumps({name: json.loads(file.read_text()) for name, file in files.items()}), modules


def cases(*, everything: bool, other: str | None) -> Iterator[Case]:
    """Return the rows."""
    folder = ROOT / "examples"
    yield from floors()
    for name in MAIN:
        templates, modules = parts(example(folder / f"{name}.yaml"))
        yield raw(name, templates)
        yield from imports(name, modules)
        yield example(folder / f"{name}.yaml")
    if other:
        yield from parallelcluster(other)
    if not everything:
        return
    yield next(floors())._replace(name="empty app, validated", validation=True)
    for name in MAIN:
        yield example(folder / f"{name}.yaml", validation=True)
    for orchestrator in ("slurm", "kubernetes"):
        yield from (growth(groups, orchestrator) for groups in GROUPS)
        many = growth(GROUPS[2], orchestrator)
        yield raw(many.name, parts(many)[0])
    yield from (example(path) for path in sorted(folder.glob("*.yaml")) if path.stem not in MAIN)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="Processes of each row. Default: 3.")
    parser.add_argument("--all", action="store_true", help="Every example, validation, and 1 to 400 node groups.")
    parser.add_argument("--parallelcluster", metavar="PYTHON", help="Python with aws-parallelcluster and moto.")
    options = parser.parse_args()
    rows = list(cases(everything=options.all, other=options.parallelcluster))
    measured: dict[str, list[Run]] = {case.name: [] for case in rows}
    for _ in range(options.runs):
        for case in rows:
            with tempfile.TemporaryDirectory() as out:
                measured[case.name].append(run(case, out))
    floor = min(it.cpu for it in measured["empty app"])
    print("| process | CPU s, least | x empty app | CPU s, median | wall s, least | median | calls of Node | KB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, runs in measured.items():
        least = min(it.cpu for it in runs)
        figures = [f"{least:.2f}", f"{least / floor:.1f}", f"{statistics.median(it.cpu for it in runs):.2f}"]
        figures += [f"{min(it.wall for it in runs):.2f}", f"{statistics.median(it.wall for it in runs):.2f}"]
        print(f"| {name} | {' | '.join(figures)} | {runs[0].calls:,} | {runs[0].bytes // 1000:,} |")


if __name__ == "__main__":
    main()
