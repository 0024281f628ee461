"""Rules for functions of values: numbers, texts, times and JSON, of whatever product."""
