"""`ultracluster image build-container` with a real builder, buildah, and a real registry on this machine."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT
from support.base_image import WHEELS, write_base
from support.registry import Registry
from ultracluster.cli import app
from ultracluster.workloads import CONTAINERS, container_tag

RUN = CliRunner()
NAME = "hyperpod-agent"
# A client without its daemon.
DOCKER = "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n"


class Builder:
    """buildah in a directory, without the registries and the storage of this machine."""

    def __init__(self, directory: Path, registry: Registry) -> None:
        self.directory, self.registry = directory, registry
        (directory / "bin").mkdir()
        (directory / "bin/docker").write_text(DOCKER)
        (directory / "bin/docker").chmod(0o755)
        (directory / "storage.conf").write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{directory}/graph"\nrunroot = "{directory}/run"\n'
        )
        (directory / "registries.conf").write_text(
            f'[[registry]]\nlocation = "{self.registry.host}"\ninsecure = true\n'
        )
        (directory / "auth.json").write_text("{}")
        self.environment = {
            "PATH": f"{directory}/bin:/usr/bin:/bin",
            "HOME": str(directory),
            "BUILDAH_ISOLATION": "chroot",
            "STORAGE_DRIVER": "vfs",
            "CONTAINERS_STORAGE_CONF": str(directory / "storage.conf"),
            "CONTAINERS_REGISTRIES_CONF": str(directory / "registries.conf"),
            "REGISTRY_AUTH_FILE": str(directory / "auth.json"),
        }
        self.parent = f"{self.registry.host}/copies/{CONTAINERS[NAME].repository}:{CONTAINERS[NAME].tag}"
        write_base(directory / "base")
        self.run("build", "--tag", self.parent, str(directory / "base"))
        text = (ROOT / "examples/eks-512-gpus.yaml").read_text()
        (directory / "cluster.yaml").write_text(
            text.replace("\nkubernetes:", f'\nkubernetes:\n  registry: "{self.registry.host}/ultracluster"', 1)
        )

    def run(self, *words: str) -> str:
        done = subprocess.run(["buildah", *words], env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    directory = tmp_path_factory.mktemp("builder")
    registry = Registry(directory)
    try:
        yield Builder(directory, registry)
    finally:
        registry.close()


def test_a_builder_makes_the_image_once_and_the_registry_has_it(
    builder: Builder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in builder.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(builder.directory)

    def build(parent: str, *options: str) -> tuple[int, str]:
        result = RUN.invoke(app, ["image", "build-container", "cluster.yaml", NAME, "--parent", parent, *options])
        return result.exit_code, result.output + capfd.readouterr().err

    # A package of another content than the library knows.
    (builder.directory / "altered").mkdir()
    wheel = next(WHEELS.glob("fastapi-*")).name
    change = f"RUN [\"python3\", \"-c\", \"open('/wheels/{wheel}', 'ab').write(b'x')\"]"
    (builder.directory / "altered/Containerfile").write_text(f"FROM {builder.parent}\n{change}\n")
    altered = f"{builder.registry.host}/altered:1"
    builder.run("build", "--tag", altered, str(builder.directory / "altered"))
    code, output = build(altered, "--push")
    assert code == 1
    assert "DO NOT MATCH THE HASHES" in output
    assert "buildah build ended with" in output
    code, output = build(f"{builder.registry.host}/none:1")
    assert (code, "manifest unknown" in output) == (1, True), output

    image = f"ultracluster/{NAME}:{container_tag(NAME)}"
    code, output = build(builder.parent, "--push")
    assert code == 0, output
    digest = builder.registry.digest(image)
    assert digest
    container = builder.run("from", f"{builder.registry.host}/{image}")
    program = "from importlib.metadata import version; print(version('hyperpod-elastic-agent'))"
    assert builder.run("run", container, "python3", "-c", program) == "1.1.3"
    code, output = build(builder.parent, "--push")
    assert (code, "the registry has it already" in output.replace("\n", "")) == (0, True)
    assert builder.registry.digest(image) == digest
