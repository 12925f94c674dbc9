"""Means of a short import of the library: imports without garbage collections, and imports of names on use."""

from ultracluster.startup._collector import uncollected as uncollected
from ultracluster.startup._lazy import lazy as lazy
