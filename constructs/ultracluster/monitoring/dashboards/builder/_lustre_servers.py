"""The servers of a file system of FSx for Lustre, as CloudWatch knows them.

Metrics and dimensions: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
"""

from ultracluster.monitoring.dashboards.builder._spec import Dashboard, FsxQuery, Panel, Row

# From here on FSx itself calls a server a bottleneck; the alarms of a file system begin there too.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-insights.html (read 2026-11-21)
_BUSY = ((None, "green"), (80, "red"))
_SERVER, _TARGET = "FileServer", "StorageTargetId"

LUSTRE_SERVERS = Dashboard(
    uid="ultracluster-lustre-servers",
    title="Lustre servers",
    about="Is the file system the bottleneck, and which part of it? From CloudWatch, a minute or two late.",
    variables=(),
    source="cloudwatch",
    rows=(
        Row(
            title="The busiest ten",
            panels=(
                Panel(kind="timeseries", title="Network of the servers", width=12, least=0, most=100, unit="percent",
                      steps=_BUSY, fsx=(FsxQuery(metric="NetworkThroughputUtilization", worst_of=_SERVER),),
                      why="Near 100 the file system gives all that was bought: raise its throughput, or spread the "
                          "reading over time."),
                Panel(kind="timeseries", title="Disks of the servers", width=12, least=0, most=100, unit="percent",
                      steps=_BUSY, fsx=(FsxQuery(metric="FileServerDiskThroughputUtilization", worst_of=_SERVER),),
                      why="Disks at 100 while the network is not: nothing comes from the servers' memory. Data that "
                          "is read again and again fits into local NVMe, perhaps."),
                Panel(kind="timeseries", title="CPU of the metadata servers", width=12, least=0, most=100,
                      unit="percent", steps=_BUSY,
                      fsx=(FsxQuery(metric="CPUUtilization", worst_of=_SERVER),),
                      why="Many small files, or many nodes that list one directory. More metadata IOPS help; fewer, "
                          "larger files help more."),
                Panel(kind="timeseries", title="IOPS of the storage targets", width=12, least=0, most=100,
                      unit="percent", steps=_BUSY,
                      fsx=(FsxQuery(metric="DiskIopsUtilization", worst_of=_TARGET),),
                      why="One target above the others holds a file that all read: stripe it."),
            ),
        ),
        Row(
            title="Room",
            panels=(
                Panel(kind="timeseries", title="Fullest storage targets", width=12, least=0, most=100, unit="percent",
                      steps=_BUSY, fsx=(FsxQuery(metric="StorageCapacityUtilization", worst_of=_TARGET),),
                      why="A full target fails writes while others have room. Far apart: large files without stripes."),
                Panel(kind="timeseries", title="Waiting for export to S3", width=12, least=0, unit="s",
                      fsx=(FsxQuery(metric="AgeOfOldestQueuedMessage", legend="oldest change",
                                        dimensions=(("Publisher", "AutoExport"),)),),
                      why="Age of the oldest change that is not in S3 yet. It grows: what is written now would be "
                          "lost with the file system. Empty: nothing is exported."),
            ),
        ),
        Row(
            title="Traffic, as the servers count it",
            panels=(
                Panel(kind="timeseries", title="Data", width=12, least=0, unit="Bps",
                      fsx=(FsxQuery(metric="DataReadBytes", per_second=True, legend="read"),
                           FsxQuery(metric="DataWriteBytes", per_second=True, legend="written")),
                      why="Compare with the sum of the nodes on the dashboard Storage: less there means that clients "
                          "outside the cluster read too."),
                Panel(kind="timeseries", title="Metadata operations", width=12, least=0, unit="ops",
                      fsx=(FsxQuery(metric="MetadataOperations", per_second=True, legend="operations"),),
                      why="Opening, listing, creating. Thousands a second in training: data in too many files."),
            ),
        ),
    ),
)  # fmt: skip
