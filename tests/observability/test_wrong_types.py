"""An argument of a wrong type is refused in a sentence that names it."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from ultracluster.observability import AnomalyDetector, PrometheusScraper, PrometheusWorkspace

WRONG: list[Any] = [object(), 5, ["x"]]


@pytest.mark.parametrize("argument", ["alias", "query", "interval"])
@pytest.mark.parametrize("value", WRONG, ids=["object", "number", "list"])
def test_an_anomaly_detector_names_the_argument(argument: str, value: Any, stack: cdk.Stack) -> None:
    arguments = {"workspace": PrometheusWorkspace(stack, "W", alias="w"), "alias": "mine", "query": "up"}
    with pytest.raises(ValueError, match=f"{argument} must be "):
        AnomalyDetector(stack, "Detector", **{**arguments, argument: value})


@pytest.mark.parametrize("argument", ["alias", "configuration", "subnets", "security_groups", "eks_cluster"])
@pytest.mark.parametrize("value", WRONG, ids=["object", "number", "list"])
def test_a_scraper_names_the_argument(argument: str, value: Any, stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc")
    arguments: dict[str, Any] = {
        "workspace": PrometheusWorkspace(stack, "W", alias="w"),
        "alias": "mine",
        "configuration": "scrape_configs: []",
        "subnets": vpc.private_subnets,
        "security_groups": [ec2.SecurityGroup(stack, "Group", vpc=vpc)],
    }
    with pytest.raises(ValueError, match=rf"{argument}(\[0\])? must be "):
        PrometheusScraper(stack, "Scraper", **{**arguments, argument: value})
