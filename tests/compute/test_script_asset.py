"""Files that nodes fetch from the bucket of `cdk bootstrap`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from support.templates import asset
from ultracluster.compute import ScriptAsset

TEXT = "#!/bin/sh\necho a node\n"


def create(scope: cdk.Stack) -> ScriptAsset:
    return ScriptAsset(scope, "Script", text=TEXT)


def files(assembly: str, stack: str) -> list[dict[str, Any]]:
    document = json.loads(Path(assembly, f"{stack}.assets.json").read_text())["files"]
    return [file for file in document.values() if file["source"]["path"].endswith(".sh")]


def test_the_script_is_in_the_assembly_and_its_location_is_where_the_cli_puts_it(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path))
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="123456789012", region="us-east-2"))
    script = create(stack)
    app.synth()
    assert asset(tmp_path, script.sha256, "sh").decode() == TEXT
    (file,) = files(str(tmp_path), "Stack")
    (destination,) = file["destinations"].values()
    assert script.url == f"s3://{destination['bucketName']}/{destination['objectKey']}"


SYNTHESIZERS: dict[str, Callable[[], Any]] = {
    "qualifier": lambda: cdk.DefaultStackSynthesizer(qualifier="mycorp"),
    "bucket": lambda: cdk.DefaultStackSynthesizer(file_assets_bucket_name="mycorp-assets", bucket_prefix="gpu/"),
    "credentials of the CLI": lambda: cdk.CliCredentialsStackSynthesizer(qualifier="mycorp"),
}


@pytest.mark.parametrize("name", SYNTHESIZERS)
@pytest.mark.parametrize("of", ["app", "stack"])
def test_a_synthesizer_of_the_app_or_of_the_stack_decides_on_the_bucket(name: str, of: str, tmp_path: Path) -> None:
    synthesizer = SYNTHESIZERS[name]()
    app = cdk.App(outdir=str(tmp_path), default_stack_synthesizer=synthesizer if of == "app" else None)
    stacks = [cdk.Stack(app, id, synthesizer=synthesizer if of == "stack" else None) for id in ("One", "Two")]
    scripts = [create(stack) for stack in stacks]
    app.synth()
    for stack, script in zip(stacks, scripts, strict=True):
        (file,) = files(str(tmp_path), stack.stack_name)
        (destination,) = file["destinations"].values()
        assert "mycorp" in destination["bucketName"]
        url = json.dumps(stack.resolve(script.url))
        assert destination["bucketName"] in url
        assert destination["objectKey"] in url
