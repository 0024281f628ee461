"""Preparations: what Spark computes before the match, see `preparation`."""
