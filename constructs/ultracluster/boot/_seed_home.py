"""The home of the image's own user, where shared home directories hide it."""

from ultracluster.boot._node_files import PROGRAM, NodeBoot, oneshot, program, unit_file

#: Where images have the homes of their users.
IMAGE_HOMES = "/home"
_UNIT_NAME = "ultracluster-seed-home.service"
# A node without this user takes jobs all the same: no failure of the unit is one of the boot.
_UNIT = oneshot(
    "Home and SSH keys of the image's own user",
    unit=("After=remote-fs.target",),
    service=(f"ExecStart=-{PROGRAM}seed-home {IMAGE_HOMES}", "TimeoutStartSec=3min"),
)


def seed_home_boot() -> NodeBoot:
    """Return the files and the unit that keep the image's own user where `/home` is shared.

    The unit follows the clients of the mounts.
    """
    files = (program("seed-home", comments=False), unit_file(_UNIT_NAME, _UNIT))
    return NodeBoot(files=files, units=(_UNIT_NAME,))
