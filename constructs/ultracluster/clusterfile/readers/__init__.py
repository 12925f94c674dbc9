"""The values of a cluster file, one reader each: a Python value from what YAML gave, or an error that helps."""
