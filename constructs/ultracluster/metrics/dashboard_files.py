"""The Grafana dashboards as JSON: package data, made by this repository's `dashboards`, which is not shipped."""

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

#: Types of data source whose queries are PromQL. Grafana 13 turns a core one that signs with SigV4 into Amazon's:
#: https://docs.aws.amazon.com/grafana/latest/userguide/using-grafana-v13.html (read 2026-11-20).
PROMETHEUS = "prometheus"
AMAZON_PROMETHEUS = "grafana-amazonprometheus-datasource"


def dashboards(*, data_source: str = PROMETHEUS) -> Mapping[str, str]:
    """Uid -> JSON of each dashboard, by uid.

    Every dashboard lets its reader choose the data source, among those of one type.

    Args:
        data_source: That type: `PROMETHEUS` or `AMAZON_PROMETHEUS`.

    Raises:
        ValueError: When it is another one.
    """
    if data_source not in (PROMETHEUS, AMAZON_PROMETHEUS):
        raise ValueError(f"data_source must be {PROMETHEUS} or {AMAZON_PROMETHEUS}, got {data_source!r}")
    found = _texts("dashboards")
    return MappingProxyType({uid: text.replace(f'"{PROMETHEUS}"', f'"{data_source}"') for uid, text in found.items()})


def lustre_dashboards() -> Mapping[str, str]:
    """Uid -> JSON of what asks CloudWatch about file systems of FSx for Lustre, by uid.

    The reader chooses the data source and the file system.
    """
    return MappingProxyType(_texts("cloudwatch_dashboards"))


def _texts(folder: str) -> dict[str, str]:
    found = (files("ultracluster.metrics") / folder).iterdir()
    texts = {one.name.removesuffix(".json"): one.read_text() for one in found if one.name.endswith(".json")}
    return dict(sorted(texts.items()))
