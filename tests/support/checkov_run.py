"""checkov's checks of CloudFormation, run in `.venv-checkov`, which has nothing else of the tests.

Takes files of templates, and prints {"passed": NUMBER, "findings": [[CHECK, LOGICAL ID], ...]} as JSON. All checks are
of single resources. So a resource that several templates have is checked once, and one of a type without a check is
left out: this takes a fifth of the time, and gives the same findings.
"""

import gc
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["LOG_LEVEL"] = "ERROR"

from checkov.cloudformation.checks.resource.registry import cfn_registry
from checkov.cloudformation.runner import Runner
from checkov.runner_filter import RunnerFilter


def distinct(files: list[str]) -> list[dict[str, Any]]:
    """Templates that have each distinct resource once, under its own logical id."""
    templates: list[dict[str, Any]] = []
    seen: dict[str, set[str]] = {}
    for file in files:
        for name, resource in json.loads(Path(file).read_text())["Resources"].items():
            content = json.dumps(resource, sort_keys=True)
            variants = seen.setdefault(name, set())
            if resource["Type"] not in cfn_registry.checks or content in variants:
                continue
            if len(variants) == len(templates):
                templates.append({})
            templates[len(variants)][name] = resource
            variants.add(content)
    return templates


def main(files: list[str]) -> None:
    gc.disable()  # it takes a third of the time
    with TemporaryDirectory() as folder:
        for number, resources in enumerate(distinct(files)):
            Path(folder, f"{number}.json").write_text(json.dumps({"Resources": resources}))
        every = [str(path) for path in Path(folder).iterdir()]
        report = Runner().run(root_folder=None, files=every, runner_filter=RunnerFilter(framework=["cloudformation"]))
    if report.parsing_errors or not report.passed_checks:
        sys.exit(f"checkov read no template, or not all: {report.parsing_errors}")
    findings = {(check.check_id, check.resource.partition(".")[2]) for check in report.failed_checks}
    print(json.dumps({"passed": len(report.passed_checks), "findings": sorted(findings)}))


if __name__ == "__main__":
    main(sys.argv[1:])
