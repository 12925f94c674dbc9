"""What the docs show is true."""

import re
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from conftest import ROOT
from ultracluster import (
    clusterfile,
    compute,
    hardware,
    metrics,
    network,
    observability,
    orchestration,
    patterns,
    planning,
    storage,
)

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def blocks(language: str) -> list[tuple[Path, str]]:
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [(page, match) for page in PAGES for match in pattern.findall(page.read_text())]


@pytest.mark.parametrize(("page", "text"), blocks("yaml"), ids=lambda value: getattr(value, "stem", ""))
def test_a_whole_cluster_file_in_the_docs_is_valid(page: Path, text: str) -> None:
    if text.startswith("name:"):
        clusterfile.loads(text, page.name)


def test_the_cluster_file_of_the_readme_is_the_main_job() -> None:
    shown = next(text for page, text in blocks("yaml") if page.name == "README.md")
    main_job = (ROOT / "examples" / "slurm-512-gpus.yaml").read_text()
    assert clusterfile.loads(shown, "x.yaml") == clusterfile.loads(main_job, "x.yaml")


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda value: getattr(value, "stem", ""))
def test_python_in_the_docs_runs(page: Path, code: str) -> None:
    app = cdk.Stack(cdk.App(), "Docs")
    vpc = ec2.Vpc(app, "Vpc", max_azs=1)
    names = {
        "self": app,
        "vpc": vpc,
        "subnet": vpc.private_subnets[0],
        "nodes": network.EfaSecurityGroup(app, "Nodes", vpc=vpc),
        "clusterfile": clusterfile,
        "compute": compute,
        "hardware": hardware,
        "metrics": metrics,
        "network": network,
        "observability": observability,
        "orchestration": orchestration,
        "patterns": patterns,
        "planning": planning,
        "storage": storage,
    }
    exec(compile(code, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
