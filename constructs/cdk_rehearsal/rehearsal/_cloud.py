"""The local cloud: moto's server on a loopback port, with CloudFormation done by the rehearsal's own engine."""

import logging
import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from socket import create_server
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from cdk_rehearsal.registry import NO_RULES, NO_TEMPLATE_RULES, TemplateRules, UpdateRules
from cdk_rehearsal.rehearsal._answers import Answers
from cdk_rehearsal.rehearsal._blueprint import KEY_PREFIX
from cdk_rehearsal.rehearsal._errors import RehearsalError
from cdk_rehearsal.rehearsal._faults import Faults
from cdk_rehearsal.rehearsal._grafana_stand_in import GrafanaStandIn
from cdk_rehearsal.rehearsal._journal import Journal, StandIn
from cdk_rehearsal.rehearsal._profile import no_profile, one_loader
from cdk_rehearsal.rehearsal._state import Stacks

if TYPE_CHECKING:
    from werkzeug.serving import BaseWSGIServer

# It is imported when a cloud starts, beside other work; that it is missing must show before.
if find_spec("moto") is None:
    raise ModuleNotFoundError("No module named 'moto'", name="moto")

#: Account that credentials belong to by default.
ACCOUNT = "123456789012"
# With "false", an app does not validate its templates. It holds in a rehearsal as in a deployment.
_VALIDATION = "CDK_VALIDATION"
# moto keeps its state in the process: two local clouds there would be one.
_ONLY_ONE = Lock()


class LocalCloud:
    """A local cloud for as long as the `with` block lasts.

    Use it from tests with boto3 or the AWS CLI: `environment()` holds all that they need.

    Args:
        update_rules: Resource type -> rules for updates that its service rejects, beyond the facts of the registry.
        template_rules: Resource type -> rules for a resource and others that it refers to, beyond those of services.
        wait: Whether the `with` block begins when it answers. Otherwise it starts beside the block, in a second,
            and the first requests wait for it.

    Raises:
        RehearsalError: when this process runs one already, or a package is missing.
    """

    def __init__(
        self,
        *,
        update_rules: UpdateRules = NO_RULES,
        template_rules: TemplateRules = NO_TEMPLATE_RULES,
        wait: bool = True,
    ) -> None:
        self._wait = wait
        # The import of moto changes them for a while.
        self._variables = dict(os.environ)
        self.update_rules = update_rules
        self.template_rules = template_rules
        self.journal = Journal()
        self.stacks = Stacks()
        self.answers = Answers()
        #: Failures on demand.
        self.faults = Faults()
        #: What handlers of custom resources put into workspaces of Amazon Managed Grafana.
        self.grafana = GrafanaStandIn(on_new=self._stand_in_for_grafana)
        # What moto warns of, the engine either does itself or refuses with a reason.
        self._log_levels = {name: logging.getLogger(name).level for name in ("moto", "werkzeug")}

    @property
    def endpoint(self) -> str:
        """URL of the local cloud, empty before it runs. "localhost", for the AWS SDKs sign and route by the name."""
        return self.answers.endpoint

    def __enter__(self) -> "LocalCloud":
        """Start it on a free port."""
        if not _ONLY_ONE.acquire(blocking=False):
            raise RehearsalError("this process runs a local cloud already; moto's state allows one per process")
        try:
            self._listening = create_server(("127.0.0.1", 0))
        except OSError:
            _ONLY_ONE.release()
            raise
        self.answers.endpoint = self.grafana.endpoint = f"http://localhost:{self._listening.getsockname()[1]}"
        pool = ThreadPoolExecutor(1)
        self._server: Future[BaseWSGIServer] = pool.submit(self._start)
        pool.shutdown(wait=self._wait)
        if self._wait and (error := self._server.exception()):
            self.__exit__()
            raise error
        return self

    def _start(self) -> "BaseWSGIServer":
        try:
            with no_profile(), one_loader():
                from cdk_rehearsal.rehearsal._custom_resources import CustomResourceDriver
                from cdk_rehearsal.rehearsal._engine import Engine
                from cdk_rehearsal.rehearsal._server import server
            for name, level in self._log_levels.items():
                logging.getLogger(name).setLevel(max(level, logging.CRITICAL))
            custom = CustomResourceDriver(self.stacks, self.journal, self.answers, self.environment)
            engine = Engine(self.stacks, self.journal, custom, self.update_rules, self.template_rules, self.faults)
            result = server(self._listening, engine, self.stacks, self.answers, self.grafana)
        except BaseException as error:
            self._listening.close()  # else requests would wait
            if isinstance(error, ImportError):
                raise RehearsalError(f"the local cloud needs the package {error.name}: {error}") from None
            raise
        Thread(target=result.serve_forever, args=(0.05,), name="local-cloud", daemon=True).start()
        return result

    def ready(self) -> None:
        """Wait until it answers.

        Raises:
            RehearsalError: when a package is missing.
        """
        self._server.result()

    def __exit__(self, *_: object) -> None:
        """Stop it. The next one forgets everything in it."""
        if self._server.exception() is None:
            from cdk_rehearsal.rehearsal._handler import Handler

            server = self._server.result()
            server.shutdown()
            server.server_close()
            Handler.close()
        self._listening.close()
        for name, level in self._log_levels.items():
            logging.getLogger(name).setLevel(level)
        _ONLY_ONE.release()

    def environment(self, region: str, account: str = ACCOUNT) -> dict[str, str]:
        """Return a process environment in which the AWS CLI, boto3 and the CDK CLI reach the local cloud alone.

        The user's own AWS variables, profiles and credential files are left out: nothing can reach real AWS.

        Args:
            region: Default region.
            account: Account whose credentials it holds.
        """
        kept = {
            key: value
            for key, value in self._variables.items()
            if key == _VALIDATION or not key.startswith(("AWS_", "CDK_"))
        }
        return kept | {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": f"{KEY_PREFIX}{account}",
            "AWS_SECRET_ACCESS_KEY": "rehearsal",
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "localhost,127.0.0.1",
            "no_proxy": "localhost,127.0.0.1",
        }

    def client(self, service: str, region: str, account: str = ACCOUNT) -> Any:
        """Return a boto3 client of the local cloud."""
        from botocore.config import Config

        return _session().client(
            service,
            endpoint_url=self.endpoint,
            region_name=region,
            aws_access_key_id=f"{KEY_PREFIX}{account}",
            aws_secret_access_key="rehearsal",
            # A second request for what the first still makes would fail.
            config=Config(read_timeout=600, retries={"total_max_attempts": 1}),
        )

    def _stand_in_for_grafana(self, workspace: str) -> None:
        self.journal.stand_in(StandIn(kind="Grafana", name=workspace, value="content is kept, nothing is drawn"))


@cache
def _session() -> Any:
    """Session without the user's profile, which may not exist, and without files. It keeps the models of services."""
    import boto3
    from botocore.session import Session

    nothing = {"profile": None, "config_file": os.devnull, "credentials_file": os.devnull}
    core = Session(session_vars={name: (None, None, value, None) for name, value in nothing.items()})
    return boto3.Session(botocore_session=core)
