"""Rules of reading: the file, its keys, the form of its values."""

from ultracluster.clusterfile._problems import INVALID_VALUE
from ultracluster.clusterfile.rules._rule import error

FILE = error("file", "A cluster file is one readable text of UTF-8, and extends one base at most.")
YAML = error("yaml", "A cluster file is one YAML mapping, without anchors, tags and repeated keys.")
EMPTY = error("empty-key", "A key without a value could mean its default, or nothing.")
MISSING = error("missing-key", "The key has no default.")
UNKNOWN_KEY = error("unknown-key", "A key that the library does not know would have no effect.")
VALUE = error(INVALID_VALUE, "A value must have the form that its key takes.")
