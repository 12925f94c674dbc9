"""Code and links of the documentation work."""

import re
from functools import cache
from pathlib import Path

import pytest

from support import ROOT
from ultracluster import clusterfile
from ultracluster.workloads import slurm_jobs

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@cache
def blocks(language: str) -> list[tuple[Path, str]]:
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [(page, match) for page in PAGES for match in pattern.findall(page.read_text())]


# What a fragment is completed with, by the orchestrator that it needs.
BASES = {
    "slurm": "name: llama\nregion: us-east-2\nzone: use2-az1\norchestrator: slurm\n",
    "kubernetes": 'name: llama\naccount: "123456789012"\nregion: us-east-2\nzone: use2-az1\norchestrator: kubernetes\n',
}
NODES = "nodes: {train: {type: p5en.48xlarge, count: 64}}\n"
PLACEHOLDERS = re.compile(r"\.\.\.|\b[A-Z]{3,}\b")


def cluster_files() -> list[tuple[Path, str]]:
    """Cluster files and fragments of them: blocks, and inline code such as `storage: {home: {}}`."""
    keys = set(clusterfile.schema()["properties"])
    inline = [
        (page, text)
        for page in PAGES
        for text in re.findall(r"(?<!`)`([a-z-]+: [^`]+)`(?!`)", page.read_text())
        if not PLACEHOLDERS.search(text)
    ]
    return [(page, text) for page, text in [*yaml_blocks(), *inline] if text.partition(":")[0] in keys]


def yaml_blocks() -> list[tuple[Path, str]]:
    """YAML blocks from their first line that is not a comment."""
    return [(page, re.sub(r"\A(#.*\n|\n)+", "", text)) for page, text in blocks("yaml")]


@pytest.mark.parametrize(("page", "text"), cluster_files(), ids=lambda value: getattr(value, "stem", ""))
def test_cluster_files_and_fragments_are_valid(page: Path, text: str, tmp_path: Path) -> None:
    if text.startswith("name:"):
        clusterfile.loads(text, page.name)
        return
    if text.startswith("extends:"):
        (tmp_path / "prod.yaml").write_text((ROOT / "examples" / "slurm-512-gpus.yaml").read_text())
        (tmp_path / "dev.yaml").write_text(text)
        clusterfile.load(tmp_path / "dev.yaml")
        return
    base = BASES["kubernetes" if "kubernetes:" in text or "internet: false" in text else "slurm"]
    if text.startswith("orchestrator:"):
        base = base.rpartition("orchestrator:")[0]
    clusterfile.loads(base + text.rstrip() + "\n" + ("" if "nodes:" in text else NODES), page.name)


def test_every_yaml_block_is_a_cluster_file_or_a_file_of_another_program() -> None:
    """A workflow of GitHub, groups of rules of Prometheus, and an object of Kubernetes. Other tests read these."""
    read = {text for _, text in cluster_files()}
    others = {text.partition(":")[0] for _, text in yaml_blocks() if text and text not in read}
    assert others == {"apiVersion", "groups", "on"}


def test_the_readme_shows_the_main_example() -> None:
    shown = next(text for page, text in blocks("yaml") if page.name == "README.md")
    main_job = (ROOT / "examples" / "slurm-512-gpus.yaml").read_text()
    assert clusterfile.loads(shown, "x.yaml") == clusterfile.loads(main_job, "x.yaml")


def test_the_readme_has_the_four_commands_from_nothing_to_the_first_job() -> None:
    console = next(text for page, text in blocks("console") if page.name == "README.md")
    commands = [line.partition("  #")[0] for line in console.splitlines()]
    wanted = ("ultracluster init", "ultracluster deploy", "aws ssm start-session", "sbatch ")
    positions = [next(i for i, line in enumerate(commands) if command in line) for command in wanted]
    assert positions == sorted(positions)
    job = commands[positions[-1]].split()[-1]
    files = slurm_jobs(clusterfile.load(ROOT / "examples" / "slurm-512-gpus.yaml"))
    assert job.removeprefix("/fsx/jobs/current/") in {file.path.removeprefix("jobs/") for file in files}


PYTHON = {page: [code for other, code in blocks("python") if other == page] for page, _ in blocks("python")}


@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.stem)
def test_python_blocks_run_in_the_order_of_the_page(page: Path) -> None:
    """Run what a reader copies: the blocks of a page, and nothing besides."""
    exec(compile("\n".join(PYTHON[page]), page.name, "exec"), {"__name__": "__main__"})


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as MkDocs and GitHub write them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def assert_resolves(target: str, folder: Path, source: Path) -> None:
    path, _, anchor = target.partition("#")
    page = folder / path if path else source
    assert page.exists(), f"{source.name} links to {target}"
    assert not anchor or anchor in anchors(page), (
        f"{source.name} links to {target}, and {page.name} has no such heading"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_resolve(page: Path) -> None:
    # A regular expression in code is no link.
    text = re.sub(r"`[^`\n]*`", "", page.read_text())
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if not target.startswith("http"):
            assert_resolves(target, page.parent, page)


# A page of this project, not of an address.
NAMED_PAGE = re.compile(r"(?<![\w/.-])docs/(?:guides|operations|reference|decisions|runbooks)/\w[\w-]+\.md(?:#[\w-]+)?")


def test_pages_that_code_and_messages_name_exist() -> None:
    folders = ("constructs", "scripts", "tests", "examples", ".github")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".sh", ".yml"}]
    named = [(path, name) for path in files for name in NAMED_PAGE.findall(path.read_text())]
    assert len(named) > 10
    for path, name in named:
        assert_resolves(name, ROOT, path)


HANDWRITTEN = [page for page in PAGES if not {"reference", "runbooks"} & set(page.parts)]


@pytest.mark.parametrize("page", HANDWRITTEN, ids=lambda page: page.stem)
def test_paths_of_the_repository_exist(page: Path) -> None:
    paths = re.findall(r"`((?:constructs|tests|examples|docs|scripts|stacks|benchmarks)/[\w./-]+)`", page.read_text())
    assert [
        path for path in paths if not (ROOT / path.replace("PACKAGE", "storage")).exists() and "_name.py" not in path
    ] == []


# What the code can add to, or take away: a number of them grows stale. Write no number, or derive it.
COUNTED = r"alerts|rules|metrics|dashboards|runbooks|constructs|instance types|warnings|examples|packages|tests"
COUNT = re.compile(rf"\b(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten) (?:{COUNTED})\b", re.IGNORECASE)
# A limit of AWS.
LIMITS = {"2,000 rules"}


@pytest.mark.parametrize("page", HANDWRITTEN, ids=lambda page: page.stem)
def test_pages_have_no_counts_that_grow_stale(page: Path) -> None:
    assert set(COUNT.findall(page.read_text())) - LIMITS == set()
