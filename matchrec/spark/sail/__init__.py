"""Sail: an engine that accepts PySpark's calls and SQL, in this program.

This is the only package that knows Sail. A session on it is a session of Spark Connect like any
other. What it accepts or computes otherwise than Spark is found out by asking it, once per session,
and not guessed from a version.
"""
