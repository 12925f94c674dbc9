"""Templates of a whole cluster."""

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from support import ROOT
from ultracluster.clusterfile import ClusterFile
from ultracluster.stacks import ClusterStacks

FLAGS = json.loads((ROOT / "cdk.json").read_text())["context"]


# The directory that all processes of one test run share; `conftest.py` sets it.
_shared: Path | None = None
# Template texts by cluster and flags: many tests look at the same examples.
_synthesised: dict[str, str] = {}
_assemblies: OrderedDict[str, cdk.cx_api.CloudAssembly] = OrderedDict()
_MOST_ASSEMBLIES = 8


def share(directory: Path) -> None:
    """Use the templates that other processes of this test run have synthesised."""
    global _shared
    directory.mkdir(exist_ok=True)
    _shared = directory


def templates(cluster: ClusterFile, flags: dict[str, Any] = FLAGS) -> dict[str, dict[str, Any]]:
    """Templates by stack name; each call returns its own copy."""
    key = f"{cluster!r} {json.dumps(flags, sort_keys=True)}"
    if key not in _synthesised:
        _synthesised[key] = _shared_text(key, lambda: _texts(cluster, flags))
    return {name: json.loads(text) for name, text in json.loads(_synthesised[key]).items()}


def _texts(cluster: ClusterFile, flags: dict[str, Any]) -> str:
    # Neither is in a template, and both take time.
    app = cdk.App(context=flags, analytics_reporting=False, tree_metadata=False, stack_traces=False)
    ClusterStacks(app, cluster=cluster, account="123456789012")
    stacks = app.synth().stacks
    return json.dumps({stack.stack_name: Path(stack.template_full_path).read_text() for stack in stacks})


def _shared_text(key: str, create: Callable[[], str]) -> str:
    if _shared is None:
        return create()
    file = _shared / hashlib.sha256(key.encode()).hexdigest()
    if not file.exists():
        # Two processes may do the same at once: each puts a whole file there.
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_text(create())
        partial.replace(file)
    return file.read_text()


def synth(cluster: ClusterFile) -> cdk.cx_api.CloudAssembly:
    """The cloud assembly, which is kept for the next calls: a test looks at several things of it."""
    key = repr(cluster)
    if key not in _assemblies:
        app = cdk.App(analytics_reporting=False)
        ClusterStacks(app, cluster=cluster, account="123456789012")
        _assemblies[key] = app.synth()
        if len(_assemblies) > _MOST_ASSEMBLIES:
            _assemblies.popitem(last=False)
    return _assemblies[key]


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
