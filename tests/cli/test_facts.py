"""`ultracluster facts` and the files of a release."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import release_files
from typer.testing import CliRunner

import ultracluster
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, LAYOUTS, ULTRASERVERS, interfaces
from ultracluster.catalogue.storage import lustre
from ultracluster.cli import app
from ultracluster.clusterfile import schema as cluster_schema


def document(*options: str) -> Any:
    result = CliRunner().invoke(app, ["facts", *options])
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
    assert set(facts["interfaces"]["p5.48xlarge"]) == set(LAYOUTS)
    assert len(facts["interfaces"]["p5.48xlarge"]["all-efa"]) == len(interfaces("p5.48xlarge", "all-efa"))
    assert set(facts["interfaces"]["p6e-gb200.36xlarge"]) == {"one-ip"}


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
