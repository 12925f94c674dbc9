"""Write the JSON of every dashboard into the package."""

from pathlib import Path

from ultracluster.monitoring.dashboards.builder import CLOUDWATCH_DASHBOARDS, DASHBOARDS
from ultracluster.monitoring.dashboards.builder._build import build

_PACKAGE = Path(__file__).parent.parent
FOLDERS = {"grafana": DASHBOARDS, "cloudwatch": CLOUDWATCH_DASHBOARDS}


def main() -> None:
    """Write them, and remove those that are gone."""
    for name, dashboards in FOLDERS.items():
        folder = _PACKAGE / name
        folder.mkdir(exist_ok=True)
        texts = {f"{dashboard.uid}.json": build(dashboard) for dashboard in dashboards}
        for stale in {path.name for path in folder.glob("*.json")} - set(texts):
            (folder / stale).unlink()
        for file, text in texts.items():
            (folder / file).write_text(text)


if __name__ == "__main__":
    main()
