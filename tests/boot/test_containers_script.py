"""The look at Enroot and Pyxis runs here in bash, on plugins that a compiler made."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ultracluster.boot import scripts

ETC = "etc/aws/pcs/scheduler/slurm-25.11/plugstack.conf.d"
PLUGIN = "usr/local/lib/slurm/spank_pyxis.so"


class Image:
    """A root directory with Slurm 25.11, and perhaps Enroot and Pyxis."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        for command in ("awk", "bash", "env", "grep", "mkdir", "mktemp", "mv", "python3", "rm", "sed", "timeout"):
            (self.bin / command).symlink_to(f"/usr/bin/{command}")
        self.script = root / "containers"
        self.script.write_text(scripts.text("containers.sh"))
        self.script.chmod(0o755)

    def with_enroot(self, text: str = "") -> None:
        for name, program in (("enroot", text), ("chown", ""), ("runuser", 'shift 3\nexec "$@"\n')):
            (self.bin / name).write_text(f"#!/bin/bash\n{program}")
            (self.bin / name).chmod(0o755)

    def with_pyxis(self, version: int | None) -> None:
        """A plugin that wants Slurm around it, as Pyxis does."""
        path = self.root / PLUGIN
        path.parent.mkdir(parents=True, exist_ok=True)
        named = "" if version is None else f"const unsigned int plugin_version = {version:#x};"
        source = (
            "const char plugin_name[] = 'pyxis'; extern int slurm_error(const char *); extern int spank_data;"
            f"{named} int slurm_spank_init(void) {{ return slurm_error(plugin_name) + spank_data; }}"
        ).replace("'", '"')
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path], input=source, text=True, check=True)
        (self.root / ETC).mkdir(parents=True, exist_ok=True)
        (self.root / ETC / "pyxis.conf").write_text(f"required /{PLUGIN}\n")

    def installed(self, item: str, result: str) -> None:
        """Result of the installation at boot."""
        path = self.root / "run/ultracluster/software" / item
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{result}\n")

    def look(self) -> tuple[int, str]:
        """Exit code, and the contents of the state, which the metric has too."""
        done = subprocess.run(
            [self.script, "--slurm", "25.11"],
            env={"PATH": str(self.bin), "ULTRACLUSTER_ROOT": str(self.root)},
            capture_output=True,
            text=True,
            timeout=180,
        )
        state = (self.root / "run/ultracluster/containers").read_text().strip()
        metric = (self.root / "run/ultracluster/software/containers").read_text().strip()
        assert metric == (f"ok: {state}" if state.startswith("none") else state)
        return done.returncode, state


@pytest.fixture
def image(tmp_path: Path) -> Image:
    return Image(tmp_path)


def test_pyxis_for_this_slurm_and_enroot_are_well(image: Image) -> None:
    image.with_enroot()
    image.with_pyxis(0x190B02)
    assert image.look() == (0, "ok")
    assert (image.root / ETC / "pyxis.conf").read_text() == f"required /{PLUGIN}\n"


@pytest.mark.parametrize("code", [0, 1], ids=["GPUs", "no GPU"])
def test_the_modules_of_the_driver_are_loaded_for_users(image: Image, code: int) -> None:
    """The option is of the command itself: after `info` it is refused."""
    image.with_enroot()
    image.with_pyxis(0x190B02)
    loaded = image.root / "loaded"
    program = image.bin / "nvidia-container-cli"
    program.write_text(f'#!/bin/bash\n[ "$*" = "--load-kmods info" ] || exit 2\necho yes >{loaded}\nexit {code}\n')
    program.chmod(0o755)
    assert image.look() == (0, "ok")
    assert loaded.exists()


def test_an_enroot_that_runs_for_root_only_is_reported(image: Image) -> None:
    image.with_enroot("echo \"mkdir: cannot create directory '/run/enroot': Permission denied\" >&2\nexit 1\n")
    image.with_pyxis(0x190B02)
    assert image.look() == (
        1,
        "failed: Enroot does not run for users, who need paths of their own in enroot.conf: mkdir: cannot create "
        "directory '/run/enroot': Permission denied",
    )


@pytest.mark.parametrize(("number", "version"), [(0x190503, "25.05"), (0x1A0500, "26.05")])
def test_pyxis_for_another_slurm_is_taken_out_before_it_stops_slurmd(image: Image, number: int, version: str) -> None:
    image.with_enroot()
    image.with_pyxis(number)
    result = f"failed: Pyxis is built for Slurm {version}, and this node runs 25.11: rebuild it in the image"
    assert image.look() == (1, result)
    assert (image.root / ETC / "pyxis.conf").read_text() == f"# required /{PLUGIN}\n"
    # As at the next boot: /run is empty, and the plugin is no longer in Slurm's list.
    shutil.rmtree(image.root / "run")
    assert image.look() == (1, result)
    (image.root / PLUGIN).unlink()
    image.with_pyxis(0x190B02)
    assert image.look() == (0, "ok")
    (image.root / ETC / "pyxis.conf").unlink()
    assert image.look()[1].startswith("none: Enroot is there")


def test_a_link_into_the_image_is_removed_and_what_it_shows_stays(image: Image) -> None:
    image.with_enroot()
    image.with_pyxis(0x190503)
    kept = image.root / "usr/local/share/pyxis.conf"
    kept.parent.mkdir(parents=True)
    (image.root / ETC / "pyxis.conf").rename(kept)
    (image.root / ETC / "pyxis.conf").symlink_to(kept)
    assert image.look()[0] == 1
    assert list((image.root / ETC).iterdir()) == []
    assert kept.read_text() == f"required /{PLUGIN}\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_plugin_that_slurmd_cannot_load_is_taken_out(image: Image, there: bool) -> None:
    """Such as one of an installation that its time limit ended."""
    image.with_enroot()
    image.with_pyxis(None)
    if not there:
        (image.root / PLUGIN).unlink()
    reason = f"failed: /{PLUGIN} is not there, or does not name the Slurm that it is built for"
    assert image.look() == (1, reason)
    assert (image.root / ETC / "pyxis.conf").read_text() == f"# required /{PLUGIN}\n"


def test_an_image_without_containers_is_no_failure(image: Image) -> None:
    image.installed("node_exporter", "failed: no space left on device")
    assert image.look() == (0, "none: the image has neither Enroot nor Pyxis")


def test_an_installation_that_failed_is_reported_to_the_gate_of_jobs(image: Image) -> None:
    """Without Pyxis, slurmstepd starts the tasks of `srun --container-image` outside the container."""
    image.with_enroot()
    image.installed("enroot", "ok: installed")
    image.installed("pyxis", "failed: no time is left for make")
    assert image.look() == (1, "failed: pyxis could not be installed: no time is left for make")
    image.installed("pyxis", "ok: installed")
    image.with_pyxis(0x190B02)
    assert image.look() == (0, "ok")


def test_reports_pyxis_without_enroot(image: Image) -> None:
    image.with_pyxis(0x190B00)
    assert image.look() == (1, "failed: Pyxis is there, and Enroot is not: put it into the image")


@pytest.mark.parametrize("arguments", [[], ["--slurm"], ["--slurm", "25"], ["--slurm", "25.11; reboot"]])
def test_wrong_usage_touches_nothing(image: Image, arguments: list[str]) -> None:
    done = subprocess.run(
        [image.script, *arguments], env={"PATH": str(image.bin), "ULTRACLUSTER_ROOT": str(image.root)}, check=False
    )
    assert done.returncode == 2
    assert not (image.root / "run").exists()
