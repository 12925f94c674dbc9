"""Facts as objects, and the annotations with which constants of the catalogue become facts."""

from ultracluster.catalogue.provenance._fact import NO_DATE, Fact, Source, Stated

__all__ = ["NO_DATE", "Fact", "Source", "Stated"]
