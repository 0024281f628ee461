"""After the match: the result is projected; aggregates over a match's rows, matches of a graph."""
