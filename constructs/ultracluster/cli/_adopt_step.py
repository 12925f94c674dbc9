"""Adoption step of `ultracluster rehearse --adopt`: the same cluster file, with the file systems that were retained."""

import os
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from cdk_rehearsal.rehearsal import Adoption, Edit, Kept, RehearsalError
from ultracluster import clusterfile


def adopt_lustre(file: Path) -> Adoption:
    """Return the step that deploys a cluster file again, on the file systems that it retained: Lustre and the homes."""

    def edit(folder: Path, kept: tuple[Kept, ...]) -> Edit:
        systems = [row for row in kept if row.type == "AWS::FSx::FileSystem"]
        lustre = [row for row in systems if "LustreConfiguration" in row.properties]
        if len(lustre) != 1:
            raise RehearsalError(f"{file} retained {len(lustre)} Lustre file systems: --adopt needs one")
        (retained,) = lustre
        yaml = YAML()
        document = yaml.load(file.read_text(encoding="utf-8"))
        section = document["storage"]["lustre"]
        section["adopt"] = {
            "id": retained.physical_id,
            "mount-name": retained.attribute("LustreMountName"),
            "security-group": retained.properties["SecurityGroupIds"][0],
        }
        # The file system has its associations; FSx takes no second one for a directory.
        section.pop("data-repository-associations", None)
        section.pop("release-task", None)
        adopted = [retained.physical_id]
        for home in systems:
            if "OpenZFSConfiguration" in home.properties:
                document["storage"]["home"] = _existing_home(home, kept, document["storage"]["home"])
                adopted.append(home.physical_id)
        clusterfile.resolve_scripts(document, os.fspath(file.resolve()))
        target = folder / f"adopt-{file.name}"
        with target.open("w", encoding="utf-8") as stream:
            yaml.dump(document, stream)
        clusterfile.load(str(target))
        names = " and ".join(adopted)
        return Edit(context={"cluster": str(target)}, description=f"the cluster file adopts {names}")

    return Adoption(name="storage.lustre.adopt", edit=edit)


def _existing_home(home: Kept, kept: tuple[Kept, ...], section: dict[str, Any] | None) -> dict[str, Any]:
    """Return the section of home directories whose volume of OpenZFS was retained."""
    root = home.attribute("RootVolumeId")
    (volume,) = (
        row
        for row in kept
        if row.type == "AWS::FSx::Volume" and row.properties["OpenZFSConfiguration"]["ParentVolumeId"] == root
    )
    existing = {
        "id": home.physical_id,
        "volume": volume.physical_id,
        "path": f"/fsx/{volume.properties['Name']}",
        "security-group": home.properties["SecurityGroupIds"][0],
    }
    return {**({"mount": section["mount"]} if section and "mount" in section else {}), "existing": existing}
