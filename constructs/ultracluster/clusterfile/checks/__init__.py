"""What the parts of a cluster file must be to each other."""
