"""Bootstrap, deploy, update and destroy an app with the real CDK CLI on the local cloud."""

import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from cdk_rehearsal import guard
from cdk_rehearsal.deploy import CliProcesses
from cdk_rehearsal.registry import NO_RULES, NO_TEMPLATE_RULES, TemplateRules, UpdateRules
from cdk_rehearsal.rehearsal._adoption import Adoption
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._cloud import ACCOUNT, LocalCloud
from cdk_rehearsal.rehearsal._errors import RehearsalError
from cdk_rehearsal.rehearsal._failure_steps import FailureSteps
from cdk_rehearsal.rehearsal._faults import Fault
from cdk_rehearsal.rehearsal._mirror import mirror
from cdk_rehearsal.rehearsal._report import Listener, Report, Step, report
from cdk_rehearsal.rehearsal._steps import TOOLKIT, Keep, Rehearsal
from cdk_rehearsal.rehearsal._update import Update

REGION = "us-east-1"


class _Silent:
    """Listener that does nothing."""

    def begin(self, name: str) -> None: ...

    def line(self, text: str) -> None: ...

    def end(self, step: Step) -> None: ...


def rehearse(
    *,
    app: Path = Path(),
    context: Mapping[str, str] = MappingProxyType({}),
    update: Update | None = None,
    account: str = ACCOUNT,
    region: str = REGION,
    listener: Listener | None = None,
    keep: Keep | None = None,
    allow: Iterable[str] = (),
    update_rules: UpdateRules = NO_RULES,
    template_rules: TemplateRules = NO_TEMPLATE_RULES,
    fail: Iterable[str] = (),
    adopt: Adoption | None = None,
) -> Report:
    """Deploy, update and destroy an app.

    Args:
        app: Directory of the app, with its cdk.json. Nothing is written there.
        context: CDK context of the app.
        update: Edit that the update step deploys. By default, the step is a second deployment, which must change
            nothing.
        account: Account of stacks that name none.
        region: Region of stacks that name none.
        listener: Receiver of the progress.
        keep: Called after the deployment, instead of update and destroy, with the environment variables that reach
            the local cloud. The cloud exists until the call returns.
        allow: Resources that the update may replace, delete or orphan although they hold data; see `guard.compare`.
        update_rules: Resource type -> rules for updates that its service rejects, beyond the facts of the registry.
        template_rules: Resource type -> rules for a resource and others that it refers to, beyond those of services.
        fail: Resources that fail once: RESOURCE[:create|update|delete], with a logical id, STACK/LOGICAL_ID, construct
            path or type. The stack must roll back, and the same deployment must succeed afterwards. In the end, the
            app is deployed and destroyed once more, beside what was retained.
        adopt: Edit that uses retained resources. All stacks are destroyed but those with the subnets of what is
            retained, and the edit is deployed, before the end. Default: no such step.

    Returns:
        The report. It has the reasons of a step that failed; the steps after it are not run.

    Raises:
        RehearsalError: If the rehearsal cannot start.
    """
    faults = tuple(map(Fault.parse, fail))
    if update is None and any(fault.action == "update" for fault in faults):
        raise RehearsalError("this rehearsal has no update step, so that no resource can fail in it")
    if not (app / "cdk.json").is_file():
        raise RehearsalError(
            f"{app.resolve()} holds no CDK app: there is no cdk.json in it; "
            "go to the directory of the app, or name it: --app DIR"
        )
    with (
        tempfile.TemporaryDirectory(prefix="cdk-rehearsal-") as scratch,
        LocalCloud(update_rules=update_rules, template_rules=template_rules, wait=False) as cloud,
        CliProcesses() as processes,
    ):
        run = Rehearsal(
            cloud=cloud,
            processes=processes,
            app=mirror(app, Path(scratch)),
            scratch=Path(scratch),
            place=Environment(account=account, region=region),
            context=context,
            update=update,
            listener=listener or _Silent(),
            compare=partial(
                guard.compare, allow=tuple(allow), update_rules=update_rules, template_rules=template_rules
            ),
            allow=tuple(allow),
            adopt=adopt,
            failures=FailureSteps(cloud=cloud, faults=faults),
        )
        run.run(keep)
        return report(steps=run.steps, journal=cloud.journal, stacks=cloud.stacks, leave_out=TOOLKIT)
