"""A container registry on this machine: Docker's own server, with the smallest images and charts."""

import hashlib
import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from support.ports import free_ports, listens_at

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
IMAGE = "application/vnd.oci.image.config.v1+json"
CHART = "application/vnd.cncf.helm.config.v1+json"


class Registry:
    """A server below a directory."""

    def __init__(self, directory: Path) -> None:
        (port,) = free_ports(1)
        self.host = f"127.0.0.1:{port}"
        log, configuration = directory / "registry.log", directory / "registry.yml"
        storage = {"filesystem": {"rootdirectory": str(directory / "registry")}}
        configuration.write_text(json.dumps({"version": "0.1", "storage": storage, "http": {"addr": self.host}}))
        with log.open("w") as output:
            command = ["docker-registry", "serve", str(configuration)]
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        until = time.monotonic() + 20
        while not listens_at(port):
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(log.read_text())
            time.sleep(0.02)

    def close(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.wait()

    def put(self, name: str, *, platforms: tuple[str, ...] = (), kind: str = IMAGE, content: bytes = b"layer") -> str:
        """Put an image or a chart, such as `up/pause:3.9`, and return its digest."""
        repository, _, tag = name.rpartition(":")
        if not platforms:
            return self._manifest(repository, tag, self._image(repository, kind, content), MANIFEST)
        manifests = []
        for platform in platforms:
            body = self._image(repository, kind, content + platform.encode())
            digest = self._manifest(repository, f"only-{platform}", body, MANIFEST)
            where = {"architecture": platform, "os": "linux"}
            manifests.append({"mediaType": MANIFEST, "digest": digest, "size": len(body), "platform": where})
        index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}).encode()
        return self._manifest(repository, tag, index, INDEX)

    def digest(self, name: str) -> str | None:
        """Return the digest of a tag, or None if there is none."""
        repository, _, tag = name.rpartition(":")
        try:
            headers = {"Accept": f"{INDEX}, {MANIFEST}"}
            answer = self._request("HEAD", f"{repository}/manifests/{tag}", headers=headers)
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None
        return answer["Docker-Content-Digest"]

    def _image(self, repository: str, kind: str, content: bytes) -> bytes:
        configuration = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}
        layer = (
            "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
            if kind == CHART
            else f"{IMAGE}".replace("config.v1+json", "layer.v1.tar")
        )
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self._blob(repository, kind, json.dumps(configuration).encode()),
            "layers": [self._blob(repository, layer, content)],
        }
        return json.dumps(manifest).encode()

    def _blob(self, repository: str, kind: str, content: bytes) -> dict[str, object]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        place = self._request("POST", f"{repository}/blobs/uploads/")["Location"]
        path = f"{place}&digest={digest}"
        self._request("PUT", path, body=content, headers={"Content-Type": "application/octet-stream"})
        return {"mediaType": kind, "digest": digest, "size": len(content)}

    def _manifest(self, repository: str, tag: str, body: bytes, kind: str) -> str:
        answer = self._request("PUT", f"{repository}/manifests/{tag}", body=body, headers={"Content-Type": kind})
        return answer["Docker-Content-Digest"]

    def _request(
        self, method: str, path: str, *, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, str]:
        """Return the headers of the answer."""
        url = path if path.startswith("http") else f"http://{self.host}/v2/{path}"
        request = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()
            return dict(answer.headers)
