"""The PATTERN grammar: the text of a row pattern goes in, its tree with spans comes out."""
