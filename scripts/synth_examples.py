"""Synthesise every cluster file of a directory with the installed library: `python synth_examples.py DIR`."""

import sys
import tempfile
import time
from pathlib import Path

import aws_cdk as cdk

import ultracluster
from ultracluster import clusterfile
from ultracluster.stacks import ClusterStacks


def main(directory: Path) -> None:
    """Synthesise all files into one app, a stage for each, and fail if one does not."""
    if not Path(ultracluster.__file__).is_relative_to(sys.prefix):
        sys.exit(f"this library is not an installed one: {ultracluster.__file__}")
    begin = time.monotonic()
    files = sorted(directory.glob("*.yaml"))
    if not files:
        sys.exit(f"{directory} holds no cluster file")
    with tempfile.TemporaryDirectory() as outdir:
        app = cdk.App(outdir=outdir)
        for file in files:
            ClusterStacks(cdk.Stage(app, file.stem), cluster=clusterfile.load(file))
        app.synth()
    print(f"ultracluster {ultracluster.__version__}: {len(files)} examples in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
