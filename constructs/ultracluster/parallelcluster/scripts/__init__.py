"""Scripts of custom actions, shipped as package data."""
