"""Turn matches into output rows, and find what each measure reads on each of them.

The input is the matches of some partitions. The result is, for every output row, the position of
its input row and the positions of the rows that its measures read. Values are not copied here:
positions are enough to build a column of any type.
"""
