"""The functions that users call. They take a query and DataFrames.

A front end parses the query of each function to a plan. The plan is compiled, and runs on Spark or
Sail. The function returns a DataFrame, a `Query` that has not run, or the answer to a question.
"""
