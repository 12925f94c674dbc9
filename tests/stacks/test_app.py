"""Synthesizer and tags that an app passes on to its clusters."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from aws_cdk import aws_iam as iam

from support import ROOT
from support.templates import Assembly
from ultracluster import clusterfile
from ultracluster.stacks import ClusterStacks, UltraCluster

FILE = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes: {train: {type: p5en.48xlarge, count: 2}}
observability: {profile: none}
"""


def test_clusters_have_the_bucket_of_the_apps_synthesizer_and_warn_of_tags_that_replace_nodes(tmp_path: Path) -> None:
    synthesizer = cdk.DefaultStackSynthesizer(qualifier="mycorp")
    app = cdk.App(outdir=str(tmp_path), default_stack_synthesizer=synthesizer, stack_traces=False, tree_metadata=False)
    ClusterStacks(app, cluster=clusterfile.loads(FILE, "c.yaml"), account="123456789012")
    launched, other = "AWS::EC2::LaunchTemplate", "AWS::S3::Bucket"
    cdk.Tags.of(app).add("commit", "4f3a")
    cdk.Tags.of(app).add("team", "llama", exclude_resource_types=[launched])
    cdk.Tags.of(app).add("audit", "yes", include_resource_types=[other])
    cdk.Tags.of(app).add("place", "us", include_resource_types=[launched])
    app.synth()
    compute = Assembly(tmp_path).get_stack_by_name("llama-Compute")
    assert "cdk-mycorp-assets-" in compute.text
    assert "cdk-hnb659fds-assets-" not in compute.text
    (warning,) = (text for text in compute.warnings if "replaces all nodes" in text)
    assert "the tags commit, place of scopes above this cluster" in warning


def tags_of_launches(template: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Name, kind and other tags of each launch template of nodes and of what it launches."""
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::EC2::LaunchTemplate" and "TagSpecifications" in properties:
            for entry in properties["TagSpecifications"] + properties["LaunchTemplateData"]["TagSpecifications"]:
                tags = {tag["Key"]: tag["Value"] for tag in entry["Tags"]}
                yield tags.pop("Name"), entry["ResourceType"], tags


@pytest.mark.parametrize(
    ("file", "section"),
    [
        ("slurm-minimal.yaml", {"slurm": {"login": {"tags": {"purpose": "login"}}}}),
        ("eks-minimal.yaml", {"kubernetes": {"system": {"tags": {"purpose": "login"}}}}),
    ],
)
def test_tags_of_a_node_group_reach_what_it_launches(tmp_path: Path, file: str, section: dict[str, Any]) -> None:
    data = yaml.safe_load((ROOT / "examples" / file).read_text())
    ((key, value),) = section.items()
    data[key] = {**data.get(key, {}), **value}
    cluster = clusterfile.loads(yaml.safe_dump({**data, "tags": {"cost": "1"}}, sort_keys=False), file)
    app = cdk.App(outdir=str(tmp_path), stack_traces=False, tree_metadata=False)
    stack = cdk.Stack(app, "Mine", env=cdk.Environment(region=cluster.region))
    name = cluster.node_groups[0].name
    group = UltraCluster(stack, "Cluster", cluster=cluster).node_groups[name]
    cdk.Tags.of(stack).add("team", "all")
    cdk.Tags.of(group).add("team", "llama")
    cdk.Tags.of(group).add("commit", "4f3a", exclude_resource_types=["AWS::EC2::LaunchTemplate"])
    template = Assembly(Path(app.synth().directory)).get_stack_by_name("Mine").template
    launches = list(tags_of_launches(template))
    of_group = {kind: tags for path, kind, tags in launches if path == f"Mine/Cluster/Nodes/{name}"}
    assert of_group == {
        kind: {"team": "llama"} for kind in ("launch-template", "instance", "volume", "network-interface")
    }
    others = [tags for path, _, tags in launches if path != f"Mine/Cluster/Nodes/{name}"]
    assert others == [{"team": "all", "purpose": "login"}] * 4
    # A Grafana server keeps no state: it has the tags of the cluster.
    servers = [
        entry["Tags"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::LaunchTemplate" and "grafana" in str(resource)
        for entry in resource["Properties"]["LaunchTemplateData"]["TagSpecifications"]
    ]
    assert all({"Key": "cost", "Value": "1"} in tags for tags in servers)
    assert len(servers) == (3 if cluster.grafana == "self-hosted" else 0)


@jsii.implements(cdk.IPropertyInjector)
class _RolesOfATeam:
    @property
    def construct_unique_id(self) -> str:
        return iam.Role.PROPERTY_INJECTION_ID

    def inject(self, original_props: Any, *, scope: Any, id: str) -> Any:
        return {**original_props, "description": "ours"}


@pytest.mark.parametrize("file", ["slurm-minimal.yaml", "eks-minimal.yaml"])
def test_property_injectors_reach_every_role_of_a_cluster(tmp_path: Path, file: str) -> None:
    app = cdk.App(outdir=str(tmp_path), stack_traces=False, tree_metadata=False)
    cdk.PropertyInjectors.of(app).add(_RolesOfATeam())
    ClusterStacks(app, cluster=clusterfile.load(ROOT / "examples" / file), account="123456789012")
    app.synth()
    roles = {
        f"{stack.stack_name}/{id}": resource["Properties"].get("Description")
        for stack in Assembly(tmp_path).stacks
        for id, resource in stack.template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Role"
    }
    assert any("StackPolicies" in name for name in roles)
    assert [name for name, description in roles.items() if description != "ours"] == []
