"""What every test process needs before it starts Node."""

import os
import sys
from pathlib import Path

# Unit tests run without the template validation, which costs seconds per process; tests/stacks/test_strict.py
# runs it over every example. The venv's own Node is the supported one.
os.environ["CDK_VALIDATION"] = "false"
_NODE = Path(sys.executable).parent / "node"
if _NODE.exists():
    os.environ.setdefault("JSII_NODE", str(_NODE))
