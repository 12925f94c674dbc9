"""Golden templates: what the examples become. After a change that means to change them: `make golden`, read it."""

import json
import re
from collections import defaultdict
from typing import Any

import aws_cdk as cdk
import pytest

from cdk_rehearsal.deploy._stack_policy import stack_policy
from cdk_rehearsal.guard import protected_resources
from support import EXAMPLES, GOLDEN, ROOT
from support.templates import FLAGS, synth, templates
from ultracluster import clusterfile
from ultracluster.stacks import ClusterStacks
from ultracluster.stacks._protect_stack import policy, protected
from ultracluster.testing import assert_matches_snapshot

CONTENT = re.compile(r"(Image|(?:Charts|Platform)(?:Run|Signal|Wait))([0-9a-f]{8}|[0-9a-f]{12})[0-9A-F]{8}$")
MAIN_JOB = ROOT / "examples" / "slurm-512-gpus.yaml"


def test_the_templates_of_the_main_job_are_the_reviewed_ones() -> None:
    for name, template in templates(clusterfile.load(MAIN_JOB)).items():
        assert_matches_snapshot(template, GOLDEN / f"{name}.json")


def test_the_cluster_and_the_nodes_of_the_main_job_on_kubernetes_are_the_reviewed_ones() -> None:
    result = templates(clusterfile.load(ROOT / "examples" / "eks-512-gpus.yaml"))
    for name in ("orca-Cluster", "orca-Compute"):
        assert_matches_snapshot(result[name], GOLDEN / f"{name}.json")


def test_a_cluster_has_no_lookups() -> None:
    manifest = json.loads((synth(clusterfile.load(MAIN_JOB)).directory / "manifest.json").read_text())
    assert manifest["artifacts"]
    assert "missing" not in manifest


def test_the_stacks_on_which_nodes_depend_are_protected_from_termination() -> None:
    for file in EXAMPLES:
        cluster = clusterfile.load(file)
        protected = {
            stack.stack_name
            for stack in synth(cluster).stacks
            if stack.artifact["properties"].get("terminationProtection")
        }
        expected = {f"{cluster.name}-{part}" for part in ("Network", "Storage", "Cluster")}
        assert protected == expected & set(templates(cluster)), file.stem


