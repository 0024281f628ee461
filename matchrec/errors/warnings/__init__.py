"""What a query may say and nearly never means: a class of warnings for each, and their wording."""
