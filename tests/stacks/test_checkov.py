"""checkov over every example: a finding is acknowledged with its reason, or fails."""

import json

import pytest

from support import EXAMPLES
from support.checkov_findings import CHECKOV_FINDINGS, Report, checkov
from support.templates import synth
from ultracluster import clusterfile
from ultracluster.security import FINDINGS

# Defects, one for each kind of resource that checkov checks and clusters have.
DEFECTS = {
    "OpenBucket": ("AWS::S3::Bucket", {}, "CKV_AWS_53"),
    "OpenGroup": (
        "AWS::EC2::SecurityGroup",
        {
            "GroupDescription": "open",
            "SecurityGroupIngress": [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "0.0.0.0/0"}],
        },
        "CKV_AWS_24",
    ),
    "KeyWithoutRotation": ("AWS::KMS::Key", {"KeyPolicy": {"Version": "2012-10-17", "Statement": []}}, "CKV_AWS_7"),
    "OldMetadata": ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": {}}, "CKV_AWS_79"),
    "PublicCluster": (
        "AWS::EKS::Cluster",
        {"RoleArn": "arn:aws:iam::123456789012:role/x", "ResourcesVpcConfig": {"SubnetIds": ["subnet-1"]}},
        "CKV_AWS_58",
    ),
    "Administrator": (
        "AWS::IAM::Policy",
        {
            "PolicyName": "all",
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
            },
        },
        "CKV_AWS_110",
    ),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    assemblies = [synth(clusterfile.load(example)).directory for example in EXAMPLES]
    defects = tmp_path_factory.mktemp("defects") / "defects.template.json"
    resources = {name: {"Type": type, "Properties": values} for name, (type, values, _) in DEFECTS.items()}
    defects.write_text(json.dumps({"Resources": resources}))
    return checkov([*(file for folder in assemblies for file in sorted(folder.glob("*.template.json"))), defects])


def test_each_finding_is_acknowledged(report: Report) -> None:
    pairs = [pair for pair in report.findings if pair[1] not in DEFECTS]
    used = {
        (check, name): [row for row in CHECKOV_FINDINGS if row.check == check and row.holds(name)]
        for check, name in pairs
    }
    assert [pair for pair, rows in used.items() if not rows] == []
    assert {row for rows in used.values() for row in rows} == set(CHECKOV_FINDINGS), "a row without a finding"


def test_defects_are_found(report: Report) -> None:
    assert {(check, name) for name, (_, _, check) in DEFECTS.items()} <= set(report.findings)
    assert report.passed > 1000


def test_rows_refer_to_acknowledged_findings_of_cdk_nag() -> None:
    known = {row.rule for row in FINDINGS} | {"AwsSolutions-IAM5", "AwsSolutions-S1"}
    for row in CHECKOV_FINDINGS:
        assert row.same in known or (not row.same and row.reason), row
