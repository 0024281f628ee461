"""Rules over one input → one DataFrame of their matches: one sort, one crossing to the workers."""
