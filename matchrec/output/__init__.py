"""Matches to rows: which rows come out, and what each measure reads on each of them.

In go the matches of some partitions; out come, for every output row, the position of the input row
that it stands for and the positions that its measures read. Values stay where they are: positions
are all that a column of any type needs.
"""
