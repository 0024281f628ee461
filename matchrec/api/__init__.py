"""A query or pattern and DataFrames go in, a DataFrame or what is asked of the query comes out.

Each function that users call joins a front end, the compile path and Spark, no more.
"""
