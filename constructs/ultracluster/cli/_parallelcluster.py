"""`ultracluster render --parallelcluster`: a configuration of ParallelCluster, and what it cannot carry over."""

from typing import TYPE_CHECKING

from ultracluster.cli._output import load
from ultracluster.cli._writing import RenderedFile

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

_FILE = "parallelcluster/cluster.yaml"
_RULE = "parallelcluster"
_ORCHESTRATOR = "slurm"


def configuration_files(cluster: "ClusterFile", file: str, bucket: str | None) -> list[RenderedFile]:
    """Return the configuration with its notes, and the scripts of its custom actions.

    A file of another orchestrator is read as one of Slurm, or refused with its keys that Slurm has no equivalent for.
    """
    from ultracluster.clusterfile import Problem, locate
    from ultracluster.parallelcluster import parallelcluster_configuration

    problems = []
    if cluster.traits.capacity_service != "pcs":
        what = "the cluster file with orchestrator: slurm, which ParallelCluster runs"
        cluster = load(file, orchestrator=_ORCHESTRATOR, what=what)
        message = "ParallelCluster runs Slurm; the configuration is that of this file with orchestrator: slurm"
        problems.append(Problem(path=("orchestrator",), message=message, rule=_RULE))
    configuration = parallelcluster_configuration(cluster, bucket=bucket)
    problems += [
        Problem(path=note.path, message=f"{note.reason}; {note.fix}", at_key=True, rule=_RULE)
        for note in configuration.notes
    ]
    what = "ParallelCluster: the configuration."
    if configuration.scripts_url:
        what += f" Before pcluster create-cluster: aws s3 sync parallelcluster/scripts {configuration.scripts_url}"
    return [
        RenderedFile(path=_FILE, text=configuration.text, what=what, notes=tuple(locate(file, problems))),
        *(
            RenderedFile(path=path, text=text, what="ParallelCluster: a custom action.")
            for path, text in configuration.scripts.items()
        ),
    ]
