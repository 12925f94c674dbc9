"""Boot scripts of a cluster's nodes, from the assets of their template."""

import base64
import io
import tarfile
from copy import deepcopy
from pathlib import Path
from typing import Any

from support.templates import asset, by_type, of_type, synth, template_of
from ultracluster.clusterfile import ClusterFile

Boots = dict[str, tuple[dict[str, str], list[list[str]]]]
# By cluster file: a test looks at several things of one.
_boots: dict[str, Boots] = {}


def boots(cluster: ClusterFile) -> Boots:
    """The files of the nodes of each group, those of S3 included, and its mounts with their devices, by construct."""
    key = repr(cluster)
    if key not in _boots:
        _boots[key] = _read(cluster)
    return deepcopy(_boots[key])


def _read(cluster: ClusterFile) -> Boots:
    assets = synth(cluster).directory
    result = {}
    template = template_of(cluster, "Compute")
    in_place = _in_place(template, assets)
    for logical_id, created in by_type(template, "AWS::PCS::ComputeNodeGroup").items():
        scripts = created["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
        (script,) = (script for script in scripts if script["Name"] == "ultracluster-boot")
        checksum = script["ScriptSource"]["Checksum"]
        stored = asset(assets, checksum, "sh")
        of_group = f"{created['Properties']['Name']}/"
        fetched = {name.removeprefix(of_group): text for name, text in in_place.items() if name.startswith(of_group)}
        written = files_of(stored.decode())
        assert not fetched.keys() & written.keys()
        files = written | fetched
        lines = [line.split() for line in files["etc/ultracluster/boot-mounts"].splitlines()]
        group, *devices = script["Arguments"]
        assert group == f"NODE_GROUP={created['Properties']['Name']}"
        assert len(lines) == len(devices)
        result[logical_id] = (files, lines)
    return result


def software(cluster: ClusterFile) -> dict[str, list[object]]:
    """The arguments of the script that installs software, by construct; node groups without one are left out."""
    return {
        logical_id: script["Arguments"]
        for logical_id, created in by_type(template_of(cluster, "Compute"), "AWS::PCS::ComputeNodeGroup").items()
        for script in created["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
        if script["Name"] == "ultracluster-software"
    }


def _in_place(template: dict[str, Any], assets: Path) -> dict[str, str]:
    """The archive that the parameter of the cluster names."""
    (parameter,) = (
        created["Properties"]
        for created in of_type(template, "AWS::SSM::Parameter")
        if created["Properties"]["Name"].endswith("/node-scripts")
    )
    checksum = str(parameter["Value"]).rpartition(" ")[2].rstrip("'}]")
    return _files(asset(assets, checksum, "tar"))


def files_of(script: str) -> dict[str, str]:
    """The files that a boot script writes."""
    return _files(base64.b64decode(script.split("\n#FILES\n")[1]))


def _files(packed: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        members = {member.name: opened.extractfile(member) for member in opened}
    return {name: file.read().decode() for name, file in members.items() if file}
