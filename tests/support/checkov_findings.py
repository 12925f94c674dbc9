"""Findings of checkov that stay, each with its reason, and its run over templates."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from support import ROOT

PYTHON = ROOT / ".venv-checkov" / "bin" / "python"
VERSION = re.findall(r"^checkov==(.+)$", (ROOT / "scripts/checkov-requirements.txt").read_text(), re.MULTILINE)[0]


class CheckovFinding(NamedTuple):
    """A finding that stays.

    Args:
        check: Check of checkov.
        title: What it requires.
        where: Logical ids without their hashes, as a regular expression.
        same: Acknowledged finding of cdk-nag with the same reason; empty if there is none.
        reason: Why it stays, beside the reason of `same`.
    """

    check: str
    title: str
    where: str
    same: str
    reason: str = ""

    def holds(self, logical_id: str) -> bool:
        return re.fullmatch(f"(?:{self.where})[0-9A-F]{{8}}", logical_id) is not None


class Report(NamedTuple):
    """Number of checks that passed, and pairs of check and logical id that did not."""

    passed: int
    findings: list[tuple[str, str]]


_IAM = "AwsSolutions-IAM5"
_FUNCTION = "(GrafanaContent|Lifecycle)Function"
CHECKOV_FINDINGS = (
    CheckovFinding(
        "CKV_AWS_158",
        "a KMS key of each log group",
        ".*(Log|Logs|LogGroup)",
        "CloudWatchLogGroupEncrypted",
        "None stays with `compliance`",
    ),
    CheckovFinding(
        "CKV_AWS_111",
        "no write access to all resources",
        "((Slurm|Grafana)?NodeRole|LoginRole|HyperPodRole|HostRole|Nodes|OwnNodes|Nodes(X86|Arm)Role)DefaultPolicy"
        "|AdministratorPolicy|.*AccessLoadBalancersDefaultPolicy",
        _IAM,
        "[Each statement](../guides/network.md#statements-on-all-resources) with its reason",
    ),
    CheckovFinding(
        "CKV_AWS_109",
        "no management of permissions on all resources",
        "(HyperPodRole|NodeRole)DefaultPolicy",
        _IAM,
        "HyperPod attaches network interfaces of the VPC with this role: `ec2:CreateNetworkInterfacePermission` "
        "([AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html))",
    ),
    CheckovFinding("CKV_AWS_18", "access logs of each bucket", "DataAccessLogs", "AwsSolutions-S1"),
    CheckovFinding("CKV_AWS_18", "access logs of each bucket", "Bucket|.*AccessCertificates", "S3BucketLoggingEnabled"),
    CheckovFinding(
        "CKV_AWS_27",
        "a KMS key of each queue",
        "KarpenterQueue|.*DeadLetters",
        "",
        "SQS encrypts the queue with its own key, and charges nothing for it; the messages are events of EC2 and of "
        "schedules ([AWS](https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
        "sqs-server-side-encryption.html))",
    ),
    CheckovFinding(
        "CKV_AWS_33",
        "no principal `*` in the policy of a key",
        "Key",
        "",
        "Only with a data repository association: the service-linked role of FSx has the id of the file system in its "
        "name, so conditions name the account, S3 and that role "
        "([AWS](https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html))",
    ),
    CheckovFinding("CKV_AWS_115", "reserved concurrency of each function", _FUNCTION, "LambdaConcurrency"),
    CheckovFinding("CKV_AWS_116", "a dead-letter queue of each function", _FUNCTION, "LambdaDLQ"),
    CheckovFinding("CKV_AWS_117", "each function inside a VPC", _FUNCTION, "LambdaInsideVPC"),
)


def checkov(files: Iterable[Path]) -> Report:
    """Run checkov's checks of CloudFormation over templates."""
    program = ROOT / "tests" / "support" / "checkov_run.py"
    run = subprocess.run([PYTHON, program, *files], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    output = json.loads(run.stdout)
    return Report(output["passed"], [(check, name) for check, name in output["findings"]])
