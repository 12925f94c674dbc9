"""Rules of FSx for Lustre: all errors of a file system at once, each with a remedy."""

from collections.abc import Iterator, Sequence

from ultracluster.catalogue.storage import lustre as ssd
from ultracluster.catalogue.storage import lustre_intelligent_tiering as tiering
from ultracluster.catalogue.storage import lustre_metadata as metadata
from ultracluster.catalogue.storage import repositories
from ultracluster.planning.lustre._clients import LustreClients
from ultracluster.planning.lustre._offer import LustreOffer
from ultracluster.planning.lustre._spec import LustreOverrides
from ultracluster.planning.lustre._types import DEPLOYMENT_TYPES, STORAGE_TYPES
from ultracluster.rules import Message, error

LUSTRE_SOLD = error(
    "lustre-configuration",
    "FSx for Lustre supports fixed combinations of type, capacity, throughput and metadata IOPS.",
)
LUSTRE_BACKUPS = error("lustre-backups", "FSx keeps daily backups for 1 to 90 whole days.")
_EVERYTHING = LustreOffer()


def check_lustre(
    stated: LustreOverrides,
    *,
    offer: LustreOffer = _EVERYTHING,
    associations: int = 0,
    backups: bool = False,
    clients: LustreClients | None = None,
) -> list[Message]:
    """Return the errors of a file system, of which some settings may be open.

    Args:
        stated: All settings of a file system, or some of them.
        offer: Offer of the zone; see `lustre_offer`.
        associations: Data repository associations that it will have.
        backups: Whether it will have backups, automatic or by hand.
        clients: The nodes that mount it.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/ getting-started.html, efa-file-systems.html,
    using-backups-fsx.html and overview-dra-data-repo.html (read 2026-11-21)
    """
    errors = [
        *_types(stated, offer),
        *_ssd(stated, offer),
        *_efa(stated, offer, clients),
        *_intelligent_tiering(stated),
        *_metadata(stated),
        *_words(stated, offer),
        *_data(stated, associations, backups),
    ]
    return [LUSTRE_SOLD(error) for error in errors]


def _types(stated: LustreOverrides, offer: LustreOffer) -> Iterator[str]:
    kind, storage = stated.deployment_type, stated.storage_type
    if kind == "PERSISTENT_1":
        yield (
            "PERSISTENT_1 supports neither EFA nor a metadata configuration, and the deployment type cannot change; "
            "use PERSISTENT_2"
        )
    elif kind is not None and kind not in DEPLOYMENT_TYPES:
        yield f"the deployment type must be one of {', '.join(DEPLOYMENT_TYPES)}, got {kind}"
    if storage == "HDD":
        yield "HDD is offered as PERSISTENT_1 only, which does not support EFA; use SSD or INTELLIGENT_TIERING"
    elif storage is not None and storage not in STORAGE_TYPES:
        yield f"the storage type must be one of {', '.join(STORAGE_TYPES)}, got {storage}"
    if kind == "SCRATCH_2" and stated.is_intelligent_tiering:
        yield "SCRATCH_2 is offered on SSD only; Intelligent-Tiering and its read cache require PERSISTENT_2"
    if kind == "SCRATCH_2" and not offer.scratch:
        yield "FSx does not offer SCRATCH_2 here; use PERSISTENT_2"
    if stated.is_intelligent_tiering and kind != "SCRATCH_2" and not offer.intelligent_tiering:
        yield "FSx does not offer Intelligent-Tiering here; use SSD"
    if kind == "PERSISTENT_2" and not stated.is_intelligent_tiering and not offer.tiers:
        yield "FSx does not offer PERSISTENT_2 here" + ("; use SCRATCH_2" if offer.scratch else "; use another zone")


