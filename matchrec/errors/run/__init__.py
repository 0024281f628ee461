"""Errors that only the rows can show, and how they come back from a worker with their fields."""
