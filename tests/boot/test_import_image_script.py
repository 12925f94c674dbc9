"""The import of a container image for all users, in bash, with a stand-in for Enroot."""

import os
import subprocess
from pathlib import Path

import pytest

from support import ROOT
from ultracluster.boot import images_boot, scripts

IMAGE = "docker://public.ecr.aws#hpc-cloud/nccl-tests:2.18"
FILE = "public.ecr.aws%hpc-cloud+nccl-tests=2.18-aarch64.sqsh"


class Cluster:
    """A file system that root shares with all users, and a node."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.shared = directory / "fsx"
        self.bin = directory / "bin"
        for created in (self.shared, self.bin):
            created.mkdir()
        self.shared.chmod(0o1777)
        for file in images_boot("/fsx").files:
            path = directory / file.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
        self.provide("enroot", (ROOT / "tests/support/real_slurm/enroot.sh").read_text())
        self.provide("import-image", scripts.text("import-image.sh"))

    def provide(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def run(self, *arguments: str, root: bool = True) -> subprocess.CompletedProcess[str]:
        """Run it as root: of this machine, or of a user namespace."""
        environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "ULTRACLUSTER_ROOT": str(self.directory),
            "ULTRACLUSTER_IMPORTER": "root",
            "ENROOT_LOG": str(self.directory / "imports"),
        }
        command = ["unshare", "--map-root-user"] if root and os.getuid() else []
        command += [str(self.bin / "import-image"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def imports(self) -> list[str]:
        log = self.directory / "imports"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def test_an_image_is_imported_once_and_only_root_can_write_it(cluster: Cluster) -> None:
    for _ in range(2):
        done = cluster.run("--arch", "aarch64", IMAGE)
        assert (done.returncode, done.stdout) == (0, f"{cluster.shared}/containers/{FILE}\n"), done.stderr
    assert cluster.imports() == [IMAGE]
    containers = cluster.shared / "containers"
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (containers, containers / FILE)}
    assert modes == {"containers": 0o755, FILE: 0o444}
    assert not [*(containers / ".parts").iterdir()]
    assert (containers / ".locks").stat().st_mode & 0o777 == 0o700, "nobody else can hold a lock"


def test_images_whose_names_differ_by_a_separator_have_files_of_their_own(cluster: Cluster) -> None:
    names = ("nvidia#pytorch:1", "nvidia/pytorch:1", "nvidia/pytorch#x:1")
    assert len({cluster.run(name).stdout for name in names}) == len(names)


def test_a_failed_import_leaves_nothing_and_a_later_one_removes_what_a_killed_one_left(cluster: Cluster) -> None:
    (cluster.directory / "imports.fail").touch()
    done = cluster.run("--arch", "aarch64", IMAGE)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"import-image: cannot import {IMAGE}")
    parts = cluster.shared / "containers/.parts"
    assert not [*parts.iterdir()]
    (parts / FILE).mkdir()
    (parts / FILE / "image.sqsh").write_text("hs")
    (cluster.directory / "imports.fail").unlink()
    assert cluster.run("--arch", "aarch64", IMAGE).returncode == 0


def test_what_is_no_squashfs_is_not_published(cluster: Cluster) -> None:
    cluster.provide("enroot", '#!/bin/bash\nwhile [ "$1" != --output ]; do shift; done\necho html >"$2"\n')
    assert cluster.run(IMAGE).returncode == 1
    assert not [*(cluster.shared / "containers").glob("*.sqsh")]


@pytest.mark.parametrize("case", ["shared without sticky", "writable", "link", "owner"])
def test_refuses_a_directory_in_which_others_could_replace_an_image(cluster: Cluster, case: str) -> None:
    containers = cluster.shared / "containers"
    if case == "shared without sticky":
        cluster.shared.chmod(0o777)
    elif case == "writable":
        containers.mkdir()
        containers.chmod(0o777)
    elif case == "link":
        (cluster.directory / "elsewhere").mkdir()
        containers.symlink_to(cluster.directory / "elsewhere")
    else:
        cluster.provide("stat", "#!/bin/sh\ncase $3 in *containers) echo 1001 755 ;; *) echo 0 1777 ;; esac\n")
    done = cluster.run(IMAGE)
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert cluster.imports() == []


@pytest.mark.parametrize(
    "arguments",
    [
        *([], [IMAGE, IMAGE], ["--arch", "riscv64", IMAGE], ["--output=/etc/passwd"], ["../../etc/x"]),
        *(["ana@registry.io#image:1"], ["registry.io#Bad:1"], ["image:1 --help"], ["dockerd://image"], ["a" * 201]),
    ],
)
def test_refuses_what_is_no_public_image(cluster: Cluster, arguments: list[str]) -> None:
    assert cluster.run(*arguments).returncode == 2
    assert cluster.imports() == []


def test_the_rule_of_sudo_names_the_program_and_no_variables(cluster: Cluster) -> None:
    rule = next(file for file in images_boot("/fsx").files if "sudoers" in file.path)
    assert rule.mode == "0440"
    assert "." not in rule.path.rpartition("/")[2], "sudo skips such a file"
    assert rule.text == "ALL ALL=(root) NOPASSWD: /usr/local/sbin/ultracluster-import-image\n"
    assert not any("SETENV" in file.text or "env_keep" in file.text for file in images_boot("/fsx").files)


def test_layers_of_other_users_are_not_taken(cluster: Cluster) -> None:
    """Enroot takes a layer that is in its cache without a look at its owner or checksum."""
    cluster.provide(
        "enroot",
        '#!/bin/bash\nmkdir -p "$ENROOT_CACHE_PATH"\n'
        '(env | grep ENROOT_; stat -c %a "${ENROOT_CACHE_PATH%/*}") >"${0%/*}/environment"\n'
        'while [ "$1" != --output ]; do shift; done\nprintf hsqs >"$2"\n',
    )
    assert cluster.run(IMAGE).returncode == 0
    *_, mode = lines = (cluster.bin / "environment").read_text().splitlines()
    work = cluster.shared / "containers/.parts"
    for name in ("CACHE", "DATA", "RUNTIME"):
        assert any(line.startswith(f"ENROOT_{name}_PATH={work}/") for line in lines), lines
    assert mode == "700"
