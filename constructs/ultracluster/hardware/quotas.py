"""Limits of the services: default quotas, which an account can have raised, and fixed ones."""

# Default, per Region and account, adjustable (Service Quotas L-DF5E4CA3). Every interface counts, EFA-only ones too.
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html (read 2026-11-20)
NETWORK_INTERFACES_PER_REGION = 5000

# Fixed: the first four addresses of a subnet and the last.
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (read 2026-11-20)
RESERVED_ADDRESSES_PER_SUBNET = 5

# Fixed: instances in one Capacity Block.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
INSTANCES_PER_CAPACITY_BLOCK = 64

# Default, login nodes' group included; a support case raises it. Queues have the same.
# https://docs.aws.amazon.com/pcs/latest/userguide/service-endpoints-quotas.html (read 2026-11-21)
PCS_NODE_GROUPS_PER_CLUSTER = 10

# Default, all PERSISTENT_2 file systems of a Region and account together, adjustable.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html (read 2026-11-20)
LUSTRE_CAPACITY_GIB = 100_800

# Fixed: EFA connections of one file system, each EFA interface of each client being one.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html (read 2026-11-20)
LUSTRE_EFA_CONNECTIONS = 1024
