"""Notices of executions of a pipeline that fail."""

from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from constructs import Construct


def notify_of_failures(scope: Construct, pipeline: codepipeline.CfnPipeline, topic: sns.ITopic) -> None:
    """Publish executions that fail: one that fails before the script of the build signals nothing by itself.

    See: https://docs.aws.amazon.com/codepipeline/latest/userguide/detect-state-changes-cloudwatch-events.html (read
    2026-11-27)
    """
    execution = events.EventField.from_path("$.detail.execution-id")
    command = f"aws codepipeline list-action-executions --pipeline-name {pipeline.ref}"
    text = f"The platform was not applied. {command} prints the reason of execution {execution}."
    events.Rule(
        scope,
        "Failed",
        description="The platform of a Kubernetes cluster was not applied",
        event_pattern=events.EventPattern(
            source=["aws.codepipeline"],
            detail_type=["CodePipeline Pipeline Execution State Change"],
            detail={"pipeline": [pipeline.ref], "state": ["FAILED"]},
        ),
        targets=[targets.SnsTopic(topic, message=events.RuleTargetInput.from_text(text))],
    )
