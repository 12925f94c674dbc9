"""`ultracluster facts` and the files of a release."""

import json
import re
from collections.abc import Iterator
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
    assert rows["schedulers.pcs.slurm-25.05"]["ends"] == "2026-11-30"
    assert rows["storage.lustre.TCP_GBPS_PER_SERVER"]["unit"] == "Gbit/s"
    assert rows["ec2.gpus.GPUS.H100"]["value"]["nvlink_generation"] == 4
    assert rows["ec2.types.p5.48xlarge"]["as_of"] == "2026-10-27"
    assert rows["storage.lustre_quotas.BACKUPS"]["value"]["code"] == "L-CD5E0524"
    assert not [name for name, row in rows.items() if re.search(r"\b[A-Z]\w+\(\w+=", json.dumps(row["value"]))]


def test_every_fact_has_a_unit_or_columns_a_source_its_dates_and_a_way_to_verify() -> None:
    rows = facts()
    assert len({fact.name for fact in rows}) == len(rows)
    for fact in rows:
        # A number, or a list or table of numbers, is a quantity.
        leaves = list(_leaves(fact.value))
        assert bool(fact.unit) != bool(fact.columns), fact.name
        assert fact.unit is None or all(isinstance(leaf, int | float) for leaf in leaves), fact.name
        assert not isinstance(fact.value, int | float) or fact.unit, fact.name
        for column in fact.value if isinstance(fact.value, dict) and "source" not in fact.value else ():
            assert not re.fullmatch(r"[a-z0-9_]+_(gib|gbps|per_s|pflops)", column) or column in (fact.columns or "")
        assert fact.source, fact.name
        assert fact.verify.startswith(("open ", "aws ", "make ")), fact.name
        assert (fact.as_of is None) == (fact.as_of_note == "the source carries no date"), fact.name
        assert fact.as_of is None or fact.as_of <= fact.read_on <= date(2100, 1, 1), fact.name


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif value is not None:
        yield value


# Constants of the catalogue that no source states: ours, types by their own names, and what is derived from facts.
NOT_FACTS = {
    *("schedulers.hyperpod_kubernetes.PRIORITY_CLASS", "schedulers.hyperpod_kubernetes.TEAM"),
    *("ec2.image_builds.CHECKS_NOT_RUN", "ec2.interfaces.LAYOUTS", "ec2.software.SOFTWARE_PREFIX"),
    *("schedulers.eks.DEFAULT_VERSION", "schedulers.eks.NODE_OSES", "schedulers.eks_updates.NODE_UPDATES"),
    *("schedulers.eks.OLD_RELEASE_DAYS", "schedulers.pcs.DEFAULT_SLURM_VERSION", "schedulers.pcs.SUPPORT_NOTICE_DAYS"),
    "schedulers.eks.SUPPORT_NOTICE_DAYS",
    *("schedulers.eks_add_ons.HYPERPOD", "schedulers.eks_ranges.PRIVATE_RANGES", "schedulers.registries.DOCKER_HUB"),
    *("ec2.offerings.READ_ON", "schedulers.eks.CHARTS_READ_ON", "schedulers.eks.READ_ON", "schedulers.pcs.READ_ON"),
    *("ec2.software.ARTEFACTS", "ec2.software.DCGM_EXPORTER", "ec2.types.INSTANCE_TYPES", "ec2.zones.ZONE_ID"),
    *(
        "ec2.software_set.PARTS",
        "ec2.software_set.REPORTED",
        "schedulers.eks_add_ons.LOGS",
        "storage.lustre_quotas.LUSTRE_QUOTAS",
    ),
    *("schedulers.eks_updates.SHARE", "schedulers.eks_updates.UPDATE_WORDS"),
    "monitoring.xid_generations.RESTART_TYPES",
}


def test_public_constants_of_the_catalogue_name_a_source_or_are_no_facts() -> None:
    """A constant without a source would never be listed, nor be found to be old."""
    names = {fact.name for fact in facts()}
    missing = set()
    for topic in ("ec2", "monitoring", "schedulers", "storage", "training"):
        for path in (ROOT / "constructs" / "ultracluster" / "catalogue" / topic).glob("_[a-z]*.py"):
            for name in re.findall(r"^([A-Z][A-Z0-9_]*)(?:: .*)? = ", path.read_text(), re.MULTILINE):
                fact = f"{topic}.{path.stem.lstrip('_')}.{name}"
                if not any(each == fact or each.startswith(f"{fact}.") for each in names):
                    missing.add(fact)
    assert missing == NOT_FACTS


@pytest.mark.parametrize(
    ("today", "options", "present"),
    [
        (date(2026, 11, 23), ["--expiring", "60d"], {"schedulers.pcs.slurm-25.05"}),
        # What a commit of July stated.
        (date(2026, 11, 23), ["--older-than", "90d"], {"ec2.nvlink.LINKS"}),
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
