"""Small pieces of the template language."""

import re

#: `${Name}` in the text of `Fn::Sub`; the first group is "!" where it is literal.
SUBSTITUTION = re.compile(r"\$\{(!?)([^}]*)\}")
