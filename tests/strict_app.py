"""Synthesises cluster files with every check on: run by test_strict.py, in a process of its own.

Usage: python tests/strict_app.py FILE OUTDIR. Exits 1 when CloudFormation Validate or cdk-nag has something to say.
"""

import json
import sys
from pathlib import Path

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from stacks.cluster_stacks import ClusterStacks
from ultracluster import clusterfile

ROOT = Path(__file__).parent.parent


def main(file: str, outdir: str) -> None:
    """Synthesise one file, with the flags of cdk.json, as for an account that is known."""
    app = cdk.App(context=json.loads((ROOT / "cdk.json").read_text())["context"], outdir=outdir)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
    cluster = clusterfile.load(file)
    ClusterStacks(app, cluster=cluster, account="123456789012")
    app.synth()


if __name__ == "__main__":
    main(*sys.argv[1:])
