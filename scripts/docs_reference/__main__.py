"""Write the generated pages into the folder that is named: `python -m docs_reference docs`."""

import sys
from pathlib import Path

from docs_reference import write

write(Path(sys.argv[1]))
