"""Generate the table of findings of cdk-nag's packs that stay."""

import re
from pathlib import Path

from docs_reference.markdown import code, page, table
from support.checkov_findings import CHECKOV_FINDINGS, VERSION, CheckovFinding
from ultracluster.security import FINDINGS, Finding, packs_of

_SOURCES = Path(__file__).parents[2] / "constructs" / "ultracluster"
_ABOUT = """Findings of [cdk-nag](https://github.com/cdklabs/cdk-nag) that stay, and why.
The tests run its packs over every example. A finding that is in neither list fails them. An auditor of your account
decides on compliance; these packs are a part of the evidence."""
_KEY = """## The key `compliance`

```yaml
compliance: [hipaa, nist-800-53, pci-dss]
```

It creates what costs money, and is off by default. All log groups of the cluster are encrypted with one KMS key, which
is retained. `hipaa` also enables detailed monitoring of single instances. The findings of the first table are
acknowledged. An edit of the key updates log groups in place."""
_USE = """## Use the packs

The packs are plug-ins of your app. `acknowledge_compliance` acknowledges the findings of the first table, each at its
own construct only. It leaves constructs of your app alone that are not of this library:

```python
import aws_cdk as cdk
from ultracluster.security import acknowledge_compliance

app = cdk.App()
# Create the stacks here. Then: cdk.Validations.of(app).add_plugins(cdk_nag.NIST80053R5Checks(app))
acknowledge_compliance(app)
```"""
_CHECKOV = f"""## checkov

The tests also run checkov {VERSION}, its checks of CloudFormation, over every example. A finding without a row fails.
A reason without a link is that of the finding of cdk-nag that is named. To run it: `checkov -d cdk.out --framework
cloudformation --skip-download`."""


def compliance_page() -> str:
    """Page with all acknowledged findings."""
    return page(
        "Compliance",
        _ABOUT,
        f"## Findings by pack\n\n{_COUNTS}\n\n{table(_COUNTS_HEADER, _count_rows())}",
        f"## NIST 800-53 R5, HIPAA Security, PCI DSS 3.2.1\n\n{table(_HEADER, map(_row, FINDINGS))}",
        f"## AwsSolutions\n\n{_SOLUTIONS}\n\n{table(('rule', 'why'), _solution_rows())}",
        _KEY,
        _USE,
        f"{_CHECKOV}\n\n{table(_CHECKOV_HEADER, map(_check_row, CHECKOV_FINDINGS))}",
    )


_COUNTS = """Open findings of `slurm-512-gpus` and `eks-512-gpus` before the packs were part of the tests, and of every
example today. The last column has the distinct rules of the tables below, each acknowledged with its reason."""
_COUNTS_HEADER = ("pack", "2026-11-22: Slurm", "2026-11-22: EKS", "open today", "acknowledged rules")


def _count_rows() -> list[tuple[str, ...]]:
    rows = [("AwsSolutions", 0, 0, len(_WHY))]
    for name, before in (("NIST 800-53 R5", (17, 18)), ("HIPAA Security", (17, 18)), ("PCI DSS 3.2.1", (17, 18))):
        rows.append((name, *before, len({finding.rule for finding in FINDINGS if name in packs_of(finding.rule)})))
    rows.append((f"checkov {VERSION}", 7, 8, len({finding.check for finding in CHECKOV_FINDINGS})))
    return [(name, str(slurm), str(eks), "0", str(rules)) for name, slurm, eks, rules in rows]


_HEADER = ("rule", "where", "packs", "why")
_CHECKOV_HEADER = ("check", "requires", "where", "why")
_SOLUTIONS = "Acknowledged beside their resources, each with the reason of its resource in the assembly."
# Rule -> reason, page of AWS.
_WHY = {
    "AS3": (
        "Notifications of a group are optional. These groups have a fixed size and no scaling events",
        "autoscaling/ec2/userguide/ec2-auto-scaling-sns-notifications.html",
    ),
    "CB4": (
        "CodeBuild encrypts with the key of S3 in the account; the build of the platform writes nothing but its log",
        "codebuild/latest/userguide/security-encryption.html",
    ),
    "EC26": (
        "The volume of the administration host is encrypted; the rule fails where a stack has launch templates",
        "ebs/latest/userguide/ebs-encryption.html",
    ),
    "EC28": (
        "The administration host runs for minutes after a deployment. `compliance` with hipaa enables the metrics",
        "AWSEC2/latest/UserGuide/manage-detailed-monitoring.html",
    ),
    "EC29": (
        "The administration host holds nothing, and a deployment replaces it with a newer image",
        "AWSEC2/latest/UserGuide/Using_ChangingDisableAPITermination.html",
    ),
    "EKS1": (
        "The public endpoint is off by default. Where the file names ranges, it serves these only; IAM authenticates",
        "eks/latest/userguide/config-cluster-endpoint.html",
    ),
    "IAM4": (
        "The service requires this managed policy by name, such as `AmazonEKSWorkerNodePolicy`",
        "eks/latest/userguide/create-node-role.html",
    ),
    "IAM5": (
        "The actions have no resource-level permission, or the resource is not known at synthesis. "
        "[Each statement](../guides/network.md#statements-on-all-resources) has its reason",
        "service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html",
    ),
    "S1": (
        "Access logs of the bucket for access logs would log themselves. The bucket for scripts is in the first table",
        "AmazonS3/latest/userguide/enable-server-access-logging.html",
    ),
    "SQS3": (
        "The queue is itself a dead-letter queue, or its messages have no use after minutes",
        "AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html",
    ),
}


def _row(finding: Finding) -> tuple[str, ...]:
    source = f" ([AWS]({finding.source}){', read ' + finding.read if finding.read else ''})"
    return code(finding.rule), code(finding.where), packs_of(finding.rule), f"{finding.reason}{source}"


def _check_row(finding: CheckovFinding) -> tuple[str, ...]:
    same = f"as {code(finding.same)}" if finding.same else ""
    return code(finding.check), finding.title, code(finding.where), ". ".join(filter(None, (same, finding.reason)))


def _solution_rows() -> list[tuple[str, ...]]:
    files = _SOURCES.rglob("*.py")
    ids = {id for path in files for id in re.findall(r"AwsSolutions-(\w+)", path.read_text(encoding="utf-8"))}
    assert ids == set(_WHY), f"a rule without a reason, or a reason without a rule: {ids ^ set(_WHY)}"
    return [
        (code(f"AwsSolutions-{id}"), f"{why} ([AWS](https://docs.aws.amazon.com/{page}))")
        for id, (why, page) in sorted(_WHY.items())
    ]
