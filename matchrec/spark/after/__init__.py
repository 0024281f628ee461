"""After the match: aggregates over a match's rows, and matches out of their compressed form."""
