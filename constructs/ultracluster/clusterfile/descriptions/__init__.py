"""Parts of a checked cluster file in words and as data, for people and programs."""
