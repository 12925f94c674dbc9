"""What `ultracluster check` says of the links between the file system and S3."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def link_sentences(cluster: "ClusterFile") -> list[str]:
    """A sentence for each link, and one for the release."""
    lustre = cluster.storage.lustre
    if lustre is None:
        return []
    found = [
        f"  - {one['node_path']} shows {one['repository']}; imports {_words(one['import'])}, exports "
        f"{_words(one['export'])}"
        for one in link_facts(cluster)
    ]
    if lustre.release is not None:
        found.append(
            f"  - what exports is dropped from the file system {lustre.release.after} after its last use: "
            f"{lustre.release.schedule}, in UTC"
        )
    return found


def link_facts(cluster: "ClusterFile") -> list[dict[str, Any]]:
    """The links as data."""
    from ultracluster.clusterfile.links import associations, data_bucket, readable

    lustre = cluster.storage.lustre
    if lustre is None:
        return []
    return [
        {
            "path": one.path,
            "node_path": f"{lustre.mount}{one.path}".rstrip("/"),
            "repository": readable(one.repository),
            "import": list(one.import_events),
            "export": list(one.export_events),
        }
        for one in associations(lustre, data_bucket(cluster.storage))
    ]


def _words(events: list[str]) -> str:
    return ", ".join(events) or "nothing"
