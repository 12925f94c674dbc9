"""Whether FSx takes the links between a file system and S3 that the file asks for."""

from collections.abc import Iterator

from ultracluster.clusterfile.links import associations, data_bucket, readable
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.storage import Lustre, Storage
from ultracluster.hardware import repositories
from ultracluster.planning import Association, check_associations

_PATH: Path = ("storage", "lustre")
_DAY = 86_400
_EXPORT = "write export: [NEW, CHANGED] at a link"


def check_links(storage: Storage | None, *, region: str | None) -> Iterator[Problem]:
    """Everything that is wrong with the links themselves, and with the release of what they hold."""
    lustre = storage.lustre if storage else None
    if storage is None or lustre is None:
        return
    yield from _check_each(associations(lustre, data_bucket(storage)), region or "")
    for path, link in lustre.links.items():
        if path == lustre.mount or path.startswith(f"{lustre.mount}/"):
            inside = path.removeprefix(lustre.mount) or "/"
            message = (
                "links are called by their path on the file system itself, whatever `mount` is, and nodes would see "
                f"this one at {lustre.mount}{path}; write {inside}, which they see at {lustre.mount}"
                f"{inside.rstrip('/')}"
            )
            yield Problem(path=(*_PATH, "links", path), at_key=True, message=message)
        if link.bucket is None and not storage.data_bucket:
            message = (
                "names no bucket, which means the data bucket, and data-bucket: false makes none; name one of yours, "
                "bucket: my-datasets, or remove data-bucket: false"
            )
            yield Problem(path=(*_PATH, "links", path), at_key=True, message=message)
    yield from _check_release(lustre)


def check_file_system_of_links(lustre: Lustre) -> Iterator[Problem]:
    """What a file system with links can't be, where the file says that it is to be so."""
    linked = associations(lustre)[:1]
    stated: dict[str, list[str]] = {}
    if lustre.backups is not None:
        stated["backups"] = check_associations(linked, backups=True, region="")
    kind = "storage-type" if lustre.storage_type else "throughput-capacity"
    if lustre.storage_type == "INTELLIGENT_TIERING" or (not lustre.storage_type and lustre.throughput_capacity):
        stated[kind] = check_associations(linked, storage_type="INTELLIGENT_TIERING", region="")
    fine = check_associations(linked, region="")
    for key, messages in stated.items():
        for message in messages:
            if message not in fine:
                yield Problem(path=(*_PATH, key), message=message)


def _check_each(links: list[Association], region: str) -> Iterator[Problem]:
    most = repositories.MOST_ASSOCIATIONS
    if len(links) > most:
        message = f"a file system has at most {most} links, got {len(links)}; link a common parent of some of them"
        yield Problem(path=(*_PATH, "links"), at_key=True, message=message)
    for number, link in enumerate(links):
        path = (*_PATH, "links", link.path)
        alone = check_associations([link], region=region)
        yield from (Problem(path=path, message=readable(message)) for message in alone)
        # Beyond the first that is too many, pairs are not looked at: a file may hold thousands.
        for other in links[:number] if number <= most else ():
            known = [*alone, *check_associations([other], region=region)]
            for message in check_associations([other, link], region=region):
                if message not in known:
                    yield Problem(path=path, at_key=True, message=readable(message))


def _check_release(lustre: Lustre) -> Iterator[Problem]:
    release = lustre.release
    if release is None:
        return
    if release.after.amount % _DAY:
        message = f"is counted in whole days, 1 d at least, got {release.after}"
        yield Problem(path=(*_PATH, "release", "after"), message=message)
    if not any(link.export for link in lustre.links.values()):
        message = f"no link exports, so nothing is known to be in S3 that could be dropped; {_EXPORT}, or remove it"
        yield Problem(path=(*_PATH, "release"), at_key=True, message=message)
