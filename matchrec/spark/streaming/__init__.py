"""A streaming DataFrame goes in, a stream comes out of the matches that no later row can change.

`applyInPandasWithState` keeps a search between two micro-batches, and the rows that it needs.
"""
