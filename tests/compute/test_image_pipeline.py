"""The pipeline for images, as a template; its check runs here in bash."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from support.strict_process import StrictProcess
from support.template_lint import problems
from ultracluster import compute
from ultracluster.boot import scripts
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.catalogue.schedulers import pcs
from ultracluster.compute._image_pipeline import _versions
from ultracluster.monitoring.collectors import _node as collectors
from ultracluster.planning import as_list

# "data: Maximum length of 16000": https://docs.aws.amazon.com/imagebuilder/latest/APIReference/API_CreateComponent.html
# (read 2026-11-21)
DATA_LIMIT = 16_000


def build(stack: cdk.Stack, **given: Any) -> compute.ImagePipeline:
    vpc = ec2.Vpc(stack, "Vpc")
    group = ec2.SecurityGroup(stack, "Builders", vpc=vpc)
    given = {"architecture": "x86_64"} | given
    return compute.ImagePipeline(stack, "Images", subnet=vpc.private_subnets[0], security_groups=[group], **given)


def properties(stack: cdk.Stack, kind: str) -> list[dict[str, Any]]:
    resources = Template.from_stack(stack).find_resources(f"AWS::ImageBuilder::{kind}")
    return [resource["Properties"] for resource in resources.values()]


def documents(stack: cdk.Stack) -> list[dict[str, Any]]:
    return [json.loads(component["Data"]) for component in properties(stack, "Component")]


@pytest.mark.parametrize("architecture", ["x86_64", "arm64"])
def test_each_architecture_is_built_on_its_own(stack: cdk.Stack, architecture: str) -> None:
    build(stack, architecture=architecture)
    (recipe,) = properties(stack, "ImageRecipe")
    assert f"/{architecture}/" in recipe["ParentImage"]
    (infrastructure,) = properties(stack, "InfrastructureConfiguration")
    assert infrastructure["InstanceTypes"] == [{"x86_64": "c7i.4xlarge", "arm64": "c7g.4xlarge"}[architecture]]
    assert infrastructure["InstanceMetadataOptions"]["HttpTokens"] == "required"
    assert recipe["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True


def test_a_component_is_as_long_as_image_builder_takes(stack: cdk.Stack) -> None:
    build(stack)
    assert max(len(component["Data"]) for component in properties(stack, "Component")) <= DATA_LIMIT


def test_its_scripts_hold_no_word_of_image_builder(stack: cdk.Stack) -> None:
    build(stack)
    for document in documents(stack):
        # {{ ... }} would be replaced before bash sees it.
        assert "{{" not in json.dumps(document)


def test_commands_are_bash_with_every_version_they_use(stack: cdk.Stack) -> None:
    build(stack)
    for document in documents(stack):
        (command,) = document["phases"][0]["steps"][0]["inputs"]["commands"]
        subprocess.run(["bash", "-n"], input=command, text=True, check=True)
        used = set(re.findall(r"\$\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)", command)) - {"ULTRACLUSTER_ROOT"}
        assert used <= set(re.findall(r"^export ([A-Z0-9_]+)=", command, re.MULTILINE))
        assert used


def test_nothing_is_downloaded_that_could_be_another_tomorrow() -> None:
    text = scripts.text("image-build.sh")
    assert "latest" not in "".join(line for line in text.splitlines() if not line.startswith("#"))
    assert text.count("curl ") == text.count("    curl ") + text.count(" curl fuse") == 2
    assert "sha256sum --check --strict" in text
    by_architecture = (software.PROMETHEUS, software.NODE_EXPORTER, software.CUDA_KEYRING)
    for table in by_architecture:
        assert len({release.sha256 for release in table.values()}) == len(table) == 2
        assert len({release.version for release in table.values()}) == 1
    downloads = (release for table in (software.SLURM, *by_architecture) for release in table.values())
    for release in (software.PCS_AGENT, software.EFA, *downloads):
        assert re.fullmatch(r"[0-9a-f]{64}", release.sha256)
    for source in (software.ENROOT, software.PYXIS):
        assert re.fullmatch(r"[0-9a-f]{40}", source.commit)


def test_another_content_is_another_name_for_components_and_recipes_never_change() -> None:
    names = []
    for version in ("25.11", "25.11", "25.05"):
        stack = cdk.Stack(cdk.App(), "Stack")
        build(stack, slurm_version=version)
        parts = (*properties(stack, "Component"), *properties(stack, "ImageRecipe"))
        names.append({part["Name"] for part in parts})
    assert names[0] == names[1]
    assert not names[0] & names[2]


def test_uses_a_given_parent(stack: cdk.Stack) -> None:
    build(stack, parent=compute.Image(id="ami-0123456789abcdef0"), schedule="cron(0 0 ? * sun *)")
    assert properties(stack, "ImageRecipe")[0]["ParentImage"] == "ami-0123456789abcdef0"
    assert properties(stack, "ImagePipeline")[0]["Schedule"]["ScheduleExpression"] == "cron(0 0 ? * sun *)"


def test_without_a_schedule_nothing_is_built_by_itself(stack: cdk.Stack) -> None:
    build(stack)
    assert "Schedule" not in properties(stack, "ImagePipeline")[0]


def test_refuses_a_slurm_without_installer_and_a_parent_of_another_architecture(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"installers for Slurm 25\.05, 25\.11, got '26\.05'"):
        build(stack, slurm_version="26.05")
    other = cdk.Stack(cdk.App(), "Other")
    with pytest.raises(ValueError, match="the parent is for arm64, not for x86_64"):
        build(other, parent=compute.newest_image("dlami", "arm64"))


def test_every_slurm_with_an_installer_is_one_that_pcs_runs() -> None:
    assert set(software.SLURM) <= set(pcs.SLURM_VERSIONS)
    assert pcs.DEFAULT_SLURM_VERSION in software.SLURM


# What Prometheus' agent does with its configuration, as far as the check sees it: a request, signed or not.
AGENT = f"""\
#!{sys.executable}
import re, sys, urllib.request

