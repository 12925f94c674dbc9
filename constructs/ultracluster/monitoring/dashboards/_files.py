"""Grafana dashboards as JSON: package data that `builder` writes."""

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

#: Types of data source whose queries are PromQL. Grafana 13 turns a core one that signs with SigV4 into Amazon's:
#: https://docs.aws.amazon.com/grafana/latest/userguide/using-grafana-v13.html (read 2026-11-20).
PROMETHEUS = "prometheus"
AMAZON_PROMETHEUS = "grafana-amazonprometheus-datasource"


def dashboards(*, data_source: str = PROMETHEUS) -> Mapping[str, str]:
    """Return the JSON of each dashboard, by uid.

    Each dashboard has a variable for the data source, among those of one type.

    Args:
        data_source: Type of the data source: `PROMETHEUS` or `AMAZON_PROMETHEUS`.

    Raises:
        ValueError: If `data_source` is another type.
    """
    if data_source not in (PROMETHEUS, AMAZON_PROMETHEUS):
        raise ValueError(f"data_source must be {PROMETHEUS} or {AMAZON_PROMETHEUS}, got {data_source!r}")
    texts = _texts("grafana")
    return MappingProxyType({uid: text.replace(f'"{PROMETHEUS}"', f'"{data_source}"') for uid, text in texts.items()})


def lustre_dashboards() -> Mapping[str, str]:
    """Return the JSON of each dashboard on FSx for Lustre, by uid, with CloudWatch as data source.

    The data source and the file system are variables.
    """
    return MappingProxyType(_texts("cloudwatch"))


def _texts(folder: str) -> dict[str, str]:
    paths = (files("ultracluster.monitoring.dashboards") / folder).iterdir()
    texts = {path.name.removesuffix(".json"): path.read_text() for path in paths if path.name.endswith(".json")}
    return dict(sorted(texts.items()))
