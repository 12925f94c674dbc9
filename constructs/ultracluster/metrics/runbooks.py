"""Writes what the docs say of metrics and alerts: `python -m ultracluster.metrics.runbooks docs`."""

import sys
from pathlib import Path

from ultracluster.hardware import instance_type
from ultracluster.metrics.alerts import ALERTS
from ultracluster.metrics.cluster_volume import KubernetesSource, SlurmSource
from ultracluster.metrics.metric import Profile
from ultracluster.metrics.names import METRICS
from ultracluster.metrics.volume import recorded_series, scraped_series, volume

_TYPES = ("p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge")
_NODES = (64, 1_000, 10_000)
_ONCE = (
    ("Slurm's controller: 2 queues, asked by 2 login nodes", SlurmSource(queues=2, askers=2)),
    ("kube-state-metrics and Kueue: 12 pods a node, 3 queues", KubernetesSource(queues=3)),
)


def index() -> str:
    """The page that lists the runbooks."""
    rows = "\n".join(
        f"| [{alert.name}]({alert.name}.md) | {alert.severity} | {alert.means.split('. ')[0].rstrip('.')} |"
        for alert in ALERTS.values()
    )
    return f"# Runbooks\n\nA page for each alert.\n\n| alert | severity | what it means |\n|---|---|---|\n{rows}\n"


def names() -> str:
    """The table of all metrics."""
    rows = (
        f"| `{metric.name}` | {metric.unit} | {metric.profile.name.lower()} | {metric.help} |"
        for metric in METRICS.values()
    )
    return "| metric | unit | from profile | |\n|---|---|---|---|\n" + "".join(f"{row}\n" for row in rows)


def volumes() -> str:
    """The tables of series and of cost."""
    lines = ["| type | basic | standard | full |", "|---|---|---|---|"]
    for name in _TYPES:
        kind = instance_type(name)
        cells = []
        for profile in Profile:
            sent = scraped_series(kind, profile, efa_devices=kind.max_efa)
            made = recorded_series(kind, profile, efa_devices=kind.max_efa)
            cells.append(f"{sent} + {made} = {sent + made}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| p5.48xlarge | basic | standard | full |", "|---|---|---|---|"]
    kind = instance_type("p5.48xlarge")
    for count in _NODES:
        found = [volume([(kind, kind.max_efa, count)], profile) for profile in Profile]
        cells = [
            f"{one.series:,} series, {one.samples_per_s:,.0f} samples/s, ${one.usd_per_month:,.0f} a month"
            for one in found
        ]
        lines.append(f"| {count:,} nodes | {' | '.join(cells)} |")
    lines += ["", "| once for 1,000 nodes | basic | standard | full |", "|---|---|---|---|"]
    for title, source in _ONCE:
        cells = []
        for profile in Profile:
            sent, made = source.sent(1_000, profile), source.recorded(1, profile)
            cells.append(f"{sent:,} + {made} = {sent + made:,}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(page: str, mark: str, table: str) -> str:
    """A page with a table between its marks."""
    before, _, rest = page.partition(f"<!-- {mark}: written by `make runbooks` -->\n")
    _, _, after = rest.partition(f"<!-- end of {mark} -->")
    return f"{before}<!-- {mark}: written by `make runbooks` -->\n{table}<!-- end of {mark} -->{after}"


def write(docs: Path) -> None:
    """Write all of it; what is there is replaced."""
    folder = docs / "runbooks"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    (folder / "README.md").write_text(index(), encoding="utf-8")
    for alert in ALERTS.values():
        (folder / f"{alert.name}.md").write_text(alert.page, encoding="utf-8")
    for name, mark, table in (("metrics.md", "names", names()), ("observability.md", "volume", volumes())):
        page = docs / name
        page.write_text(filled(page.read_text(encoding="utf-8"), mark, table), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
