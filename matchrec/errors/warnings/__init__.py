"""Queries that run but are probably not meant: a class of warnings for each, and their wording."""
