"""`ultracluster image`: images of nodes, before and after a deployment."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ultracluster.cli._aws import call, client
from ultracluster.cli._image_bundle import bundle
from ultracluster.cli._image_container import build_container
from ultracluster.cli._image_import import import_
from ultracluster.cli._output import FileArgument, JsonOption, fail, load, print_json, print_table, table

if TYPE_CHECKING:
    from ultracluster.cli._image_pin import Use
    from ultracluster.clusterfile import ClusterFile

app = typer.Typer(no_args_is_help=True, help="Plan, build and pin images, and print their status.")

# Characters of a checksum that identify a file in a table.
_DIGITS = 12
_KEEP = "aws ec2 create-tags --tags Key=ultracluster:keep,Value=true --resources "


# Whole sentences in the list of commands, which cuts those of the functions.
app.command("bundle", short_help="Download the files that nodes install, for their bucket.")(bundle)
app.command("import", short_help="Import container images to the shared file system.")(import_)
app.command("build-container", short_help="Build the container image of a workload.")(build_container)


@app.command("plan", short_help="Print what a build installs, takes and costs.")
def plan(file: FileArgument, json_: JsonOption = False) -> None:
    """Print what a build takes, installs and costs, before a deployment starts it."""
    from ultracluster.cli._image_plan import plans

    cluster = _checked(load(file))
    images = plans(cluster)
    if json_:
        print_json({"file": file, "images": [image.as_json() for image in images]})
        return
    if not images:
        typer.echo(f"{file} builds no image; write image: build, for the cluster, a node group or the login nodes.")
    for image in images:
        typer.echo(f"{image.architecture}: for {', '.join(image.nodes)}")
        typer.echo(f"  parent: {image.parent}, kernel {image.kernel or 'not known until the build'}")
        typer.echo(
            f"  NVIDIA driver: {image.driver or 'that of the parent'}; the nodes need {image.driver_floor} or newer"
        )
        typer.echo(f"  Slurm: {image.slurm_version}")
        typer.echo(
            f"  build: at least {image.minutes} min, which AWS's sample needs for less software; about "
            f"${image.usd:.2f} for two {image.builder} in that time, at us-east-1's price; the snapshot is EBS"
        )
        rows = table(None, "software", "version", "proof", "from")
        for item in image.software:
            kind, _, digits = item.proof.rpartition(":")
            # The domain; the whole host does not fit a terminal, and --json has the URL.
            domain = ".".join(item.source.removeprefix("https://").partition("/")[0].split(".")[-2:])
            rows.add_row(item.name, item.version, f"{kind}:{digits[:_DIGITS]}" if kind else digits, domain)
        print_table(rows)
    if images:
        typer.echo("The check of an image runs each program on an instance from it. Not run there:")
        for what, reason in images[0].not_run.items():
            typer.echo(f"  {what}: {reason}")


@app.command("status", short_help="Print the state of builds, and the images of node groups.")
def status(file: FileArgument, json_: JsonOption = False) -> None:
    """Show the images of the stack NAME-Images, and the images of the deployed node groups."""
    from ultracluster.planning.capacity import built_image_parameter

    cluster = _checked(load(file))
    ssm = client("ssm", cluster.region)
    stacks = _stacks(cluster)
    state: dict[str, Any] = {"stacks": stacks, "builds": _builds(cluster, stacks), "parameters": {}, "node_groups": {}}
    for architecture in cluster.built_images:
        state["parameters"][architecture] = _parameter(ssm, built_image_parameter(cluster.name, architecture))
    pcs = client("pcs", cluster.region)
    for name in ("login", *(group.name for group in cluster.node_groups)):
        state["node_groups"][name] = _deployed(pcs, cluster.name, name)
    if json_:
        print_json(state)
        return
    builds = table("Builds", "image", "state", "AMI", "reason")
    for build in state["builds"]:
        builds.add_row(build["name"], build["state"], build["ami"] or "", build["reason"] or "")
    if state["builds"]:
        print_table(builds, wraps=False)
    elif not cluster.built_images:
        typer.echo(f"{file} builds no image")
    elif not stacks:
        typer.echo(f"no stack {cluster.name}-Images is deployed in {cluster.region}")
    else:
        typer.echo(f"{', '.join(stacks)}: no image")
    for architecture, ami in state["parameters"].items():
        typer.echo(f"{architecture}: the newest image is {ami or 'not built yet'}")
    for name, ami in state["node_groups"].items():
        typer.echo(f"{name}: {ami or 'not deployed'}")


@app.command("pin", short_help="Write the images that nodes have now into the file.")
def pin(file: FileArgument) -> None:
    """Write the images that nodes have now into the file, on EKS their releases; of nodes to come, the newest."""
    from ultracluster.cli._image_pin import pins, uses

    if (cluster := load(file)).traits.facts == "eks":
        _pin_releases(file, cluster)
        return
    cluster = _checked(cluster)
    pcs, ssm = client("pcs", cluster.region), client("ssm", cluster.region)
    amis: dict[Use, str] = {}
    for use in uses(cluster):
        ami = _deployed(pcs, cluster.name, use.node_group) or _parameter(ssm, _parameter_name(cluster.name, use))
        if ami is None:
            fail(f"{use.node_group}: no image is built yet; deploy {cluster.name}-Images, then pin it")
        amis[use] = ami
    if not amis:
        typer.echo(f"{file}: every image is pinned already")
        return
    try:
        ids = pins(amis)
    except ValueError as error:
        fail(str(error))
    _write(file, ids, "image")
    if cluster.built_images:
        pinned = " ".join(sorted(set(ids.values())))
        typer.echo(f"Keep them from the lifecycle policy with a tag: {_KEEP}{pinned}")


def _pin_releases(file: str, cluster: "ClusterFile") -> None:
    from ultracluster.cli._release_pin import releases

    eks, ssm = client("eks", cluster.region), client("ssm", cluster.region)
    existing = cluster.kubernetes.existing
    name = existing.name if existing else cluster.name

    def deployed(group: str) -> str | None:
        answer = call(eks.describe_nodegroup, "ResourceNotFoundException", clusterName=name, nodegroupName=group)
        return None if answer is None else answer["nodegroup"].get("releaseVersion")

    try:
        pinned, unknown = releases(cluster, deployed, lambda parameter: _parameter(ssm, parameter))
    except ValueError as error:
        fail(str(error))
    if unknown:
        fail(f"{', '.join(unknown)}: AWS has no image for Kubernetes {cluster.kubernetes.version}; change the version")
    if not pinned:
        typer.echo(f"{file}: every image is pinned already")
        return
    _write(file, pinned, "release")


def _write(file: str, values: Mapping[tuple[str, ...], str], name: str) -> None:
    """Write values into the file, each below its path under this name, and print them."""
    from ultracluster import clusterfile
    from ultracluster.cli._image_pin import written

    target = Path(file)
    try:
        text = written(
            target.read_text(encoding="utf-8"), values, lambda text: clusterfile.loads(text, file), name=name
        )
    except ValueError as error:
        fail(str(error))
    target.write_text(text, encoding="utf-8")
    for path, value in values.items():
        typer.echo(f"{'.'.join((*path, name))}: {value}")


def _checked(cluster: "ClusterFile") -> "ClusterFile":
    if not cluster.traits.installs_software:
        fail("images are built for Slurm; under Kubernetes EKS chooses the image of a new node group")
    return cluster


def _stacks(cluster: "ClusterFile") -> list[str]:
    """Return the names of the deployed stacks of images; in a Stage, its name is first."""
    from ultracluster.platform import is_stack_of

    if not cluster.built_images:
        return []
    pages = client("cloudformation", cluster.region).get_paginator("describe_stacks").paginate()
    stacks = call(lambda: [stack for page in pages for stack in page["Stacks"]]) or []
    every = [stack for stack in stacks if is_stack_of(stack, cluster.name)]
    return [name for stack in every if (name := stack["StackName"]).endswith(f"{cluster.name}-Images")]


def _builds(cluster: "ClusterFile", stacks: list[str]) -> list[dict[str, Any]]:
    """Return the images of stacks, with their state in Image Builder."""
    builder, cloudformation = client("imagebuilder", cluster.region), client("cloudformation", cluster.region)
    pages = [call(cloudformation.list_stack_resources, StackName=stack) or {} for stack in stacks]
    result = []
    for resource in (row for page in pages for row in page["StackResourceSummaries"]):
        if resource["ResourceType"] != "AWS::ImageBuilder::Image":
            continue
        build = {
            "name": resource["LogicalResourceId"],
            "state": resource["ResourceStatus"],
            "ami": None,
            "reason": resource.get("ResourceStatusReason"),
        }
        arn = resource.get("PhysicalResourceId", "")
        answer = call(builder.get_image, "ResourceNotFoundException", imageBuildVersionArn=arn) if arn else None
        if answer is not None:
            image = answer["image"]
            amis = image.get("outputResources", {}).get("amis", [])
            build |= {"name": image["name"], "state": image["state"]["status"], "reason": image["state"].get("reason")}
            build["ami"] = next((ami["image"] for ami in amis if ami.get("region") == cluster.region), None)
        result.append(build)
    return result


def _deployed(pcs: Any, cluster: str, node_group: str) -> str | None:
    """Return the AMI of a deployed node group, or None."""
    answer = call(
        pcs.get_compute_node_group,
        "ResourceNotFoundException",
        clusterIdentifier=cluster,
        computeNodeGroupIdentifier=node_group,
    )
    return None if answer is None else answer["computeNodeGroup"].get("amiId")


def _parameter(ssm: Any, name: str) -> str | None:
    answer = call(ssm.get_parameter, "ParameterNotFound", Name=name)
    return None if answer is None else str(answer["Parameter"]["Value"])


def _parameter_name(cluster: str, use: "Use") -> str:
    from ultracluster.catalogue.ec2 import image_parameter
    from ultracluster.planning.capacity import BuiltImage, built_image_parameter

    if isinstance(use.option, BuiltImage):
        return built_image_parameter(cluster, use.architecture)
    if use.option == "aws":
        return image_parameter("pcs", use.architecture)
    return str(use.option.parameter)
