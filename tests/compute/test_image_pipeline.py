"""The pipeline for images, as a template; `tests/integration/node_boot` runs its scripts."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from support.strict_process import StrictProcess
from support.template_lint import problems
from ultracluster import compute
from ultracluster.boot import install_program, scripts, without_comments
from ultracluster.catalogue.ec2 import Architecture
from ultracluster.catalogue.ec2 import image_software as software
from ultracluster.catalogue.schedulers import pcs
from ultracluster.monitoring.collectors import _node as collectors

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
        used = set(re.findall(r"\$\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)", command)) - {"ULTRACLUSTER_ROOT", "BASH_COMMAND"}
        assert used <= set(re.findall(r"^export ([A-Z0-9_]+)=", command, re.MULTILINE)) | {"DPKG_LOCK"}


def test_nothing_is_downloaded_that_could_be_another_tomorrow() -> None:
    text = without_comments(scripts.text("image-build.sh"))
    assert "latest" not in text
    assert text.count("curl ") == text.count("    curl ") + text.count("recommends curl ") == 2
    assert "sha256sum --check --strict" in text
    checksums = [item.sha256 for item in software.ARTEFACTS]
    checksums += [item.sha256 for item in (software.PCS_AGENT, software.EFA, *software.SLURM.values())]
    assert all(re.fullmatch(r"[0-9a-f]{64}", checksum) for checksum in checksums)
    assert len(set(checksums)) == len(checksums)
    for architecture in get_args(Architecture):
        names = [item.name for item in software.artefacts(architecture)]
        assert len(set(names)) == len(names) == 6
    assert all(item.url.startswith("https://") and item.source for item in software.ARTEFACTS)
    # git:// and its port are closed in most companies.
    assert "git" not in re.sub(r"github|digit", "", text + install_program("arm64"))


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


def test_refuses_a_parent_whose_text_differs_between_syntheses(stack: cdk.Stack) -> None:
    # The name of the recipe and the id of the image have a hash of it.
    given = cdk.CfnParameter(stack, "Parent").value_as_string
    for parent in (ec2.MachineImage.from_ssm_parameter("/imagebuilder/base"), compute.Image(id=given)):
        with pytest.raises(ValueError, match=r"parent must be known at synthesis.*got a token \[argument-token\]"):
            build(cdk.Stack(), parent=parent)


def test_refuses_a_parent_that_the_role_of_image_builder_cannot_read(stack: cdk.Stack) -> None:
    build(stack, parent=compute.Image(parameter="/imagebuilder/base"))
    assert properties(stack, "ImageRecipe")[0]["ParentImage"] == "ssm:/imagebuilder/base"
    with pytest.raises(ValueError, match=r"Image Builder reads parameters below .* only, got /team/base"):
        build(cdk.Stack(), parent=compute.Image(parameter="/team/base"))


def test_the_output_of_a_build_that_fails_outlives_the_rollback(stack: cdk.Stack) -> None:
    build(stack).add_image()
    (image,) = properties(stack, "Image")
    # CloudFormation deletes the log groups of the stack. Image Builder's own default is that of the image.
    assert "LoggingConfiguration" not in image
    policies = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    (statements,) = (
        statements for policy in policies if "ssmmessages" in str(statements := policy["Properties"]["PolicyDocument"])
    )
    (statement,) = (statement for statement in statements["Statement"] if "logs:PutLogEvents" in statement["Action"])
    assert statement["Action"] == ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"]
    assert statement["Resource"]["Fn::Join"][1][-1].endswith(":log-group:/aws/imagebuilder/*")


def test_without_a_schedule_nothing_is_built_by_itself(stack: cdk.Stack) -> None:
    build(stack)
    assert "Schedule" not in properties(stack, "ImagePipeline")[0]


def test_refuses_a_slurm_without_installer_and_a_parent_of_another_architecture(stack: cdk.Stack) -> None:
    with pytest.raises(
        ValueError, match=r"slurm_version must be 25\.05, 25\.11, for which AWS has installers, got '26\.05'"
    ):
        build(stack, slurm_version="26.05")
    other = cdk.Stack(cdk.App(), "Other")
    with pytest.raises(ValueError, match="parent must be for x86_64, got one for arm64"):
        build(other, parent=compute.newest_image("dlami", "arm64"))


def test_every_slurm_with_an_installer_is_one_that_pcs_runs() -> None:
    assert set(software.SLURM) <= set(pcs.SLURM_VERSIONS)
    assert pcs.DEFAULT_SLURM_VERSION in software.SLURM


def test_images_have_the_exporter_that_nodes_of_kubernetes_run_and_the_dcgm_it_was_made_with() -> None:
    assert f"{software.DCGM.version.removeprefix('1:')}-{software.DCGM_EXPORTER}" == collectors.DCGM_EXPORTER
    assert {release.version for release in software.PROMETHEUS} == {collectors.PROMETHEUS}
    assert {release.version for release in software.NODE_EXPORTER} == {collectors.NODE_EXPORTER}


def test_pipelines_pass_every_check(tmp_path: Path, strict: StrictProcess) -> None:
    assert strict.synthesise(tmp_path, ["images"]) == ""
    (path,) = tmp_path.glob("*.template.json")
    assert problems(path.read_text()) == []


@pytest.mark.parametrize(
    "release", ['PRETTY_NAME="Ubuntu 22.04.5 LTS"\nID=ubuntu\nVERSION_ID="22.04"\n', 'ID=amzn\nVERSION_ID="2023"\n', ""]
)
def test_build_refuses_another_release_before_it_installs_anything(release: str, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "os-release").write_text(release)
    result = subprocess.run(
        ["bash", "-s", "us-east-2", "25.11"],
        input=scripts.text("image-build.sh"),
        env={"PATH": "/usr/bin:/bin", "ULTRACLUSTER_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    name = '"Ubuntu 22.04.5 LTS"' if "22.04" in release else "of an unknown release"
    assert result.stderr == f"The parent is {name}, and this build needs Ubuntu 24.04: name another parent\n"


def test_a_driver_that_is_too_new_makes_no_image_where_a_limit_is_given(stack: cdk.Stack) -> None:
    build(stack, architecture="arm64", driver_below="595")
    (check,) = (document for document in documents(stack) if document["phases"][0]["name"] == "test")
    assert "export DRIVER_BELOW='595'" in check["phases"][0]["steps"][0]["inputs"]["commands"][0]
    with pytest.raises(ValueError, match="driver_below must be a version such as 595"):
        build(cdk.Stack(stack, "Wrong"), driver_below="new")
