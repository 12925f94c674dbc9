"""Every example, with everything that checks templates: CloudFormation Validate as errors, cdk-nag, cfn-lint."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_rehearsal.guard import refusals
from support import EXAMPLES, ROOT
from support.checkov_findings import CHECKOV_FINDINGS
from support.strict_process import StrictProcess
from support.template_lint import matches, problems
from support.templates import offer, synth
from ultracluster import clusterfile
from ultracluster.security import FINDINGS, packs_of
from ultracluster.testing import TEMPLATE_RULES

MOST_RESOURCES = 400
PACKS = ("NIST 800-53 R5", "HIPAA Security", "PCI DSS 3.2.1")


def templates(outdir: Path) -> list[Path]:
    return sorted(outdir.glob("*.template.json"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_passes_every_check(file: Path, tmp_path: Path, strict: StrictProcess) -> None:
    out = tmp_path / "out"
    # With the packs of NIST 800-53 R5, HIPAA and PCI DSS.
    assert strict.synthesise(out, ["cluster", str(file)], ["compliance"]) == ""
    region = next(line.split()[1] for line in file.read_text().splitlines() if line.startswith("region:"))
    result = templates(out)
    assert result, "no template was written"
    contents = {path.name: json.loads(path.read_text()) for path in result}
    assert refusals(contents, template_rules=TEMPLATE_RULES) == []
    for path in result:
        assert len(contents[path.name]["Resources"]) < MOST_RESOURCES
        assert problems(path.read_text(), region) == [], path.name
    offer(clusterfile.load(file), out)


# Every kind of resource that the examples have.
COMPLIANT = ("slurm-512-gpus", "slurm-managed-grafana", "eks-512-gpus", "eks-private", "hyperpod-slurm")


def test_packs_of_compliance_find_what_is_acknowledged(tmp_path: Path, strict: StrictProcess) -> None:
    """Each rule is still reported, at the constructs that its row names, and no row is without use."""
    used, rules = set(), set()
    for name in COMPLIANT:
        example = next(path for path in EXAMPLES if path.stem == name)
        problems = strict.synthesise(tmp_path / name, ["cluster", str(example)], ["packs"])
        assert "ValidationFailed" in problems
        report = json.loads((tmp_path / name / "validation-report.json").read_text())
        for violation in (row for plugin in report["pluginReports"] for row in plugin["violations"]):
            rules.add(violation["ruleName"])
            for construct in violation["violatingConstructs"]:
                path = construct["constructPath"]
                used |= {row for row in FINDINGS if violation["ruleName"] in row.ids and row.holds(path)}
    assert used == set(FINDINGS)
    for row in FINDINGS:
        assert packs_of(row.rule) == ", ".join(pack for pack, id in zip(PACKS, row.ids, strict=True) if id in rules), (
            row.rule
        )


def test_the_key_of_compliance_leaves_no_log_group_without_a_key(tmp_path: Path, strict: StrictProcess) -> None:
    """And the findings that stay are acknowledged without a call."""
    file = tmp_path / "eks.yaml"
    example = next(path for path in EXAMPLES if path.stem == "eks-512-gpus")
    file.write_text(f"{example.read_text()}\ncompliance: [hipaa, nist-800-53, pci-dss]\n")
    out = tmp_path / "out"
    assert strict.synthesise(out, ["cluster", str(file)], ["packs"]) == ""
    contents = [json.loads(path.read_text())["Resources"] for path in templates(out)]
    resources = {name: row for content in contents for name, row in content.items()}
    groups = [row for row in resources.values() if row["Type"] == "AWS::Logs::LogGroup"]
    assert groups
    assert all("LogKey" in json.dumps(row["Properties"]["KmsKeyId"]) for row in groups)
    assert [row["Type"] for name, row in resources.items() if name.startswith("LogKey")] == ["AWS::KMS::Key"]


def test_a_defect_beside_the_acknowledged_ones_is_found(tmp_path: Path, strict: StrictProcess) -> None:
    assert "S3BucketVersioningEnabled" in strict.synthesise(tmp_path, ["open_bucket"], ["compliance"])
    report = json.loads((tmp_path / "validation-report.json").read_text())
    paths = {
        violation["ruleName"].removeprefix("NIST.800.53.R5-"): {
            construct["constructPath"].removeprefix("OpenBucket/") for construct in violation["violatingConstructs"]
        }
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
    }
    assert paths["CloudWatchLogGroupEncrypted"] == {"Records/LogGroup/Resource"}
    assert paths["S3BucketReplicationEnabled"] == {"Bucket/Resource", "Data/Bucket/Resource"}


def test_cfn_lint_finds_each_kind_of_defect() -> None:
    """`template_lint` replaces parts of it: a rule of each way in which it runs rules, with the line."""
    statement = {"Effect": "Maybe", "Action": "s3:GetObject", "Resource": "*"}
    policy = {"PolicyName": "p", "Roles": ["r"], "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    subnet = {"VpcId": {"Ref": "Nothing"}, "CidrBlock": "10.0.0.0/33"}
    function = {"Code": {"ZipFile": "x"}, "Role": "x", "Runtime": "python3.13", "Handler": "index.x"}
    resources = {
        "Policy": {"Type": "AWS::IAM::Policy", "Properties": policy},
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": subnet, "DependsOn": "Later"},
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketNam": "x", "Tags": "x"}},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Twice": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "one"}},
        "Again": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "one"}},
        "Name": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Fn::Sub": "text"}}},
    }
    lines = {(item.rule.id, item.linenumber) for item in matches(json.dumps({"Resources": resources}, indent=1))}
    errors = {("E1020", 26), ("E3002", 28), ("E3002", 35), ("E3005", 30), ("E3012", 36), ("E3024", 36), ("E3510", 14)}
    assert lines == errors | {("E3031", 45), ("E3019", 53), ("E3019", 59), ("W1020", 66)}


def test_acknowledgments_are_few() -> None:
    sources = (ROOT / "constructs").rglob("*.py")
    solutions = {id for path in sources for id in re.findall(r"AwsSolutions-\w+", path.read_text())}
    checks = [row for row in CHECKOV_FINDINGS if not row.same]
    assert len(FINDINGS) + len(solutions) + len(checks) <= 30


FRESH = """
import sys
from pathlib import Path
from support import templates
from ultracluster import clusterfile
templates.share(Path(sys.argv[1]))
templates.synth(clusterfile.load(sys.argv[2]))
"""


def test_the_same_file_gives_the_same_templates_byte_for_byte(tmp_path: Path) -> None:
    """In a process that has just begun, and in one that may have made other clusters before."""
    path = os.pathsep.join(str(ROOT / folder) for folder in ("constructs", "", "tests"))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-c", FRESH, tmp_path / "new", EXAMPLES[0]], cwd=ROOT, env=environment, check=True)
    (fresh,) = (tmp_path / "new").iterdir()
    here = synth(clusterfile.load(EXAMPLES[0])).directory
    entry, two = ([path.read_bytes() for path in templates(outdir)] for outdir in (here, fresh))
    assert entry
    assert entry == two


def test_the_strict_pass_can_fail(tmp_path: Path, strict: StrictProcess) -> None:
    """An open bucket is stopped by cdk-nag, and what comes after it is not: the pass above proves something."""
    assert "AwsSolutions-S1" in strict.synthesise(tmp_path / "open", ["open_bucket"])
    assert strict.synthesise(tmp_path / "closed", ["images"]) == ""
