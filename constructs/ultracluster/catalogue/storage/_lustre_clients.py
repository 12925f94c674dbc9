"""Maximum throughput of a client of a file system, in Gbit/s.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html, Throughput to individual client instances
(read 2026-11-21)
"""

# Over TCP, whether or not the file system has EFA.
TCP_GBPS = 100
# Over TCP, between one client and one storage server.
TCP_GBPS_PER_SERVER = 5
EFA_GBPS = 700
EFA_GPUDIRECT_GBPS = 1200
