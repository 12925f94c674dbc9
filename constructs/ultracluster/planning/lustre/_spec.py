"""A file system of FSx for Lustre, every choice made, and what it gives."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ultracluster.catalogue.storage import lustre as ssd
from ultracluster.catalogue.storage import lustre_intelligent_tiering as tiering
from ultracluster.catalogue.storage import lustre_metadata as metadata
from ultracluster.catalogue.storage import lustre_quotas as quotas
from ultracluster.planning.lustre._types import DeploymentType, StorageType

_GIB_PER_TIB = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreOverrides:
    """Settings of FSx's CreateFileSystem that the caller chooses. By default, `plan_lustre` chooses each.

    FSx may not offer the combination; `check_lustre` returns the errors. Throughput is in MB/s (10^6 bytes), of the
    whole file system.

    Args:
        deployment_type: `PERSISTENT_2` or `SCRATCH_2`.
        storage_type: `SSD` or `INTELLIGENT_TIERING`.
        capacity_gib: StorageCapacity, exactly. None for Intelligent-Tiering, which grows with its data.
        mb_per_s_per_tib: PerUnitStorageThroughput of PERSISTENT_2 on SSD: 125, 250, 500 or 1000.
        throughput_capacity_mb_per_s: ThroughputCapacity of Intelligent-Tiering, exactly.
        efa: EfaEnabled. Fixed for its life, and with it the tier.
        metadata_mode: Mode of MetadataConfiguration, `AUTOMATIC` or `USER_PROVISIONED`; SCRATCH_2 has none.
        metadata_iops: IOPS of `USER_PROVISIONED`.
        read_cache_mode: SizingMode of DataReadCacheConfiguration, which Intelligent-Tiering has.
        read_cache_gib: SizeGiB of `USER_PROVISIONED`.
        compression: DataCompressionType: `LZ4` or `NONE`.
        lustre_version: FileSystemTypeVersion.
    """

    deployment_type: str | None = None
    storage_type: str | None = None
    capacity_gib: int | None = None
    mb_per_s_per_tib: int | None = None
    throughput_capacity_mb_per_s: int | None = None
    efa: bool | None = None
    metadata_mode: str | None = None
    metadata_iops: int | None = None
    read_cache_mode: str | None = None
    read_cache_gib: int | None = None
    compression: str | None = None
    lustre_version: str | None = None

    @property
    def is_intelligent_tiering(self) -> bool:
        """True for Intelligent-Tiering, by storage type or by a setting that only it has."""
        tiering_only = (self.throughput_capacity_mb_per_s, self.read_cache_mode, self.read_cache_gib)
        if self.storage_type is not None:
            return self.storage_type == "INTELLIGENT_TIERING"
        return any(word is not None for word in tiering_only)


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSpec(LustreOverrides):
    """A file system in the words of FSx's CreateFileSystem: every setting is chosen, and None is left out.

    Args:
        deployment_type: `PERSISTENT_2` or `SCRATCH_2`.
        storage_type: `SSD` or `INTELLIGENT_TIERING`.
        efa: EfaEnabled.
        metadata_mode: Mode of MetadataConfiguration, or None for SCRATCH_2.
        read_cache_mode: SizingMode of DataReadCacheConfiguration, or None.
        compression: DataCompressionType.
        lustre_version: FileSystemTypeVersion.
    """

    deployment_type: DeploymentType
    storage_type: StorageType
    efa: bool = False
    metadata_mode: metadata.MetadataMode | None = None
    read_cache_mode: tiering.ReadCacheMode | None = None
    compression: str = "LZ4"
    lustre_version: str = "2.15"

    @property
    def disk_read_mb_per_s(self) -> Fraction:
        """Disk throughput, baseline, reading what no server has in memory. Intelligent-Tiering: from its read cache."""
        if self.throughput_capacity_mb_per_s is not None:
            return Fraction(self.throughput_capacity_mb_per_s)
        return self._of_tib(self.mb_per_s_per_tib or ssd.SCRATCH_READ)

    @property
    def disk_write_mb_per_s(self) -> Fraction:
        """Disk throughput, baseline, writing: what checkpoints get."""
        if self.deployment_type == "SCRATCH_2":
            return self._of_tib(ssd.SCRATCH_WRITE)
        return self.disk_read_mb_per_s

    @property
    def network_mb_per_s(self) -> Fraction:
        """Network throughput, baseline: reads of what the servers have in memory."""
        if self.throughput_capacity_mb_per_s is not None:
            return Fraction(self._steps * tiering.NETWORK_MB_PER_S_PER_STEP)
        return self._of_tib(ssd.tier(self.mb_per_s_per_tib).network if self.mb_per_s_per_tib else ssd.SCRATCH_NETWORK)

    @property
    def most_gib(self) -> int:
        """Maximum content: its capacity, or 512 TiB for each server of Intelligent-Tiering."""
        return self._steps * tiering.MOST_GIB_PER_STEP if self.capacity_gib is None else self.capacity_gib

    @property
    def cache_gib(self) -> int:
        """SSD read cache of Intelligent-Tiering; 0 for what has none."""
        if self.read_cache_mode == "PROPORTIONAL_TO_THROUGHPUT_CAPACITY":
            return self._steps * tiering.READ_CACHE_GIB_PER_STEP
        return self.read_cache_gib or 0

    @property
    def metadata_iops_given(self) -> int | None:
        """Metadata IOPS, included or provisioned, or None for SCRATCH_2."""
        automatic = self.metadata_mode == "AUTOMATIC"
        return metadata.included_iops(self.capacity_gib or 0) if automatic else self.metadata_iops

    @property
    def storage_servers(self) -> int:
        """Servers of file data."""
        if self.storage_type == "INTELLIGENT_TIERING":
            return self._steps
        return -(-(self.capacity_gib or 0) // gib_per_server(self.mb_per_s_per_tib, efa=self.efa))

    @property
    def metadata_servers(self) -> int:
        """Servers of metadata."""
        return metadata.metadata_servers(self.metadata_iops_given or 1)

    @property
    def addresses(self) -> int:
        """Addresses that its servers take in its subnet, one each."""
        return self.storage_servers + self.metadata_servers

    @property
    def usd_per_month(self) -> Decimal | None:
        """Storage at us-east-2's list price of 2026-10-09, for comparison only, or None if no price is known.

        It leaves out metadata IOPS beyond the included ones, and backups.
        """
        if self.capacity_gib is None or self.mb_per_s_per_tib is None:
            return None
        price = ssd.USD_PER_GB_MONTH.get(self.mb_per_s_per_tib)
        return None if price is None else self.capacity_gib * Decimal(str(price))

    @property
    def quota_uses(self) -> tuple[tuple[quotas.LustreQuota, int], ...]:
        """The quotas that it counts against, each with what it takes."""
        if self.deployment_type == "SCRATCH_2":
            return (quotas.SCRATCH_CAPACITY, self.capacity_gib or 0), (quotas.SCRATCH_FILE_SYSTEMS, 1)
        if self.storage_type == "SSD":
            return (quotas.PERSISTENT_2_CAPACITY, self.capacity_gib or 0), (quotas.PERSISTENT_2_FILE_SYSTEMS, 1)
        return (
            (quotas.INTELLIGENT_TIERING_THROUGHPUT, self.throughput_capacity_mb_per_s or 0),
            (quotas.INTELLIGENT_TIERING_READ_CACHE, self.cache_gib),
            (quotas.PERSISTENT_2_FILE_SYSTEMS, 1),
        )

    @property
    def quotas_passed(self) -> tuple[quotas.LustreQuota, ...]:
        """The quotas whose default it passes on its own, whatever else the account has."""
        return tuple(quota for quota, takes in self.quota_uses if takes > quota.default)

    @property
    def words(self) -> str:
        """Description, such as `43,200 GiB at 1000 MB/s/TiB`."""
        if self.storage_type == "INTELLIGENT_TIERING":
            return f"Intelligent-Tiering of {self.throughput_capacity_mb_per_s:,} MB/s"
        of = f"at {self.mb_per_s_per_tib} MB/s/TiB" if self.mb_per_s_per_tib else "of SCRATCH_2"
        return f"{self.capacity_gib:,} GiB {of}"

    @property
    def _steps(self) -> int:
        return (self.throughput_capacity_mb_per_s or 0) // tiering.STEP_MB_PER_S

    def _of_tib(self, mb_per_s_per_tib: int) -> Fraction:
        return Fraction((self.capacity_gib or 0) * mb_per_s_per_tib, _GIB_PER_TIB)


def gib_per_server(mb_per_s_per_tib: int | None, *, efa: bool) -> int:
    """GiB of SSD behind one storage server."""
    if efa and mb_per_s_per_tib is not None:
        return ssd.tier(mb_per_s_per_tib).efa_step_gib
    return ssd.GIB_PER_SERVER_WITHOUT_EFA


def gib_for(mb_per_s: Fraction, mb_per_s_per_tib: int) -> int:
    """The fewest whole GiB that give a throughput at so many MB/s for each TiB."""
    exact = mb_per_s * _GIB_PER_TIB / mb_per_s_per_tib
    return -(-exact.numerator // exact.denominator)
