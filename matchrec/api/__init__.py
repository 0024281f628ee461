"""The functions that users call. They take a query and DataFrames.

Each function passes a query from a front end through the compile path to Spark. It returns a
DataFrame, or the answer to a question about the query.
"""
