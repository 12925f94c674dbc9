"""The teams of the section `kubernetes`."""

from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._nodes import NodeGroupName
from ultracluster.clusterfile.sections._section import Section

#: Name of an object. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ (read 2026-11-21)
DNS_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
Principal = Annotated[
    str,
    w.arn(
        "iam",
        "(role|user)/[A-Za-z0-9+=,.@_/-]{1,512}",
        "the ARN of an IAM role or user",
        "role/NAME",
        "role/platform",
        region=False,
    ),
]
TeamName = Annotated[
    str, w.pattern(DNS_LABEL, "lower-case letters, digits and hyphens, as a namespace is called", "research")
]
# That of HyperPod has this range: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ComputeQuotaTarget.html
# (read 2026-11-23)
Weight = Annotated[int, w.whole(1, 100, example=2)]


class Team(Section):
    """A team: a namespace and a queue of its own, and a share of the nodes."""

    nodes: dict[NodeGroupName, t.Spare] | None = Field(
        default=None,
        examples=[{"train": 8}],
        description="Number of nodes of each group that are its own. Default: an equal part of the rest.",
    )
    borrow: t.Flag = Field(default=True, description="Whether its jobs may use idle nodes of other teams.")
    weight: Weight | None = Field(
        default=None,
        description="Its weight when teams share idle nodes. Default: 1 beside a team with a weight. Without any, "
        "Kueue gives idle nodes to the first job that fits.",
    )
    members: w.Distinct[Principal] = Field(
        default=(),
        description="ARNs of IAM roles and users that submit and watch its jobs: they may edit its namespace. Default: "
        "none.",
    )
