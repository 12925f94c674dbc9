"""`ultracluster facts` and the files of a release."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import release_files
from typer.testing import CliRunner

import ultracluster
from support import ROOT
from ultracluster.catalogue import facts
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, LAYOUTS, ULTRASERVERS, interfaces
from ultracluster.catalogue.storage import lustre
from ultracluster.cli import app
from ultracluster.clusterfile import schema as cluster_schema

# Their dated sources are of classes and functions.
WITHOUT_CONSTANTS = ("_instance_type", "_interfaces", "_describe")


def document(*options: str) -> Any:
    result = CliRunner().invoke(app, ["facts", "--catalogue", *options])
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_holds_every_type_with_its_source_and_every_layout_that_it_has() -> None:
    facts = document()
    assert facts["version"] == ultracluster.__version__
    assert {row["name"] for row in facts["instance_types"]} == set(INSTANCE_TYPES) == set(facts["interfaces"])
    assert {row["name"] for row in facts["ultraservers"]} == set(ULTRASERVERS)
    assert [row["mb_per_s_per_tib"] for row in facts["lustre_tiers"]] == [
        tier.mb_per_s_per_tib for tier in lustre.TIERS
    ]
    assert all(row["source"] and row["read_on"] for row in facts["instance_types"] + facts["ultraservers"])
    assert set(facts["interfaces"]["p5.48xlarge"]) == set(LAYOUTS) - {"efa-pairs"}
    assert len(facts["interfaces"]["p5.48xlarge"]["all-efa"]) == len(interfaces("p5.48xlarge", "all-efa"))
    assert set(facts["interfaces"]["p6e-gb200.36xlarge"]) == {"one-ip", "efa-pairs"}


def test_the_document_is_valid_and_the_schema_rejects_another() -> None:
    facts, schema = document(), document("--schema")
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    validator.validate(facts)
    for wrong in ({**facts, "version": 1}, {**facts, "instance_types": [{"name": "p5.48xlarge"}]}, {}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(wrong)


def test_release_files_are_the_catalogue_and_both_schemas(tmp_path: Path) -> None:
    release_files.write(tmp_path)
    written = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert written == {
        "catalogue.json": document(),
        "catalogue.schema.json": document("--schema"),
        "cluster-file.schema.json": cluster_schema(),
    }


def test_lists_every_fact_with_source_and_date() -> None:
    result = CliRunner().invoke(app, ["facts", "--json"])
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert {f"ec2.types.{name}" for name in INSTANCE_TYPES} <= rows.keys()
    assert all(row["source"] and row["read_on"] and row["verify"] for row in rows.values())
    assert rows["schedulers.pcs.slurm-25.05"]["ends"] == "2026-11-30"
    assert rows["storage.lustre.TCP_GBPS_PER_SERVER"]["unit"] == "Gbit/s"
    assert rows["ec2.gpus.GPUS.H100"]["value"]["nvlink_generation"] == 4
    assert rows["ec2.types.p5.48xlarge"]["as_of"] == "2026-10-27"
    assert "ec2.types.GPU_TYPES" not in rows
    assert rows["storage.lustre_quotas.BACKUPS"]["value"]["code"] == "L-CD5E0524"
    assert not [name for name, row in rows.items() if re.search(r"\b[A-Z]\w+\(\w+=", json.dumps(row["value"]))]


def test_the_registry_has_the_dates_of_every_topic() -> None:
    """A module whose dated facts the registry does not see would never be listed as old."""
    names = {fact.name for fact in facts()}
    for topic in ("ec2", "monitoring", "schedulers", "storage", "training"):
        for path in (ROOT / "constructs" / "ultracluster" / "catalogue" / topic).glob("_*.py"):
            if "(read 20" in path.read_text() and path.stem not in ("__init__", *WITHOUT_CONSTANTS):
                assert any(name.startswith(f"{topic}.{path.stem.lstrip('_')}.") for name in names), path


@pytest.mark.parametrize(
    ("today", "options", "present"),
    [
        (date(2026, 11, 23), ["--expiring", "60d"], {"schedulers.pcs.slurm-25.05"}),
        (date(2026, 11, 23), ["--older-than", "90d"], set()),
        # Read 73 days before, in a copy of 97 days before.
        (date(2027, 2, 1), ["--older-than", "90d"], {"ec2.types.p5.48xlarge"}),
        (date(2027, 6, 1), ["--older-than", "90d"], {"schedulers.pcs.slurm-25.05", "ec2.types.p5.48xlarge"}),
    ],
)
def test_lists_what_is_old_or_ends(
    today: date, options: list[str], present: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Today(date):
        @classmethod
        def today(cls) -> "Today":
            return cls(today.year, today.month, today.day)

    monkeypatch.setattr("ultracluster.cli._facts.date", Today)
    names = set(re.findall(r"^(\S+): ", CliRunner().invoke(app, ["facts", *options]).stdout, re.MULTILINE))
    assert present <= names
    assert bool(present) == bool(names)
    assert "schedulers.pcs.slurm-26.05" not in names or today.year == 2027


def test_rejects_another_number_of_days() -> None:
    result = CliRunner().invoke(app, ["facts", "--older-than", "soon"])
    assert (result.exit_code, result.stderr) == (
        2,
        "error: --older-than must be a number of days, such as 90d, got 'soon'\n",
    )
