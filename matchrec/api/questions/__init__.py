"""What users ask of a query: a query goes in, what happened to its rows comes out."""
