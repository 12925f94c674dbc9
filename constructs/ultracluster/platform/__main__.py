"""`python -m ultracluster.platform`: apply a bundle, or print a token for kubectl."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ultracluster.platform._apply import Options, apply, plan
from ultracluster.platform._aws import resumed, signed
from ultracluster.platform._bundle import Bundle, load_values
from ultracluster.platform._connect import SESSION, Target, connected, token
from ultracluster.platform._errors import ApplyError, ToolError
from ultracluster.platform._registry import signed_in
from ultracluster.platform._tools import find_tools


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Exit codes: 0 good, 1 an error or something missing, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        return 0 if options.run(options) else 1
    except (ApplyError, ToolError) as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ultracluster.platform", description=__doc__)
    commands = parser.add_subparsers(required=True)
    applying = commands.add_parser("apply", help="Install, update and remove until the cluster is as the bundle.")
    applying.add_argument("--bundle", type=Path, required=True, help="Directory of bundle.json.")
    applying.add_argument("--values", type=Path, help="JSON file: values of the parameters by name.")
    applying.add_argument("--kubeconfig", type=Path, help="Kubeconfig. By default, $KUBECONFIG, or one for EKS.")
    applying.add_argument("--dry-run", action="store_true", help="Print the difference, and change nothing.")
    applying.add_argument("--adopt", action="append", default=[], metavar="RELEASE", help="Replace an existing one.")
    applying.add_argument("--skip", action="append", default=[], metavar="RELEASE", help="Do not install it.")
    applying.add_argument("--force-conflicts", action="store_true", help="Take over fields of other managers.")
    applying.add_argument(
        "--timeout", type=int, default=30, metavar="MINUTES", help="For controllers, releases that leave, and the gate."
    )
    applying.add_argument("--allow-unhealthy", action="store_true", help="Pass a few unhealthy nodes of a group.")
    applying.set_defaults(run=_apply)
    signing = commands.add_parser("token", help="Print an ExecCredential for kubectl.")
    for name in ("cluster", "region"):
        signing.add_argument(f"--{name}", required=True)
    signing.add_argument("--role")
    signing.set_defaults(run=_token)
    forwarding = commands.add_parser("forward", help=f"Forward a local port by the session in ${SESSION}.")
    forwarding.add_argument("--region", required=True)
    forwarding.add_argument("--port", type=int, required=True)
    forwarding.set_defaults(run=_forward)
    return parser


def _apply(options: argparse.Namespace) -> bool:
    bundle = Bundle.load(options.bundle, load_values(options.values) if options.values else {})
    settings = Options(
        adopt=options.adopt,
        skip=options.skip,
        force=options.force_conflicts,
        seconds=options.timeout * 60,
        allow_unhealthy=options.allow_unhealthy,
        report=lambda line: print(line, flush=True),
    )
    bundle.selected(skip=options.skip, adopt=options.adopt)
    with ExitStack() as stack:
        kubeconfig = options.kubeconfig or (Path(os.environ["KUBECONFIG"]) if os.environ.get("KUBECONFIG") else None)
        if kubeconfig is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            target = Target(cluster=bundle.cluster, region=bundle.region)
            kubeconfig = stack.enter_context(connected(target, directory / "kubeconfig")).kubeconfig
        tools = stack.enter_context(signed_in(find_tools(kubeconfig, options.bundle), bundle))
        if options.dry_run:
            print(plan(tools, bundle, settings) or "nothing changes")
            return True
        return apply(tools, bundle, settings)


def _token(options: argparse.Namespace) -> bool:
    print(token(Target(cluster=options.cluster, region=options.region, role=options.role)))
    return True


def _forward(options: argparse.Namespace) -> bool:
    # On the admin host there is no tunnel, and in a test of the engine no boto3.
    from ultracluster.platform._port_forward import SessionError, forward

    session = json.loads(os.environ.pop(SESSION))
    try:
        forward(
            session,
            options.port,
            resume=lambda: resumed(options.region, session["SessionId"]),
            sign=lambda url: signed(options.region, url),
        )
    except (SessionError, ApplyError, OSError) as error:
        print(error, file=sys.stderr)
    return False


if __name__ == "__main__":
    sys.exit(main())
