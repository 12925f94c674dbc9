"""Images of nodes: which one each group has, and which ones cannot be."""

import pytest

from support.clusterfile_data import GOOD, bent, problems
from ultracluster.catalogue.ec2 import image_parameter
from ultracluster.clusterfile import ClusterFile, loads, required_software, warnings
from ultracluster.planning.capacity import BuiltImage, Image

AMI = "ami-0123456789abcdef0"
ARM = "\n  data: {type: m7g.4xlarge, count: 2}"
NEURON = (
    "types:\n  trn2.48xlarge: {architecture: x86_64, vcpus: 192, memory: 2048 GiB, addresses-per-interface: 50, "
    "network-cards: [{count: 16, kinds: [interface, efa, efa-only], interfaces: 2}]}\n"
)


def with_image(image: str, text: str = GOOD) -> str:
    return bent("name: llama", f"name: llama\nimage: {image}", text)


def ids(text: str) -> set[str]:
    return {warning.rule for warning in warnings(loads(text, "c.yaml"))}


def load(text: str) -> ClusterFile:
    return loads(text, "c.yaml")


def test_the_default_is_the_image_of_aws() -> None:
    cluster = load(GOOD)
    assert (cluster.image, cluster.login_image, cluster.node_groups[0].image_option) == ("aws", "aws", "aws")
    assert cluster.built_images == {}


def test_one_image_is_built_for_each_architecture_login_nodes_included() -> None:
    assert load(with_image("build")).built_images == {"x86_64": BuiltImage()}
    cluster = load(with_image("build", bent("nodes:", f"nodes:{ARM}")))
    assert list(cluster.built_images) == ["arm64", "x86_64"]
    assert load(GOOD + "slurm: {login: {image: build}}\n").built_images == {"x86_64": BuiltImage()}


def test_a_group_has_its_own_image_before_that_of_the_cluster() -> None:
    cluster = load(with_image("build", bent("count: 64", "count: 64, image: aws")))
    assert cluster.node_groups[0].image_option == "aws"
    assert cluster.login_image == BuiltImage()
    cluster = load(with_image(AMI))
    assert cluster.node_groups[0].image == cluster.login_image == Image(id=AMI)


@pytest.mark.parametrize("image", ["build", "aws", AMI, "{build: {parent: ami-0123456789abcdef0}}"])
def test_an_image_is_written_as_it_was_read(image: str) -> None:
    cluster = load(with_image(image))
    assert load(with_image(str(cluster.model_dump(by_alias=True)["image"]))).image == cluster.image


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ("latest", "image: must be build, aws, ami-..., /name/of/a/parameter"),
        (
            "{build: {parent: build}}",
            "image.build.parent: must be the id of an image, ami- and 17 hexadecimal digits, got 'build'",
        ),
        ("{build: {}, driver: 580.1}", "image: build has a parent, and no driver; write it under build.parent"),
        (f"{{id: {AMI}, kernel: 7}}", "image.kernel: must be a kernel of Ubuntu for AWS, such as 7.0.0-1014-aws"),
    ],
)
def test_names_what_an_image_may_be(image: str, message: str) -> None:
    assert message in problems(with_image(image))[0]


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        (f"{{id: {AMI}, architecture: arm64}}", "p5en.48xlarge is x86_64, and the image is for arm64"),
        (f"{{id: {AMI}, driver: '535.1'}}", "p5en.48xlarge needs NVIDIA driver 550 or newer, and the image has 535.1"),
        (f"{{id: {AMI}, kernel: 6.17.0-1021-aws}}", "AWS has no Lustre client for the kernel 6.17.0-1021-aws"),
        (f"{{id: {AMI}, kernel: 7.1.0-1001}}", "AWS has no Lustre client for the kernel 7.1.0-1001"),
        # The role of Image Builder is denied the parameters of a team.
        ("/team/images/base", "the service-linked role of Image Builder reads parameters below /aws/service/ and"),
    ],
)
def test_refuses_a_parent_that_no_image_can_be_built_from(parent: str, message: str) -> None:
    messages = problems(with_image(f"{{build: {{parent: {parent}}}}}"))
    assert any(problem.startswith("c.yaml:2:1 image: ") and message in problem for problem in messages)


def test_refuses_a_parent_of_another_architecture_once() -> None:
    text = with_image(f"{{build: {{parent: {{id: {AMI}, architecture: arm64}}}}}}")
    assert load(with_image("build")).login_image is not None
    assert problems(text) == ["c.yaml:2:1 image: p5en.48xlarge is x86_64, and the image is for arm64; use one for it"]


@pytest.mark.parametrize("kernel", ["6.8.0-1024-aws", "6.17.0-1020", "7.0.0-1099-aws"])
def test_takes_a_parent_whose_kernel_has_a_lustre_client(kernel: str) -> None:
    assert load(with_image(f"{{build: {{parent: {{id: {AMI}, kernel: {kernel}}}}}}}")).built_images


@pytest.mark.parametrize("parameter", ["/imagebuilder/base", image_parameter("dlami", "x86_64")])
def test_takes_a_parent_in_a_parameter_that_image_builder_reads(parameter: str) -> None:
    assert load(with_image(f"{{build: {{parent: {parameter}}}}}")).built_images


def test_refuses_two_parents_for_one_architecture() -> None:
    text = with_image("build", bent("count: 64", f"count: 64, image: {{build: {{parent: {AMI}}}}}"))
    assert "the nodes of x86_64 have two parents" in problems(text)[0]


