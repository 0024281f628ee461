"""Rules for whole queries: QUALIFY, the rows that are fetched, recursive WITH, OVER and FILTER."""
