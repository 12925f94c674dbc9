"""Names and options of Slurm accounts."""

import re

#: A name of an account or a QoS: Slurm keeps them in lower case.
ACCOUNT = r"[a-z][a-z0-9_-]{0,39}"
#: A value of an option of sacctmgr that needs no quotes in a shell.
OPTION = re.compile(r"[\w.,:/=+-]{1,200}", re.ASCII)
