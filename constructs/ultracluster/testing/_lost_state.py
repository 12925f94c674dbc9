"""The guard as an assertion, for tests of stacks with stateful resources."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdk_rehearsal.snapshots import template_of
from ultracluster.testing._update_rules import UPDATE_RULES

if TYPE_CHECKING:
    # Only where it is used: this package holds a pytest plugin, and not every pytest run needs Node.
    import aws_cdk as cdk


def assert_nothing_stateful_is_lost(
    old: str | Path | Mapping[str, Any],
    new: "cdk.Stack | str | Path | Mapping[str, Any]",
    *,
    allow: Iterable[str] = (),
) -> None:
    """Compare the deployed templates with those to be deployed, by the guard.

    Needs the extra `cdk-ultracluster[guard]`.

    Args:
        old: What is deployed: a template, its file, or a directory of templates such as cdk.out.
        new: What is to be deployed: the same, or a stack.
        allow: Logical ids of the resources that may go; STACK/LOGICAL_ID where the id alone fits several.

    Raises:
        ImportError: When the extra is not installed.
        AssertionError: When a resource that holds data would be replaced, deleted or orphaned, with the reasons, or
            when `allow` names one that nothing happens to.
        GuardError: When something cannot be read or is no template.
    """
    try:
        from cdk_rehearsal import guard
    except ImportError as error:
        message = f'the guard needs more packages ({error.name} is missing): pip install "cdk-ultracluster[guard]"'
        raise ImportError(message) from None
    target = new if isinstance(new, str | Path | Mapping) else template_of(new)
    report = guard.compare(old, target, allow=allow, update_rules=UPDATE_RULES)
    if not report.ok:
        raise AssertionError("\n".join([report.summary, *report.lines()]))
