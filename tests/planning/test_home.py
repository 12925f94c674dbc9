"""Deployment types for home directories, the default choice, and mounts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.boot import (
    Mount,
    efs_mount,
    efs_volume,
    openzfs_mount,
    openzfs_volume,
    s3_files_mount,
    s3_files_volume,
)
from ultracluster.catalogue.schedulers._pcs import SIZES
from ultracluster.catalogue.storage import efs, openzfs
from ultracluster.planning.home import CONNECTIONS_PER_CLIENT, size_openzfs


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        (None, "SINGLE_AZ_HA_2"),
        ("us-east-2", "SINGLE_AZ_HA_2"),
        ("eu-west-3", "SINGLE_AZ_HA_1"),
        ("me-central-1", "SINGLE_AZ_1"),
        ("eu-nowhere-1", "SINGLE_AZ_HA_2"),
    ],
)
def test_a_home_has_two_servers_wherever_they_are_sold(region: str | None, expected: str) -> None:
    assert size_openzfs(region=region).deployment_type == expected


def test_the_first_generation_with_two_servers_starts_at_128_mb_per_s() -> None:
    assert openzfs.DEPLOYMENTS["SINGLE_AZ_1"].throughput_mb_per_s[0] == 64
    assert openzfs.DEPLOYMENTS["SINGLE_AZ_HA_1"].throughput_mb_per_s[0] == 128
    assert {
        deployment.throughput_mb_per_s for deployment in openzfs.DEPLOYMENTS.values() if deployment.most_iops == 400_000
    } == {(160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)}


def test_the_two_generations_are_sold_in_the_regions_of_aws_table() -> None:
    assert not openzfs.sold_in("SINGLE_AZ_HA_1", "us-east-2")
    assert openzfs.sold_in("SINGLE_AZ_HA_1", "eu-west-2")
    assert openzfs.sold_in("SINGLE_AZ_HA_2", "eu-west-2")
    assert not openzfs.sold_in("SINGLE_AZ_2", "ap-east-1")
    assert all(openzfs.sold_in("MULTI_AZ_1", region) for region in ("us-east-1", "me-central-1", "af-south-1"))


def test_the_smallest_default_lets_the_largest_pcs_cluster_in() -> None:
    assert size_openzfs().most_clients == max(SIZES.values())
    assert size_openzfs(region="eu-west-3").most_clients == max(SIZES.values())


@given(st.integers(1, 8_192), st.sampled_from(["us-east-2", "eu-west-3", "me-central-1"]))
def test_a_server_takes_all_clients_and_the_next_smaller_one_does_not(clients: int, region: str) -> None:
    size = size_openzfs(region=region, clients=clients)
    assert size.most_clients >= clients
    sold = [step for step in size.deployment.throughput_mb_per_s if 128 <= step < size.throughput_mb_per_s]
    if sold:
        assert openzfs.connections(sold[-1]) // CONNECTIONS_PER_CLIENT < clients


@given(
    st.integers(0, 600_000), st.one_of(st.none(), st.integers(0, 500_000)), st.sampled_from(sorted(openzfs.DEPLOYMENTS))
)
def test_what_is_sized_is_sold(capacity: int, iops: int | None, deployment_type: openzfs.DeploymentType) -> None:
    sold = openzfs.DEPLOYMENTS[deployment_type]
    good = 64 <= capacity <= 524_288 and (iops is None or min(3 * capacity, sold.most_iops) <= iops <= sold.most_iops)
    try:
        size = size_openzfs(deployment_type=deployment_type, capacity_gib=capacity, iops=iops)
    except ValueError:
        assert not good
        return
    assert good
    assert size.throughput_mb_per_s in sold.throughput_mb_per_s


def test_all_that_is_wrong_with_a_size_comes_at_once() -> None:
    with pytest.raises(ValueError, match="is not available in") as error:
        size_openzfs(
            region="eu-west-3", deployment_type="SINGLE_AZ_HA_2", capacity_gib=63, throughput_mb_per_s=200, iops=100
        )
    assert str(error.value) == (
        "SINGLE_AZ_HA_2 is not available in eu-west-3; use one of SINGLE_AZ_1, SINGLE_AZ_HA_1, MULTI_AZ_1; "
        "the capacity must be 64 to 524,288 GiB, got 63; "
        "the IOPS of 63 GiB must be 189 (3 for each GiB) to 400,000, got 100; "
        "the throughput of SINGLE_AZ_HA_2 must be one of 160, 320, 640, 1,280, 2,560, 3,840, 5,120, 7,680, "
        "10,240 MB/s, got 200"
    )


def test_too_many_clients_are_reported_with_the_remedy() -> None:
    with pytest.raises(ValueError, match="so 2,048 clients, got 3,000; use 320 MB/s"):
        size_openzfs(clients=3_000, throughput_mb_per_s=160)
    with pytest.raises(ValueError, match="let only the login nodes mount it, or use EFS"):
        size_openzfs(clients=9_000)


def test_rejects_a_deployment_type_that_nobody_sells() -> None:
    with pytest.raises(ValueError, match=r"must be one of SINGLE_AZ_1.*got 'SINGLE_AZ_3'"):
        size_openzfs(deployment_type="SINGLE_AZ_3")  # type: ignore[arg-type]


def test_a_zone_of_efs_is_slower_than_a_region_of_it() -> None:
    assert efs.LIMITS["one-zone"].read_gib_per_s < efs.LIMITS["regional"].read_gib_per_s
    assert efs.LIMITS["one-zone"].client_mib_per_s < efs.LIMITS["regional"].client_mib_per_s


MOUNTS = [
    openzfs_mount(dns_name="fs-1.fsx.r.amazonaws.com", volume_path="/fsx/home", path="/home", transfer_bytes=524_288),
    efs_mount(file_system_id="fs-1", dns_name="fs-1.efs.r.amazonaws.com", path="/home", tls=True),
    efs_mount(file_system_id="fs-1", dns_name="fs-1.efs.r.amazonaws.com", path="/home", tls=False),
    s3_files_mount(file_system_id="fs-1", path="/home"),
]


@pytest.mark.parametrize("mount", MOUNTS, ids=lambda mount: mount.type)
def test_a_node_boots_without_its_home_and_never_loses_a_write(mount: Mount) -> None:
    options = mount.options.split(",")
    assert {"_netdev", "nofail", "x-systemd.automount"} <= set(options)
    assert not {"soft", "softerr"} & set(options)
    # The helpers of amazon-efs-utils say hard themselves.
    assert ("hard" in options) == (mount.type in ("nfs", "nfs4"))


def test_only_openzfs_has_several_connections_and_none_of_efs_has_a_reserved_port() -> None:
    zfs, tls, plain, files = (mount.options for mount in MOUNTS)
    assert "nconnect=4" in zfs
    assert not any("nconnect" in options for options in (tls, plain, files))
    assert "noresvport" in tls
    assert "noresvport" in plain
    # Linux exports to reserved ports by default, and OpenZFS has no setting for it.
    assert "noresvport" not in zfs


def test_a_small_server_gets_small_requests() -> None:
    assert "rsize=524288,wsize=524288" in MOUNTS[0].options
    assert [openzfs.transfer_bytes(step) for step in (64, 128, 160, 10_240)] == [262_144, 524_288, 1_048_576, 1_048_576]


def test_devices_are_what_the_clients_of_each_service_know() -> None:
    assert [(mount.device, mount.type) for mount in MOUNTS] == [
        ("fs-1.fsx.r.amazonaws.com:/fsx/home", "nfs"),
        ("fs-1:/", "efs"),
        ("fs-1.efs.r.amazonaws.com:/", "nfs4"),
        ("fs-1:/", "s3files"),
    ]


def test_kubernetes_gets_static_volumes_that_stay() -> None:
    volumes = [
        openzfs_volume(
            name="home",
            volume_id="fsvol-1",
            dns_name="d",
            volume_path="/fsx/home",
            transfer_bytes=1_048_576,
        ),
        efs_volume(name="home", file_system_id="fs-1", tls=True),
        s3_files_volume(name="home", file_system_id="fs-1"),
    ]
    assert [(volume.driver, volume.handle) for volume in volumes] == [
        ("fsx.openzfs.csi.aws.com", "fsvol-1"),
        ("efs.csi.aws.com", "fs-1"),
        ("efs.csi.aws.com", "s3files:fs-1"),
    ]
    assert volumes[0].attributes == {"DNSName": "d", "ResourceType": "volume", "VolumePath": "fsx/home"}
    assert volumes[1].attributes == {"encryptInTransit": "true"}
    # fstab's own words are no options of NFS.
    assert not any(option.startswith(("_netdev", "nofail", "x-")) for option in volumes[0].mount_options)
    for volume in volumes:
        spec = volume.manifests()[0]["spec"]
        assert spec["persistentVolumeReclaimPolicy"] == "Retain"


@pytest.mark.parametrize("path", ["/", "//", "home", "", "/home dir"])
def test_rejects_a_path_that_no_home_can_be_mounted_at(path: str) -> None:
    with pytest.raises(ValueError, match="path must be a directory, such as /home"):
        s3_files_mount(file_system_id="fs-1", path=path)
