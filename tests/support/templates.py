"""Templates, and all else that synthesis writes, of a whole cluster: once in a run for each cluster."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk

from support import ROOT
from ultracluster.clusterfile import ClusterFile
from ultracluster.stacks import ClusterStacks

ACCOUNT = "123456789012"
# No template has what the CDK collects of each construct for AWS.
FLAGS = json.loads((ROOT / "cdk.json").read_text())["context"] | {
    "@aws-cdk/core:enableAdditionalMetadataCollection": False
}

# The directory that all processes of one test run share; `fixtures.py` sets it.
_shared: Path | None = None


def share(directory: Path) -> None:
    """Use what other processes of this test run have synthesized."""
    global _shared
    directory.mkdir(exist_ok=True)
    _shared = directory


@dataclass(frozen=True)
class SynthesisedStack:
    """A stack of a cloud assembly, read from its files: through jsii, a template takes a third of a synthesis."""

    directory: Path
    artifact: dict[str, Any]

    @property
    def stack_name(self) -> str:
        return str(self.artifact["properties"].get("stackName", self.artifact["displayName"]))

    @property
    def text(self) -> str:
        return Path(self.directory, self.artifact["properties"]["templateFile"]).read_text()

    @property
    def template(self) -> dict[str, Any]:
        """The template; each call returns its own copy."""
        return dict(json.loads(self.text))

    @property
    def dependencies(self) -> list[str]:
        """Ids of the artifacts that are deployed before it."""
        return list(self.artifact["dependencies"])

    @property
    def warnings(self) -> Iterator[str]:
        """Warnings that synthesis shows."""
        file = self.artifact.get("additionalMetadataFile")
        written = json.loads((self.directory / file).read_text()) if file else {}
        for entries in [*self.artifact.get("metadata", {}).values(), *written.values()]:
            yield from (entry["data"] for entry in entries if entry["type"] == "aws:cdk:warning")


@dataclass(frozen=True)
class Assembly:
    """A cloud assembly."""

    directory: Path

    @cached_property
    def stacks(self) -> list[SynthesisedStack]:
        artifacts = json.loads((self.directory / "manifest.json").read_text())["artifacts"].values()
        return [
            SynthesisedStack(self.directory, artifact)
            for artifact in artifacts
            if artifact["type"] == "aws:cloudformation:stack"
        ]

    def get_stack_by_name(self, name: str) -> SynthesisedStack:
        (stack,) = (stack for stack in self.stacks if stack.stack_name == name)
        return stack


def synth(cluster: ClusterFile, flags: dict[str, Any] = FLAGS) -> Assembly:
    """The cloud assembly of a cluster, from whichever test and process asks for it first."""
    directory = _place(cluster, flags)
    if not directory.exists():
        # Two processes may do the same at once: each puts a whole folder there, and the first stays.
        partial = directory.with_suffix(f".{os.getpid()}")
        # Neither is in a template, and both take time.
        app = cdk.App(
            context=flags, outdir=str(partial), analytics_reporting=False, tree_metadata=False, stack_traces=False
        )
        ClusterStacks(app, cluster=cluster, account=ACCOUNT)
        app.synth()
        try:
            partial.rename(directory)
        except OSError:
            shutil.rmtree(partial)
    return Assembly(directory)


def offer(cluster: ClusterFile, directory: Path) -> None:
    """Use an assembly that was made with more checks than `synth` has: move it to where `synth` looks for it."""
    with suppress(OSError):  # one is there already
        directory.rename(_place(cluster, FLAGS))


def _place(cluster: ClusterFile, flags: dict[str, Any]) -> Path:
    key = f"{cluster!r} {json.dumps(flags, sort_keys=True)}"
    return folder() / hashlib.sha256(key.encode()).hexdigest()


def asset(directory: Path, sha256: str, suffix: str) -> bytes:
    """The file of a `ScriptAsset`: the CDK names it after a checksum of its checksum."""
    name = f"asset.{hashlib.sha256(sha256.encode()).hexdigest()}.{suffix}"
    content = (directory / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == sha256
    return content


def folder() -> Path:
    """The directory that all processes of this test run share."""
    if _shared is None:
        share(Path(tempfile.mkdtemp()))
    assert _shared
    return _shared


def resources_of(stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    """Resources of a stack of an app, read from its file.

    Raises:
        CycleError: If some depend on each other in a circle, which CloudFormation does not deploy.
    """
    app = cast(cdk.Stage, stack.node.root)
    file = app.synth().get_stack_artifact(stack.artifact_id).template_full_path
    resources = dict(json.loads(Path(file).read_text()).get("Resources", {}))
    TopologicalSorter({id: {*_references(body)} & resources.keys() for id, body in resources.items()}).prepare()
    return resources


def _references(node: Any) -> Iterator[str]:
    """Names that a part of a template refers to."""
    if isinstance(node, list):
        for item in node:
            yield from _references(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            match key, value:
                case ("Ref" | "DependsOn", str(name)):
                    yield name
                case "DependsOn", list(names):
                    yield from names
                case "Fn::GetAtt", _:
                    yield value[0] if isinstance(value, list) else value.partition(".")[0]
                case "Fn::Sub", _:
                    text = value[0] if isinstance(value, list) else value
                    yield from re.findall(r"\$\{([A-Za-z0-9]+)", text)
            yield from _references(value)


def templates(cluster: ClusterFile, flags: dict[str, Any] = FLAGS) -> dict[str, dict[str, Any]]:
    """Templates by stack name; each call returns its own copy."""
    return {stack.stack_name: stack.template for stack in synth(cluster, flags).stacks}


def template_of(cluster: ClusterFile, stack: str) -> dict[str, Any]:
    """The template of one stack, by the last part of its name."""
    return synth(cluster).get_stack_by_name(f"{cluster.name}-{stack}").template


def storage_of(cluster: ClusterFile) -> dict[str, Any]:
    """The template of the Storage stack."""
    return template_of(cluster, "Storage")


def of_type(template: dict[str, Any], type: str) -> list[dict[str, Any]]:
    """Resources of one type."""
    return [item for item in template["Resources"].values() if item["Type"] == type]


def by_type(template: dict[str, Any], type: str) -> dict[str, dict[str, Any]]:
    """Resources of one type, by their logical ids."""
    return {id: item for id, item in template["Resources"].items() if item["Type"] == type}


def warning_ids(cluster: ClusterFile) -> list[str]:
    """Ids of the warnings that synthesis shows, one for each place."""
    words = [text for stack in synth(cluster).stacks for text in stack.warnings]
    return [word.rpartition("[ack: ")[2].rstrip("]").removeprefix("Annotation::") for word in words]
