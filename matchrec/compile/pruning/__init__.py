"""Find rows that need not reach the workers, and shortcuts that a plan allows.

    irrelevant_rows     filters that leave out rows without effect, before the sort
    condition_windows   conditions that bound a match as WITHIN does, and windows as conditions
    locality            how far from a match a plan looks, and which shortcuts are proven for it

The matches are the same without the rows that are left out. If they might not be, none are.
"""
