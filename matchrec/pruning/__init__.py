"""Rows that need not reach the engine: a plan goes in, tests of rows come out.

    irrelevant_rows   rows that satisfy no condition, which are left out before the sort

Matches are the same without these rows; where they might not be, there is no test.
"""
