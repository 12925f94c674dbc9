"""Charts and images from a registry of the account: nothing of a cluster names a public one."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from support import ROOT
from support.kubernetes_data import PLATFORMS
from ultracluster import clusterfile
from ultracluster.catalogue.schedulers import registries
from ultracluster.kubernetes import HelmRelease, Platform, platform, registry_of
from ultracluster.kubernetes._charts import CHARTS
from ultracluster.kubernetes._image_sources import RELEASE_IMAGES
from ultracluster.kubernetes._registry import (
    container_images,
    full_name,
    in_registry,
    objects_in_registry,
    release_images,
)
from ultracluster.workloads import job_files, kubernetes_bundle

ECR = "123456789012.dkr.ecr.us-east-2.amazonaws.com"
MIRROR = f"{ECR}/ultracluster"
PRIVATE = (ROOT / "examples" / "eks-private.yaml").read_text()
CHINA = """\
name: research
region: cn-north-1
zone: cnn1-az1
orchestrator: kubernetes
kubernetes: {second-zone: cnn1-az2}
nodes: {train: {type: p4d.24xlarge, count: 2}}
storage: {lustre: {existing: {id: fs-0123456789abcdef0, mount-name: abcdefgh}}}
observability: {profile: none}
"""
PUBLIC = re.compile(
    "|".join(map(re.escape, (*registries.PUBLIC_REGISTRIES, "githubusercontent", "github.io", "ngc.nvidia.com")))
)


def outside(text: str) -> list[str]:
    """Words of a text that name a public registry, and not a copy of it."""
    return [word for word in re.split(r"[\s\"',]+", text) if PUBLIC.search(word.replace(f"{MIRROR}/", "copy/", 1))
            and f"{MIRROR}/" not in word]  # fmt: skip


@pytest.mark.parametrize("item", PLATFORMS.values(), ids=PLATFORMS.keys())
def test_no_release_and_no_object_of_any_platform_names_a_public_registry(item: Platform) -> None:
    rendered = platform(replace(item, registry=MIRROR))
    assert not outside(json.dumps(rendered.objects))
    for release in rendered.releases:
        assert isinstance(release, HelmRelease)
        assert release.chart.startswith(f"oci://{MIRROR}/")
        assert release.repository is None
        assert not outside(json.dumps(release.values)), release.name
        # Each registry that the chart has by default is replaced.
        for path, default in RELEASE_IMAGES[release.name].values.items():
            value: Any = release.values
            for key in path.split("."):
                value = value[key]
            assert value in (f"{MIRROR}/{default}", default.replace("us-west-2", item.region)), path


def test_no_file_of_a_private_cluster_names_a_public_registry() -> None:
    cluster = clusterfile.loads(PRIVATE, "c.yaml")
    bundle = kubernetes_bundle(cluster)
    texts = [json.dumps(bundle), *(file.text for file in job_files(cluster))]
    assert [outside(text) for text in texts] == [[]] * len(texts)
    # Everything that the platform pulls is looked for before it is installed: charts, releases and objects.
    pulled = {in_registry(image, MIRROR, "us-east-2") for image in container_images(bundle["objects"])}
    charts = {f"{row['chart'].removeprefix('oci://')}:{row['version']}" for row in bundle["releases"]}
    assert pulled | charts <= {*bundle["images"], "image-of-the-job.invalid/none:0"}
    assert f"{MIRROR}/registry.k8s.io/kueue/kueue:v0.19.2" in bundle["images"]


def test_a_cluster_with_internet_access_keeps_the_registries_of_the_projects() -> None:
    cluster = clusterfile.loads(PRIVATE.replace("false", "true").replace(f"  registry: {MIRROR}\n", ""), "c.yaml")
    assert registry_of(cluster) is None
    assert "images" not in kubernetes_bundle(cluster)


def test_the_registry_of_a_private_cluster_is_the_ecr_of_its_account() -> None:
    text = PRIVATE.replace(f"  registry: {MIRROR}\n", "").replace("name: vault", 'name: vault\naccount: "123456789012"')
    assert registry_of(clusterfile.loads(text, "c.yaml")) == MIRROR


@pytest.mark.parametrize(
    ("image", "copy"),
    [
        ("registry.k8s.io/kueue/kueue:v1", f"{MIRROR}/registry.k8s.io/kueue/kueue:v1"),
        # Docker Hub is meant where no host is written.
        ("mpioperator/mpi-operator:0.8.0", f"{MIRROR}/docker.io/mpioperator/mpi-operator:0.8.0"),
        ("alpine:3.21", f"{MIRROR}/docker.io/library/alpine:3.21"),
        # Nodes reach the ECR of the region, of any account, and no other.
        (f"{ECR}/team/train:1", f"{ECR}/team/train:1"),
        (f"{MIRROR}/quay.io/x:1", f"{MIRROR}/quay.io/x:1"),
        (f"{ECR.replace('us-east-2', 'us-west-2')}/x:1", f"{MIRROR}/{ECR.replace('us-east-2', 'us-west-2')}/x:1"),
        # A placeholder that has to be replaced stays one.
        ("image-of-the-job.invalid/none:0", "image-of-the-job.invalid/none:0"),
    ],
)
def test_an_image_keeps_its_name_below_the_registry(image: str, copy: str) -> None:
    assert in_registry(image, MIRROR, "us-east-2") == copy
    assert in_registry(image, None, "us-east-2") == image


def test_images_of_trainers_and_of_operators_are_found() -> None:
    trainer = {"kind": "TrainJob", "spec": {"trainer": {"image": "nvcr.io/nvidia/pytorch:25.10"}}}
    policy = {"kind": "ClusterPolicy", "spec": {"gfd": {"repository": "nvcr.io/nvidia", "image": "x", "version": "v1"}}}
    assert container_images([trainer, policy]) == ["nvcr.io/nvidia/pytorch:25.10", "nvcr.io/nvidia/x:v1"]
    (copied,) = objects_in_registry([trainer], MIRROR, "us-east-2")
    assert copied["spec"]["trainer"]["image"] == f"{MIRROR}/nvcr.io/nvidia/pytorch:25.10"
    assert trainer["spec"] == {"trainer": {"image": "nvcr.io/nvidia/pytorch:25.10"}}


def test_every_release_has_its_images() -> None:
    assert set(RELEASE_IMAGES) == {*CHARTS, "mpi-operator"}
    for name, known in RELEASE_IMAGES.items():
        assert known.images, name
        for image in (*known.images, *known.feature_discovery):
            assert full_name(image) == image
            assert ":" in image.partition("@")[0].rpartition("/")[2], image
            # A value of the chart decides where it comes from; the manifest has none.
            assert name == "mpi-operator" or any(image.startswith(default) for default in known.values.values()), image


def test_node_feature_discovery_is_listed_where_it_runs() -> None:
    with_cliques = platform(PLATFORMS["GB200"]).releases
    (plugin,) = (release for release in with_cliques if release.name == "nvidia-device-plugin")
    assert "registry.k8s.io/nfd/node-feature-discovery:v0.19.0" in release_images(plugin)
    (alone,) = (r for r in platform(PLATFORMS["512 GPUs"]).releases if r.name == "nvidia-device-plugin")
    assert len(release_images(alone)) == 1


@pytest.mark.parametrize(
    ("region", "registry"),
    [
        ("us-gov-west-1", "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("eu-south-2", "455263428931.dkr.ecr.eu-south-2.amazonaws.com"),
        ("us-east-2", "602401143452.dkr.ecr.us-east-2.amazonaws.com"),
    ],
)
def test_images_of_eks_come_from_the_registry_of_the_region(region: str, registry: str) -> None:
    """Credentials of one partition are of no use in another."""
    releases = [release for item in PLATFORMS.values() for release in platform(replace(item, region=region)).releases]
    images = [image for release in releases for image in release_images(release) if ".dkr.ecr." in image]
    assert images
    assert {image.partition("/eks/")[0] for image in images} == {registry}


def test_the_host_of_an_existing_lustre_file_system_in_china_has_the_domain_of_other_regions() -> None:
    cluster = clusterfile.loads(CHINA, "c.yaml")
    bundle = json.dumps(kubernetes_bundle(cluster))
    assert '"fs-0123456789abcdef0.fsx.cn-north-1.amazonaws.com"' in bundle
    assert "fsx.cn-north-1.amazonaws.com.cn" not in bundle
