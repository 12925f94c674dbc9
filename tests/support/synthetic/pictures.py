"""Draw the dashboards of a synthetic cluster in which everything breaks: `python -m synthetic.pictures FOLDER`."""

import sys
import tempfile
import time
from pathlib import Path

from support.dashboard_preview import Preview
from support.synthetic.cluster import SyntheticCluster
from support.synthetic.scenarios import SCENARIOS, inject, settle
from ultracluster.monitoring.dashboards import DASHBOARDS

_BEFORE_S = 45
_AFTER_S = 120


def main(folder: str) -> None:
    """Draw them all, over the minutes around the faults; the node is the one that loses a GPU."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, SyntheticCluster(Path(directory)) as cluster:
        settle(cluster)
        time.sleep(_BEFORE_S)
        inject(cluster)
        time.sleep(_AFTER_S)
        item = {"cluster": "llama", "job": "1001", "node": cluster.fleet[SCENARIOS[0].nodes[0]].instance}
        preview = Preview(
            f"http://127.0.0.1:{cluster.prometheus}", chosen=item, minutes=(_BEFORE_S + _AFTER_S - 10) / 60
        )
        for dashboard in DASHBOARDS:
            preview.draw(dashboard, into / f"{dashboard.uid.removeprefix('ultracluster-')}.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
