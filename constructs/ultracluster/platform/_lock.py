"""A Lease that one apply holds at a time: two would uninstall each other's releases."""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from ultracluster.platform._errors import ApplyError, Phase, ToolError
from ultracluster.platform._failures import passes
from ultracluster.platform._signals import ended_by_signals
from ultracluster.platform._tools import Tools

#: Namespace and name of the Lease.
NAMESPACE, NAME = "kube-system", "ultracluster-apply"
_DURATION_SECONDS = 60
_RENEW_SECONDS = 10
_POLL_SECONDS = 5
_OTHERS = ("AlreadyExists", "Conflict", "NotFound")


class Lease:
    """The Lease of a cluster, renewed while it is held.

    A holder that does not renew it for its duration has ended. That is measured by this machine's clock, as Kubernetes'
    own leader election does: the clocks of two machines may differ.

    See: https://kubernetes.io/docs/concepts/architecture/leases/ and client-go, tools/leaderelection (read 2026-11-23)
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._ended = threading.Event()
        self._version: str | None = None
        self._renewed = 0.0
        self._lost = ""
        #: Identity of this process.
        self.holder = f"{socket.gethostname()}, process {os.getpid()}, {uuid.uuid4().hex[:8]}"

    def acquire(self) -> None:
        """Take the Lease.

        Raises:
            ApplyError: If another process renews it.
        """
        seen, until = None, 0.0
        while True:
            leases = self._tools.get("leases.coordination.k8s.io", NAME, f"--namespace={NAMESPACE}")
            spec: dict[str, Any] = leases[0]["spec"] if leases else {}
            version = leases[0]["metadata"]["resourceVersion"] if leases else None
            if other := spec.get("holderIdentity"):
                if seen is None:
                    seen, until = version, time.monotonic() + int(spec.get("leaseDurationSeconds", _DURATION_SECONDS))
                if seen != version:
                    remedy = "wait for its end, then apply again"
                    raise ApplyError("check", f"Lease {NAMESPACE}/{NAME}", f"{other} applies at this moment", remedy)
            if (not other or time.monotonic() >= until) and self._write(version, self.holder):
                return
            if other:
                time.sleep(_POLL_SECONDS)

    def renew(self) -> None:
        """Renew the Lease, or record that it is lost."""
        try:
            if self._write(self._version, self.holder):
                return
            self._lost = "another apply has taken it"
        except ToolError as error:
            if not passes(error.message) or time.monotonic() - self._renewed >= _DURATION_SECONDS:
                self._lost = error.message

    def check(self, phase: Phase) -> None:
        """Stop before a phase if the Lease is lost.

        Raises:
            ApplyError: If it is.
        """
        if self._lost:
            remedy = "check that no other apply runs, then apply again"
            raise ApplyError(phase, f"Lease {NAMESPACE}/{NAME}", f"it is lost: {self._lost}", remedy)

    def release(self) -> None:
        """Return the Lease. One that is lost, or cannot be returned, ends by itself."""
        if not self._lost:
            with suppress(ToolError):
                self._write(self._version, "")

    def keep(self) -> None:
        """Renew the Lease until the end."""
        while not self._ended.wait(_RENEW_SECONDS) and not self._lost:
            self.renew()

    def end(self) -> None:
        """End the renewal."""
        self._ended.set()

    def _write(self, version: str | None, holder: str) -> bool:
        """Write the Lease if nobody has changed it since; return whether it was written."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        item = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NAME, "namespace": NAMESPACE, **({"resourceVersion": version} if version else {})},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": _DURATION_SECONDS, "renewTime": now},
        }
        try:
            text = self._tools.run(
                *("kubectl", "replace" if version else "create", "--filename=-", "--output=json"),
                stdin=json.dumps(item),
                timeout=_DURATION_SECONDS,
            )
        except ToolError as error:
            if any(f"({reason})" in error.message for reason in _OTHERS):
                return False
            raise
        self._version, self._renewed = json.loads(text)["metadata"]["resourceVersion"], time.monotonic()
        return True


@contextmanager
def locked(tools: Tools) -> Iterator[Lease]:
    """Hold the Lease of a cluster, also if a signal ends the process.

    Raises:
        ApplyError: If another apply holds it.
    """
    lease = Lease(tools)
    with ended_by_signals():
        lease.acquire()
        thread = threading.Thread(target=lease.keep, daemon=True)
        thread.start()
        try:
            yield lease
        finally:
            lease.end()
            thread.join()
            lease.release()
