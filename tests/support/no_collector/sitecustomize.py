"""Python imports this first where its directory is on PYTHONPATH: no garbage collection.

PyTorch and its libraries are a million objects, which the collector visits again and again: a fifth of their import.
"""

import gc

gc.disable()
