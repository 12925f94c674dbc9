"""The app of this repository: the stacks are those of the library. Your own stacks go beside it."""

from ultracluster.stacks import main

__all__ = ["main"]