def test_refuses_a_build_that_cannot_download() -> None:
    text = with_image("build") + "network: {internet: false}\n"
    assert any("a build downloads from GitHub, NVIDIA and Ubuntu" in problem for problem in problems(text))


def test_refuses_a_build_for_a_slurm_without_installer() -> None:
    text = with_image("build") + "slurm: {version: '26.05'}\n"
    assert "AWS has installers for Slurm 25.05 and 25.11 only" in problems(text)[0]


def test_refuses_a_build_on_kubernetes() -> None:
    text = with_image("build", bent("orchestrator: slurm", "orchestrator: kubernetes"))
    assert "image: build is for Slurm" in problems(text)[0]


@pytest.mark.parametrize("image", ["aws", "build"])
def test_refuses_accelerators_that_the_image_of_aws_does_not_drive(image: str) -> None:
    neuron = bent("p5en.48xlarge", "trn2.48xlarge", GOOD) + NEURON
    (refusal,) = (problem for problem in problems(with_image(image, neuron)) if "AWS Neuron" in problem)
    assert "trn2.48xlarge has AWS Neuron, which AWS's image for PCS does not drive; name an image" in refusal
    assert not any("AWS Neuron" in problem for problem in _problems(with_image(AMI, neuron)))
    cpu = bent("  train:", "  tune: {type: trn1.32xlarge, count: 1, image: ami-0123456789abcdef0}\n  train:", GOOD)
    assert "accelerators-unmanaged" in ids(cpu)
    # No device plugin gives pods the accelerators, whatever the image.
    kubernetes = bent("orchestrator: slurm", "orchestrator: kubernetes", cpu)
    assert any(
        "trn1.32xlarge has AWS Neuron, which this release does not set up on EKS: it installs no device plugin for "
        "them, and Kueue has no quota of them; use another type" in problem
        for problem in _problems(kubernetes)
    )
    assert "accelerators-unmanaged" not in ids(kubernetes + "accept: {image-driver: a plugin of another team}\n")


def _problems(text: str) -> list[str]:
    try:
        load(text)
    except ValueError as error:
        return str(error).splitlines()
    return []


def test_a_built_image_is_pinned() -> None:
    assert "unpinned-image" in ids(GOOD)
    assert "unpinned-image" not in ids(with_image("build"))


# GB200 under AWS PCS: AWS's image has a driver with which NCCL over EFA fails between two UltraServers.
TWO = """name: grace
region: us-east-1
zone: use1-dfw2-az1
orchestrator: slurm
nodes:
  train:
    type: u-p6e-gb200x72
    count: 2
    capacity: {reservations: [cr-0123456789abcdef0, cr-0123456789abcdef1], kind: ultraserver}
network: {control-plane-zone: use1-az4}
"""
ONE = bent("count: 2", "count: 1", bent(", cr-0123456789abcdef1", "", TWO))
OLDER = "{id: ami-0123456789abcdef0, architecture: arm64, driver: 580.173.02}"
NEWER = "{id: ami-0123456789abcdef0, architecture: arm64, driver: 595.91.07}"
LOGIN = "slurm: {login: {image: aws}}\n"


def efa_driver(text: str) -> list[str]:
    return [warning.message for warning in warnings(load(text)) if warning.rule == "image-efa-driver"]


@pytest.mark.parametrize(
    ("change", "has"),
    [
        ("", "AWS's image has 595"),
        (f"image: {NEWER}\n{LOGIN}", "the image has 595.91.07"),
    ],
)
def test_a_driver_that_is_too_new_for_efa_between_ultraservers_is_a_warning(change: str, has: str) -> None:
    (message,) = efa_driver(TWO + change)
    assert message.startswith("train: from NVIDIA driver 595 on")
    assert has in message
    assert required_software(load(TWO + change)) == {"driver-below": "595"}


@pytest.mark.parametrize(
    ("change", "has"),
    [
        ("image: build\n", "AWS's image has 595"),
        (f"image: {{build: {{parent: {NEWER}}}}}\n{LOGIN}", "the image has 595.91.07"),
    ],
)
def test_an_image_is_not_built_with_a_driver_that_its_check_refuses(change: str, has: str) -> None:
    (message,) = problems(TWO + change)
    assert has in message
    assert "so that the check of the built image refuses it; name one with an older driver: parent: {id:" in message
    for text in (
        TWO + change + 'software: {driver-below: "999"}\n',
        f"{TWO}image: {{build: {{parent: {OLDER}}}}}\n{LOGIN}",
    ):
        load(text)


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        f"{TWO}image: {OLDER}\n{LOGIN}",
        TWO + 'software: {driver-below: "999"}\n',
        # The image of EKS has 580.
        bent("orchestrator: slurm", "orchestrator: kubernetes", TWO),
    ],
)
def test_an_older_driver_and_a_single_ultraserver_need_no_warning(text: str) -> None:
    assert efa_driver(text) == []


def test_a_slurm_that_the_image_of_aws_is_not_known_to_have_is_a_warning() -> None:
    new = GOOD + "slurm: {version: '26.05'}\n"
    (message,) = (warning.message for warning in warnings(load(new)) if warning.rule == "slurm-image")
    assert message.startswith("train, login: AWS documents installers for Slurm 25.05 and 25.11 only")
    assert "slurm-image" not in ids(GOOD)
    assert "slurm-image" not in ids(with_image(AMI, new))