def test_the_runbook_of_a_cluster_protects_what_deploy_protects() -> None:
    for file in EXAMPLES:
        for name, template in templates(clusterfile.load(file)).items():
            names = protected_resources(template)
            assert protected(template["Resources"]) == names, name
            others = template["Resources"].keys() - names
            users = {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/*Queue"}
            for existing in (
                None,
                stack_policy([]),
                stack_policy([*names[1:], "Gone", *sorted(others)[:1]]),
                json.dumps({"Statement": users}),
                json.dumps({"Statement": [users, *json.loads(stack_policy(names))["Statement"]]}),
            ):
                expected = stack_policy(names, existing=existing, others=others)
                assert policy(template["Resources"], existing) == expected, name


def test_a_failure_of_the_runbook_notifies_the_topic_of_the_alerts() -> None:
    result = templates(clusterfile.load(MAIN_JOB))
    (document,) = (
        id for id, item in result["llama-Network"]["Resources"].items() if item["Type"] == "AWS::SSM::Document"
    )
    (rule,) = (
        item["Properties"]
        for id, item in result["llama-Observability"]["Resources"].items()
        if id.startswith("StackPoliciesFailed")
    )
    # CloudFormation names the document after its stack and id.
    (definition,) = rule["EventPattern"]["detail"]["Definition"]
    assert f"llama-Network-{document}-0123456789AB".startswith(definition["prefix"])
    assert rule["Targets"][0]["Arn"]["Ref"].startswith("AlertsTopic")


def names_of(examples: set[str]) -> str:
    """Names of examples: `slurm*` for more than half of those with Slurm, followed by the others, as `-slurm-home`."""
    names = []
    for family in sorted({file.stem.partition("-")[0] for file in EXAMPLES}):
        every = {file.stem for file in EXAMPLES if file.stem.startswith(f"{family}-")}
        most = len(every & examples) > len(every) / 2
        names += (
            [f"{family}*", *(f"-{name}" for name in sorted(every - examples))] if most else sorted(every & examples)
        )
    return " ".join(names)


def test_logical_ids_are_the_reviewed_ones() -> None:
    """A changed id replaces the resource; here it shows alone. Some follow the content of a recipe or a bundle."""
    examples = defaultdict(set)
    for file in EXAMPLES:
        cluster = clusterfile.load(file)
        for stack, template in templates(cluster).items():
            for id, resource in template["Resources"].items():
                key = (stack.removeprefix(f"{cluster.name}-"), CONTENT.sub(r"\1<content>", id), resource["Type"])
                examples[key].add(file.stem)
    ids: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for (part, id, kind), names in sorted(examples.items()):
        text = f"{kind} {names_of(names)}"
        ids[part][id] = f"{ids[part][id]}; {text}" if id in ids[part] else text
    assert_matches_snapshot(ids, GOLDEN / "logical-ids.json")


def test_every_alarm_has_a_description() -> None:
    result = templates(clusterfile.load(ROOT / "examples" / "slurm-linked-data.yaml"))
    alarms = {
        id: resource["Properties"].get("AlarmDescription", "")
        for template in result.values()
        for id, resource in template["Resources"].items()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    }
    assert {id[:22] for id in alarms if "Lags" in id} == {"LustreAlarmsExportLags", "LustreAlarmsImportLags"}
    assert {id for id, says in alarms.items() if len(says) < 30} == set()


def test_adding_a_node_group_changes_no_other_resource() -> None:
    text = MAIN_JOB.read_text()
    more = text.replace("\nstorage:", "\n  extra: {type: p5en.48xlarge, count: 2}\nstorage:")
    assert more != text
    before, after = (templates(clusterfile.loads(source, "llama.yaml")) for source in (text, more))
    for name, template in before.items():
        if name.endswith("-Observability"):
            # It knows who should be there, so that nodes that never come are missed.
            assert template["Resources"].keys() == after[name]["Resources"].keys()
            continue
        # A group has its name in its boot script, and its queue has job files: nodes may read one object more.
        scripts = {id for id in template["Resources"] if id.startswith(("NodeScripts", "Jobs"))}
        kept = {id: after[name]["Resources"][id] for id in template["Resources"] if id not in scripts}
        assert kept == {id: resource for id, resource in template["Resources"].items() if id not in scripts}
        added = {id for id in after[name]["Resources"] if id not in template["Resources"]}
        assert bool(added) == name.endswith("-Compute")


@pytest.mark.parametrize("flags", [FLAGS, {}], ids=["flags-on", "flags-off"])
def test_synthesises_with_any_feature_flags(flags: dict[str, Any]) -> None:
    result = templates(clusterfile.load(MAIN_JOB), flags)
    types = [resource["Type"] for template in result.values() for resource in template["Resources"].values()]
    assert types.count("AWS::PCS::ComputeNodeGroup") == 2
    assert types.count("AWS::FSx::FileSystem") == 1


def test_two_clusters_of_one_app_have_separate_tags() -> None:
    app = cdk.App(context=FLAGS, analytics_reporting=False)
    text = MAIN_JOB.read_text()
    for name in ("one", "two"):
        other = text.replace("name: llama", f"name: {name}") + f"tags: {{team: {name}}}\n"
        ClusterStacks(app, cluster=clusterfile.loads(other, "x.yaml"), account="123456789012")
    for stack in app.synth().stacks:
        own_name, other = ("one", "two") if stack.stack_name.startswith("one") else ("two", "one")
        whole = json.dumps(stack.template)
        assert f'"Key": "team", "Value": "{own_name}"' in whole
        assert f'"Key": "team", "Value": "{other}"' not in whole


def test_the_file_system_does_not_depend_on_the_nodes() -> None:
    text = MAIN_JOB.read_text().replace(
        "type: p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0", "type: c7i.8xlarge, count: 2"
    )
    more = text.replace("\nnodes:\n", "\nnodes:\n  gpus: {type: p5en.48xlarge, count: 64}\n")
    assert clusterfile.loads(text, "x.yaml").lustre_spec == clusterfile.loads(more, "x.yaml").lustre_spec


def test_the_stacks_keep_their_logical_ids_in_a_stage() -> None:
    app = cdk.App(context=FLAGS, analytics_reporting=False)
    stage = cdk.Stage(app, "Prod")
    ClusterStacks(stage, cluster=clusterfile.load(MAIN_JOB), account="123456789012")
    stacks = stage.synth().stacks
    inside = {stack.stack_name.removeprefix("Prod-"): set(stack.template["Resources"]) for stack in stacks}
    alone = {name: set(template["Resources"]) for name, template in templates(clusterfile.load(MAIN_JOB)).items()}
    assert inside == alone


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("", set()),
        ("data-repository-associations: {/data: {bucket: tokens, import: [NEW]}}, ", {"ImportLags"}),
        ("data-repository-associations: {/data: {bucket: tokens, export: [NEW]}}, ", {"ExportFails", "ExportLags"}),
        # It keeps associations that its file does not name.
        ("adopt: {id: fs-0123456789abcdef0, mount-name: abcdefgh, security-group: sg-0123456789abcdef0}, ",
         {"ExportLags", "ImportLags"}),
    ],
)  # fmt: skip
def test_queues_of_exports_and_imports_have_an_alarm_where_there_may_be_some(keys: str, names: set[str]) -> None:
    text = MAIN_JOB.read_text()
    linked = text.replace("lustre: {", f"lustre: {{{keys}", 1)
    assert (linked != text) == bool(keys)
    template = templates(clusterfile.loads(linked, "llama.yaml"))["llama-Observability"]
    alarms = [name.removeprefix("LustreAlarms")[:-8] for name in template["Resources"] if "LustreAlarms" in name]
    assert {name for name in alarms if name.startswith(("Export", "Import"))} == names
