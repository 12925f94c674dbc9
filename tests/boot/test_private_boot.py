"""Programs of nodes without internet access: none names a host outside AWS, or needs a package of one."""

import re

import pytest

from support.boot_scripts import boots, software
from support.clusterfile_data import bent, private_with_directory
from ultracluster import clusterfile
from ultracluster.boot import scripts

# With a directory, home directories, replacement of bad nodes, and local disks.
PRIVATE = clusterfile.loads(private_with_directory(), "c.yaml")
INSTALLERS = ("apt-get", "dnf", "pip ", "pip3 ", "git clone", "wget", "docker pull")
#: The metadata service, and the node itself.
LOCAL = {"169.254.169.254", "127.0.0.1", "localhost"}


@pytest.fixture(scope="module")
def programs() -> dict[str, str]:
    """Every file of every node, those in S3 included, without comments."""
    files = {path: text for of_group, _ in boots(PRIVATE).values() for path, text in of_group.items()}
    kept = {
        path: [line for line in text.splitlines() if not line.lstrip().startswith("#")] for path, text in files.items()
    }
    return {path: "\n".join(lines) for path, lines in kept.items()}


def test_no_address_is_outside_aws(programs: dict[str, str]) -> None:
    named = {
        (path, host)
        for path, text in programs.items()
        for host in re.findall(r"\b(?:https?|git|ftp)://([A-Za-z0-9.-]+)", text)
        if host not in LOCAL
    }
    assert named == set()
    assert [path for path, text in programs.items() if "http://169.254.169.254" in text], "addresses are found"


def test_nothing_is_installed_before_the_boot() -> None:
    assert software(PRIVATE) == {}


def test_packages_that_a_program_installs_are_in_a_built_image(programs: dict[str, str]) -> None:
    """Programs install what an image lacks, so that an image of this project must not lack it."""
    build = scripts.text("image-build.sh")
    (line,) = re.findall(r"^apt install --no-install-recommends (.+)$", build, re.MULTILINE)
    built = set(line.split())
    installing = {
        path.rpartition("/ultracluster-")[2]: text
        for path, text in programs.items()
        if any(word in text for word in INSTALLERS)
    }
    assert installing.keys() == {"local-scratch", "nfs-client", "directory"}
    wanted = {
        *re.findall(r"^ *need \S+ (\S+)$", installing["local-scratch"], re.MULTILINE),
        *(
            package
            for name in ("nfs-client", "directory")
            for packages in re.findall(r"with_apt install --no-install-recommends ([a-z -]+)", installing[name])
            for package in packages.split()
        ),
    }
    assert wanted == {"xfsprogs", "mdadm", "nfs-common", "sssd-ldap", "sssd-tools", "libnss-sss", "libpam-sss"}
    assert wanted <= built


def test_the_image_of_aws_needs_a_mirror_that_the_file_has_to_accept() -> None:
    private = bent("accept: {", "accept: {private-image: a mirror, ", private_with_directory())
    accepted = clusterfile.loads(bent(", image: ami-0123456789abcdef0", "", private), "c.yaml")
    (arguments,) = software(accepted).values()
    assert arguments[6:8] == ["--internet", "no"]
