"""Benchmarks: commands that print figures; no test depends on a time."""
