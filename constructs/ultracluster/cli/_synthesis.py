"""Templates of a cluster file, as the CDK CLI writes them for the app."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ultracluster.cli._output import fail

if TYPE_CHECKING:
    from cdk_rehearsal.deploy import CdkCli


def cdk_cli(app: Path, region: str, scratch: Path) -> "CdkCli":
    """Return the CDK CLI in the directory of an app, with the credentials of the caller.

    Raises:
        DeployError: If there is no CDK CLI.
    """
    from cdk_rehearsal.deploy import CdkCli

    environment = {**os.environ, "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    return CdkCli(app=app, environment=environment, scratch=scratch)


def synthesise(cli: "CdkCli", file: Path, output: Path) -> None:
    """Write the cloud assembly of a cluster file to a directory, or end the command with the reasons."""
    context = ("--context", f"cluster={file.resolve()}")
    result = cli.run("synth", "--quiet", "--output", str(output), *context)
    if result.code:
        fail("\n".join(result.reasons))
