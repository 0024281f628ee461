"""Sail: an engine that takes PySpark's calls and SQL, in this program; the only room that knows it.

A session on it is a session of Connect like any other. What it takes or computes otherwise than
Spark is found out by asking it, once, and not told by a version.
"""
