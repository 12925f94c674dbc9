"""The sections of a cluster file, with the keys of the file."""
