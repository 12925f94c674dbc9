"""Copy images and charts between registries, with skopeo, and with helm for charts of other repositories."""

import base64
import io
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracluster import platform
from ultracluster.cli._output import fail

if TYPE_CHECKING:
    from ultracluster.kubernetes import HelmRelease, Manifest
    from ultracluster.workloads import Artifact

_TIMEOUT = 3600
_SKOPEO = (
    "skopeo is not installed, which copies images; install it: apt install skopeo, dnf install skopeo, brew install "
    "skopeo, or https://github.com/containers/skopeo/blob/main/install.md"
)
_NAMESPACE = re.compile(r"^kind: Namespace$", re.MULTILINE)
_DOCKER_HUB_IMAGE = re.compile(r"^(\s*(?:- )?image: )(?=[a-z0-9-]+/[a-z0-9-]+:)", re.MULTILINE)


class CopyError(Exception):
    """Reason why a chart or an image was not copied."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Copier:
    """Tools that copy, and the credentials of private registries in Amazon ECR.

    Args:
        skopeo: Path of skopeo.
        helm: kubectl and helm, of which helm is used.
        authfile: Credentials, in the format of Docker.
        passwords: Passwords of ECR by registry; None for other registries.
    """

    skopeo: str
    helm: platform.Tools
    authfile: Path
    passwords: Mapping[str, str | None]

    def has(self, address: str) -> bool:
        """Return True if a registry has an image or a chart."""
        host = address.partition("/")[0]
        if self.passwords.get(host) or platform.is_local(host):
            return platform.has(address, self.passwords.get(host))
        # skopeo has the credentials of the user.
        return self._skopeo("inspect", "--raw", f"docker://{address}", codes=(0, 1)).returncode == 0

    def raw(self, address: str) -> bytes:
        """Return the manifest of an image or a chart.

        Raises:
            CopyError: If the registry has none, or refuses the request.
        """
        return self._skopeo("inspect", "--raw", *self._credentials("authfile", address), f"docker://{address}").stdout

    def copy(self, item: "Artifact") -> None:
        """Copy a chart or an image, with all platforms and with its digest.

        Raises:
            CopyError: If it cannot be copied.
        """
        assert item.target is not None
        release = item.release
        if release is not None and (getattr(release, "url", None) or getattr(release, "repository", None)):
            self._push_chart(release, item.target)
            return
        # skopeo does not take a tag and a digest: https://github.com/containers/skopeo/issues/947 (read 2026-11-23)
        name, _, digest = item.source.partition("@")
        base, colon, _ = name.rpartition(":")
        source = f"{base if colon else name}@{digest}" if digest else name
        self._skopeo(
            *("copy", "--all", "--preserve-digests", "--retry-times", "3"),
            *self._credentials("src-authfile", source),
            *self._credentials("dest-authfile", item.target),
            *(["--dest-tls-verify=false"] if platform.is_local(item.target.partition("/")[0]) else []),
            f"docker://{source}",
            f"docker://{item.target}",
        )

    def pull(self, address: str) -> None:
        """Pull an image with all platforms, and keep nothing.

        Raises:
            CopyError: If the registry has none, or refuses the request.
        """
        with tempfile.TemporaryDirectory() as directory:
            self._skopeo(
                *("copy", "--all", "--preserve-digests", "--retry-times", "3"),
                *self._credentials("src-authfile", address),
                f"docker://{address}",
                f"dir:{directory}",
            )

    def _credentials(self, option: str, address: str) -> list[str]:
        return [f"--{option}", str(self.authfile)] if self.passwords.get(address.partition("/")[0]) else []

    def _skopeo(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[bytes]":
        try:
            done = subprocess.run([self.skopeo, *arguments], capture_output=True, timeout=_TIMEOUT, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CopyError(str(error)) from error
        if done.returncode not in codes:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise CopyError(_message(lines[-1]) if lines else f"skopeo ended with {done.returncode}")
        return done

    def _push_chart(self, release: "HelmRelease | Manifest", target: str) -> None:
        host, path = target.rpartition(":")[0].rpartition("/")[0], Path()
        with tempfile.TemporaryDirectory() as directory:
            try:
                if hasattr(release, "url"):
                    path = Path(directory) / "chart.tgz"
                    path.write_bytes(manifest_chart(release.name, target.rpartition(":")[2], _download(release.url)))
                else:
                    assert release.repository is not None
                    self.helm.run(
                        *("helm", "pull", release.chart, "--repo", release.repository),
                        *("--version", release.version, "--destination", directory),
                    )
                    (path,) = Path(directory).glob("*.tgz")
                plain = ["--plain-http"] if platform.is_local(target.partition("/")[0]) else []
                self.helm.run("helm", "push", str(path), f"oci://{host}", *plain)
            except (platform.ToolError, OSError) as error:
                raise CopyError(str(error).strip().splitlines()[-1]) from error


@contextmanager
def copier(hosts: "set[str]", *, optional: bool = False) -> Iterator[Copier]:
    """Return a copier with credentials of the private ECR registries among the hosts, or end the command.

    Args:
        hosts: Registries.
        optional: True to go on without credentials of ECR; its images are refused then.
    """
    skopeo = shutil.which("skopeo")
    if skopeo is None:
        fail(_SKOPEO)
    with tempfile.TemporaryDirectory() as directory:
        passwords: dict[str, str | None] = {}
        for host in sorted(hosts):
            try:
                passwords[host] = platform.ecr_password(host)
            except platform.ApplyError:
                if not optional:
                    raise
        tools = platform.find_tools(Path(directory) / "no-cluster")
        known = {host: password for host, password in passwords.items() if password}
        auths = {host: {"auth": _basic(password)} for host, password in known.items()}
        authfile = Path(directory) / "auth.json"
        authfile.touch(mode=0o600)
        authfile.write_text(json.dumps({"auths": auths}), encoding="utf-8")
        # Helm reads the same format. Other registries: the user has signed in.
        env = {**tools.env, "HELM_REGISTRY_CONFIG": str(authfile)} if known else tools.env
        yield Copier(skopeo=skopeo, helm=replace(tools, env=env), authfile=authfile, passwords=passwords)


def chart_images(helm: platform.Tools, release: "HelmRelease") -> list[str]:
    """Return the images in the objects of a chart, with the values of the release.

    Raises:
        CopyError: If the chart cannot be rendered.
    """
    from ruamel.yaml import YAML

    from ultracluster.kubernetes import container_images, full_name

    repository = ["--repo", release.repository] if release.repository else []
    try:
        text = helm.run(
            *("helm", "template", release.name, release.chart, "--version", release.version, *repository),
            *("--namespace", release.namespace, "--values", "-"),
            stdin=json.dumps(dict(release.values)),
        )
    except platform.ToolError as error:
        raise CopyError(str(error).strip().splitlines()[-1]) from error
    documents: list[Any] = [item for item in YAML(typ="safe").load_all(text) if item]
    return list(dict.fromkeys(full_name(image) for image in container_images(documents)))


def manifest_chart(name: str, version: str, manifest: str) -> bytes:
    """Return a chart that holds a manifest, whose images of Docker Hub come from the value `registry`.

    Helm creates the namespace, so the chart has none.
    """
    documents = re.split(r"^---\s*$", manifest, flags=re.MULTILINE)
    text = "---".join(item for item in documents if not _NAMESPACE.search(item))
    text = _DOCKER_HUB_IMAGE.sub(r"\1REGISTRY/", text)
    files = {
        "Chart.yaml": json.dumps({"apiVersion": "v2", "name": name, "version": version}),
        "values.yaml": "registry: docker.io\n",
        "manifest.yaml": text,
        "templates/manifest.yaml": '{{ .Files.Get "manifest.yaml" | replace "image: REGISTRY" '
        '(printf "image: %s" .Values.registry) }}\n',
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(content.encode())
            archive.addfile(member, io.BytesIO(content.encode()))
    return buffer.getvalue()


def _download(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def _basic(password: str) -> str:
    return base64.b64encode(f"{platform.USER}:{password}".encode()).decode()


def _message(line: str) -> str:
    """Return the message of a line of skopeo's log."""
    match = re.search(r'msg="(.*)"$', line)
    return match[1].replace('\\"', '"') if match else line
