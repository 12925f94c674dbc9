"""The stacks of this app: those of the library. Your own stacks go beside it."""

from ultracluster.stacks import ClusterStacks, main

__all__ = ["ClusterStacks", "main"]
