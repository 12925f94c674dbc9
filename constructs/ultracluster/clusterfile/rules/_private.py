"""Rules of a network without internet access."""

from collections.abc import Iterator

from ultracluster.catalogue.schedulers import registries
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error, listed, shared

_METRICS_ENDPOINT = error("vpc-endpoint-twice", "A new VPC without internet access has the endpoint of Prometheus.")
_IMAGE = error(
    "private-image",
    "What AWS's image lacks is installed at the first boot, with packages of Ubuntu and NVIDIA.",
    acceptable=True,
)
_SCRIPT = error("private-script", "A node without internet access downloads scripts from S3 only.")
_ACCOUNT = error("private-registry", "Without internet access, charts and images come from a registry of the account.")
_REGION = error("private-registry-region", "VPC endpoints reach Amazon ECR in their own Region only.")
_BUNDLE = error("private-bundle", "A node without internet access downloads from S3 only.")
_PERIMETER = shared("perimeter")
#: How a cluster without internet access gets an image, for messages.
BUILD_ELSEWHERE = (
    "by a second cluster file with image: build, and write image: /ultracluster/NAME/images/ARCHITECTURE, with its "
    "name (docs/guides/network.md#images-without-internet-access)"
)


def check_perimeter(draft: Draft) -> Iterator[Problem]:
    """Check that the perimeter is either an organization or accounts."""
    perimeter = valid(lambda: draft.perimeter)
    if perimeter is not None and perimeter.organization is not None and perimeter.accounts:
        message = (
            "must be an organization or accounts, got both; remove the accounts: those of the organization are in it"
        )
        yield _PERIMETER(("perimeter", "accounts"), message, at_key=True)


def check_private(draft: Draft) -> Iterator[Problem]:
    """Check the endpoints of a new VPC."""
    if draft.network.internet or draft.network.existing is not None:
        return
    if valid(lambda: draft.observability.vpc_endpoint):
        message = "network: {internet: false} makes one already, with those of other services; remove it"
        yield _METRICS_ENDPOINT(("observability", "vpc-endpoint"), message, at_key=True)


def check_private_registry(draft: Draft) -> Iterator[Problem]:
    """Check that charts and images of Kubernetes come from a registry that nodes reach."""
    section = valid(lambda: draft.kubernetes)
    if draft.network.internet or section is None:
        return
    if section.registry is None:
        if valid(lambda: draft.account) is None:
            message = (
                "charts and images come from the ECR of the account, which the file does not name; write account: "
                "'123456789012', or kubernetes: {registry: ACCOUNT.dkr.ecr.REGION.amazonaws.com/PREFIX}"
            )
            yield _ACCOUNT(("network", "internet"), message, at_key=True)
        return
    path: Path = ("kubernetes", "registry")
    host, region = section.registry.partition("/")[0], registries.ecr_region(section.registry)
    if host in registries.PUBLIC_REGISTRIES:
        message = f"{host} is public, and nodes have no internet access; name a registry of the account"
        yield _ACCOUNT(path, message)
    elif region is not None and region != draft.region:
        message = (
            f"is in {region}, and the endpoints of the VPC reach the ECR of {draft.region} only; copy the images "
            "there, or replicate the registry"
        )
        yield _REGION(path, message)


def check_private_nodes(draft: Draft) -> Iterator[Problem]:
    """Check that nodes of Slurm get images, scripts and bundles without the internet."""
    if draft.network.internet:
        return
    lustre = valid(lambda: draft.storage.lustre)
    bundle = lustre.client.bundle if lustre else None
    if bundle is not None and not bundle.url.startswith("s3://"):
        message = f"nodes have no internet access, got {bundle.url}; copy it to a bucket of the account: s3://..."
        yield _BUNDLE(("storage", "lustre", "client", "bundle", "url"), message)
    yield from _check_images(draft)
    scripts = [(("nodes", name, "scripts"), section.scripts) for name, section in draft.nodes.items()]
    scripts.append((("slurm", "login", "scripts"), draft.slurm.login.scripts))
    for path, of_nodes in scripts:
        for index, script in enumerate(of_nodes):
            if script.url is not None and not script.url.startswith("s3://"):
                message = (
                    f"nodes have no internet access, got {script.url}; write file: with a script beside the cluster "
                    "file, or copy it to a bucket of the account: s3://..."
                )
                yield _SCRIPT((*path, index, "url"), message)


def _check_images(draft: Draft) -> Iterator[Problem]:
    """Check that no node installs packages at its first boot."""
    needs = "Enroot, Pyxis and the collectors"
    if valid(lambda: draft.storage.home) is not None:
        needs += ", and an NFS client for the home directories"
    nodes = [f"nodes.{group.section}" for group in draft.node_groups if group.image_option == "aws"]
    if valid(lambda: draft.login_image) == "aws":
        nodes.append("slurm.login")
    if nodes:
        message = (
            f"{listed(nodes)}: AWS's image lacks {needs}. `ultracluster image bundle` holds their "
            "files, and not the packages of Ubuntu and NVIDIA below them, which depend on the image of the day. Build "
            f"an image in a VPC with internet access, {BUILD_ELSEWHERE}. "
            "If the VPC has a mirror of the packages, accept this rule, and fill the data bucket with the command"
        )
        yield _IMAGE(("network", "internet"), message, at_key=True)
