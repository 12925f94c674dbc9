"""The build of an image in a real root file system, up to the installers of EFA, PCS agent and Slurm."""

import subprocess

from support.root_file_system import Machine, tarball
from support.root_file_system.publishers import World
from ultracluster.boot import scripts
from ultracluster.compute._image_pipeline import _versions

PACKAGES = ("mdadm", "nfs-common", "sssd-ldap", "xfsprogs")

# Of a driver, the version in the file; of other modules, whether they are there.
MODINFO = '#!/bin/sh\n[ "$1" = --field ] && exec cat /driver\ngrep -qx "$1" /modules\n'
PARAMETER = "/etc/modprobe.d/ultracluster-gpudirect.conf"


def build_image(
    machine: Machine, world: World, *, lustre: bool = True, **wrong: str
) -> subprocess.CompletedProcess[str]:
    """Run the build of an image on a machine with Ubuntu's name, with installers that report their arguments."""
    machine.write("/linux-aws.deb", world.server.files["/ubuntu/linux-aws_99.0.deb"])
    assert machine.run("dpkg", "--install", "/linux-aws.deb").returncode == 0
    machine.write("/etc/os-release", 'PRETTY_NAME="Ubuntu 24.04.5 LTS"\nID=ubuntu\nVERSION_ID="24.04"\n')
    # Modules of the parent's kernel.
    machine.write("/usr/local/sbin/modinfo", MODINFO, 0o755)
    machine.write("/modules", "lustre\nkefalnd\n" if lustre else "")
    pcs = "aws-pcs-slurm/aws-pcs-slurm-25.11-installer"
    installers = {
        "EFA": ("aws-efa-installer", "efa_installer.sh", "aws-efa-installer-1.50.0"),
        "AGENT": ("aws-pcs-agent", "installer.sh", "aws-pcs-agent/aws-pcs-agent-v1.5.1-1"),
        "SLURM": ("aws-pcs-slurm-25.11-installer", "installer.sh", f"{pcs}-25.11.8-1"),
    }
    versions = _versions("25.11")
    for name, (folder, program, path) in installers.items():
        report = f'#!/bin/sh\necho "$(basename "$PWD")/{program} $*" >>/calls\n'
        _, versions[f"{name}_SHA256"] = world.server.put(f"/{path}.tar.gz", tarball(folder, {program: report}))
    text = scripts.text("image-build.sh")
    for host in ("https://efa-installer.amazonaws.com", "https://aws-pcs-repo-$region.s3.$region.amazonaws.com"):
        assert host in text
        text = text.replace(host, world.server.url)
    machine.write("/image-build.sh", text, 0o755)
    return machine.run("/image-build.sh", "us-east-2", "25.11", **(versions | wrong))


def test_an_image_is_built_up_to_the_publishers_installers(machine: Machine, world: World) -> None:
    done = build_image(machine, world)
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.calls == [
        "systemctl stop apt-daily.timer apt-daily-upgrade.timer",
        "aws-efa-installer/efa_installer.sh --yes",
        "aws-pcs-agent/installer.sh ",
        "aws-pcs-slurm-25.11-installer/installer.sh -y",
    ]
    # Another kernel has neither the driver nor the Lustre client of the parent.
    assert machine.run("apt-mark", "showhold").stdout == "linux-aws\n"
    installed = machine.run("dpkg-query", "--show", "--showformat", "${Package}\n", *PACKAGES).stdout
    assert installed.split() == sorted(PACKAGES)
    # A newer EFA of the parent stays, and the log names the step that fails.
    machine.write("/opt/amazon/efa_installed_packages", "# EFA installer version: 1.50.0\n")
    machine.write("/calls", "")
    done = build_image(machine, world, SLURM_SHA256="0" * 64)
    assert done.returncode == 1
    assert not [call for call in machine.calls if "efa" in call or "slurm" in call]
    assert "image-build: http" in done.stdout
    assert "image-build: failed: sha256sum --check --strict" in done.stderr


def test_a_kernel_without_the_lustre_client_ends_the_build_by_its_name_before_anything_is_installed(
    machine: Machine, world: World
) -> None:
    done = build_image(machine, world, lustre=False)
    assert done.returncode == 1
    kernel = machine.run("uname", "-r").stdout.strip()
    assert f"The kernel {kernel} of the parent has no module lustre" in done.stderr
    assert (machine.calls, world.server.requests) == ([], [])


def test_a_driver_before_595_gets_the_parameter_for_efa_on_arm64(machine: Machine, world: World) -> None:
    machine.write(
        "/usr/local/sbin/uname", '#!/bin/sh\n[ "$1" = -m ] && echo aarch64 || exec /usr/bin/uname "$@"\n', 0o755
    )
    machine.write("/driver", "595.91.07\n")
    done = build_image(machine, world)
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.run("test", "-e", PARAMETER).returncode == 1
    machine.write("/driver", "580.173.02\n")
    assert build_image(machine, world).returncode == 0
    assert machine.run("cat", PARAMETER).stdout == "options nvidia NVreg_GrdmaPciTopoCheckOverride=1\n"
