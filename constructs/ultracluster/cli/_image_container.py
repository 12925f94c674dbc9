"""`ultracluster image build-container`: an image of a workload with what its jobs add otherwise."""

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.cli._aws import call, client
from ultracluster.cli._output import FileArgument, fail, load, misuse

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

#: Programs that build a Containerfile, with the same options.
_BUILDERS = ("docker", "podman", "buildah")
_Name = Annotated[str, typer.Argument(help="Name of the image: dynamo, finetune, torchtitan, verl or hyperpod-agent.")]
_Push = Annotated[bool, typer.Option("--push", help="Push it to the registry, in a repository that is created.")]
_Files = Annotated[bool, typer.Option("--files", help="Write the files only, for AWS CodeBuild or another builder.")]
_Parent = Annotated[
    str, typer.Option("--parent", metavar="IMAGE", help="Image to extend, such as a copy. Default: the published one.")
]
_Out = Annotated[Path | None, typer.Option("--out", help="Directory of the files. Default: container-NAME.")]


def build_container(
    file: FileArgument, name: _Name, push: _Push = False, files: _Files = False, parent: _Parent = "", out: _Out = None
) -> None:
    """Build the image of a workload with its packages, for the registry of the account.

    Each package has its version and checksum. With the image, the first job or each pod adds nothing, so that nodes
    need no access to PyPI.
    """
    from ultracluster.workloads import CONTAINERS, container_files, platform_of_container

    if name not in CONTAINERS:
        misuse(f"an image is one of {', '.join(CONTAINERS)}, got {name!r}")
    cluster = load(file)
    builder = None if files else _builder()
    address = _address(cluster, name, parent)
    if push and builder is not None and _is_pushed(address):
        typer.echo(f"{address}: the registry has it already, {_use(address)}")
        return
    directory = out or Path(f"container-{name}")
    directory.mkdir(parents=True, exist_ok=True)
    for path, text in container_files(name, address, parent=parent).items():
        (directory / path).write_text(text, encoding="utf-8")
    typer.echo(f"{directory}: Containerfile, layer.sh, buildspec.yml")
    if builder is not None:
        words = ["build", "--platform", platform_of_container(name), "--file", str(directory / "Containerfile")]
        _run(builder, *words, "--tag", address, str(directory))
        if push:
            _push(builder, address)
    typer.echo(f"{address}: {'' if push else 'once it is pushed, '}{_use(address)}")


def _builder() -> str:
    """Return the path of the first builder that works: docker without its daemon does not."""
    problems = []
    for tool in filter(None, map(shutil.which, _BUILDERS)):
        done = subprocess.run((tool, "version"), capture_output=True, text=True, check=False)
        if not done.returncode:
            return tool
        problems.append(f"; {Path(tool).name}: {done.stderr.strip() or done.returncode}")
    names, remedy = ", ".join(_BUILDERS), "install or start one, or write the files for CodeBuild with --files"
    return fail(f"none of {names} works here{''.join(problems)}; {remedy}")


def _is_pushed(address: str) -> bool:
    """Return True if the registry has the image, whose tag Amazon ECR does not replace."""
    from ultracluster.cli._ecr import has_image

    try:
        return has_image(address)
    except OSError as error:
        return fail(f"{error}; check the path to the registry")


def _use(address: str) -> str:
    host, _, path = address.partition("/")
    return f"on Slurm IMAGE=docker://{host}#{path} sbatch ..., on Kubernetes render --set image={address}"


def _address(cluster: "ClusterFile", name: str, parent: str) -> str:
    from ultracluster.catalogue.schedulers import registries
    from ultracluster.workloads import container_tag

    registry = cluster.kubernetes.registry
    if registry is None:
        account = cluster.account or (call(client("sts", cluster.region).get_caller_identity) or {})["Account"]
        registry = f"{registries.ecr_host(account, cluster.region)}/ultracluster"
    return f"{registry}/{name}:{container_tag(name, parent)}"


def _push(builder: str, address: str) -> None:
    from ultracluster import platform
    from ultracluster.cli._ecr import create_repository

    host = address.partition("/")[0]
    create_repository(address)
    password = platform.ecr_password(host)
    if password:
        _run(builder, "login", "--username", platform.USER, "--password-stdin", host, stdin=password)
    _run(builder, "push", address)


def _run(*words: str, stdin: str | None = None) -> None:
    done = subprocess.run(words, input=stdin, text=True, check=False)
    if done.returncode:
        fail(f"{Path(words[0]).name} {words[1]} ended with {done.returncode}")
