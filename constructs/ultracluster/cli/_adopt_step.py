"""Adoption step of `ultracluster rehearse --adopt`: the same cluster file, with the file systems that were retained."""

from collections.abc import Mapping
from pathlib import Path

from cdk_rehearsal.rehearsal import Adoption, Edit, Kept, RehearsalError
from ultracluster import clusterfile
from ultracluster.cli._edited_file import keys_of, text_of

_SYSTEM, _GROUP = "fs-0123456789abcdef0", "sg-0123456789abcdef0"
# Ids of file systems that are not created yet.
_LUSTRE = {"id": _SYSTEM, "mount-name": "fsx", "security-group": _GROUP}
_HOME = {"id": _SYSTEM, "volume": "fsvol-0123456789abcdef0", "path": "/fsx/home", "security-group": _GROUP}


def adopt_lustre(file: Path) -> Adoption:
    """Return the step that deploys a cluster file again, on the file systems that it retained: Lustre and the homes.

    Args:
        file: A cluster file that creates a Lustre file system.

    Raises:
        RehearsalError: If the file is not valid with one that is adopted.
    """
    home = clusterfile.load(file).storage.home
    new_home = home is not None and home.existing is None and home.type == "openzfs"
    try:
        clusterfile.loads(_adopting(file, _LUSTRE, _HOME if new_home else None), f"{file} with storage.lustre.adopt")
    except clusterfile.ClusterFileError as error:
        raise RehearsalError(str(error)) from None

    def edit(folder: Path, kept: tuple[Kept, ...]) -> Edit:
        systems = [row for row in kept if row.type == "AWS::FSx::FileSystem"]
        (lustre,) = (row for row in systems if "LustreConfiguration" in row.properties)
        homes = [row for row in systems if "OpenZFSConfiguration" in row.properties]
        adopted = {
            "id": lustre.physical_id,
            "mount-name": lustre.attribute("LustreMountName"),
            "security-group": lustre.properties["SecurityGroupIds"][0],
        }
        target = folder / f"adopt-{file.name}"
        target.write_text(_adopting(file, adopted, *(_existing(home, kept) for home in homes)), encoding="utf-8")
        names = " and ".join(row.physical_id for row in (lustre, *homes))
        return Edit(context={"cluster": str(target)}, description=f"the cluster file adopts {names}")

    return Adoption(name="storage.lustre.adopt", edit=edit)


def _adopting(file: Path, lustre: Mapping[str, str], home: Mapping[str, str] | None = None) -> str:
    """Return the text of a cluster file that names what was retained."""
    keys = keys_of(file)
    storage = keys["storage"]
    storage["lustre"]["adopt"] = dict(lustre)
    # The file system has its associations; FSx takes no second one for a directory.
    storage["lustre"].pop("data-repository-associations", None)
    storage["lustre"].pop("release-task", None)
    if home is not None:
        mount = {key: value for key, value in storage["home"].items() if key == "mount"}
        storage["home"] = {**mount, "existing": dict(home)}
    return text_of(keys)


def _existing(home: Kept, kept: tuple[Kept, ...]) -> dict[str, str]:
    """Return the keys of home directories whose volume of OpenZFS was retained."""
    root = home.attribute("RootVolumeId")
    (volume,) = (
        row
        for row in kept
        if row.type == "AWS::FSx::Volume" and row.properties["OpenZFSConfiguration"]["ParentVolumeId"] == root
    )
    return {
        "id": home.physical_id,
        "volume": volume.physical_id,
        "path": f"/fsx/{volume.properties['Name']}",
        "security-group": home.properties["SecurityGroupIds"][0],
    }
