"""Commands whose calls of AWS fail: one exit code, one line, no traceback."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ultracluster.cli import _aws, app
from ultracluster.platform import _aws as _platform_aws

EXAMPLES = Path(__file__).parents[2] / "examples"
SLURM, KUBERNETES = str(EXAMPLES / "slurm-minimal.yaml"), str(EXAMPLES / "eks-minimal.yaml")
COMMANDS = [
    ["check", SLURM, "--live"],
    ["image", "status", SLURM],
    ["image", "pin", KUBERNETES],
    ["apply", KUBERNETES, "--dry-run"],
    ["kubeconfig", KUBERNETES],
    ["diff", SLURM],
    ["mirror", KUBERNETES, "--to", "123456789012.dkr.ecr.us-east-2.amazonaws.com/copies"],
]
# Answer of AWS STS in the query protocol, and pages of proxies: status, type and body.
EXPIRED = (
    403,
    "text/xml",
    (
        "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>"
        "<Message>The security token included in the request is expired</Message></Error></ErrorResponse>"
    ),
)
HTML = "text/html; charset=utf-8"
PAGE = 407, HTML, "<html><head></head><body>Proxy<br>please sign in</body></html>"
# A portal answers as if all were well, and its page may be well-formed XML.
PORTAL = 200, HTML, "<html><head></head><body>Please sign in</body></html>"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@pytest.fixture
def aws(credentials: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """Server that gives one answer to all calls."""
    status, kind, body = request.param

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body.encode())

        do_GET = do_HEAD = do_POST

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            credentials.setenv(name, "x")
        credentials.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        credentials.setenv("NO_PROXY", "127.0.0.1")
        yield
        server.shutdown()


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: f"{words[0]}-{len(words)}")
def test_every_command_ends_with_3_without_credentials(command: list[str]) -> None:
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 3, result.output
    assert "Unable to locate credentials" in result.stderr


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("aws", [EXPIRED, PAGE, PORTAL], indirect=True, ids=["expired", "proxy", "portal"])
def test_a_check_of_the_account_without_an_answer_is_not_good() -> None:
    result = CliRunner().invoke(app, ["check", SLURM, "--live", "--json"])
    assert result.exit_code == 3
    assert json.loads(result.stdout)["ok"] is False


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("aws", [PAGE, PORTAL], indirect=True, ids=["proxy", "portal"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: f"{words[0]}-{len(words)}")
def test_a_page_of_a_proxy_is_no_traceback(command: list[str]) -> None:
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 3, result.exception
    assert "error: " in result.stderr
    assert "proxy" in result.stderr


@pytest.fixture
def silence(credentials: pytest.MonkeyPatch) -> Iterator[None]:
    """A network without a path to AWS: packets are dropped, so that no connection is accepted or refused."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        credentials.setenv(name, "x")
    # Linux drops what exceeds the queue of a socket that accepts nothing.
    with socket.socket() as server, socket.socket() as first:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        first.connect(server.getsockname())
        credentials.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        credentials.setenv("NO_PROXY", "127.0.0.1")
        credentials.delenv("AWS_MAX_ATTEMPTS")
        yield


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize("command", [["check", SLURM, "--live"], ["diff", SLURM]], ids=lambda words: words[0])
def test_without_a_path_to_aws_a_command_ends_in_seconds(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    for service, longest in (("sts", 12), ("cloudformation", 60)):
        config = _aws.client(service, "us-east-2").meta.config
        assert config.connect_timeout * config.retries["total_max_attempts"] <= longest
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.setattr(_platform_aws, "_CONNECT_SECONDS", 0.05)
    before = time.monotonic()
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 3, result.output
    assert "Connect timeout on endpoint URL" in result.stderr
    assert "check the Region, the network and the proxy" in result.stderr
    assert time.monotonic() - before < 10


@pytest.mark.usefixtures("silence")
def test_the_role_of_a_profile_is_not_waited_for_either(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """botocore takes the role in a client of its session, before the first call of a command."""
    (tmp_path / "config").write_text(
        "[profile a]\nrole_arn = arn:aws:iam::123456789012:role/a\nsource_profile = b\n"
        "[profile b]\naws_access_key_id = x\naws_secret_access_key = x\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "a")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(_platform_aws, "_CONNECT_SECONDS", 0.05)
    before = time.monotonic()
    result = CliRunner().invoke(app, ["diff", SLURM])
    assert result.exit_code == 3, result.output
    assert "Connect timeout on endpoint URL" in result.stderr
    assert time.monotonic() - before < 10


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize("command", [["apply", KUBERNETES, "--dry-run"], ["kubeconfig", KUBERNETES]], ids=" ".join)
def test_apply_has_the_same_limit(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    client = _platform_aws.aws_session("us-east-2").client("cloudformation")
    assert client.meta.config.connect_timeout <= 5
    monkeypatch.setattr(_platform_aws, "_CONNECT_SECONDS", 0.01)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 3, result.output
    assert "Connect timeout on endpoint URL" in result.stderr


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("ThrottlingException", "run the command again"),
        ("AccessDeniedException", "lack this permission"),
        ("InvalidClientTokenId", "aws sts get-caller-identity"),
    ],
)
def test_the_line_names_what_to_do(monkeypatch: pytest.MonkeyPatch, code: str, remedy: str) -> None:
    from botocore.exceptions import ClientError

    def refused(service: str, region: str) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "refused"}}, "GetComputeNodeGroup")

    monkeypatch.setattr("ultracluster.cli._image.client", refused)
    result = CliRunner().invoke(app, ["image", "status", SLURM])
    assert result.exit_code == 3
    assert remedy in result.stderr
