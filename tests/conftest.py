import os
import sys
from collections.abc import Callable
from pathlib import Path

# Before anything starts Node: unit tests run without the template validation, which costs seconds per process;
# test_strict.py runs it over every example. The venv's own Node is the supported one.
os.environ["CDK_VALIDATION"] = "false"
_NODE = Path(sys.executable).parent / "node"
if _NODE.exists():
    os.environ.setdefault("JSII_NODE", str(_NODE))

import aws_cdk as cdk  # noqa: E402
import pytest  # noqa: E402
from aws_cdk import assertions  # noqa: E402

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


@pytest.fixture
def stack() -> cdk.Stack:
    app = cdk.App(analytics_reporting=False)
    return cdk.Stack(app, "Stack", env=cdk.Environment(account="123456789012", region="us-east-2"))


@pytest.fixture
def template(stack: cdk.Stack) -> Callable[[], assertions.Template]:
    return lambda: assertions.Template.from_stack(stack)
