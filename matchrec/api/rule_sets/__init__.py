"""`match_all`: rules of all languages over one DataFrame, and what is made of their matches."""
