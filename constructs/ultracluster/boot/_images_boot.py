"""Import of container images on a Slurm node, for all users of the cluster."""

from ultracluster.boot._node_files import PROGRAM, NodeBoot, NodeFile, program

# sudo passes no variable of the user: env_reset is its default, and the rule has no SETENV.
_SUDOERS = f"ALL ALL=(root) NOPASSWD: {PROGRAM}import-image\n"


def images_boot(shared: str) -> NodeBoot:
    """Return the program that imports an image once for all users, and the rule that lets them run it."""
    return NodeBoot(
        files=(
            program("import-image", in_place=True),
            NodeFile(path="/etc/ultracluster/images", text=f"{shared}\n"),
            # sudo refuses a file that others may write, and skips names with a dot.
            NodeFile(path="/etc/sudoers.d/ultracluster-images", text=_SUDOERS, mode="0440"),
        ),
        units=(),
    )
