"""The sections of a cluster file, as their keys stand in it."""
