"""Kernels of queries that skip rows or ask for all matches; a file per engine."""
