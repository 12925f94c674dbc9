"""A synthetic cluster that stays, for a person to look at: `make demo-observability`."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from support.synthetic.cluster import NAME, SyntheticCluster
from support.synthetic.scenarios import SCENARIOS, settle
from support.synthetic.shortened import FACTOR


def main() -> None:
    """Run until Ctrl-C, with one fault after the other."""
    if not shutil.which("prometheus") or not (shutil.which("alertmanager") or shutil.which("prometheus-alertmanager")):
        sys.exit("This runs prometheus and alertmanager for real: install both, and see that they are on the path")
    with tempfile.TemporaryDirectory() as directory, SyntheticCluster(Path(directory)) as cluster:
        print(f"Prometheus    http://127.0.0.1:{cluster.prometheus}/alerts")
        print(f"Alertmanager  http://127.0.0.1:{cluster.alertmanager}")
        print(
            "As pictures   python -m support.dashboard_preview "
            f"http://127.0.0.1:{cluster.prometheus} pictures cluster={NAME} job=1001 node={cluster.fleet[1].instance}"
        )
        print(f"{len(cluster.fleet)} nodes that are none, {FACTOR} times faster. Ctrl-C ends it.", flush=True)
        settle(cluster)
        # Notifications during the start are not about a fault.
        notifications = len(cluster.notifications)
        while True:
            for scenario in SCENARIOS:
                print(f"-- {scenario.name}", flush=True)
                cluster.inject(scenario.state, *scenario.nodes)
                end = time.monotonic() + 60
                while time.monotonic() < end:
                    time.sleep(1)
                    for _, who, item in cluster.notifications[notifications:]:
                        if who != "watchdog":
                            print(f"   {who}: {item['status']}: {item['annotations']['summary']}", flush=True)
                    notifications = len(cluster.notifications)
                cluster.inject("healthy", *scenario.nodes)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
