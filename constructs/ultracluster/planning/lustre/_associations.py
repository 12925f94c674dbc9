"""Data repository associations: directories of a Lustre file system that are linked to S3.

Sources (read 2026-11-21), under https://docs.aws.amazon.com/fsx/latest/LustreGuide/: create-dra-linked-data-repo.html,
create-linked-dra.html, overview-dra-data-repo.html, autoexport-data-repo-dra.html, autoimport-data-repo-dra.html and
using-backups-fsx.html.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ultracluster.catalogue.storage import repositories as facts
from ultracluster.catalogue.storage import s3
from ultracluster.planning import check_fields, shown
from ultracluster.planning.capacity import is_token
from ultracluster.rules import Message, error, warning

BOTH_WAYS = warning(
    "association-both-ways", "A data repository association imports and exports: FSx resolves no conflicts."
)
EXPORTS_DELETIONS = warning("association-exports-deletions", "`rm` on the file system deletes the object in S3.")
UNVERSIONED = warning(
    "association-unversioned",
    "A data repository association exports to an existing bucket, which may not have versioning.",
)
ASSOCIATION = error(
    "association", "FSx accepts one path, one bucket and one prefix for an association, of its own form."
)
ASSOCIATION_FILE_SYSTEM = error(
    "association-file-system",
    "SCRATCH_1, Intelligent-Tiering, Lustre 2.10 and backups exclude data repository associations.",
)
ASSOCIATION_LIMIT = error("association-limit", "A file system supports 8 data repository associations.")
ASSOCIATION_OVERLAP = error("association-overlap", "Two associations must not share a directory or a part of a bucket.")

_UNPRINTABLE = "[\x00\x85\u2028\u2029\r\n]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """A directory of the file system and the part of S3 that is linked to it.

    FSx loads the content when a file is first read. Without events FSx copies no later change: the files are those that
    were in S3 at creation.

    Args:
        path: Directory on the file system, such as `/data`, whatever the mount path. `/` is the whole file system,
            and then the only association.
        repository: `s3://BUCKET` or `s3://BUCKET/PREFIX`; the bucket may be a token of the CDK.
        import_events: Changes in S3 that FSx imports automatically: any of NEW, CHANGED, DELETED.
        export_events: Changes of files that FSx exports automatically: any of NEW, CHANGED, DELETED.
        batch_import_metadata: Whether FSx imports the names of existing objects at creation.
        imported_file_chunk_mib: MiB of an imported file on one disk, 1 to 512,000; a file is striped over so many disks
            as it has chunks.
    """

    path: str
    repository: str
    import_events: Sequence[str] = ()
    export_events: Sequence[str] = ()
    batch_import_metadata: bool = True
    imported_file_chunk_mib: int = facts.IMPORTED_FILE_CHUNK_MIB

    def __post_init__(self) -> None:
        """Check the types; `check_associations` checks the rules of FSx.

        Raises:
            Refusal: If a field has a wrong type.
        """
        check_fields(self)

    @property
    def bucket(self) -> str:
        """Name of the bucket."""
        return self.repository.removeprefix("s3://").partition("/")[0]

    @property
    def prefix(self) -> str:
        """Prefix without slashes at either end; empty for the whole bucket."""
        return self.repository.removeprefix("s3://").partition("/")[2].strip("/")

    @property
    def exports_files(self) -> bool:
        """True if files are exported: deletions alone take no file to S3."""
        return not {"NEW", "CHANGED"}.isdisjoint(self.export_events)


def check_associations(
    associations: Sequence[Association],
    *,
    deployment_type: str = "PERSISTENT_2",
    storage_type: str = "SSD",
    lustre_version: str = "2.15",
    backups: bool = False,
    region: str,
    bucket_regions: Mapping[str, str] | None = None,
) -> list[Message]:
    """Return the reasons why FSx would refuse the associations of one file system.

    Args:
        associations: All associations of the file system.
        deployment_type: Of the file system: SCRATCH_1, SCRATCH_2, PERSISTENT_1 or PERSISTENT_2.
        storage_type: Of the file system: SSD, HDD or INTELLIGENT_TIERING.
        lustre_version: Of the file system.
        backups: Whether the file system has automatic backups.
        region: Of the file system.
        bucket_regions: Regions of the buckets, by name. A bucket that is missing counts as in the same region.
    """
    if not associations:
        return []
    problems = [*map(ASSOCIATION_FILE_SYSTEM, _file_system(deployment_type, storage_type, lustre_version, backups))]
    if len(associations) > facts.MOST_ASSOCIATIONS:
        problems.append(
            ASSOCIATION_LIMIT(
                f"a file system has at most {facts.MOST_ASSOCIATIONS} associations, got {len(associations)}: "
                "name a common parent of some of the paths instead"
            )
        )
    for association in associations:
        problems += map(ASSOCIATION, _one(association, region, bucket_regions or {}))
    return [*problems, *map(ASSOCIATION_OVERLAP, _overlaps(associations))]


def association_warnings(
    associations: Sequence[Association], *, versioned_buckets: Collection[str] = ()
) -> Iterator[Message]:
    """Yield warnings about allowed settings that can lose data."""
    for association in associations:
        where = f"{association.path} and {association.repository}"
        if association.import_events and association.export_events:
            yield BOTH_WAYS(
                f"{where} follow each other, and FSx resolves no conflicts: a file that changes on both sides ends "
                "as either of the two, whichever was later; let each file have one side that writes it"
            )
        if "DELETED" in association.export_events:
            yield EXPORTS_DELETIONS(
                f"rm under {association.path} deletes the object in {association.repository}; NEW and CHANGED alone "
                "leave it there"
            )
        if association.export_events and association.bucket not in versioned_buckets:
            yield UNVERSIONED(
                f"{association.path} is exported over the objects in {association.repository}, which is not known to "
                "keep old versions: a file that is overwritten by mistake is lost in both places; turn on versioning"
            )


def _file_system(deployment_type: str, storage_type: str, lustre_version: str, backups: bool) -> Iterator[str]:
    if deployment_type == "SCRATCH_1":
        yield "a SCRATCH_1 file system does not support associations: use SCRATCH_2 or PERSISTENT_2"
    if storage_type == "INTELLIGENT_TIERING":
        yield (
            "an Intelligent-Tiering file system does not support associations: use SSD storage, "
            "or copy between S3 and the file system in a job"
        )
    if lustre_version not in facts.LUSTRE_VERSIONS:
        yield f"associations need Lustre {' or '.join(facts.LUSTRE_VERSIONS)}, got {lustre_version}"
    if backups:
        yield (
            "a file system with associations does not support backups: leave the backups out; "
            "what is exported is safe in S3, with versioning its old states too"
        )


def _one(association: Association, region: str, bucket_regions: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{shown(association.path)}: {problem}" for problem in path_problems(association.path))
    # The name of a bucket of the app is a token.
    prefix = f"{association.path}, prefix {shown(association.prefix)}"
    repository = prefix if is_token(association.bucket) else shown(association.repository)
    yield from (f"{repository}: {problem}" for problem in _repository_problems(association))
    for name, events in (("import_events", association.import_events), ("export_events", association.export_events)):
        unknown = sorted(set(events) - set(facts.EVENTS))
        if unknown:
            yield f"{association.path}: {name} are any of {', '.join(facts.EVENTS)}, got {', '.join(unknown)}"
        yield from (f"{association.path}: {name} name {event} twice" for event, n in Counter(events).items() if n > 1)
    chunk = association.imported_file_chunk_mib
    if not 1 <= chunk <= facts.MOST_IMPORTED_FILE_CHUNK_MIB:
        yield (
            f"{association.path}: imported_file_chunk_mib must be between 1 and "
            f"{facts.MOST_IMPORTED_FILE_CHUNK_MIB:,}, got {chunk:,}"
        )
    home = bucket_regions.get(association.bucket, region)
    if association.import_events and home != region:
        yield (
            f"{association.path}: automatic import needs a bucket in {region}, where the file system is, and "
            f"the bucket is in {home}; leave import_events out (export may cross Regions), or copy the bucket"
        )


def path_problems(path: str) -> list[str]:
    """Return the errors of a path on a file system."""
    if not path.startswith("/"):
        return [f"a path on the file system starts with a slash: /{path}"]
    problems = []
    if len(path) > facts.LONGEST_PATH or re.search(_UNPRINTABLE, path):
        problems.append(f"a path has at most {facts.LONGEST_PATH:,} characters, and no line breaks among them")
    if "//" in path or {".", ".."} & set(path.split("/")):
        problems.append("a path has no empty parts, and no . or .. among them")
    return problems


def bucket_problems(name: str) -> list[str]:
    """Return the errors of the name of a bucket to be linked."""
    if not s3.BUCKET_NAME.fullmatch(name) or ".." in name:
        return [
            f"{shown(name)} is no name of a bucket: 3 to 63 lower-case letters, digits, hyphens and dots, "
            "a letter or digit at both ends"
        ]
    if s3.NO_BUCKET_NAME.match(name):
        return [
            f"{shown(name)} is no name of a bucket: S3 allows none like an IPv4 address, and none that begins with "
            "xn--, sthree- or amzn-s3-demo-"
        ]
    if name.endswith("--x-s3"):
        return [
            "FSx does not support directory buckets of S3 Express One Zone: name a general purpose bucket, or copy "
            "in a job"
        ]
    return []


def _repository_problems(association: Association) -> Iterator[str]:
    if not association.repository.startswith("s3://"):
        yield "a repository is s3://BUCKET or s3://BUCKET/PREFIX"
        return
    if not is_token(association.bucket):
        yield from bucket_problems(association.bucket)
    if len(association.repository) > facts.LONGEST_REPOSITORY or re.search(_UNPRINTABLE, association.repository):
        yield f"a repository has at most {facts.LONGEST_REPOSITORY:,} characters, and no line breaks among them"
    rest = association.repository.removeprefix("s3://").partition("/")[2]
    if {"", ".", ".."} & set(rest.removesuffix("/").split("/") if rest else []):
        yield "a prefix becomes a directory: it has no empty parts, and no . or .. among them"


def _overlaps(associations: Sequence[Association]) -> Iterator[str]:
    if len(associations) > 1 and any(not _parts(first.path) for first in associations):
        yield (
            f"/ is the whole file system, so it is the only association, got {len(associations)}: "
            "give each a directory of its own"
        )
    for first, second in combinations(associations, 2):
        paths = (_parts(first.path), _parts(second.path))
        if all(paths) and _inside(*paths):
            yield f"the paths {first.path} and {second.path} overlap: no association lies inside another"
        if first.bucket == second.bucket and _inside(_parts(first.prefix), _parts(second.prefix)):
            yield f"the repositories {first.repository} and {second.repository} overlap: none lies inside another"


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _inside(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]
