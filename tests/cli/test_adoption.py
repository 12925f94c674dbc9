"""storage.lustre.adopt: the Lustre file system that an earlier deployment retained. `test_init.py` rehearses it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cdk_rehearsal import guard, rehearsal
from cdk_rehearsal.guard._template import ADOPTED
from cdk_rehearsal.rehearsal import Kept
from support.clusterfile_data import problems
from ultracluster.cli import app
from ultracluster.cli._adopt_step import adopt_lustre
from ultracluster.cli._one_more_group import with_one_more_group
from ultracluster.clusterfile import load, loads, warnings
from ultracluster.kubernetes import platform_of

FILE = """name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 4, capacity: cr-0123456789abcdef0}
storage: {lustre: {throughput: 40 GB/s%s}, data-bucket: false}
"""
ID, GROUP = "fs-0123456789abcdef0", "sg-0123456789abcdef0"
ADOPT = f", adopt: {{id: {ID}, mount-name: abcdefgh, security-group: {GROUP}}}"


def test_an_adopted_file_system_keeps_its_shape() -> None:
    before, after = loads(FILE % "", "c.yaml"), loads(FILE % ADOPT, "c.yaml")
    assert after.lustre_spec == before.lustre_spec
    assert after.lustre_efa == before.lustre_efa
    assert after.subnets == before.subnets


def test_pods_mount_the_adopted_file_system() -> None:
    text = (FILE % ADOPT).replace("orchestrator: slurm", "orchestrator: kubernetes")
    volume = platform_of(loads(text, "c.yaml")).volumes["/fsx"]
    assert (volume.handle, volume.attributes["mountname"]) == (ID, "abcdefgh")


def test_rejects_associations_that_the_file_system_has_already() -> None:
    links = FILE % (ADOPT + ", data-repository-associations: {/data: {bucket: tokens}}")
    (message,) = problems(links)
    assert f"{ID} keeps the associations that it had; remove this key" in message


def test_rejects_a_file_system_that_is_adopted_and_existing() -> None:
    text = FILE % (ADOPT + f", existing: {{id: {ID}, mount-name: abcdefgh}}")
    assert any("storage.lustre.adopt" in message for message in problems(text))


def template(*adopted: str) -> dict[str, object]:
    rows = {id: {"Type": "AWS::FSx::FileSystem"} for id in adopted}
    return {"Resources": {}, "Metadata": {ADOPTED: rows}}


def test_the_guard_counts_an_adopted_file_system_as_kept_data() -> None:
    same = guard.compare(template(ID), template(ID))
    assert (same.ok, same.stateful, same.findings) == (True, 1, ())


@pytest.mark.parametrize("after", [template(), template("fs-0fedcba9876543210"), {"Resources": {}}])
def test_the_guard_refuses_an_edit_that_drops_an_adopted_file_system(after: dict[str, object]) -> None:
    report = guard.compare(template(ID), after)
    assert [(finding.name, finding.fate) for finding in report.refused] == [(ID, guard.Fate.ORPHANED)]
    assert guard.compare(template(ID), after, allow=[ID]).ok


def retained(type: str, id: str, properties: dict[str, object], **attributes: str) -> Kept:
    return Kept(type=type, physical_id=id, properties=properties, attribute=attributes.__getitem__)


def test_the_step_adopts_the_homes_too(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text((FILE % "").replace("data-bucket", "home: {mount: /people, capacity: 512 GiB}, data-bucket"))
    home, volume, root = "fs-0fedcba9876543210", "fsvol-0fedcba9876543210", "fsvol-0123456789abcdef0"
    system = "AWS::FSx::FileSystem"
    kept = (
        retained(system, ID, {"LustreConfiguration": {}, "SecurityGroupIds": [GROUP]}, LustreMountName="abcdefgh"),
        retained(system, home, {"OpenZFSConfiguration": {}, "SecurityGroupIds": [GROUP]}, RootVolumeId=root),
        retained("AWS::FSx::Volume", "fsvol-0aaaaaaaaaaaaaaaa", {"OpenZFSConfiguration": {"ParentVolumeId": "other"}}),
        retained("AWS::FSx::Volume", volume, {"Name": "home", "OpenZFSConfiguration": {"ParentVolumeId": root}}),
    )
    edit = adopt_lustre(file).edit(tmp_path, kept)
    cluster = load(edit.context["cluster"])
    assert cluster.storage.home is not None
    assert cluster.storage.home.existing is not None
    existing = cluster.storage.home.existing
    assert (existing.id, existing.volume, existing.path, existing.security_group) == (home, volume, "/fsx/home", GROUP)
    assert cluster.storage.home.mount == "/people"
    assert not {"adopt-new-home"} & {warning.rule for warning in warnings(cluster)}
    assert edit.description == f"the cluster file adopts {ID} and {home}"


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ("{}", "has no `storage.lustre`"),
        ("{home: {}}", "has no `storage.lustre`"),
        (f"{{lustre: {{existing: {{id: {ID}, mount-name: abcdefgh}}}}}}", f"names {ID}, which it does not create"),
        (f"{{lustre: {{throughput: 40 GB/s{ADOPT}}}}}", f"names {ID}, which it does not create"),
    ],
)
def test_a_rehearsal_refuses_a_file_that_retains_no_lustre_before_it_deploys(
    section: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(**_: object) -> None:
        raise AssertionError("the rehearsal starts")

    monkeypatch.setattr(rehearsal, "rehearse", start)
    file = tmp_path / "my.yaml"
    file.write_text(FILE.partition("storage:")[0] + f"storage: {section}\n")
    result = CliRunner().invoke(app, ["rehearse", str(file), "--adopt"])
    assert result.exit_code == 1, result.exception
    assert result.stderr.startswith(f"error: adopt-retained: {file} {why}")
    assert "without --adopt" in result.stderr


def test_a_file_that_extends_another_one_is_rehearsed_with_the_keys_of_both(tmp_path: Path) -> None:
    below, folder = tmp_path / "clusters", tmp_path / "scratch"
    folder.mkdir()
    (below / "scripts").mkdir(parents=True)
    (below / "scripts" / "rules.yaml").write_text("groups: [{name: mine, rules: [{record: a:b, expr: up}]}]\n")
    (below / "scripts" / "setup.sh").write_text("#!/bin/bash\necho ready\n")
    base = FILE % ", data-repository-associations: {/data: {bucket: tokens}}"
    base = base.replace("}\nstorage", ", scripts: [{file: scripts/setup.sh}]}\nstorage")
    (below / "prod.yaml").write_text(f"{base}observability: {{rules: [scripts/rules.yaml]}}\n")
    file = below / "dev.yaml"
    file.write_text("extends: prod.yaml\nname: dev\nstorage: {lustre: {throughput: 2 GB/s}}\n")
    before = load(file)
    name, text = with_one_more_group(file)
    (folder / "more.yaml").write_text(text)
    after = load(folder / "more.yaml")
    assert name == "extra"
    assert list(after.nodes)[:2] == ["train", "extra"], "groups keep their order"
    assert (after.name, set(after.nodes)) == ("dev", {"train", "extra"})
    assert after.nodes["train"].scripts == before.nodes["train"].scripts
    assert after.observability.rules == before.observability.rules
    kept = retained(
        "AWS::FSx::FileSystem", ID, {"LustreConfiguration": {}, "SecurityGroupIds": [GROUP]}, LustreMountName="abcdefgh"
    )
    adopted = load(adopt_lustre(file).edit(folder, (kept,)).context["cluster"])
    assert adopted.lustre_spec == before.lustre_spec
    assert adopted.storage.lustre is not None
    assert not adopted.storage.lustre.data_repository_associations
