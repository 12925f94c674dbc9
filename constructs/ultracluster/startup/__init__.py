"""Means of a short import of the library: imports without garbage collections."""

from ultracluster.startup._collector import uncollected as uncollected
