"""Adoption step of `ultracluster rehearse --adopt`: the same cluster file, with the file system that was retained."""

import os
from pathlib import Path

from ruamel.yaml import YAML

from cdk_rehearsal.rehearsal import Adoption, Edit, Kept, RehearsalError
from ultracluster import clusterfile


def adopt_lustre(file: Path) -> Adoption:
    """Return the step that deploys a cluster file again, on the Lustre file system that it retained."""

    def edit(folder: Path, kept: tuple[Kept, ...]) -> Edit:
        lustre = [row for row in kept if row.type == "AWS::FSx::FileSystem" and "LustreConfiguration" in row.properties]
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
        clusterfile.resolve_scripts(document, os.fspath(file.resolve()))
        target = folder / f"adopt-{file.name}"
        with target.open("w", encoding="utf-8") as stream:
            yaml.dump(document, stream)
        clusterfile.load(str(target))
        return Edit(
            context={"cluster": str(target)}, description=f"{retained.physical_id} was adopted in the cluster file"
        )

    return Adoption(name="storage.lustre.adopt", edit=edit)
