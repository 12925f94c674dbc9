"""Synthesizer and tags that an app passes on to its clusters."""

from pathlib import Path

import aws_cdk as cdk

from support.templates import Assembly
from ultracluster import clusterfile
from ultracluster.stacks import ClusterStacks

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
