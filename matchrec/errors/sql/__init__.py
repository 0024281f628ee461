"""Errors in SQL text: around the clause, in how it is put together, in PATTERN, in expressions."""
