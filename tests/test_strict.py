"""Every example, with everything that checks templates: CloudFormation Validate as errors, cdk-nag, cfn-lint."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cfnlint.api import ManualArgs, lint

from conftest import EXAMPLES, ROOT

MOST_RESOURCES = 400


def synthesise(file: Path, outdir: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "CDK_VALIDATION"}
    return subprocess.run(
        [sys.executable, "tests/strict_app.py", str(file), str(outdir)],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": f"{ROOT / 'constructs'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )


def templates(outdir: Path) -> list[Path]:
    return sorted(outdir.glob("*.template.json"))


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_passes_every_check(file: Path, tmp_path: Path) -> None:
    result = synthesise(file, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "deprecated" not in result.stderr
    region = next(line.split()[1] for line in file.read_text().splitlines() if line.startswith("region:"))
    found = templates(tmp_path)
    assert found, "no template was written"
    for path in found:
        text = path.read_text()
        assert len(json.loads(text)["Resources"]) < MOST_RESOURCES
        problems = lint(text, config=ManualArgs(regions=[region]))
        assert [f"{path.name}: {problem.rule.id} {problem.message}" for problem in problems] == []


@pytest.mark.slow
def test_the_same_file_gives_the_same_templates_byte_for_byte(tmp_path: Path) -> None:
    outdirs = [tmp_path / "one", tmp_path / "two"]
    for outdir in outdirs:
        assert synthesise(EXAMPLES[0], outdir).returncode == 0
    one, two = ([path.read_bytes() for path in templates(outdir)] for outdir in outdirs)
    assert one == two


@pytest.mark.slow
def test_the_strict_pass_can_fail(tmp_path: Path) -> None:
    """A copy of the strict app that makes one open bucket is stopped by cdk-nag: the pass above proves something."""
    code = (ROOT / "tests" / "strict_app.py").read_text()
    broken = code.replace(
        "    app.synth()\n", '    cdk.aws_s3.Bucket(cdk.Stack(app, "Open"), "Bucket")\n    app.synth()\n'
    )
    assert broken != code
    script = tmp_path / "broken.py"
    script.write_text(
        broken.replace("import aws_cdk as cdk", "import aws_cdk as cdk, aws_cdk.aws_s3").replace(
            "Path(__file__).parent.parent", f"Path({str(ROOT)!r})"
        )
    )
    environment = {key: value for key, value in os.environ.items() if key != "CDK_VALIDATION"}
    result = subprocess.run(
        [sys.executable, str(script), str(EXAMPLES[0]), str(tmp_path / "out")],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": f"{ROOT / 'constructs'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert "AwsSolutions-S1" in result.stdout + result.stderr
