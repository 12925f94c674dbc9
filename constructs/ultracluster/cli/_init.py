"""`ultracluster init`: a CDK app for one or more clusters, in the user's own repository."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ultracluster import __version__
from ultracluster.cli._output import console, fail
from ultracluster.cli._project_files import cluster_app, git_files, has_node, project_files, source, with_wheel
from ultracluster.cli._writing import write_files, written_table

_Directory = Annotated[
    Path, typer.Argument(metavar="[DIR]", help="Directory of the app; created if it does not exist.")
]

_NO_RELEASE = """requirements.txt names a release of cdk-ultracluster, and this one was installed from {source}.
Copy its wheel to {directory} (pip wheel --no-deps --wheel-dir {directory} DIRECTORY_OF_THE_CHECKOUT), and name it in
requirements.txt instead: ./{wheel}[guard,rehearsal]"""
_NEXT = """Next, in {directory}:
  pip install -r requirements.txt && npm install     # once
  ultracluster check cluster.yaml                    # validate the cluster file
  {pytest}
  ultracluster rehearse cluster.yaml                 # deploy, update and destroy locally, without an AWS account
  npx cdk bootstrap                                  # once per account and region
  ultracluster deploy cluster.yaml                   # all stacks, unless that loses data, nodes or jobs
Then, with the outputs of the Compute stack:
  LoginCommand                                       # opens a session on a login node; there: sudo -iu ubuntu
  sbatch /fsx/jobs/current/train/nccl.sbatch         # the job files of this cluster are in JobFiles"""


def init(directory: _Directory = Path()) -> None:
    """Write a CDK app: cluster file, app.py, cdk.json, requirements, a snapshot test and a CI workflow."""
    files, installed_from = project_files(), source()
    if installed_from is not None and installed_from.is_file():
        files = with_wheel(files, installed_from)
    files += [file for file in git_files() if not (directory / file.path).exists()]
    existing = [file.path for file in files if (directory / file.path).exists()]
    if existing:
        fail(
            f"{', '.join(existing)} {'exists' if len(existing) == 1 else 'exist'} in {directory}; nothing was written; "
            "existing files are never overwritten: name another directory, or move them away"
        )
    try:
        results = write_files(files, directory, force=False)
    except OSError as error:
        fail(f"cannot write to {directory}: {error.strerror}: {error.filename}")
    console().print(written_table(files, results, directory))
    has_snapshots = _write_snapshots(directory)
    pytest = "pytest                                             # compare the templates with the snapshots"
    update = "pytest --update-snapshots                          # write the first snapshots; commit them"
    if installed_from is not None and not installed_from.is_file():
        wheel = f"cdk_ultracluster-{__version__}-py3-none-any.whl"
        typer.echo(_NO_RELEASE.format(source=installed_from, directory=directory.resolve(), wheel=wheel))
    typer.echo(_NEXT.format(directory=directory.resolve(), pytest=pytest if has_snapshots else update))


def _write_snapshots(directory: Path) -> bool:
    """Write the snapshots that tests/test_app.py compares with, if there is what synthesizes them."""
    if not has_node():
        return False
    from ultracluster import clusterfile
    from ultracluster.testing import write_app_snapshots

    file = directory / "cluster.yaml"
    with tempfile.TemporaryDirectory() as outdir:
        app = cluster_app(clusterfile.load(file), outdir)
        write_app_snapshots(app, directory / "tests" / "snapshots" / file.stem)
    return True
