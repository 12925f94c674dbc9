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
own construct only:

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
        f"## NIST 800-53 R5, HIPAA Security, PCI DSS 3.2.1\n\n{table(_HEADER, map(_row, FINDINGS))}",
        f"## AwsSolutions\n\n{_SOLUTIONS}{', '.join(map(code, _solutions()))}.",
        _KEY,
        _USE,
        f"{_CHECKOV}\n\n{table(_CHECKOV_HEADER, map(_check_row, CHECKOV_FINDINGS))}",
    )


_HEADER = ("rule", "where", "packs", "why")
_CHECKOV_HEADER = ("check", "requires", "where", "why")
_SOLUTIONS = "Acknowledged beside their resources, each with its reason in the assembly: "


def _row(finding: Finding) -> tuple[str, ...]:
    source = f" ([AWS]({finding.source}){', read ' + finding.read if finding.read else ''})"
    return code(finding.rule), code(finding.where), packs_of(finding.rule), f"{finding.reason}{source}"


def _check_row(finding: CheckovFinding) -> tuple[str, ...]:
    same = f"as {code(finding.same)}" if finding.same else ""
    return code(finding.check), finding.title, code(finding.where), ". ".join(filter(None, (same, finding.reason)))


def _solutions() -> list[str]:
    files = _SOURCES.rglob("*.py")
    return sorted({id for path in files for id in re.findall(r"AwsSolutions-\w+", path.read_text(encoding="utf-8"))})
