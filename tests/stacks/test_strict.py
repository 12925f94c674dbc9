"""Every example, with everything that checks templates: CloudFormation Validate as errors, cdk-nag, cfn-lint."""

import json
from pathlib import Path

import pytest

from support import EXAMPLES
from support.strict_process import StrictProcess
from support.template_lint import problems

MOST_RESOURCES = 400


def templates(outdir: Path) -> list[Path]:
    return sorted(outdir.glob("*.template.json"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_passes_every_check(file: Path, tmp_path: Path, strict: StrictProcess) -> None:
    assert strict.synthesise(tmp_path, ["cluster", str(file)]) == ""
    region = next(line.split()[1] for line in file.read_text().splitlines() if line.startswith("region:"))
    result = templates(tmp_path)
    assert result, "no template was written"
    for path in result:
        text = path.read_text()
        assert len(json.loads(text)["Resources"]) < MOST_RESOURCES
        assert problems(text, region) == [], path.name


def test_the_same_file_gives_the_same_templates_byte_for_byte(tmp_path: Path, strict: StrictProcess) -> None:
    """In a process that has just begun, and in one that may have made other clusters before."""
    with StrictProcess() as fresh:
        for process, outdir in ((strict, tmp_path / "one"), (fresh, tmp_path / "two")):
            assert process.synthesise(outdir, ["cluster", str(EXAMPLES[0])]) == ""
    entry, two = ([path.read_bytes() for path in templates(tmp_path / outdir)] for outdir in ("one", "two"))
    assert entry
    assert entry == two


def test_the_strict_pass_can_fail(tmp_path: Path, strict: StrictProcess) -> None:
    """An open bucket is stopped by cdk-nag, and what comes after it is not: the pass above proves something."""
    example = ["cluster", str(EXAMPLES[0])]
    assert "AwsSolutions-S1" in strict.synthesise(tmp_path / "open", example, ["open_bucket"])
    assert strict.synthesise(tmp_path / "closed", example) == ""
