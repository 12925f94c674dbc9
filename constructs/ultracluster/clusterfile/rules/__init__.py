"""The rules of a cluster file: each error and warning with its id, its reason and its fix."""
