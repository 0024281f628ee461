"""SQL text: names and literals, words that need quotes, parameters, holes for DataFrames."""
