"""NVIDIA drivers of the images of EKS, and types that need a newer one."""

import pytest

from support.clusterfile_data import bent, problems
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.clusterfile import loads

G7 = bent("p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0", "g7.48xlarge, count: 2")
G7 = bent("orchestrator: slurm", "orchestrator: kubernetes", G7)
BOTTLEROCKET = bent("count: 2", "count: 2, os: bottlerocket", G7)


def test_types_of_g7_have_an_oldest_driver() -> None:
    for name, driver, installer in (("g7.48xlarge", "595", "1.48.0"), ("g7e.8xlarge", "575", "1.45.0")):
        floor = instance_type(name).software
        assert floor is not None
        assert (floor.driver, floor.efa_installer, floor.nccl) == (driver, installer, None)
    assert instance_type("g6e.48xlarge").software is None


def test_an_image_with_an_older_driver_is_refused_for_g7() -> None:
    image = "{id: ami-0123456789abcdef0, architecture: x86_64, driver: 580.173.02}"
    (error,) = problems(bent("count: 2", f"count: 2, image: {image}", G7))
    assert "g7.48xlarge needs NVIDIA driver 595 or newer" in error


def test_bottlerocket_without_driver_595_is_refused_for_g7() -> None:
    (error,) = problems(BOTTLEROCKET)
    assert (
        "nodes.train.os: g7.48xlarge needs NVIDIA driver 595, and Bottlerocket has it from Kubernetes 1.37 on" in error
    )
    assert loads(bent("g7.48xlarge", "g6e.48xlarge", BOTTLEROCKET), "c.yaml").node_groups


@pytest.mark.parametrize("release", ["1.35.2-20260916", "1.35.2-20260917", None])
def test_a_release_from_before_driver_595_is_refused_for_g7(release: str | None) -> None:
    text = G7 if release is None else G7 + f"kubernetes: {{release: {release}}}\n"
    if release == "1.35.2-20260916":
        (error,) = problems(text)
        assert (
            "kubernetes.release: g7.48xlarge needs NVIDIA driver 595, and AWS's image has it since 2026-09-17" in error
        )
    else:
        assert loads(text, "c.yaml").node_groups
