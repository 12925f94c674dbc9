"""Synthesises with every check on: CloudFormation Validate as errors, cdk-nag, and nothing deprecated.

The rest of the tests has validation off, which the process of the JavaScript reads from its environment, so this has a
process of its own: it is asked by a line of JSON, `[OUTDIR, [FUNCTION, ARGUMENT...], ...]` with functions of
`strict_apps`, and answers with one, what was wrong. All apps of a run go through it, for most of the time of a first
app is that of a start.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parent.parent.parent


class StrictProcess:
    """Has such a process, as a context manager."""

    def __enter__(self) -> Self:
        environment = {key: value for key, value in os.environ.items() if key != "CDK_VALIDATION"}
        path = os.pathsep.join(str(ROOT / folder) for folder in ("constructs", "", "tests"))
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.strict_process"],
            cwd=ROOT,
            env=environment | {"PYTHONPATH": path, "JSII_DEPRECATED": "fail"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._log.close()

    def synthesise(self, outdir: Path, *makers: list[str]) -> str:
        """Put what some functions make into one app, and write its templates.

        Returns:
            What was wrong; nothing when all is well.

        Raises:
            RuntimeError: When the process has ended, with the end of what it said.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([str(outdir), *makers]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            self._log.seek(0)
            raise RuntimeError(self._log.read()[-4000:].decode(errors="replace"))
        return str(json.loads(answer))


def _serve() -> None:
    # As in conftest.py: the modules are most of the objects, and stay.
    gc.disable()
    from support import one_process_kernel

    one_process_kernel.install()
    import aws_cdk as cdk
    from cdk_nag import AwsSolutionsChecks

    from support import strict_apps

    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    answers = os.fdopen(os.dup(1), "w")
    # What is printed by anything else is no answer.
    os.dup2(2, 1)
    for line in sys.stdin:
        outdir, *makers = json.loads(line)
        try:
            app = cdk.App(context=context, outdir=outdir)
            cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
            for name, *arguments in makers:
                getattr(strict_apps, name)(app, *arguments)
            app.synth()
            wrong = ""
        except Exception:
            report = Path(outdir) / "validation-report.json"
            wrong = traceback.format_exc() + (report.read_text() if report.exists() else "")
        print(json.dumps(wrong), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