if sys.argv[1] == "--version":
    sys.exit(print("prometheus, version 3.13.2"))
config = dict(argument.lstrip("-").split("=", 1) for argument in sys.argv[1:] if "=" in argument)["config.file"]
text = open(config).read()
url = re.search('url: "(http[^"]+)"', text)[1]
key, region = re.search("access_key: ([A-Z]+)", text)[1], re.search("region: ([a-z0-9-]+)", text)[1]
signature = f"AWS4-HMAC-SHA256 Credential={{key}}/20261122/{{region}}/aps/aws4_request, Signature=00"
urllib.request.urlopen(urllib.request.Request(url, b"samples", {{"Authorization": signature}}))
"""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image that has all."""
    versions = _versions("25.11", "x86_64")
    files = {
        "opt/amazon/efa_installed_packages": f"# EFA installer version: {versions['EFA_VERSION']}\n",
        "opt/aws/pcs/version": "AGENT_VERSION='1.5.1'\nAGENT_RELEASE='1'\n",
        "opt/aws/pcs/scheduler/slurm-25.11/version": "SLURM_VERSION='25.11.8'\n",
        "opt/aws/pcs/scheduler/slurm-25.11/lib/slurm/spank_pyxis.so": "elf",
        "etc/aws/pcs/scheduler/slurm-25.11/plugstack.conf.d/pyxis.conf": "required /x/spank_pyxis.so\n",
        "bin/modinfo": '#!/bin/sh\n[ "$1" = --field ] && echo 580.95.05 || echo filename: x\n',
        "bin/enroot": "#!/bin/sh\necho 4.1.2\n",
        "bin/dcgmi": "#!/bin/sh\n",
        "bin/chronyc": "#!/bin/sh\n",
        "etc/chrony/sources.d/amazon-time-sync.sources": "server 169.254.169.123 prefer iburst\n",
        **{f"opt/ultracluster/bin/{name}": "#!/bin/sh\n" for name in ("node_exporter", "dcgm-exporter")},
        "opt/ultracluster/bin/prometheus": AGENT,
        "bin/python3": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
        "bin/mount.nfs4": "#!/bin/sh\n",
        "bin/systemctl": "#!/bin/sh\ncase $2 in nvidia-imex.*) echo enabled ;; *) echo masked; exit 1 ;; esac\n",
        "bin/dpkg-query": "#!/bin/sh\ncase $4 in *-exporter) echo 4.8.2-1 ;; *) echo 1:4.5.3-1 ;; esac\n",
        "bin/uname": "#!/bin/sh\necho aarch64\n",
        "check": scripts.text("image-check.sh"),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    return tmp_path


def check(image: Path) -> tuple[int, str]:
    environment = _versions("25.11", "x86_64") | {
        "PATH": f"{image / 'bin'}:/usr/bin:/bin",
        "ULTRACLUSTER_ROOT": str(image),
    }
    done = subprocess.run([image / "check", "25.11"], env=environment, capture_output=True, text=True, timeout=180)
    return done.returncode, "".join(line for line in done.stdout.splitlines(True) if line.startswith("FAILED"))


@pytest.mark.parametrize("efa", ["1.49.0", "1.50.0", "2.0.0"])
def test_an_image_that_has_all_passes(image: Path, efa: str) -> None:
    (image / "opt/amazon/efa_installed_packages").write_text(f"# EFA installer version: {efa}\n# Debug packages: no\n")
    assert check(image) == (0, "")


@pytest.mark.parametrize(
    ("path", "text", "missing"),
    [
        ("bin/modinfo", "#!/bin/sh\necho 570.1\n", "NVIDIA driver 580 or newer"),
        ("bin/modinfo", "#!/bin/sh\n[ $1 != lustre ] && echo 580.1\n", "Lustre client"),
        ("etc/chrony/sources.d/amazon-time-sync.sources", "", "chrony, with Amazon's time"),
        ("bin/enroot", "#!/bin/sh\necho 3.5.0\n", "Enroot 4.1.2"),
        ("opt/aws/pcs/version", "AGENT_VERSION='1.4.0'\n", "PCS agent 1.5.1"),
        ("opt/aws/pcs/scheduler/slurm-25.11/version", "SLURM_VERSION='25.11.2'\n", "Slurm 25.11.8"),
        ("opt/aws/pcs/scheduler/slurm-25.11/lib/slurm/spank_pyxis.so", "", "Pyxis"),
        ("opt/amazon/efa_installed_packages", "# EFA installer version: 1.30.0\n", "EFA installer 1.49.0 or newer"),
        ("opt/amazon/efa_installed_packages", "", "EFA installer 1.49.0 or newer"),
        ("bin/systemctl", '#!/bin/sh\n[ "$2" != nvidia-imex.service ] || exit 1\necho masked\n', "IMEX"),
        (
            "bin/dpkg-query",
            "#!/bin/sh\ncase $4 in *-exporter) echo 4.9.0-1 ;; *) echo 1:4.5.3-1 ;; esac\n",
            "dcgm-exporter 4.8.2",
        ),
        (
            "bin/dpkg-query",
            "#!/bin/sh\ncase $4 in *-exporter) echo 4.8.2-1 ;; *-proprietary) exit 1 ;; *) echo 1:4.5.3-1 ;; esac\n",
            "DCGM 4.5.3, proprietary",
        ),
        (
            "bin/systemctl",
            "#!/bin/sh\ncase $2 in nvidia-dcgm-exporter.*|*imex*) echo enabled ;; *) echo masked; exit 1 ;; esac\n",
            "nvidia-dcgm-exporter.service leaves its port to the node's own unit",
        ),
    ],
)
def test_an_image_that_lacks_something_is_not_made(image: Path, path: str, text: str, missing: str) -> None:
    (image / path).write_text(text)
    assert check(image) == (1, f"FAILED: {missing}\n")


@pytest.mark.parametrize("program", ["prometheus", "node_exporter", "dcgm-exporter"])
@pytest.mark.parametrize("broken", ["missing", "dangling", "of another architecture"])
def test_an_image_that_cannot_collect_metrics_is_not_made(image: Path, program: str, broken: str) -> None:
    path = image / "opt" / "ultracluster" / "bin" / program
    if broken == "of another architecture":
        # The head of an ELF file, and nothing behind it.
        path.write_bytes(b"\x7fELF\x02\x01\x01\x00")
    else:
        path.unlink()
    if broken == "dangling":
        path.symlink_to(image / "usr" / "bin" / program)
    more = "FAILED: prometheus signs remote_write\n" if program == "prometheus" else ""
    assert check(image) == (1, f"FAILED: {program}\n{more}")


def test_debians_prometheus_which_does_not_sign_makes_no_image(image: Path) -> None:
    """The real one of Debian 12, version 2.42: AWS would refuse every sample of every node."""
    program = image / "opt/ultracluster/bin/prometheus"
    program.unlink()
    program.symlink_to(str(shutil.which("prometheus")))
    assert check(image) == (1, "FAILED: prometheus signs remote_write\n")


def test_images_have_the_exporter_that_nodes_of_kubernetes_run_and_the_dcgm_it_was_made_with() -> None:
    assert f"{software.DCGM.removeprefix('1:')}-{software.DCGM_EXPORTER}" == collectors.DCGM_EXPORTER
    assert {release.version for release in software.PROMETHEUS.values()} == {collectors.PROMETHEUS}
    assert {release.version for release in software.NODE_EXPORTER.values()} == {collectors.NODE_EXPORTER}


def dcgm_of(parent: str, repository: str) -> subprocess.CompletedProcess[str]:
    """Run the DCGM step of the build with these packages of the parent and versions of the repository."""
    text = scripts.text("image-build.sh")
    part = text[text.index("mapfile -t theirs") : text.index("systemctl enable nvidia-dcgm")]
    stand_ins = f"""
        apt() {{ echo "$*"; }}
        dpkg-query() {{ printf '%b' '{parent}'; }}
        apt-cache() {{ echo 'datacenter-gpu-manager-4-core | {repository} | https://example.com'; }}
    """
    return subprocess.run(
        ["bash", "-euc", stand_ins + part], env=_versions("25.11", "x86_64"), capture_output=True, text=True
    )


def test_every_package_of_dcgm_is_named_with_its_version_for_apt_takes_the_newest_of_the_others() -> None:
    done = dcgm_of("", "1:4.7.0-1 1:4.5.3-1")
    assert done.returncode == 0, done.stderr
    (install,) = done.stdout.splitlines()
    assert {package for package in install.split() if package.startswith("datacenter")} == {
        "datacenter-gpu-manager-4-core=1:4.5.3*",
        "datacenter-gpu-manager-4-cuda13=1:4.5.3*",
        "datacenter-gpu-manager-4-proprietary=1:4.5.3*",
        "datacenter-gpu-manager-4-proprietary-cuda13=1:4.5.3*",
        "datacenter-gpu-manager-exporter=4.8.2*",
    }


def test_the_dcgm_of_the_parent_goes_first() -> None:
    versions = (
        "datacenter-gpu-manager-4-core",
        "datacenter-gpu-manager-4-cuda12",
        "datacenter-gpu-manager-4-cuda13-cublas",
    )
    done = dcgm_of("".join(f"{version}\\n" for version in versions), "1:4.5.3-1")
    assert done.stdout.splitlines()[0] == f"purge --allow-change-held-packages {' '.join(versions)}"


def test_reports_a_parent_without_the_repository_of_nvidia() -> None:
    done = dcgm_of("", "1:4.7.0-1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "have no DCGM 1:4.5.3: it needs NVIDIA's own for Ubuntu" in done.stderr


def test_a_deployment_builds_another_image_for_another_content_only() -> None:
    """As another resource: the old image stays until the lifecycle policy deletes it."""
    ids = []
    for version in ("25.11", "25.11", "25.05"):
        stack = cdk.Stack(cdk.App(), "Stack")
        image = build(stack, slurm_version=version).add_image()
        assert (image.known_architecture, image.moves) == ("x86_64", False)
        ((id, resource),) = Template.from_stack(stack).find_resources("AWS::ImageBuilder::Image").items()
        assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
        assert resource["UpdateReplacePolicy"] == "Retain"
        assert stack.resolve(image.id) == {"Fn::GetAtt": [id, "ImageId"]}
        ids.append(id)
    assert ids[0] == ids[1] != ids[2]


def test_images_that_nodes_may_need_are_not_deleted(stack: cdk.Stack) -> None:
    build(stack).add_image()
    (image,), (policy,) = properties(stack, "Image"), properties(stack, "LifecyclePolicy")
    assert policy["ResourceSelection"]["TagMap"] == image["Tags"]
    (detail,) = policy["PolicyDetails"]
    assert detail["Filter"] == {"Type": "AGE", "Value": 30, "Unit": "DAYS", "RetainAtLeast": 2}
    assert detail["ExclusionRules"]["Amis"]["LastLaunched"] == {"Unit": "DAYS", "Value": 180}


def test_a_builder_reads_its_own_components_and_writes_its_own_logs(stack: cdk.Stack) -> None:
    build(stack)
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    (role,) = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    assert "ManagedPolicyArns" not in role["Properties"]
    allowed = {action: statement["Resource"] for statement in statements for action in as_list(statement["Action"])}
    assert [component["Fn::GetAtt"][1] for component in allowed["imagebuilder:GetComponent"]] == ["Arn", "Arn"]
    assert "/aws/imagebuilder/" in json.dumps(allowed["logs:PutLogEvents"])
    assert "ssm:GetParameter" not in allowed
    (group,) = Template.from_stack(stack).find_resources("AWS::Logs::LogGroup").values()
    assert group["Properties"]["RetentionInDays"] == 90


def test_pipelines_pass_every_check(tmp_path: Path, strict: StrictProcess) -> None:
    assert strict.synthesise(tmp_path, ["images"]) == ""
    (path,) = tmp_path.glob("*.template.json")
    assert problems(path.read_text()) == []
