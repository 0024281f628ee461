"""Run several rules over one input, whose rows are shuffled, sent and sorted once for all rules."""
