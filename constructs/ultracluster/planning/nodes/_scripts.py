"""Stages of the scripts of a node, and effects of their errors."""

from typing import Literal, get_args

#: Stages, in AWS's words: before slurmd starts, and after it has started.
Stage = Literal["nodeBootstrapped", "nodeReady"]
#: Effects of a script that fails, in AWS's words.
OnError = Literal["TERMINATE", "STOP_SEQUENCE", "CONTINUE"]
STAGES: tuple[str, ...] = get_args(Stage)
ON_ERROR: tuple[str, ...] = get_args(OnError)
