"""Path to an EKS API server: a kubeconfig with the right role, and a Session Manager tunnel to a private endpoint."""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ultracluster.platform._aws import assumed, aws_session, call
from ultracluster.platform._errors import ApplyError
from ultracluster.platform._signals import ended_by_signals

_HTTPS = 443
_DOCUMENT = "AWS-StartPortForwardingSessionToRemoteHost"
_START_SECONDS = 30
_END_SECONDS = 5
# EKS accepts a token for 15 minutes; kubectl asks for another before.
# https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster (read 2026-11-22)
_TOKEN_SECONDS = 14 * 60
_CLUSTER_HEADER = "x-k8s-aws-id"
# The oldest that signs its requests, as Session Manager will soon require.
_PLUGIN_VERSION = (1, 2, 764)
_PYTHONPATH = str(Path(__file__).parents[2])
#: Variable with the answer of `StartSession`; AWS's plug-in reads one with this prefix.
SESSION = "AWS_SSM_START_SESSION_RESPONSE"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """An EKS cluster and the path to it.

    Args:
        cluster: Name of the cluster.
        region: AWS region.
        role: ARN of the role to assume, or None for the principal of the environment.
        through: Id of an instance in the VPC that a tunnel goes through, or None.
        port: Local port of a tunnel, or None for a free one.
    """

    cluster: str
    region: str
    role: str | None = None
    through: str | None = None
    port: int | None = None


class Connection(NamedTuple):
    """Kubeconfig, and the process of the tunnel, or None if the endpoint is reached without one."""

    kubeconfig: Path
    tunnel: "subprocess.Popen[str] | None" = None


@contextmanager
def connected(target: Target, file: Path) -> Iterator[Connection]:
    """Write a kubeconfig, start a tunnel if the endpoint cannot be reached, and end it afterwards.

    Raises:
        ApplyError: If the cluster is not there, or there is no path to it.
    """
    session = aws_session(target.region)
    described = call(
        session.client("eks").describe_cluster,
        f"EKS cluster {target.cluster}",
        "deploy the stacks first; or check account and Region of the credentials",
        name=target.cluster,
    )["cluster"]
    host = str(urlsplit(described["endpoint"]).hostname)
    if target.through is None and _reached(host, _HTTPS):
        write_kubeconfig(file, described, target, server=described["endpoint"])
        yield Connection(file)
        return
    instance = target.through or _instance(session, target.cluster)
    with _tunnel(session, target.region, instance, host, port=target.port) as (port, process):
        write_kubeconfig(file, described, target, server=f"https://127.0.0.1:{port}", tls_server_name=host)
        yield Connection(file, process)


def write_kubeconfig(
    file: Path, described: Mapping[str, Any], target: Target, *, server: str, tls_server_name: str | None = None
) -> None:
    """Write a kubeconfig whose tokens come from this package: no AWS CLI is needed."""
    token = ["-m", "ultracluster.platform", "token", "--cluster", target.cluster, "--region", target.region]
    token += ["--role", target.role] if target.role else []
    cluster = {"server": server, "certificate-authority-data": described["certificateAuthority"]["data"]}
    if tls_server_name:
        cluster["tls-server-name"] = tls_server_name
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": token,
            "env": [{"name": "PYTHONPATH", "value": _PYTHONPATH}],
            "interactiveMode": "Never",
        }
    }
    name = target.cluster
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(config, indent=1), encoding="utf-8")


def token(target: Target) -> str:
    """Return an ExecCredential with a token of EKS: a signed request for the caller's identity.

    See: https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster (read
    2026-11-22)
    """
    session = aws_session(target.region)
    if target.role:
        session = assumed(session, target.role, target.region)
    client = session.client("sts", region_name=target.region)

    def keep(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["cluster"] = params.pop("ClusterName", None)

    def add(request: Any, **_: Any) -> None:
        request.headers[_CLUSTER_HEADER] = request.context["cluster"]

    client.meta.events.register("provide-client-params.sts.GetCallerIdentity", keep)
    client.meta.events.register("before-sign.sts.GetCallerIdentity", add)
    url = client.generate_presigned_url(
        "get_caller_identity", Params={"ClusterName": target.cluster}, ExpiresIn=60, HttpMethod="GET"
    )
    expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + _TOKEN_SECONDS))
    encoded = base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    status = {"expirationTimestamp": expires, "token": f"k8s-aws-v1.{encoded}"}
    return json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})


