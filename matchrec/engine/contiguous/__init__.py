"""Standard SQL: the rows of a match follow each other, and the preferred match of a row is sought.

Two algorithms, and two that are faster where conditions look only at the data: `chained` for
matches that overlap, `windowed` for matches in windows. `search` is the loop around their kernels.
"""
