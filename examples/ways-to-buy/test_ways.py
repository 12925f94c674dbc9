from pathlib import Path

import aws_cdk as cdk
from ways import Ways

from ultracluster.testing import assert_matches_snapshot


def test_the_template_is_the_one_we_reviewed() -> None:
    assert_matches_snapshot(Ways(cdk.App(), "Ways"), Path(__file__).parent / "ways.snapshot.json")
