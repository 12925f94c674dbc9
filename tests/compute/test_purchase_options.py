import aws_cdk as cdk

from support import GOLDEN
from support.purchase_options import PurchaseOptions
from ultracluster.testing import assert_matches_snapshot


def test_nodes_of_four_purchase_options_match_the_reviewed_template() -> None:
    assert_matches_snapshot(PurchaseOptions(cdk.App(), "Ways"), GOLDEN / "purchase-options.json")
