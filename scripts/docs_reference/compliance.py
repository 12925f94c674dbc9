"""Generate the table of findings of cdk-nag's packs that stay."""

import re
from pathlib import Path

from docs_reference.markdown import code, page, table
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
own construct only:

```python
import aws_cdk as cdk
from ultracluster.security import acknowledge_compliance

app = cdk.App()
# Create the stacks here. Then: cdk.Validations.of(app).add_plugins(cdk_nag.NIST80053R5Checks(app))
acknowledge_compliance(app)
```"""
_CHECKOV = """## checkov

checkov is not part of the tests: its environment has 291 MB, and took six minutes to install on two busy cores.
It works offline: `checkov -d cdk.out --framework cloudformation --skip-download`.
It ran by hand on 2026-11-24, version 3.3.30, over the templates of three examples, in 5 seconds of CPU time each.

| example | passed | failed |
|---|---|---|
| slurm-512-gpus | 204 | 11 |
| eks-512-gpus | 225 | 9 |
| slurm-capacity-block | 239 | 13 |

| check | failures of the three | why |
|---|---|---|
| CKV_AWS_158, keys of log groups | 5, 4, 5 | as CloudWatchLogGroupEncrypted above; none with `compliance` |
| CKV_AWS_111, writes on all resources | 4, 3, 4 | as AwsSolutions-IAM5 of the same roles |
| CKV_AWS_18, logging of the log bucket | 1, 1, 1 | access logs of a log bucket would log themselves |
| CKV_AWS_21, versioning of the log bucket | 1, 1, 1 | as S3BucketVersioningEnabled above |
| CKV_AWS_27, a KMS key for a queue | 0, 0, 2 | SQS encrypts the dead-letter queues with its own key |"""


def compliance_page() -> str:
    """Page with all acknowledged findings."""
    return page(
        "Compliance",
        _ABOUT,
        f"## NIST 800-53 R5, HIPAA Security, PCI DSS 3.2.1\n\n{table(_HEADER, map(_row, FINDINGS))}",
        f"## AwsSolutions\n\n{_SOLUTIONS}{', '.join(map(code, _solutions()))}.",
        _KEY,
        _USE,
        _CHECKOV,
    )


_HEADER = ("rule", "where", "packs", "why")
_SOLUTIONS = "Acknowledged beside their resources, each with its reason in the assembly: "


def _row(finding: Finding) -> tuple[str, ...]:
    source = f" ([AWS]({finding.source}){', read ' + finding.read if finding.read else ''})"
    return code(finding.rule), code(finding.where), packs_of(finding.rule), f"{finding.reason}{source}"


def _solutions() -> list[str]:
    files = _SOURCES.rglob("*.py")
    return sorted({id for path in files for id in re.findall(r"AwsSolutions-\w+", path.read_text(encoding="utf-8"))})
