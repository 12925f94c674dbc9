"""Templates of a whole cluster."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from support import ROOT
from ultracluster.clusterfile import ClusterFile
from ultracluster.stacks import ClusterStacks

FLAGS = json.loads((ROOT / "cdk.json").read_text())["context"]


# Template texts by cluster and flags: many tests look at the same examples.
_SYNTHESISED: dict[str, dict[str, str]] = {}


def templates(cluster: ClusterFile, flags: dict[str, Any] = FLAGS) -> dict[str, dict[str, Any]]:
    """Templates by stack name; each call returns its own copy."""
    key = f"{cluster!r} {json.dumps(flags, sort_keys=True)}"
    if key not in _SYNTHESISED:
        app = cdk.App(context=flags, analytics_reporting=False)
        ClusterStacks(app, cluster=cluster, account="123456789012")
        stacks = app.synth().stacks
        _SYNTHESISED[key] = {stack.stack_name: Path(stack.template_full_path).read_text() for stack in stacks}
    return {name: json.loads(text) for name, text in _SYNTHESISED[key].items()}


def synth(cluster: ClusterFile) -> cdk.cx_api.CloudAssembly:
    """The cloud assembly."""
    app = cdk.App(analytics_reporting=False)
    ClusterStacks(app, cluster=cluster, account="123456789012")
    return app.synth()


def storage_of(cluster: ClusterFile) -> dict[str, Any]:
    """The template of the Storage stack."""
    template: dict[str, Any] = synth(cluster).get_stack_by_name(f"{cluster.name}-Storage").template
    return template


def of_type(template: dict[str, Any], type: str) -> list[dict[str, Any]]:
    """Resources of one type."""
    return [item for item in template["Resources"].values() if item["Type"] == type]


def warning_ids(cluster: ClusterFile) -> list[str]:
    """Ids of the warnings that synthesis shows, one for each place."""
    result = [message for stack in synth(cluster).stacks for message in stack.messages]
    words = [str(message.entry.data) for message in result if "warn" in str(message.level).lower()]
    return [word.rpartition("[ack: ")[2].rstrip("]").removeprefix("Annotation::") for word in words]
