"""`ultracluster render --templates`: CloudFormation templates that need no CDK, for `CfnInclude` and Terraform.

The stacks are those of the app. References between them are exports and `Fn::ImportValue`. Files that nodes and custom
resources read at run time are written beside the templates; the parameter AssetsBucket names the bucket for them.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracluster.cli._project_files import cluster_app
from ultracluster.cli._writing import RenderedFile

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

_FOLDER = "templates"
_INDEX = "stacks.json"
_BUCKET = "AssetsBucket"
# The largest template that an API call takes in its body; a larger one is read from S3, 1 MB at most.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-22)
_MOST_BYTES_INLINE = 51_200
# The longest operation of a resource that CloudFormation allows, timeoutInMinutes: 36 hours. A stack ends by itself; a
# client that gives up before, as Terraform does after 30 minutes, takes it for failed.
# https://github.com/aws-cloudformation/cloudformation-resource-schema, provider.definition.schema.v1.json (read
# 2026-11-27)
_TIMEOUT_MINUTES = 2160
# CodePipeline reads a version of an object.
# https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference-S3.html (read 2026-11-27)
_PIPELINE = "AWS::CodePipeline::Pipeline"
# Of aws/s3, who may read the object may use the key; the roles of the nodes have no kms:Decrypt for another one.
_ENCRYPTION = "encrypted by SSE-S3 or the key aws/s3, not by a customer managed key"
_NAMED_IAM = {"RoleName", "PolicyName", "GroupName", "UserName", "InstanceProfileName", "ManagedPolicyName"}


def template_files(cluster: "ClusterFile") -> list[RenderedFile]:
    """Templates of a cluster's stacks, the files that they refer to, and an index in the order of deployment."""
    # Strong references are exports, which every tool reads; weak ones are a function of newer releases.
    flags = {"@aws-cdk/core:defaultCrossStackReferences": "strong"}
    with tempfile.TemporaryDirectory() as outdir:
        stacks = cluster_app(cluster, outdir, flags=flags, assets_bucket=_BUCKET).synth().stacks
        assets: dict[str, RenderedFile] = {}
        index, files = [], []
        names = {stack.id for stack in stacks}
        for stack in stacks:
            template = with_parameter(stack.template)
            text = json.dumps(template, indent=1) + "\n"
            of_stack = _assets(Path(outdir), stack.stack_name, text)
            assets |= {file.path: file for file in of_stack}
            path = f"{_FOLDER}/{stack.stack_name}.template.json"
            files.append(RenderedFile(path=path, text=text, what=str(template.get("Description", ""))))
            dependencies = [other.id for other in stack.dependencies if other.id in names]
            index.append(
                _entry(stack.stack_name, template, text, [file.path for file in of_stack], dependencies, stack)
            )
    document = {"region": cluster.region, "account": cluster.account, "stacks": index}
    listing = RenderedFile(
        path=f"{_FOLDER}/{_INDEX}", text=json.dumps(document, indent=2) + "\n", what="Stacks in order of deployment."
    )
    return [listing, *files, *assets.values()]


def stale_templates(files: Sequence[RenderedFile], directory: Path) -> list[RenderedFile]:
    """Return the templates and assets of the index in a directory that are no longer rendered.

    A template that stays would hide from `guard` that its stack leaves.
    """
    folder = directory / _FOLDER
    earlier = _index(folder / _INDEX)
    names = [name for stack in earlier for name in (stack["template"], *stack.get("assets", ()))]
    rendered = {file.path for file in files}
    return [
        RenderedFile(path=path, text=(directory / path).read_bytes(), what="no longer in the cluster file")
        for path in (f"{_FOLDER}/{name}" for name in dict.fromkeys(names))
        if path not in rendered and (directory / path).is_file()
    ]


def unnamed_templates(directory: Path) -> list[Path]:
    """Return the templates in a directory that the index next to them does not name."""
    result = []
    for index in sorted(directory.rglob(_INDEX)):
        if stacks := _index(index):
            names = {stack["template"] for stack in stacks}
            result += [path for path in sorted(index.parent.glob("*.template.json")) if path.name not in names]
    return result


