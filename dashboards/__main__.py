"""Write the JSON of every dashboard into the package."""

from pathlib import Path

from dashboards import DASHBOARDS
from dashboards.build import build

FOLDER = Path(__file__).parent.parent / "constructs" / "ultracluster" / "metrics" / "dashboards"


def main() -> None:
    """Write them, and remove those that are gone."""
    FOLDER.mkdir(exist_ok=True)
    texts = {f"{dashboard.uid}.json": build(dashboard) for dashboard in DASHBOARDS}
    for stale in {path.name for path in FOLDER.glob("*.json")} - set(texts):
        (FOLDER / stale).unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