def _ssd(stated: LustreOverrides, offer: LustreOffer) -> Iterator[str]:
    tier, capacity = stated.mb_per_s_per_tib, stated.capacity_gib
    known = any(tier == sold.mb_per_s_per_tib for sold in ssd.TIERS)
    if tier is not None and stated.deployment_type == "SCRATCH_2":
        yield f"SCRATCH_2 has one tier and accepts no other, got {tier} MB/s/TiB; leave the tier out"
    elif tier is not None and stated.is_intelligent_tiering:
        yield f"Intelligent-Tiering has a throughput capacity and no tier, got {tier} MB/s/TiB; leave the tier out"
    elif tier is not None and tier not in offer.tiers and offer.tiers:
        sold = ", ".join(str(word) for word in offer.tiers)
        yield f"the tier must be one of {sold} MB/s/TiB, got {tier}" + (": FSx offers no other here" if known else "")
    elif tier is not None and not offer.tiers and stated.deployment_type is None:
        yield f"FSx does not offer PERSISTENT_2 here, and so no tier, got {tier} MB/s/TiB; use another zone"
    if capacity is not None and stated.is_intelligent_tiering:
        yield f"Intelligent-Tiering grows with its data and accepts no capacity, got {capacity:,} GiB; leave it out"
    elif capacity is not None:
        yield from check_capacity(
            capacity, tier=tier if known else None, efa=bool(stated.efa) and stated.deployment_type != "SCRATCH_2"
        )


def check_capacity(capacity_gib: int, *, tier: int | None = None, efa: bool = False) -> list[str]:
    """Return the error of a capacity, with the next sizes below and above.

    Args:
        capacity_gib: StorageCapacity.
        tier: 125, 250, 500 or 1000 MB/s/TiB. Default: any, or SCRATCH_2.
        efa: Whether the file system has EFA.
    """
    step = ssd.STEP_GIB
    if efa:
        step = min(sold.efa_step_gib for sold in ssd.TIERS) if tier is None else ssd.tier(tier).efa_step_gib
    smallest = step if efa else ssd.SMALLEST_GIB
    if capacity_gib == smallest or (capacity_gib > 0 and capacity_gib % step == 0):
        return []
    above = smallest if capacity_gib < smallest else ssd.next_step(step, capacity_gib)
    below = above - step or (0 if efa else smallest)
    sizes = [size for size in (below, above) if size > 0 and (size == above or size < capacity_gib)]
    where = f"at {tier} MB/s/TiB " if tier is not None else ""
    return [
        f"FSx does not support {capacity_gib:,} GiB {where}{'with' if efa else 'without'} EFA: capacity comes in steps "
        f"of {step:,} GiB; {_next(sizes, 'size', ' GiB')}"
    ]


def _efa(stated: LustreOverrides, offer: LustreOffer, clients: LustreClients | None) -> Iterator[str]:
    if not stated.efa:
        return
    if stated.deployment_type in ("PERSISTENT_1", "SCRATCH_2"):
        yield f"{stated.deployment_type} does not support EFA; use PERSISTENT_2, or leave EFA out"
    if not offer.efa:
        yield "FSx for Lustre does not support EFA here; leave it out"
    if clients is not None:
        yield from clients.check_connections()


