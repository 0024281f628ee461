"""Spark: a plan and a relation go in, a DataFrame comes out; the only package that knows Spark."""
