"""Rules of what Slurm nodes run and send."""

from collections.abc import Iterator, Sequence

from ultracluster.boot import LIBRARY_SCRIPTS, check_scripts
from ultracluster.catalogue.monitoring import LOG_RETENTION_DAYS
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._node_scripts import node_script
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error, shared
from ultracluster.clusterfile.sections._scripts import Script
from ultracluster.rules import Refusal

_RETENTION = error("slurm-logs-retention", "CloudWatch Logs keeps a log group for some numbers of days only.")
_SCRIPTS = {
    rule: shared(rule) for rule in ("node-script", "node-script-checksum", "node-script-count", "node-script-size")
}


def check_slurm_nodes(draft: Draft) -> Iterator[Problem]:
    """Check the logs and the scripts of the nodes."""
    retention = draft.slurm.logs.retention
    if retention.days not in LOG_RETENTION_DAYS:
        days = ", ".join(map(str, LOG_RETENTION_DAYS))
        longer = next((day for day in LOG_RETENTION_DAYS if day * 86_400 >= retention.seconds), LOG_RETENTION_DAYS[-1])
        message = f"must be one of {days} days, got {retention}; write {longer} d"
        yield _RETENTION(("slurm", "logs", "retention"), message)
    yield from check_user_scripts(draft)


def check_user_scripts(draft: Draft) -> Iterator[Problem]:
    """Check the scripts of the nodes."""
    for name, section in draft.nodes.items():
        yield from _check_scripts(("nodes", name, "scripts"), section.scripts)
    yield from _check_scripts(("slurm", "login", "scripts"), draft.slurm.login.scripts)


def _check_scripts(path: Path, scripts: Sequence[Script]) -> Iterator[Problem]:
    named = []
    for index, script in enumerate(scripts):
        try:
            action = node_script(script)
        except Refusal as refusal:
            for message in refusal.messages:
                yield _SCRIPTS[message.rule.id]((*path, index), str(message), at_key=True)
        else:
            named.append((action.stage, action.name))
    for message in check_scripts([*LIBRARY_SCRIPTS, *named]):
        yield _SCRIPTS[message.rule.id](path, str(message), at_key=True)
