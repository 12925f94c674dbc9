"""Registry of the copies of charts and images: sign in, and find out what it lacks before anything is installed."""

import base64
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ultracluster.platform._aws import refuse_pages
from ultracluster.platform._bundle import Bundle
from ultracluster.platform._errors import ApplyError, ToolError
from ultracluster.platform._tools import Tools

# https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html (read 2026-11-23)
_ECR = re.compile(r"\d{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?", re.ASCII)
USER = "AWS"
_OCI = "oci://"
# A registry on this machine has no certificate. Docker has the same rule:
# https://docs.docker.com/reference/cli/dockerd/#insecure-registries (read 2026-11-23)
_LOCAL = re.compile(r"(localhost|127\.\d+\.\d+\.\d+)(:\d+)?", re.ASCII)
# https://github.com/opencontainers/distribution-spec/blob/main/spec.md (1.1.1, read 2026-11-23)
_MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_NOT_FOUND = 404
_TIMEOUT = 30


def is_local(host: str) -> bool:
    """Return True for a registry on this machine, which is read without TLS."""
    return _LOCAL.fullmatch(host) is not None


def ecr_password(host: str) -> str | None:
    """Return the password of a private registry in Amazon ECR, or None for another registry.

    Raises:
        ApplyError: If AWS gives none.
    """
    match = _ECR.fullmatch(host)
    if match is None:
        return None
    try:
        try:
            import boto3
        except ImportError:
            # The admin host has the AWS CLI, and Python alone.
            command = ["aws", "ecr", "get-login-password", "--region", match["region"]]
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
        ecr = boto3.client("ecr", region_name=match["region"])
        refuse_pages(ecr.meta.events)
        answer = ecr.get_authorization_token()
        token = answer["authorizationData"][0]["authorizationToken"]
        return base64.b64decode(token).decode().partition(":")[2]
    except Exception as error:  # Errors of botocore, of the CLI, or that there is no CLI.
        reason = getattr(error, "stderr", "") or str(error)
        remedy = "allow ecr:GetAuthorizationToken to this principal, and check the path to ECR"
        raise ApplyError("connect", f"registry {host}", str(reason), remedy) from error


def has(address: str, password: str | None) -> bool:
    """Return True if a registry has an image or a chart.

    Args:
        address: Registry, name and tag or digest.
        password: Password of ECR, or None.

    Raises:
        OSError: If the registry does not answer, or refuses the request.
    """
    host, _, path = address.partition("/")
    name, at, digest = path.partition("@")
    base, colon, tag = name.rpartition(":")
    reference = digest if at else tag
    url = f"{'http' if is_local(host) else 'https'}://{host}/v2/{base if colon else name}/manifests/{reference}"
    headers = {"Accept": _MANIFESTS}
    if password is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers, method="HEAD"), timeout=_TIMEOUT):
            return True
    except urllib.error.HTTPError as error:
        if error.code == _NOT_FOUND:
            return False
        raise


@contextmanager
def signed_in(tools: Tools, bundle: Bundle) -> Iterator[Tools]:
    """Return tools whose helm reads charts from the private registries of a bundle, which have what it needs.

    Raises:
        ApplyError: If a registry refuses, or lacks a chart or an image.
    """
    charts = [release.chart.removeprefix(_OCI) for release in bundle.releases if release.chart]
    passwords = {
        host: ecr_password(host)
        for host in dict.fromkeys(address.partition("/")[0] for address in (*charts, *bundle.images))
        if _ECR.fullmatch(host) or is_local(host)
    }
    _check(bundle.images, passwords)
    with tempfile.TemporaryDirectory() as directory:
        # Not in the configuration of the caller: the password is valid for twelve hours.
        env = {**tools.env, "HELM_REGISTRY_CONFIG": str(Path(directory) / "config.json")}
        result = replace(tools, env=env) if any(passwords.values()) else tools
        for host, password in passwords.items():
            if password is not None:
                _login(result, host, password)
        yield result


def _login(tools: Tools, host: str, password: str) -> None:
    try:
        tools.run("helm", "registry", "login", host, "--username", USER, "--password-stdin", stdin=password)
    except ToolError as error:
        remedy = "check the path to the registry: a VPC without internet access needs the endpoints ecr.api and ecr.dkr"
        raise ApplyError("connect", f"registry {host}", str(error), remedy) from None


def _check(images: Iterable[str], passwords: dict[str, str | None]) -> None:
    """Raise an error that names everything which the registries lack; those of others cannot be asked."""
    missing = []
    for address in images:
        host = address.partition("/")[0]
        try:
            if host in passwords and not has(address, passwords[host]):
                missing.append(address)
        except OSError as error:
            remedy = "allow ecr:BatchGetImage to this principal, and check the path to the registry"
            raise ApplyError("check", f"registry {host}", f"{address}: {error}", remedy) from None
    if missing:
        number = f"{len(missing)} charts and images" if len(missing) > 1 else "a chart or an image"
        reason = f"the registry lacks {number}:{os.linesep}  " + f"{os.linesep}  ".join(missing)
        remedy = "copy them: ultracluster mirror FILE; then apply again"
        raise ApplyError("check", "registry", reason, remedy)
