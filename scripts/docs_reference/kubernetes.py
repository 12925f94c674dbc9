"""Generate the reference of Kubernetes: charts, add-ons with their permissions, and resources of nodes."""

from docs_reference.markdown import page, table
from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.catalogue.schedulers import eks_add_ons
from ultracluster.kubernetes import PlatformNodes
from ultracluster.kubernetes._charts import CHARTS
from ultracluster.kubernetes._resources import node_resources

_ABOUT = """Versions of charts, permissions of EKS add-ons, and what a GPU node has for pods.
[Kubernetes](../guides/kubernetes.md) covers the configuration."""
_CHARTS = """Helm releases and manifests that `ultracluster apply` may install, with the pinned versions.
`kubernetes.charts` replaces a version."""
_ADD_ONS = """EKS installs these with the permissions that AWS documents, by EKS Pod Identity. Other add-ons have no
permissions, unless `kubernetes.add-ons` names a role."""
_RESOURCES = """Quotas of Kueue are these, times the nodes that are not spare. Kubelet, operating system and the daemon
sets of the library are subtracted."""
#: Permissions that a managed policy would give too broadly.
_EXACT = {
    "aws-fsx-csi-driver": "creates file systems; changes and deletes only those with its tag, and none of a stack",
    "aws-mountpoint-s3-csi-driver": "the data bucket",
}


def kubernetes_page() -> str:
    """Page with both tables."""
    add_ons = [
        (
            f"`{name}`",
            f"`{access.service_account}`",
            ", ".join(f"`{policy.rpartition('/')[2]}`" for policy in access.policies) or _EXACT[name],
        )
        for name, access in sorted(eks_add_ons.ACCESS.items())
    ]
    nodes = []
    for name, record in INSTANCE_TYPES.items():
        if not record.gpus:
            continue
        has = node_resources(PlatformNodes(name="train", instance_type=record, count=1))
        cells = (has.cores, has.memory_mib, has.huge_pages_mib, has.gpus, has.efa)
        nodes.append((name, *(f"{cell:,}" for cell in cells)))
    charts = [
        (f"`{name}`", f"`{chart.version}`", f"`{chart.chart}`", f"`{chart.namespace}`", chart.source)
        for name, chart in CHARTS.items()
    ]
    return page(
        "Kubernetes",
        _ABOUT,
        f"## Charts\n\n{_CHARTS}\n\n{table(('release', 'version', 'chart', 'namespace', 'seen at'), charts)}",
        f"## Add-ons\n\n{_ADD_ONS}\n\n{table(('add-on', 'service account', 'permissions'), add_ons)}",
        f"## Resources of a node\n\n{_RESOURCES}\n\n"
        + table(("type", "cores", "memory MiB", "`hugepages-2Mi` MiB", "GPUs", "EFA"), nodes),
    )
