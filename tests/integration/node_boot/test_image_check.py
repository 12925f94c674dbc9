"""The check of an image in a real root file system: with what the installation left there, and with all broken."""

import re

import pytest

from support.root_file_system import Machine
from support.root_file_system.image import AGENT, TOOLS, VERSIONS, check, complete
from support.root_file_system.publishers import HOME, SLURM, World, install
from ultracluster.boot import scripts
from ultracluster.catalogue.ec2 import image_software as software

SCRIPT = scripts.text("image-check.sh")
TOOL = "configure-efa-fsx-lustre-client"
OWN = "/opt/ultracluster"
#: Names of all checks, with the versions in them.
NAMES = [
    re.sub(r"\$\{?([A-Za-z_]+)(%-\*)?\}?", lambda name: (VERSIONS | {"slurm": SLURM})[name[1]].removesuffix("-1"), name)
    for name in re.findall(r'^(?:if .*)?\bcheck "([^"]+)"', SCRIPT, re.MULTILINE)
]


@pytest.fixture(scope="module")
def image(world: World, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """An image that has all."""
    machine = world.machine(tmp_path_factory.mktemp("image") / "machine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(software, "ARTEFACTS", world.artefacts)
        done = install(machine, "chrony", "enroot", "pyxis", "dcgm-exporter", "lustre-efa-tool")
    assert done.returncode == 0, done.stdout
    machine.write("/image-check.sh", SCRIPT, 0o755)
    complete(machine)
    return machine


def test_an_image_that_has_all_passes(image: Machine) -> None:
    assert check(image) == (0, [])


def test_a_driver_that_is_too_new_for_efa_fails_and_an_older_one_needs_its_parameter(image: Machine) -> None:
    alone = re.sub(r'^(?:if .*)?check "(?!NVIDIA driver).*\n', "", SCRIPT, flags=re.MULTILINE)
    assert len(re.findall('^check "', alone, re.MULTILINE)) == 1
    image.write("/driver-check.sh", alone)
    failed = ["FAILED: NVIDIA driver 580 or newer, for this kernel"]
    assert check(image, "/driver-check.sh", DRIVER_BELOW="595") == (1, failed)
    image.write("/etc/modprobe.d/gpudirect.conf", "options nvidia NVreg_GrdmaPciTopoCheckOverride=1\n")
    assert check(image, "/driver-check.sh", DRIVER_BELOW="595") == (0, [])
    assert check(image, "/driver-check.sh", DRIVER_BELOW="580") == (1, failed)


#: Programs that are there and print a version, and do not do their work; what each is broken like.
BROKEN = {
    # No module for this kernel.
    f"{TOOLS}modprobe": "#!/bin/sh\necho 'modprobe: FATAL: Module not found' >&2\nexit 1\n",
    f"{TOOLS}mdadm": "#!/bin/sh\necho 'mdadm: RUN_ARRAY failed: Invalid argument' >&2\nexit 1\n",
    f"{TOOLS}nvidia-container-cli": "#!/bin/sh\necho 'load library failed: libnvidia-ml.so.1' >&2\nexit 1\n",
    f"{OWN}/{TOOL}/bin/{TOOL}.py": "raise SystemExit('Error: too old')\n",
    AGENT: "#!/bin/sh\necho Configuration validation second phase failed\nexit 1\n",
    f"{TOOLS}chronyd": "#!/bin/sh\necho Timeout reached\nexit 1\n",
    "/opt/aws/pcs/version": "AGENT_VERSION='1.4.0'\n",
    f"{HOME}/version": "SLURM_VERSION='25.11.2'\n",
    # Of another Slurm: srun refuses to start.
    f"{HOME}/lib/slurm/spank_pyxis.so": "no plugin",
    # It creates containers, and they do not start.
    "/usr/bin/enroot": "#!/bin/sh\n[ $1 = start ] || echo 4.1.2\n",
    f"{TOOLS}dcgmi": "#!/bin/sh\necho 'Error: unable to establish a connection to the specified host: localhost'\n",
    f"{TOOLS}dpkg-query": "#!/bin/sh\ncase $4 in *-exporter) echo 4.9.0-1 ;; *) echo 1:4.5.3-1 ;; esac\n",
    f"{OWN}/bin/dcgm-exporter": "#!/bin/sh\necho libdcgm.so.4 library was not found\nexit 1\n",
    f"{OWN}/bin/node_exporter": "#!/bin/sh\necho node_exporter, version 1.12.1\n",
    f"{TOOLS}systemctl": "#!/bin/sh\necho disabled\nexit 1\n",
}


def test_each_program_that_does_not_work_is_named(image: Machine) -> None:
    for path, text in BROKEN.items():
        image.write(path, text, 0o755)
    # Debian's Prometheus, version 2.42, signs nothing: AWS would refuse every sample of every node.
    image.run("ln", "-sf", "/usr/bin/prometheus", f"{OWN}/bin/prometheus")
    image.run("rm", "/usr/local/lib/libcuda.so.1")
    code, failures = check(image)
    assert code == 1
    assert failures == [f"FAILED: {name}" for name in NAMES]
