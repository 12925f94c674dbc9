"""The rehearsal: the real CDK CLI takes an app through bootstrap, deploy, update and destroy on the local cloud."""

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ultracluster import clusterfile
from ultracluster.rehearsal.cdk_cli import CdkCli, CliResult
from ultracluster.rehearsal.cloud import ACCOUNT, LocalCloud
from ultracluster.rehearsal.errors import RehearsalError
from ultracluster.rehearsal.journal import Action
from ultracluster.rehearsal.report import Report, Step, changes, report
from ultracluster.rehearsal.update import with_one_more_group

REGION = "us-east-1"
_TOOLKIT = "CDKToolkit"
_WELL = ("CREATE_COMPLETE", "UPDATE_COMPLETE")


class Listener(Protocol):
    """What is told while a rehearsal goes on."""

    def begin(self, name: str) -> None:
        """A step begins."""

    def line(self, text: str) -> None:
        """The CLI printed a line."""

    def end(self, step: Step) -> None:
        """A step ended."""


class Silence:
    """A listener that tells nobody."""

    def begin(self, name: str) -> None:
        """Do nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""

    def end(self, step: Step) -> None:
        """Do nothing."""


def rehearse(
    *,
    cluster_file: Path | None = None,
    app: Path = Path(),
    listener: Listener | None = None,
    keep: Callable[[LocalCloud, str], None] | None = None,
) -> Report:
    """Rehearse an app.

    Args:
        cluster_file: A cluster file, given to the app as the context `cluster`. The update step adds a node group to
            a copy of it. Without one, the update step is a second deployment that must change nothing.
        app: Directory of the app, with its cdk.json. Nothing is written there.
        listener: What is told while it goes on; by default nobody.
        keep: Called with the local cloud and its region after the deployment, instead of update and destroy.

    Returns:
        The report. Steps that failed are in it; the steps after them are not made.

    Raises:
        RehearsalError: when the rehearsal cannot start.
        ClusterFileError: when the cluster file has a problem.
    """
    cluster = clusterfile.load(str(cluster_file)) if cluster_file else None
    with tempfile.TemporaryDirectory(prefix="ultracluster-rehearsal-") as folder:
        scratch = Path(folder)
        if cluster is not None:
            places = [Place(account=cluster.account or ACCOUNT, region=cluster.region)]
        else:
            places = []
        account, region = (places[0].account, places[0].region) if places else (ACCOUNT, REGION)
        with LocalCloud(account=account) as cloud:
            run = _Run(
                cloud=cloud,
                app=app,
                scratch=scratch,
                region=region,
                listener=listener or Silence(),
                cluster_file=cluster_file,
            )
            run.all(places, keep)
            return run.report()


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An account and region that stacks go to."""

    account: str
    region: str


class _Failed(Exception):
    """A step failed: the rest is not made."""


class _Run:
    """One rehearsal, step by step."""

    def __init__(
        self,
        *,
        cloud: LocalCloud,
        app: Path,
        scratch: Path,
        region: str,
        listener: Listener,
        cluster_file: Path | None,
    ) -> None:
        self._cloud = cloud
        self._app = app
        self._scratch = scratch
        self._region = region
        self._listener = listener
        self._file = cluster_file
        self._steps: list[Step] = []
        self._cli = self._cli_for(cloud.account, region)

    def all(self, places: list[Place], keep: Callable[[LocalCloud, str], None] | None) -> None:
        """Make every step, up to the first that fails."""
        try:
            for place in places or self._synthesise():
                cli = self._cli_for(place.account, place.region)
                self._step(f"bootstrap {place.region}", lambda cli=cli, place=place: self._bootstrap(cli, place))
            self._step("deploy", lambda: self._deploy(self._file))
            if keep is not None:
                keep(self._cloud, self._region)
                return
            if self._file is not None:
                self._step("update: one more node group", self._update)
            else:
                self._step("deploy again: no changes", self._deploy_again)
            for stack in self._cloud.stacks.everywhere():
                if stack.protected:
                    self._step(f"lift the termination protection of {stack.name}", lambda s=stack: _lift(s))
            self._step("destroy", self._destroy)
        except _Failed:
            return

    def report(self) -> Report:
        """Sum up."""
        return report(
            steps=self._steps,
            journal=self._cloud.journal,
            stacks=self._cloud.stacks,
            leave_out=frozenset({_TOOLKIT}),
        )
