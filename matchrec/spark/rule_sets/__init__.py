"""Rules over one input → one DataFrame of their matches: one shuffle, one crossing, one sort."""
