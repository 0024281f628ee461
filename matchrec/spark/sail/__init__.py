"""Sail: an engine that accepts PySpark's calls and SQL, in this program.

This is the only package that knows Sail. A session on Sail is a session of Spark Connect like any
other. Probes, which run once per session, find out what Sail accepts or computes differently from
Spark. No version is compared.
"""
