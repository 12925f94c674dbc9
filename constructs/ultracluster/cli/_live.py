"""`ultracluster check --live`: a cluster file and the AWS account."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from ultracluster.cli._aws import client
from ultracluster.cli._output import print_json

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile
    from ultracluster.live import Finding


def print_policy(cluster: "ClusterFile") -> None:
    """Print the IAM policy that the checks need."""
    from ultracluster.live import policy

    print_json(policy(cluster))


def print_findings_json(file: str, cluster: "ClusterFile") -> None:
    """Print all findings as JSON; exit with code 1 if one is `fail`."""
    findings = list(_findings(cluster))
    ok = all(finding.status != "fail" for finding in findings)
    print_json({"file": file, "ok": ok, "live": [asdict(finding) for finding in findings]})
    if not ok:
        raise typer.Exit(1)


def print_findings(cluster: "ClusterFile") -> None:
    """Print each finding as soon as AWS has answered; exit with code 1 if one is `fail`."""
    typer.echo(f"\nthe account in {cluster.region}:")
    counts = {"pass": 0, "warn": 0, "fail": 0}
    for finding in _findings(cluster):
        counts[finding.status] += 1
        typer.echo(f"{finding.status}  {finding.message} [{finding.check}]")
        if finding.fix:
            typer.echo(f"      {finding.fix}")
    typer.echo(", ".join(f"{number} {status}" for status, number in counts.items()))
    if counts["fail"]:
        raise typer.Exit(1)


def _findings(cluster: "ClusterFile") -> "Iterator[Finding]":
    from ultracluster.live import check_account

    client("sts", cluster.region)  # ends the command if boto3 is not installed
    yield from check_account(cluster, client)
