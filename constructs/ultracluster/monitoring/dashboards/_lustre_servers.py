"""The servers of a file system of FSx for Lustre, from CloudWatch.

Metrics and dimensions: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
"""

from ultracluster.monitoring.dashboards._spec import Dashboard, FsxQuery, Panel, series

# From here on FSx itself calls a server a bottleneck; the alarms of a file system begin there too.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-insights.html (read 2026-11-21)
_BUSY = ((None, "green"), (80, "red"))
_SERVER, _TARGET = "FileServer", "StorageTargetId"


def _busiest(title: str, why: str, metric: str, dimension: str) -> Panel:
    query = FsxQuery(metric, worst_of=dimension)
    return series(title, why, (query,), width=12, least=0, most=100, unit="percent", steps=_BUSY)


LUSTRE_SERVERS = Dashboard(
    uid="ultracluster-lustre-servers",
    title="Lustre servers",
    about="Is the file system the bottleneck, and which part of it? From CloudWatch, a minute or two late.",
    variables=(),
    source="cloudwatch",
    rows={
        "The busiest ten": (
            _busiest("Network of the servers", "Near 100 the file system gives all that was bought: raise its "
                     "throughput, or spread the reading over time.", "NetworkThroughputUtilization", _SERVER),
            _busiest("Disks of the servers", "Disks at 100 while the network is not: nothing comes from the servers' "
                     "memory. Data that is read again and again fits into local NVMe, perhaps.",
                     "FileServerDiskThroughputUtilization", _SERVER),
            _busiest("CPU of the metadata servers", "Many small files, or many nodes that list one directory. More "
                     "metadata IOPS help; fewer, larger files help more.", "CPUUtilization", _SERVER),
            _busiest("IOPS of the storage targets",
                     "One target above the others holds a file that all read: stripe it.",
                     "DiskIopsUtilization", _TARGET),
        ),
        "Room": (
            _busiest("Fullest storage targets",
                     "A full target fails writes while others have room. Far apart: large files without stripes.",
                     "StorageCapacityUtilization", _TARGET),
            series("Waiting for export to S3", "Age of the oldest change that is not in S3 yet. It grows: what is "
                   "written now would be lost with the file system. Empty: nothing is exported.",
                   (FsxQuery("AgeOfOldestQueuedMessage", legend="oldest change",
                             dimensions=(("Publisher", "AutoExport"),)),), width=12, least=0, unit="s"),
        ),
        "Traffic, as the servers count it": (
            series("Data", "Compare with the sum of the nodes on the dashboard Storage: less there means that clients "
                   "outside the cluster read too.",
                   (FsxQuery("DataReadBytes", per_second=True, legend="read"),
                    FsxQuery("DataWriteBytes", per_second=True, legend="written")),
                   width=12, least=0, unit="Bps"),
            series("Metadata operations",
                   "Opening, listing, creating. Thousands a second in training: data in too many files.",
                   (FsxQuery("MetadataOperations", per_second=True, legend="operations"),),
                   width=12, least=0, unit="ops"),
            series("Metadata IOPS of the first target", "Metadata operations that need the disk of MDT0000, against "
                   "the metadata IOPS of the file system: 12,000 a target. The alarm MetadataIopsBusy reads them all.",
                   (FsxQuery("DiskReadOperations", per_second=True, legend="read",
                             dimensions=(("StorageTargetId", "MDT0000"),)),
                    FsxQuery("DiskWriteOperations", per_second=True, legend="written",
                             dimensions=(("StorageTargetId", "MDT0000"),))),
                   width=12, least=0, unit="iops"),
        ),
    },
)  # fmt: skip
