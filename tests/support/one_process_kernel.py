"""jsii's kernel without the process in front of it, which takes an eighth of the CPU time of a synthesis."""

import os
from pathlib import Path
from unittest import mock

from jsii._kernel.providers.process import _NodeProcess

from support import kernel_messages

_start = _NodeProcess.start
_runtime = _NodeProcess._jsii_runtime


def install() -> None:
    """Start the kernel of this process so; programs that it starts have the runtime of jsii."""

    def start(process: _NodeProcess) -> None:
        kernel = Path(_runtime(process)).parent.parent / "lib" / "program.js"
        # As the runtime starts it, but the CDK reads the stack of Node for each element and token, which takes a tenth
        # of a synthesis: errors have their messages, and no frames of Node.
        options = f"{os.environ.get('NODE_OPTIONS', '')} --preserve-symlinks --stack-trace-limit=0"
        variables = {
            "JSII_RUNTIME": str(Path(__file__).with_suffix(".cjs")),
            "JSII_KERNEL": str(kernel),
            "NODE_OPTIONS": options,
        }
        with mock.patch.dict(os.environ, variables):
            _start(process)  # type: ignore[no-untyped-call]

    _NodeProcess.start = start  # type: ignore[method-assign]
    kernel_messages.install()
