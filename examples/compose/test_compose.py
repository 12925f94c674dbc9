from pathlib import Path

import aws_cdk as cdk
from training import Training

from ultracluster.testing import assert_matches_snapshot


def test_the_template_is_the_one_we_reviewed() -> None:
    assert_matches_snapshot(Training(cdk.App(), "Training"), Path(__file__).parent / "training.snapshot.json")
