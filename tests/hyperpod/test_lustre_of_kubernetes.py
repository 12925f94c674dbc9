"""Lustre over EFA on nodes of HyperPod with Kubernetes: the CSI driver mounts it, and cannot set EFA up."""

import json
from typing import Any

import pytest

from support.templates import synth
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import image_software

FILE = """\
name: lyra
region: us-east-2
zone: use2-az1
orchestrator: hyperpod-kubernetes
kubernetes: {admins: ["arn:aws:iam::123456789012:role/platform"]}
nodes:
  train: {type: p5en.48xlarge, count: 4}
  away: {type: p5en.48xlarge, count: 2, zone: use2-az2}
  services: {type: m5.2xlarge, count: 2}
storage: {lustre: {throughput: 40 GB/s}}
"""


def resources(text: str, stack: str) -> list[dict[str, Any]]:
    (template,) = (
        each.template for each in synth(clusterfile.loads(text, "lyra.yaml")).stacks if each.stack_name == stack
    )
    return list(template["Resources"].values())


def lifecycle(text: str) -> dict[str, str]:
    """Lifecycle scripts, by the name of their group."""
    (copy,) = (row for row in resources(text, "lyra-Compute") if row["Type"] == "Custom::HyperPodScripts")
    directory = synth(clusterfile.loads(text, "lyra.yaml")).directory
    return {
        path.rpartition("/")[2].removesuffix(".sh"): (directory / f"asset.{url.rpartition('/')[2]}").read_text()
        for path, url in copy["Properties"]["Objects"].items()
    }


def test_nodes_that_reach_lustre_over_efa_set_the_client_up_before_kubelet_starts() -> None:
    scripts, tool = lifecycle(FILE), image_software.LUSTRE_EFA_TOOL
    unit = scripts["train"].split("cat >/etc/systemd/system/ultracluster-lustre-efa.service")[1]
    assert "Before=kubelet.service\n" in unit
    assert f"--bundle {tool.url} --sha256 {tool.sha256}" in unit, "no page documents that the image has the tool"
    assert "systemctl enable --now ultracluster-lustre-efa.service || true\n" in unit
    assert "lustre-efa" not in scripts["away"] + scripts["services"], "another zone, and a type without EFA"


@pytest.mark.parametrize("efa", ["true", "false"])
def test_a_bundle_of_the_file_is_read_with_the_role_of_the_nodes(efa: str) -> None:
    client = "client: {bundle: {url: 's3://tools/client.zip', sha256: %s}}, " % (64 * "a") if efa == "true" else ""
    text = FILE.replace("lustre: {", f"lustre: {{{client}efa: {efa}, ")
    policies = [row["Properties"] for row in resources(text, "lyra-Cluster") if row["Type"] == "AWS::IAM::Policy"]
    (nodes,) = (policy for policy in policies if "HyperPodRole" in json.dumps(policy["Roles"]))
    assert ("tools/client.zip" in json.dumps(nodes)) == (efa == "true")
    assert ("lustre-efa" in lifecycle(text)["train"]) == (efa == "true")