def _intelligent_tiering(stated: LustreOverrides) -> Iterator[str]:
    requested, mode, cache = stated.throughput_capacity_mb_per_s, stated.read_cache_mode, stated.read_cache_gib
    if stated.storage_type == "SSD":
        if requested is not None:
            yield f"SSD has a tier and no throughput capacity, got {requested:,} MB/s; leave it out"
        if mode is not None or cache is not None:
            yield "SSD has no read cache; leave it out"
        return
    step, most = tiering.STEP_MB_PER_S, tiering.MOST_MB_PER_S
    good = requested is not None and 0 < requested <= most and requested % step == 0
    if requested is not None and not good:
        above = min(ssd.next_step(step, requested), most)
        below = min((requested - 1) // step * step, most)
        sizes = [size for size in (below, above) if size > 0 and size != requested]
        yield (
            f"the throughput capacity comes in steps of {step:,} MB/s up to {most:,}, got {requested:,}; "
            f"{_next(sorted(set(sizes)), 'step', ' MB/s')}"
        )
    if mode is not None and mode not in tiering.READ_CACHE_MODES:
        yield f"the mode of the read cache must be one of {', '.join(tiering.READ_CACHE_MODES)}, got {mode}"
    elif mode not in (None, "USER_PROVISIONED") and cache is not None:
        yield f"a read cache of {mode} accepts no size, got {cache:,} GiB; leave it out, or use USER_PROVISIONED"
    elif mode == "USER_PROVISIONED" and cache is None:
        yield "a read cache of USER_PROVISIONED needs its size in GiB"
    elif cache is not None:
        steps = requested // step if good and requested else tiering.MOST_MB_PER_S // step
        least = tiering.LEAST_READ_CACHE_GIB_PER_STEP * (steps if good else 1)
        largest = tiering.MOST_READ_CACHE_GIB_PER_STEP * steps
        if not least <= cache <= largest:
            at = f" at {requested:,} MB/s" if good else ""
            yield f"the read cache must have {least:,} to {largest:,} GiB{at}, got {cache:,}"


def _metadata(stated: LustreOverrides) -> Iterator[str]:
    mode, iops = stated.metadata_mode, stated.metadata_iops
    if stated.deployment_type == "SCRATCH_2":
        if mode is not None or iops is not None:
            yield "SCRATCH_2 does not support a metadata configuration; leave it out"
        return
    if mode is not None and mode not in metadata.METADATA_MODES:
        yield f"the metadata mode must be one of {', '.join(metadata.METADATA_MODES)}, got {mode}"
    if mode == "AUTOMATIC" and stated.is_intelligent_tiering:
        yield "Intelligent-Tiering has no metadata mode AUTOMATIC; use USER_PROVISIONED"
    elif mode == "AUTOMATIC" and iops is not None:
        yield f"the metadata mode AUTOMATIC accepts no IOPS, got {iops:,}; leave them out, or use USER_PROVISIONED"
    if mode == "USER_PROVISIONED" and iops is None and not stated.is_intelligent_tiering:
        yield "the metadata mode USER_PROVISIONED needs its IOPS"
    if iops is None or mode == "AUTOMATIC":
        return
    allowed = metadata.INTELLIGENT_TIERING_IOPS if stated.is_intelligent_tiering else metadata.SSD_IOPS
    if iops not in allowed:
        near = [*[good for good in allowed if good < iops][-1:], *[good for good in allowed if good > iops][:1]]
        kind = "Intelligent-Tiering" if stated.is_intelligent_tiering else "SSD"
        yield f"{kind} does not support {iops:,} metadata IOPS; {_next(near, 'number', '')}"
    elif stated.capacity_gib is not None:
        # Reported by users: https://github.com/hashicorp/terraform-provider-aws/pull/44456 (read 2026-11-21).
        included = min(metadata.included_iops(stated.capacity_gib), metadata.MOST_IOPS)
        if iops >= included:
            return
        yield (
            f"{stated.capacity_gib:,} GiB include {included:,} metadata IOPS, and FSx accepts no fewer, got {iops:,}; "
            "leave them out"
        )


def _words(stated: LustreOverrides, offer: LustreOffer) -> Iterator[str]:
    word, version = stated.compression, stated.lustre_version
    if word is not None and word not in ssd.COMPRESSIONS:
        yield f"the compression must be one of {', '.join(ssd.COMPRESSIONS)}, got {word}"
    if version is None:
        return
    if version not in offer.versions:
        yield f"the Lustre version must be one of {', '.join(ssd.VERSIONS_OF_CLIENTS)}, got {version}"
    elif version in ssd.VERSIONS and version not in ssd.VERSIONS_OF_CLIENTS:
        yield f"clients of AL2023 and Ubuntu 24.04 can't mount Lustre {version}; use {ssd.VERSION_OF_METADATA}"
    elif version in ssd.VERSIONS and version != ssd.VERSION_OF_METADATA and stated.deployment_type == "PERSISTENT_2":
        yield (
            f"PERSISTENT_2 with a metadata configuration requires Lustre {ssd.VERSION_OF_METADATA}, got "
            f"{version}; "
            "it can't be added later"
        )


def _data(stated: LustreOverrides, associations: int, backups: bool) -> Iterator[str]:
    if associations and stated.is_intelligent_tiering:
        yield "Intelligent-Tiering does not support data repository associations; use SSD, or leave them out"
    if associations > repositories.MOST_ASSOCIATIONS:
        yield (
            f"a file system supports {repositories.MOST_ASSOCIATIONS} data repository associations, got "
            f"{associations}: "
            f"{associations - repositories.MOST_ASSOCIATIONS} fewer"
        )
    if associations and backups:
        yield (
            "a file system with data repository associations does not support backups, because S3 has the data; leave "
            "out one of them"
        )
    if backups and stated.deployment_type == "SCRATCH_2":
        yield "SCRATCH_2 does not support backups; use PERSISTENT_2, or leave them out"


def _next(sizes: Sequence[int], noun: str, unit: str) -> str:
    many = len(sizes) > 1
    return f"the next {noun}{'s are' if many else ' is'} {' and '.join(f'{size:,}{unit}' for size in sizes)}"
