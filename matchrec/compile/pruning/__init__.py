"""Rows that need not reach the engine: a plan goes in, tests of rows come out.

    irrelevant_rows     rows that satisfy no condition, which are left out before the sort
    condition_windows   conditions that bound a match as WITHIN does, and the other way round
    locality            how far a plan looks, and what each shortcut is proven for

Matches are the same without the rows that are dropped; where they might not be, there is no test.
"""
