"""`ultracluster check --against`: what an edit of a cluster file does to data and nodes, without an account."""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ultracluster.cli._cdk_deploy import in_two_steps
from ultracluster.cli._deploy_check import read_templates
from ultracluster.cli._ended_blocks import early_moves, ended_updates, left_in_file, moves
from ultracluster.cli._moved_groups import with_moved_groups
from ultracluster.cli._moved_mounts import with_moved_mounts
from ultracluster.cli._output import fail, load, misuse
from ultracluster.cli._rehearse import app_directory
from ultracluster.cli._remedies import with_remedies
from ultracluster.cli._synthesis import cdk_cli, synthesise
from ultracluster.cli._taken_reservations import taken_reservations
from ultracluster.cli._version_settings import version_settings
from ultracluster.testing import IN_PLACE, TEMPLATE_RULES, UPDATE_RULES

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile


def edit_report(file: Path, deployed: Path, cluster: "ClusterFile") -> "Report":
    """Compare a cluster file with one that is deployed, or with its templates.

    Args:
        file: The cluster file.
        deployed: The cluster file before the edit, or a directory of templates, such as a `cdk.out`.
        cluster: What the cluster file describes.
    """
    try:
        from cdk_rehearsal import guard
        from cdk_rehearsal.deploy import DeployError
    except ImportError as error:
        misuse(f'--against needs more packages ({error.name} is missing): pip install "cdk-ultracluster[guard]"')
    if not deployed.exists():
        misuse(f"--against: there is no {deployed}; name the cluster file that is deployed, or its cdk.out")
    with app_directory(None, file) as app, tempfile.TemporaryDirectory(prefix="ultracluster-check-") as scratch:
        old, new = deployed, Path(scratch) / "new"
        try:
            cli = cdk_cli(app, cluster.region, Path(scratch))
            before = None
            if not deployed.is_dir():
                before = load(str(deployed))
                if before.name != cluster.name:
                    fail(
                        f"{deployed} describes {before.name}, and {file} {cluster.name}: another name is a second "
                        "cluster beside the first; compare files of one cluster"
                    )
                old = Path(scratch) / "old"
                synthesise(cli, deployed, old)
            synthesise(cli, file, new)
            report = guard.compare(
                str(old), str(new), update_rules=UPDATE_RULES, in_place=IN_PLACE, template_rules=TEMPLATE_RULES
            )
            templates = read_templates(old)
            report = with_remedies(with_moved_groups(report, cluster, templates), cluster, templates)
            assembled = read_templates(new)
            taken = taken_reservations(report, cluster, templates, assembled)
            settings = version_settings(report, templates, assembled)
            moved, now = moves(cluster, templates, assembled), datetime.now(UTC)
            left = {} if before is None else left_in_file(before, moved, now)
            blocks = (*ended_updates(cluster, report, templates, now, left), *early_moves(cluster, moved, now, left))
            report, _ = in_two_steps(
                replace(report, broken=(*report.broken, *taken, *blocks, *settings)), templates, assembled
            )
            return with_moved_mounts(report, cluster, templates, assembled)
        except (DeployError, guard.GuardError) as error:
            fail(str(error))
