"""Boot settings of EKS nodes: nodeadm documents, Bottlerocket settings, and node repair."""

import email
import json
import tomllib
from typing import Any

import pytest

from ultracluster.boot import (
    GPU_TAINT,
    SCRATCH_UNIT,
    ClusterAccess,
    LustreClient,
    NodeSettings,
    bottlerocket_settings,
    eks_boot,
    repair_overrides,
)
from ultracluster.boot._eks_boot import EksBoot
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, instance_type
from ultracluster.catalogue.monitoring import XIDS, XidPolicy
from ultracluster.compute import user_data
from ultracluster.kubernetes import PlatformNodes
from ultracluster.kubernetes._resources import node_resources

ACCESS = ClusterAccess(
    name="llama",
    endpoint="https://a.example.com",
    certificate_authority="LS0t",
    service_cidr="172.20.0.0/16",
    dns="172.20.0.10",
)
FULL = NodeSettings(access=ACCESS, labels={"purpose": "serving"}, taints=(GPU_TAINT,), pods=60)


def text(created: EksBoot) -> str:
    return user_data(
        files=created.boot.files, units=created.boot.units, enabled=created.enabled, node_configs=created.node_configs
    )


def node_configs(created: EksBoot) -> list[Any]:
    """The documents as nodeadm finds them: each in a part of its own."""
    message = email.message_from_string(text(created))
    assert message.is_multipart()
    parts = [part for part in message.walk() if part.get_content_type() == "application/node.eks.aws"]
    return [json.loads(str(part.get_payload()).removeprefix("---")) for part in parts]


def test_a_managed_node_has_settings_for_its_disks_only() -> None:
    gates, document = node_configs(eks_boot(instance_type("p5en.48xlarge")))
    assert document["apiVersion"] == "node.eks.aws/v1alpha1"
    assert gates["spec"] == {"featureGates": {"FastImagePull": True}}
    assert document["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}


def test_a_self_managed_node_has_all_settings_to_join() -> None:
    cluster, kubelet, _, _ = node_configs(eks_boot(instance_type("p5en.48xlarge"), settings=FULL))
    assert cluster["spec"]["cluster"] == {
        "name": "llama",
        "apiServerEndpoint": "https://a.example.com",
        "certificateAuthority": "LS0t",
        "cidr": "172.20.0.0/16",
    }
    assert kubelet["spec"]["kubelet"] == {
        "config": {"maxPods": 60, "registerWithTaints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]},
        "flags": ["--node-labels=purpose=serving"],
    }


def test_the_scratch_volume_is_enabled_and_started_by_nodeadms_mount() -> None:
    created = eks_boot(instance_type("p5en.48xlarge"))
    assert created.enabled == (SCRATCH_UNIT,)
    assert SCRATCH_UNIT not in created.boot.units
    assert f"systemctl enable {SCRATCH_UNIT}" in text(created)


def test_efa_for_lustre_is_set_up_on_the_node_because_the_driver_cannot() -> None:
    record = instance_type("p5en.48xlarge")
    with_lustre, without = eks_boot(record, lustre=LustreClient()), eks_boot(record)
    assert [unit for unit in with_lustre.boot.units if unit not in without.boot.units] == [
        "ultracluster-lustre-efa.service"
    ]
    assert eks_boot(instance_type("m7i.2xlarge"), lustre=LustreClient()).boot.files == ()
    assert "Before=kubelet.service\n" in with_lustre.boot.files[-1].text, "pods mount it at a reboot too"


def test_no_node_starts_kubelet_itself() -> None:
    assert "kubelet.service" not in text(eks_boot(instance_type("p5en.48xlarge"), settings=FULL)).split("runcmd")[1]


@pytest.mark.parametrize("name", INSTANCE_TYPES)
def test_all_settings_together_fit_into_user_data(name: str) -> None:
    created = eks_boot(instance_type(name), settings=FULL, lustre=LustreClient(gpudirect_storage=True))
    # A real certificate authority is some 1,500 characters long.
    assert len(text(created)) + 2_000 < 16 * 1024


def test_bottlerocket_settings_are_equivalent_toml() -> None:
    result = tomllib.loads(bottlerocket_settings(instance_type("p5en.48xlarge"), settings=FULL))["settings"]
    assert result["kubernetes"] == {
        "cluster-name": "llama",
        "api-server": "https://a.example.com",
        "cluster-certificate": "LS0t",
        "cluster-dns-ip": "172.20.0.10",
        "max-pods": 60,
        "node-labels": {"purpose": "serving"},
        "node-taints": {"nvidia.com/gpu": [":NoSchedule"]},
    }
    commands = result["bootstrap-commands"]["local-disks"]["commands"]
    assert commands[0] == ["apiclient", "ephemeral-storage", "init"]
    assert "/var/lib/containerd" in commands[1]


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_bottlerocket_sets_the_huge_pages_aside_that_pods_ask_for(name: str) -> None:
    record = instance_type(name)
    settings = tomllib.loads(bottlerocket_settings(record)).get("settings", {})
    set_aside = int(settings.get("kernel", {}).get("sysctl", {}).get("vm.nr_hugepages", "0")) * 2
    group = PlatformNodes(name="serve", instance_type=record, count=1, os="bottlerocket")
    assert set_aside == node_resources(group).huge_pages_mib


def test_a_managed_bottlerocket_node_without_disks_has_no_settings() -> None:
    assert bottlerocket_settings(instance_type("m7i.2xlarge")) == ""


def test_repairs_follow_the_policy_on_xids_and_not_eks() -> None:
    result = {item.reason: item.action for item in repair_overrides()}
    # A page fault is the program's own: by default it costs a reboot, and the job on the other seven GPUs.
    assert result["NvidiaXID31Error"] == "NoAction"
    assert result["NvidiaXID54Error"] == "Replace"
    # What both agree on needs no exception.
    assert "NvidiaXID79Error" not in result
    assert XIDS[79] is XidPolicy.FATAL
    for reason, action in result.items():
        policy = XIDS[int(reason.removeprefix("NvidiaXID").removesuffix("Error"))]
        assert (action == "NoAction") == (policy in (XidPolicy.WATCH, XidPolicy.APPLICATION))