def _index(file: Path) -> list[dict[str, Any]]:
    """Stacks of an index; none if the file is another one."""
    try:
        stacks = json.loads(file.read_bytes())["stacks"]
        return stacks if all(isinstance(stack["template"], str) for stack in stacks) else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def template_notes(files: Sequence[RenderedFile], directory: Path) -> str:
    """Notes on what the templates do not hold."""
    folder = directory / _FOLDER
    notes = [f"Deploy the stacks in the order of {folder / _INDEX}; they refer to each other by exports."]
    assets = [file for file in files if file.path.startswith(f"{_FOLDER}/assets/")]
    if assets:
        versioned = ", versioned for CodePipeline" if any(f'"{_PIPELINE}"' in str(file.text) for file in files) else ""
        notes.append(
            f"Not in the templates: {len(assets)} files that nodes and custom resources read at run time. Before each "
            f"deployment: aws s3 sync {folder / 'assets'} s3://BUCKET/; the parameter {_BUCKET} is BUCKET, in the "
            f"region of the stacks{versioned}, {_ENCRYPTION}."
        )
    return "\n".join(notes)


def _entry(
    name: str, template: Mapping[str, Any], text: str, assets: Sequence[str], dependencies: Sequence[str], stack: Any
) -> dict[str, Any]:
    """Entry of a stack in the index."""
    parameters = {
        key: {"type": value["Type"], "default": value.get("Default")}
        for key, value in template.get("Parameters", {}).items()
    }
    return {
        "name": name,
        "template": f"{name}.template.json",
        "inline": len(text.encode()) <= _MOST_BYTES_INLINE,
        "depends_on": list(dependencies),
        "capabilities": _capabilities(template),
        "timeout_minutes": _TIMEOUT_MINUTES,
        "termination_protection": bool(stack.termination_protection),
        "parameters": parameters,
        "assets": [path.removeprefix(f"{_FOLDER}/") for path in assets],
        "outputs": sorted(key for key in template.get("Outputs", {}) if not key.startswith("ExportsOutput")),
    }


def with_parameter(template: Mapping[str, Any]) -> dict[str, Any]:
    """The template with the parameter of the bucket, if it refers to that."""
    result = dict(template)
    if f"${{{_BUCKET}}}" in json.dumps(template):
        pipeline = any(resource["Type"] == _PIPELINE for resource in template["Resources"].values())
        versioned = ", versioned for CodePipeline" if pipeline else ""
        what = f"S3 bucket in the Region of the stack that holds the files of assets/{versioned}, {_ENCRYPTION}"
        result["Parameters"] = {**template.get("Parameters", {}), _BUCKET: {"Type": "String", "Description": what}}
    return result


def _capabilities(template: Mapping[str, Any]) -> list[str]:
    """Acknowledgements that CloudFormation requires for the template."""
    resources = [row for row in template["Resources"].values() if row["Type"].startswith("AWS::IAM::")]
    if not resources:
        return []
    named = any(
        row["Type"] != "AWS::IAM::Policy" and _NAMED_IAM & row.get("Properties", {}).keys() for row in resources
    )
    return ["CAPABILITY_NAMED_IAM" if named else "CAPABILITY_IAM"]


def _assets(outdir: Path, stack: str, template: str) -> list[RenderedFile]:
    """Files of a stack, under the keys that its template reads them by."""
    manifest = json.loads((outdir / f"{stack}.assets.json").read_text(encoding="utf-8"))
    files = []
    for asset in manifest["files"].values():
        source = outdir / asset["source"]["path"]
        (destination,) = asset["destinations"].values()
        key = destination["objectKey"]
        # Stacks of an app with one synthesizer have one manifest, which lists their templates too.
        if key not in template:
            continue
        data = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
        files.append(RenderedFile(path=f"{_FOLDER}/assets/{key}", text=data, what=f"Asset of {stack}."))
    return files


def _zipped(folder: Path) -> bytes:
    """A folder as an archive that depends on its files alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
