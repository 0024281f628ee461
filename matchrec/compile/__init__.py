"""Compile a plan to a `CompiledQuery`: columns for Spark, a task for the search, and reads."""
