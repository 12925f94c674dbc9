"""Phases of an apply: check, controllers, webhooks, devices, objects, removal, gate."""

import difflib
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ultracluster.platform._bundle import Bundle, Release
from ultracluster.platform._errors import ApplyError, Phase, ToolError
from ultracluster.platform._existing import (
    check_permissions,
    foreign,
    manifest_of,
    planned_manifest,
    removal_problems,
    removed,
    running_pods,
    terminating,
)
from ultracluster.platform._failures import phase
from ultracluster.platform._gate import Line, gate
from ultracluster.platform._hold import Hold, held_queues, hold, resume
from ultracluster.platform._leaving import release_problems, wait_for_finalizers
from ultracluster.platform._lock import Lease, locked
from ultracluster.platform._objects import apply_objects, difference, members, refusals
from ultracluster.platform._releases import (
    Installed,
    install,
    installed_releases,
    leaving_releases,
    remove,
    upgrade_arguments,
    wait_for_controllers,
)
from ultracluster.platform._tools import Tools

_POLL_SECONDS = 10
#: Time without a change after which a gate with a few unhealthy nodes is passed.
_SETTLED_SECONDS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of an apply; `seconds` is the time for controllers, for releases that leave, and for the gate."""

    adopt: Collection[str] = ()
    skip: Collection[str] = ()
    force: bool = False
    seconds: float = 1_800
    allow_unhealthy: bool = False
    report: Callable[[str], None] = print


def apply(tools: Tools, bundle: Bundle, options: Options) -> bool:
    """Install, update and remove until the cluster is what the bundle describes; return whether the gate is passed.

    Raises:
        ApplyError: If a phase fails. Everything before `controllers` changes nothing.
    """
    with phase("check"):
        check_permissions(tools)
    with phase("check"), locked(tools) as lease:
        _apply(tools, bundle, options, lease)
    if bundle.partial:
        return True
    # Without the Lease: it waits long for nodes, and changes nothing.
    return wait_for_gate(tools, bundle, options)


def _apply(tools: Tools, bundle: Bundle, options: Options, lease: Lease) -> None:
    report = options.report
    releases = bundle.selected(skip=options.skip, adopt=options.adopt)
    installed = check(tools, bundle, releases, options)
    report(f"check: {len(releases)} releases, {len(bundle.objects)} objects")
    phases: tuple[Phase, ...] = ("controllers", "devices")
    for name in phases:
        with phase(name):
            for release in (item for item in releases if item.phase == name):
                lease.check(name)
                report(f"{name}: {release.name} {release.version}: {install(tools, release, installed)}")
                if release.name in options.adopt and (errors := foreign(tools, [release], (), adopt=())):
                    raise errors[0]
            if name == "controllers":
                wait_for_controllers(tools, releases, options.seconds)
                report("webhooks: answer")
    if bundle.partial:
        return
    # Device plugins are not waited for: one bad node of 64 must not keep the queues from being created.
    with phase("objects"):
        lease.check("objects")
        # Again: controllers take minutes, and jobs are admitted meanwhile.
        if errors := _removals(tools, bundle, installed):
            raise errors[0]
        pruned = apply_objects(tools, bundle.cluster, bundle.objects, force=options.force, seconds=options.seconds)
    report(f"objects: {len(bundle.objects)} applied, {len(pruned)} pruned")
    for line in pruned:
        report(f"  {line}")
    with phase("removal"):
        leaving = leaving_releases(bundle.releases, installed)
        wait_for_finalizers(tools, leaving, seconds=options.seconds, report=report)
        lease.check("removal")
        for line in remove(tools, leaving):
            report(f"removal: {line}")


def hold_queues(tools: Tools, bundle: Bundle, mode: Hold, options: Options) -> None:
    """Stop the queues before a deployment that updates nodes; the next apply lets them go on, after its gate.

    Raises:
        ApplyError: If workloads still have nodes when the time is over.
    """
    with phase("hold"):
        check_permissions(tools)
        with locked(tools) as lease:
            lease.check("hold")
            names = hold(tools, bundle, mode, seconds=options.seconds)
    after = "apply --gate" if bundle.applications else "apply"
    options.report(f"hold: {', '.join(names)}: no workload has nodes; deploy, then {after}")


def check(tools: Tools, bundle: Bundle, releases: list[Release], options: Options) -> list[Installed]:
    """Validate everything that can be validated beforehand, and change nothing.

    Raises:
        ApplyError: If an edit cannot be made: the first reason, with all others in it.
    """
    installed = installed_releases(tools)
    errors = foreign(tools, releases, installed, adopt=options.adopt)
    errors += terminating(tools, bundle)
    if not bundle.partial:
        errors += _removals(tools, bundle, installed)
    remedy = "undo this edit of the cluster file, or delete the object first if nothing uses it"
    if not options.force:
        errors += [ApplyError("check", "objects", line, remedy) for line in refusals(tools, bundle.objects)]
    if errors:
        first, *others = errors
        if others:
            first.remedy += "\n" + "\n".join(str(error) for error in others)
        raise first
    return installed


def _removals(tools: Tools, bundle: Bundle, installed: list[Installed]) -> list[ApplyError]:
    """Return an error for each object or release that the bundle lacks, and that something uses."""
    objects = removed(bundle, members(tools, bundle.cluster))
    releases = leaving_releases(bundle.releases, installed)
    if not objects and not releases:
        return []
    pods = running_pods(tools)
    # Queues and flavors are checked with their release, if it leaves too.
    of_release = ("ClusterQueue", "ResourceFlavor") if any(row.name == "kueue" for row in releases) else ()
    errors = removal_problems(tools, [item for item in objects if item.kind not in of_release], pods)
    return [*errors, *release_problems(tools, bundle.cluster, releases, objects, pods)]


def plan(tools: Tools, bundle: Bundle, options: Options) -> str:
    """Return the difference between the cluster and the bundle; empty if there is none. Nothing is changed.

    Raises:
        ApplyError: If the edit would be refused.
    """
    releases = bundle.selected(skip=options.skip, adopt=options.adopt)
    check_permissions(tools)
    installed = check(tools, bundle, releases, options)
    parts = [_release_difference(tools, release, installed) for release in releases]
    parts.append(difference(tools, bundle.cluster, bundle.objects))
    parts += [f"- {item} (pruned)\n" for item in removed(bundle, members(tools, bundle.cluster))]
    parts += [f"- release {row.name} (uninstalled)\n" for row in leaving_releases(bundle.releases, installed)]
    return "".join(parts)


def _release_difference(tools: Tools, release: Release, installed: list[Installed]) -> str:
    new = f"+ release {release.name} {release.version}\n"
    if release.manifest is not None:
        arguments = ("diff", "--server-side", "--field-manager=ultracluster", f"--filename={release.manifest}")
        try:
            return tools.run("kubectl", *arguments, codes=(0, 1))
        except ToolError as error:
            # Its namespace is not there yet.
            if "not found" in error.message.lower():
                return new
            raise
    row = next((row for row in installed if (row.name, row.namespace) == (release.name, release.namespace)), None)
    if row and row.fingerprint == release.fingerprint and row.status == "deployed":
        return ""
    if row is None:
        return new
    with tempfile.TemporaryDirectory() as directory:
        after = planned_manifest(tools, release, upgrade_arguments(release, Path(directory)))
    lines = difflib.unified_diff(
        manifest_of(tools, release).splitlines(True), after.splitlines(True), f"release {release.name}", release.version
    )
    return "".join(lines)


def wait_for_gate(tools: Tools, bundle: Bundle, options: Options) -> bool:
    """Report the gate, and again when it changes, until nothing is missing or the time is over.

    Queues that a hold stopped are resumed; nothing else is changed.

    Raises:
        ApplyError: If the API server refuses the caller, or does not answer.
    """
    with phase("gate"):
        return _gate(tools, bundle, options)


def _gate(tools: Tools, bundle: Bundle, options: Options) -> bool:
    until = settled = time.monotonic() + options.seconds
    before: list[Line] | None = None
    while True:
        lines = gate(tools, bundle)
        now = time.monotonic()
        if changed := lines != before:
            before, settled = lines, now + _SETTLED_SECONDS
        # Nodes that are still joining get some time.
        few = [line for line in lines if line.few and now >= min(settled, until)]
        failed = [line for line in lines if line.missing and not (options.allow_unhealthy and line in few)]
        # Queues that an update of nodes holds go on as soon as all else is there, but for a few unhealthy nodes.
        if all(line.queues or line in few for line in failed) and _resumed(tools, bundle, options):
            continue
        for line in lines if changed else ():
            options.report(f"gate: {line.text}")
        if not failed or now >= until:
            break
        time.sleep(_POLL_SECONDS)
    report_gate(lines, options.report)
    if held := held_queues(tools, bundle) if failed else {}:
        options.report(f"queues: {', '.join(sorted(held))} are still held: run `ultracluster apply FILE` again")
    if not failed and any(line.missing for line in lines):
        options.report(
            "gate: passed with a few unhealthy nodes; `ultracluster apply FILE --gate` fails until they are repaired"
        )
    return not failed


def _resumed(tools: Tools, bundle: Bundle, options: Options) -> bool:
    """Resume the queues that a hold stopped, unless another apply or hold is at work; return whether any was."""
    if not held_queues(tools, bundle):
        return False
    # With the Lease: a hold that waits for the end of jobs has it.
    with suppress(ApplyError), locked(tools) as lease:
        lease.check("gate")
        names = resume(tools, bundle)
        options.report(f"queues: {', '.join(names)} go on")
        return True
    return False


def report_gate(lines: Sequence[Line], report: Callable[[str], None]) -> None:
    """Report what is missing, and then the gate again: the last lines of a log are those that are read."""
    missing = [text for line in lines for text in line.missing]
    for text in missing:
        report(f"missing: {text}")
    for line in lines if missing else ():
        report(f"gate: {line.text}")
