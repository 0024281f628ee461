"""Errors that depend on the data, and how they come back from a worker with their fields."""
