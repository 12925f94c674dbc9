"""Facts as objects, and the annotations with which constants of the catalogue become facts."""

from ultracluster.catalogue.provenance._fact import NO_DATE as NO_DATE
from ultracluster.catalogue.provenance._fact import Fact as Fact
from ultracluster.catalogue.provenance._fact import Source as Source
from ultracluster.catalogue.provenance._fact import Stated as Stated
