from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import assertions

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


@pytest.fixture
def stack() -> cdk.Stack:
    app = cdk.App(analytics_reporting=False)
    return cdk.Stack(app, "Stack", env=cdk.Environment(account="123456789012", region="us-east-2"))


@pytest.fixture
def template(stack: cdk.Stack) -> Callable[[], assertions.Template]:
    return lambda: assertions.Template.from_stack(stack)
