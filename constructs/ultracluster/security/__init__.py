"""Roles of nodes."""

from ultracluster.security.node_role import NodeRole

__all__ = ["NodeRole"]
