"""All of `observability` with everything that checks templates, and its handler run for real in the local cloud."""

import json
import shutil
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import assertions
from aws_cdk import aws_grafana as l1

from support.rehearsal_tools import REGION, local_stacks
from support.strict_process import StrictProcess
from support.template_lint import problems
from ultracluster import observability


def test_everything_passes_every_check(tmp_path: Path, strict: StrictProcess) -> None:
    assert strict.synthesise(tmp_path, ["observability"]) == ""
    (path,) = tmp_path.glob("*.template.json")
    assert problems(path.read_text()) == []


def test_the_strict_pass_sees_what_is_not_acknowledged(tmp_path: Path, strict: StrictProcess) -> None:
    assert "AwsSolutions-SNS3" in strict.synthesise(tmp_path, ["observability"], ["open_topic"])


def content(title: str, *more: str) -> tuple[dict[str, Any], Path]:
    """Resources of a stack with a workspace and its content, and the asset of the handler."""
    app = cdk.App()
    stack = cdk.Stack(app, "S", env=cdk.Environment(account="123456789012", region=REGION))
    workspace = l1.CfnWorkspace(
        stack,
        "Grafana",
        account_access_type="CURRENT_ACCOUNT",
        authentication_providers=["AWS_SSO"],
        permission_type="SERVICE_MANAGED",
    )
    dashboards = {uid: json.dumps({"uid": uid, "title": title}) for uid in ("fleet", *more)}
    observability.GrafanaContent(
        stack,
        "Content",
        name="llama",
        grafana=workspace.attr_id,
        workspace=f"arn:aws:aps:{REGION}:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef",
        dashboards=dashboards,
    )
    template = assertions.Template.from_stack(stack).to_json()
    for resource in template["Resources"].values():
        resource.pop("Metadata", None)
    (handler,) = Path(app.outdir).rglob("cdk-rehearsal-handler.json")
    return template["Resources"], handler.parent


def test_a_rehearsal_fills_changes_and_empties_a_workspace_that_is_a_stand_in(tmp_path: Path) -> None:
    with local_stacks() as stacks:
        s3 = stacks.client("s3")
        s3.create_bucket(Bucket="assets", CreateBucketConfiguration={"LocationConstraint": REGION})

        def made(number: int, title: str, *more: str) -> dict[str, Any]:
            resources, folder = content(title, *more)
            archive = shutil.make_archive(str(tmp_path / str(number)), "zip", folder)
            s3.put_object(Bucket="assets", Key=f"{number}.zip", Body=Path(archive).read_bytes())
            (function,) = [resource for resource in resources.values() if resource["Type"] == "AWS::Lambda::Function"]
            function["Properties"]["Code"] = {"S3Bucket": "assets", "S3Key": f"{number}.zip"}
            return resources

        name = stacks.create(made(1, "Fleet", "job"))
        assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
        ((id, kept),) = stacks.cloud.grafana.workspaces.items()
        assert kept.dashboards.keys() == {"fleet", "job"}
        assert kept.data_sources.keys() == {"ultracluster-llama"}
        stacks.update(name, made(2, "The fleet"))
        assert stacks.status(name) == "UPDATE_COMPLETE", stacks.reasons(name)
        assert {uid: dashboard["title"] for uid, (_, dashboard) in kept.dashboards.items()} == {"fleet": "The fleet"}
        assert stacks.delete(name) == "DELETE_COMPLETE"
        assert (kept.dashboards, kept.folders, kept.data_sources) == ({}, {}, {})
        assert (kept.accounts, kept.tokens) == ({}, {})
        (grafana,) = [stand_in for stand_in in stacks.cloud.journal.stand_ins if stand_in.kind == "Grafana"]
        assert (grafana.name, grafana.value) == (id, "content is kept, nothing is drawn")