def caller_role(region: str, admins: Sequence[str], members: Sequence[str] = ()) -> str | None:
    """Return the administrator's role to assume, or None if the caller has an access entry or none is a role."""
    roles = [arn for arn in admins if ":role/" in arn]
    client = aws_session(region).client("sts")
    caller = call(client.get_caller_identity, "AWS", "check the credentials, the network and the proxy")["Arn"]
    name = caller.split("/")[1] if ":assumed-role/" in caller else None
    having = [*admins, *members]
    if caller in having or any(":role/" in arn and arn.rpartition("/")[2] == name for arn in having):
        return None
    return roles[0] if roles else None


def _reached(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except OSError:
        return False


def _instance(session: Any, cluster: str) -> str:
    """Return a running system node, through which a tunnel goes."""
    filters = [
        {"Name": "tag:eks:cluster-name", "Values": [cluster]},
        {"Name": "tag:eks:nodegroup-name", "Values": ["system"]},
        {"Name": "instance-state-name", "Values": ["running"]},
    ]
    remedy = "run it from the VPC, or name an instance of Session Manager in the VPC with --through"
    pages = call(
        lambda: list(session.client("ec2").get_paginator("describe_instances").paginate(Filters=filters)),
        "a path to the private endpoint",
        remedy,
    )
    ids = [item["InstanceId"] for page in pages for row in page["Reservations"] for item in row["Instances"]]
    if not ids:
        reason = "the endpoint is private, and the cluster has no running system node"
        raise ApplyError("connect", "a path to the private endpoint", reason, remedy)
    return str(sorted(ids)[0])


@contextmanager
def _tunnel(
    session: Any, region: str, instance: str, host: str, *, port: int | None = None
) -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """Forward a local port to the endpoint through an instance.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-sessions-start.html
    (read 2026-11-22)
    """
    subject = f"tunnel through {instance}"
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # A tunnel that has just ended holds no port.
        try:
            free.bind(("127.0.0.1", port or 0))
        except OSError as error:
            raise ApplyError(
                "connect", f"port {port}", error.strerror or str(error), "choose another: --port"
            ) from None
        port = int(free.getsockname()[1])
    client = session.client("ssm")
    request = {
        "Target": instance,
        "DocumentName": _DOCUMENT,
        "Parameters": {"host": [host], "portNumber": [str(_HTTPS)], "localPortNumber": [str(port)]},
    }
    remedy = f"allow ssm:StartSession on the instance and on the document {_DOCUMENT}; or pass --kubeconfig"
    answer = call(client.start_session, subject, remedy, **request)
    answer.pop("ResponseMetadata", None)
    command = [sys.executable, "-m", "ultracluster.platform", "forward", f"--region={region}", f"--port={port}"]
    # AWS's plug-in, where it is installed: it encrypts by KMS, and uses proxies.
    if plugin := _plugin():
        command = [plugin, SESSION, region, "StartSession", "", json.dumps(request), client.meta.endpoint_url]
    # Not as an argument: every user of this machine could read the token.
    env = {**os.environ, SESSION: json.dumps(answer), "PYTHONPATH": _PYTHONPATH}
    with ended_by_signals(), ExitStack() as stack:
        stack.callback(_close, client, answer["SessionId"])
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        stack.callback(_end, process)
        until = time.monotonic() + _START_SECONDS
        while not _reached("127.0.0.1", port):
            if process.poll() is not None or time.monotonic() >= until:
                reason = (process.stderr.read() if process.stderr and process.poll() is not None else "") or "no answer"
                raise ApplyError("connect", subject, reason, "check the agent of the instance in Session Manager")
            time.sleep(0.5)
        yield port, process


def _plugin() -> str | None:
    """Return AWS's plug-in, if Session Manager supports its version.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/plugin-version-history.html (read 2026-11-26)
    """
    plugin = shutil.which("session-manager-plugin")
    if plugin is None:
        return None
    version = subprocess.run([plugin, "--version"], capture_output=True, text=True).stdout.strip().split(".")
    numbers = tuple(int(part) for part in version if part.isdecimal())
    return plugin if numbers >= _PLUGIN_VERSION else None


def _close(client: Any, session: str) -> None:
    """End a session. One that cannot be ended ends without its plug-in."""
    from botocore.exceptions import BotoCoreError, ClientError

    with suppress(BotoCoreError, ClientError):
        client.terminate_session(SessionId=session)


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stderr:
        process.stderr.close()
