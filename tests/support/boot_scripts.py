"""Boot scripts of a cluster's nodes, from the assets of their template."""

import base64
import hashlib
import io
import tarfile
from copy import deepcopy
from pathlib import Path

import aws_cdk as cdk
from aws_cdk.assertions import Template

from ultracluster.clusterfile import ClusterFile
from ultracluster.stacks import ClusterStacks

Boots = dict[str, tuple[dict[str, str], list[list[str]]]]
# By cluster file: a test looks at several things of one.
_boots: dict[str, Boots] = {}


def boots(cluster: ClusterFile) -> Boots:
    """The files that each node group writes at boot, and its mounts with their devices, by construct."""
    key = repr(cluster)
    if key not in _boots:
        _boots[key] = _synthesise(cluster)
    return deepcopy(_boots[key])


def _synthesise(cluster: ClusterFile) -> Boots:
    app = cdk.App()
    stacks = ClusterStacks(app, cluster=cluster)
    result = {}
    template = Template.from_stack(stacks.compute)
    for logical_id, created in template.find_resources("AWS::PCS::ComputeNodeGroup").items():
        scripts = created["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
        (script,) = (script for script in scripts if script["Name"] == "ultracluster-boot")
        checksum = script["ScriptSource"]["Checksum"]
        stored = (Path(app.outdir) / f"asset.{checksum}.sh").read_bytes()
        assert hashlib.sha256(stored).hexdigest() == checksum
        files = _files(stored.decode())
        lines = [line.split() for line in files["etc/ultracluster/boot-mounts"].splitlines()]
        assert len(lines) == len(script.get("Arguments", []))
        result[logical_id] = (files, lines)
    return result


def software(cluster: ClusterFile) -> dict[str, list[object]]:
    """The arguments of the script that installs software, by construct; node groups without one are left out."""
    template = Template.from_stack(ClusterStacks(cdk.App(), cluster=cluster).compute)
    return {
        logical_id: script["Arguments"]
        for logical_id, created in template.find_resources("AWS::PCS::ComputeNodeGroup").items()
        for script in created["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
        if script["Name"] == "ultracluster-software"
    }


def _files(script: str) -> dict[str, str]:
    packed = base64.b64decode(script.split("\n#FILES\n")[1])
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        members = {member.name: opened.extractfile(member) for member in opened}
    return {name: file.read().decode() for name, file in members.items() if file}
