"""Rules of a network without internet access."""

from collections.abc import Iterator

from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._node_group import KUBERNETES
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error

_METRICS_ENDPOINT = error("vpc-endpoint-twice", "A VPC without internet access has the Prometheus endpoint already.")
_NFS = error(
    "private-nfs-client",
    "Nodes install the NFS client from the distribution at boot, and no page says that AWS's image has it.",
    acceptable=True,
)
_BUNDLE = error("private-bundle", "A node without internet access downloads from S3 only.")


def check_private(draft: Draft) -> Iterator[Problem]:
    """Check that nothing which nodes need at boot comes from outside."""
    if draft.network.internet:
        return
    if valid(lambda: draft.observability.vpc_endpoint):
        message = "network: {internet: false} makes one already, with those of other services; remove it"
        yield _METRICS_ENDPOINT(("observability", "vpc-endpoint"), message, at_key=True)
    if draft.orchestrator == KUBERNETES:
        return
    lustre = valid(lambda: draft.storage.lustre)
    bundle = lustre.client.bundle if lustre else None
    if bundle is not None and not bundle.url.startswith("s3://"):
        message = f"nodes have no internet access, got {bundle.url}; copy it to a bucket of the account: s3://..."
        yield _BUNDLE(("storage", "lustre", "client", "bundle", "url"), message)
    if valid(lambda: draft.storage.home) is None:
        return
    login = valid(lambda: draft.slurm.login)
    images: list[tuple[Path, object]] = [(("nodes", name), section.image) for name, section in draft.nodes.items()]
    images += [(("slurm", "login"), login.image)] if login else []
    for path, image in images:
        if image is None:
            message = (
                "home directories need an NFS client, which nodes cannot install without internet access; name an "
                "image that has one: image: ami-..."
            )
            yield _NFS(path, message, at_key=True)
