"""The templates of every cluster file match the reviewed snapshots: `pytest --update-snapshots` writes them."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest

from ultracluster import clusterfile
from ultracluster.stacks import ClusterStacks
from ultracluster.testing import assert_app_matches_snapshot

ROOT = Path(__file__).parent.parent
FLAGS = json.loads((ROOT / "cdk.json").read_text())["context"]


@pytest.mark.parametrize("file", sorted(ROOT.glob("cluster*.yaml")), ids=lambda file: file.stem)
def test_templates_match_the_snapshots(file: Path) -> None:
    """A change of a template shows as a difference, before it is deployed."""
    app = cdk.App(context=FLAGS)
    ClusterStacks(app, cluster=clusterfile.load(file))
    assert_app_matches_snapshot(app, ROOT / "tests" / "snapshots" / file.stem)
