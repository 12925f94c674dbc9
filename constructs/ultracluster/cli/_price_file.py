"""Price files: dollars that the user pays, with their date and source."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TABLES = (
    "dollars_per_node_hour",
    "dollars_per_gib_month",
    "dollars_per_mbps_month",
    "dollars_per_iops_month",
    "dollars_per_resource_hour",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Content of a price file.

    Args:
        as_of: Date of the prices.
        source: Where they come from.
        node_hours: Instance type -> dollars for a node and hour.
        gib_months: Deployment type, storage type and throughput tier of a file system, such as PERSISTENT_2 SSD 500 of
            Lustre and SINGLE_AZ_2 SSD of OpenZFS, -> dollars for a GiB and month.
        mbps_months: Deployment type and storage type of a file system that is billed by throughput, such as
            PERSISTENT_2 INTELLIGENT_TIERING and SINGLE_AZ_2 SSD throughput, -> dollars for an MB/s and month.
        iops_months: Deployment type and storage type, and metadata of Lustre or disks of OpenZFS, such as PERSISTENT_2
            SSD metadata, -> dollars for a month and one of the IOPS that the capacity does not include.
        resource_hours: CloudFormation type, with the size of a controller, such as AWS::PCS::Cluster SMALL, and the
            tier of a control plane other than standard -> dollars for a resource and hour.
    """

    as_of: str = ""
    source: str = ""
    node_hours: Mapping[str, float] = field(default_factory=dict)
    gib_months: Mapping[str, float] = field(default_factory=dict)
    mbps_months: Mapping[str, float] = field(default_factory=dict)
    iops_months: Mapping[str, float] = field(default_factory=dict)
    resource_hours: Mapping[str, float] = field(default_factory=dict)


def prices_text(prices: Prices) -> str:
    """Return date and source of prices, for a text."""
    return f"prices of {prices.as_of}, {prices.source}"


def price_file(file: Path | None) -> Prices | None:
    """Return the prices of a file, or None without one.

    The file is JSON: `{"as_of": "2026-11-01", "source": "...", "dollars_per_node_hour": {"p5.48xlarge": 55.04}}`, and
    optionally the tables dollars_per_gib_month, dollars_per_mbps_month, dollars_per_iops_month and
    dollars_per_resource_hour.

    Raises:
        ValueError: If it cannot be read, or has no date, source or prices.
    """
    if file is None:
        return None
    try:
        document: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}") from error
    missing = [
        key
        for key, kind in (("as_of", str), ("source", str), ("dollars_per_node_hour", dict))
        if not isinstance(document, dict) or not isinstance(document.get(key), kind)
    ]
    if missing:
        raise ValueError(
            f"{file} has no {', '.join(missing)}; a price file has as_of, source and dollars_per_node_hour"
        )
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", document["as_of"]):
        raise ValueError(f"as_of in {file} must be a date such as 2026-11-01, got {document['as_of']!r}")
    nodes, capacity, throughput, iops, resources = (_table(file, document.get(name, {}), name) for name in _TABLES)
    return Prices(
        as_of=document["as_of"],
        source=document["source"],
        node_hours=nodes,
        gib_months=capacity,
        mbps_months=throughput,
        iops_months=iops,
        resource_hours=resources,
    )


def _table(file: Path, table: Any, name: str) -> dict[str, float]:
    if not isinstance(table, dict):
        raise ValueError(f"{name} in {file} must be a mapping of names to dollars")
    wrong = [key for key, price in table.items() if not isinstance(price, int | float) or not 0 < price < 1e5]
    if wrong:
        raise ValueError(f"prices in {file} must be dollars above 0, those of {', '.join(wrong)} are not")
    return {str(key): float(price) for key, price in table.items()}
