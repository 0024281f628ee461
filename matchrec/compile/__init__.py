"""Compile a plan to an `Executable`: columns for Spark, a task for the search, and reads."""
